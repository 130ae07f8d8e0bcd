#include "platform/host/child_process.h"

#include <fmt/format.h>
#include <poll.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>

#include "platform/host/interrupt.h"
#include "traces/files/open_file.h"

#ifdef KERNWAVE_COVERAGE
extern "C" {
#include <gcov.h>
}
#endif

namespace kernwave::platform {

namespace {

// The last byte that a child writes says how it ended; without it the text is cut short.
constexpr char succeeded = '\x06';
constexpr char threw = '\x15';

struct Child {
  pid_t process = -1;
  int output = -1;
  std::size_t number = 0;
  std::string text;
};

[[noreturn]] void be_child(const std::function<std::string()>& work, int output) {
  std::string text;
  char end = succeeded;
  try {
    text = work();
  } catch (const std::exception& error) {
    text = error.what();
    end = threw;
  }
  std::fflush(nullptr);
  if (traces::write_all(output, text + end) != 0) _exit(1);
  end_child(0);
}

/// Nobody waits for the answer of a child whose parent has gone.
void end_with(pid_t parent) {
#ifdef __linux__
  prctl(PR_SET_PDEATHSIG, SIGKILL);
#endif
  if (getppid() != parent) _exit(1);
}

[[nodiscard]] Child start(const std::function<std::string()>& work, std::size_t number) {
  std::array<int, 2> ends{};
  if (pipe(ends.data()) != 0) throw ChildError(fmt::format("cannot make a pipe: {}", std::strerror(errno)));
  const pid_t process = fork_dependent();
  if (process == 0) {
    close(ends[0]);
    be_child(work, ends[1]);
  }
  close(ends[1]);
  return Child{process, ends[0], number, {}};
}

/// Reads what is there; false when the child has closed its end.
[[nodiscard]] bool read_some(Child& child) {
  std::array<char, 65536> buffer{};
  const ssize_t count = read(child.output, buffer.data(), buffer.size());
  if (count < 0 && errno == EINTR) return true;
  if (count <= 0) return false;
  child.text.append(buffer.data(), static_cast<std::size_t>(count));
  return true;
}

/// What went wrong with an ended child; empty when nothing did. Takes the end mark off its text.
[[nodiscard]] std::string end_of(Child& child) {
  close(child.output);
  int status = 0;
  waitpid(child.process, &status, 0);
  if (WIFSIGNALED(status)) return fmt::format("the simulation's process died of signal {}", WTERMSIG(status));
  if (child.text.empty() || (child.text.back() != succeeded && child.text.back() != threw)) {
    return fmt::format("the simulation's process ended with code {} before it had answered", WEXITSTATUS(status));
  }
  const bool failed = child.text.back() == threw;
  child.text.pop_back();
  return failed ? child.text : std::string();
}

}  // namespace

pid_t fork_dependent() {
  std::fflush(nullptr);
  const pid_t parent = getpid();
  const pid_t process = fork();
  if (process < 0) throw ChildError(fmt::format("cannot start a process: {}", std::strerror(errno)));
  if (process == 0) {
    restore_interrupts();
    end_with(parent);
  }
  return process;
}

void end_child(int code) {
#ifdef KERNWAVE_COVERAGE
  __gcov_dump();
#endif
  _exit(code);
}

std::vector<std::string> texts_from_children(const std::vector<std::function<std::string()>>& work, unsigned at_once) {
  std::vector<std::string> texts(work.size());
  std::string failure;
  std::vector<Child> running;
  std::size_t next = 0;
  while (next < work.size() || !running.empty()) {
    while (next < work.size() && running.size() < std::max(1U, at_once)) {
      running.push_back(start(work[next], next));
      ++next;
    }
    std::vector<pollfd> ends;
    ends.reserve(running.size());
    for (const Child& child : running) ends.push_back(pollfd{child.output, POLLIN, 0});
    if (poll(ends.data(), ends.size(), -1) < 0 && errno != EINTR) {
      throw ChildError(fmt::format("cannot wait for a process: {}", std::strerror(errno)));
    }
    for (std::size_t i = ends.size(); i-- > 0;) {
      if (ends[i].revents == 0 || read_some(running[i])) continue;
      const std::string problem = end_of(running[i]);
      if (failure.empty()) failure = problem;
      texts[running[i].number] = std::move(running[i].text);
      running.erase(running.begin() + static_cast<std::ptrdiff_t>(i));
    }
  }
  if (!failure.empty()) throw ChildError(failure);
  return texts;
}

std::string text_from_child(const std::function<std::string()>& work) { return texts_from_children({work}, 1).front(); }

}  // namespace kernwave::platform
