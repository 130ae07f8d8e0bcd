#include "tests/support/child.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <exception>
#include <string>

#include "platform/host/child_process.h"
#include "tests/support/child_outcome.h"
#include "tests/support/sanitizer.h"

namespace kernwave::testing {

namespace {

/// Ends what a child says: a child that dies or exits early has not said it.
constexpr char end_of_result = '\x04';

struct Pipe {
  int read_end = -1;
  int write_end = -1;
};

[[nodiscard]] Pipe make_pipe() {
  std::array<int, 2> ends{};
  if (pipe(ends.data()) != 0) std::abort();
  return {ends[0], ends[1]};
}

/// Failures of the running test so far. A child inherits its parent's, which are not its own.
[[nodiscard]] int failures() {
  const ::testing::TestResult& result = *::testing::UnitTest::GetInstance()->current_test_info()->result();
  int count = 0;
  for (int i = 0; i < result.total_part_count(); ++i) count += result.GetTestPartResult(i).failed() ? 1 : 0;
  return count;
}

[[noreturn]] void run_child(const std::function<std::string()>& body, int output, int result) {
  dup2(output, STDOUT_FILENO);
  dup2(output, STDERR_FILENO);
  const int inherited = failures();
  std::string value;
  try {
    value = body();
  } catch (const std::exception& error) {
    ADD_FAILURE() << "exception: " << error.what();
  } catch (...) {
    ADD_FAILURE() << "an exception that is not a std::exception";
  }
  std::fflush(nullptr);
  value += end_of_result;
  std::size_t written = 0;
  while (written < value.size()) {
    const ssize_t count = write(result, value.data() + written, value.size() - written);
    if (count <= 0) _exit(2);
    written += static_cast<std::size_t>(count);
  }
  const bool leaks = has_leaks();
  platform::end_child(failures() > inherited || leaks ? 1 : 0);
}

/// For poll.
[[nodiscard]] int milliseconds_until(std::chrono::steady_clock::time_point instant) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(instant - std::chrono::steady_clock::now());
  return std::max(0, static_cast<int>(left.count()));
}

/// Reads both pipes until the child closes them. False: the time limit has passed, though the child may still talk.
[[nodiscard]] bool collect(int output, int result, std::chrono::seconds limit, std::string& output_text,
                           std::string& result_text) {
  std::array<pollfd, 2> ends{pollfd{output, POLLIN, 0}, pollfd{result, POLLIN, 0}};
  std::array<std::string*, 2> texts{&output_text, &result_text};
  int open = 2;
  std::array<char, 65536> buffer{};
  const auto deadline = std::chrono::steady_clock::now() + limit;
  while (open > 0) {
    const int left = milliseconds_until(deadline);
    if (left == 0 || poll(ends.data(), ends.size(), left) == 0) return false;
    for (std::size_t i = 0; i < ends.size(); ++i) {
      if (ends[i].fd < 0 || ends[i].revents == 0) continue;
      const ssize_t count = read(ends[i].fd, buffer.data(), buffer.size());
      if (count > 0) {
        texts[i]->append(buffer.data(), static_cast<std::size_t>(count));
      } else {
        ends[i].fd = -1;
        --open;
      }
    }
  }
  return true;
}

}  // namespace

ChildOutcome run_child_process(const std::function<std::string()>& body, std::chrono::seconds limit) {
  std::fflush(nullptr);
  const Pipe output = make_pipe();
  const Pipe result = make_pipe();
  const pid_t child = fork();
  if (child == 0) {
    close(output.read_end);
    close(result.read_end);
    run_child(body, output.write_end, result.write_end);
  }
  close(output.write_end);
  close(result.write_end);
  ChildOutcome outcome;
  const bool in_time = collect(output.read_end, result.read_end, limit, outcome.output, outcome.result);
  if (!in_time) kill(child, SIGKILL);
  close(output.read_end);
  close(result.read_end);
  int status = 0;
  waitpid(child, &status, 0);

  if (!in_time) {
    outcome.problem = "the simulation did not end in " + std::to_string(limit.count()) + " s";
  } else if (WIFSIGNALED(status)) {
    outcome.problem = "the simulation died of signal " + std::to_string(WTERMSIG(status));
  } else if (WEXITSTATUS(status) != 0) {
    outcome.problem = "the simulation's process ended with " + std::to_string(WEXITSTATUS(status));
  } else if (outcome.result.empty() || outcome.result.back() != end_of_result) {
    outcome.problem = "the simulation's process ended before the test did";
  } else {
    outcome.result.pop_back();
  }
  return outcome;
}

std::string from_child(const std::function<std::string()>& body, std::chrono::seconds limit) {
  const ChildOutcome outcome = run_child_process(body, limit);
  if (outcome.problem.empty()) return outcome.result;
  ADD_FAILURE() << outcome.problem << "\n" << outcome.output;
  return {};
}

void in_child(const std::function<void()>& body, std::chrono::seconds limit) {
  const auto body_without_result = [&body] {
    body();
    return std::string();
  };
  static_cast<void>(from_child(body_without_result, limit));
}

}  // namespace kernwave::testing
