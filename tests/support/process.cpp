#include "tests/support/process.h"

#include <fcntl.h>
#include <grp.h>
#include <stdlib.h>  // NOLINT(modernize-deprecated-headers): posix_openpt is POSIX's
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <sstream>
#include <utility>

#include "tests/support/sanitizer.h"

namespace kernwave::testing {

namespace fs = std::filesystem;

namespace {

constexpr int cannot_start = 127;

[[nodiscard]] std::string read_to_end(int file) {
  std::string all;
  std::array<char, 65536> buffer{};
  for (ssize_t count = 0; (count = ::read(file, buffer.data(), buffer.size())) > 0;) {
    all.append(buffer.data(), static_cast<std::size_t>(count));
  }
  return all;
}

/// Replaces this process. The program is opened before the rights go: its folder may be closed to others.
[[noreturn]] void become(const fs::path& program, const Arguments& arguments, User user) {
  const int file = ::open(program.c_str(), O_RDONLY | O_CLOEXEC);
  if (user == User::without_rights && ::geteuid() == 0) {
    constexpr unsigned nobody = 65534;
    if (::setgroups(0, nullptr) != 0 || ::setgid(nobody) != 0 || ::setuid(nobody) != 0) ::_exit(cannot_start);
  }
  // A test that runs in the background ignores SIGINT, one under nohup SIGHUP.
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) (void)std::signal(signal, SIG_DFL);
  std::vector<std::string> texts{program.filename().string()};
  texts.insert(texts.end(), arguments.begin(), arguments.end());
  std::vector<char*> argv;
  argv.reserve(texts.size() + 1);
  for (std::string& text : texts) argv.push_back(text.data());
  argv.push_back(nullptr);
  ::fexecve(file, argv.data(), environ);
  ::_exit(cannot_start);
}

/// In a child whose `errors` may be its terminal.
[[noreturn]] void become_in(const fs::path& folder, int output, int errors, const fs::path& program,
                            const Arguments& arguments, User user) {
  ::dup2(output, STDOUT_FILENO);
  ::dup2(errors, STDERR_FILENO);
  if (::chdir(folder.c_str()) != 0) ::_exit(cannot_start);
  become(program, arguments, user);
}

[[nodiscard]] Outcome outcome_of(int status, std::string output, const std::string& errors) {
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, WIFSIGNALED(status) ? WTERMSIG(status) : 0, std::move(output),
          without_sanitizer_remarks(errors)};
}

/// A mask of /proc/PID/status: bit n - 1 stands for signal n.
[[nodiscard]] bool in_signal_mask(pid_t process, const std::string& mask, int signal) {
  std::ifstream status("/proc/" + std::to_string(process) + "/status");
  for (std::string word; status >> word;) {
    if (word != mask) continue;
    status >> word;
    return (std::stoull(word, nullptr, 16) >> static_cast<unsigned>(signal - 1) & 1U) != 0;
  }
  return false;
}

}  // namespace

fs::path kernwave_executable() { return fs::read_symlink("/proc/self/exe").parent_path() / "kernwave"; }

Arguments words(const std::string& line) {
  std::istringstream stream(line);
  return {std::istream_iterator<std::string>(stream), {}};
}

Capture::Capture() : file_(::memfd_create("capture", MFD_CLOEXEC)) {}

Capture::~Capture() { ::close(file_); }

std::string Capture::text() const {
  ::lseek(file_, 0, SEEK_SET);
  return read_to_end(file_);
}

Process::Process(const fs::path& program, const Arguments& arguments, const fs::path& folder, User user) {
  std::fflush(nullptr);
  process_ = ::fork();
  if (process_ == 0) become_in(folder, output_.file(), errors_.file(), program, arguments, user);
}

Process::~Process() {
  if (over_) return;
  ::kill(process_, SIGKILL);
  ::waitpid(process_, &status_, 0);
}

bool Process::runs() {
  if (!over_ && ::waitpid(process_, &status_, WNOHANG) == process_) over_ = true;
  return !over_;
}

void Process::interrupt(int signal) const {
  if (!over_) ::kill(process_, signal);
}

Outcome Process::outcome() {
  if (!over_) ::waitpid(process_, &status_, 0);
  over_ = true;
  return outcome_of(status_, output_.text(), errors_.text());
}

Outcome start(const fs::path& program, const Arguments& arguments, const fs::path& folder, User user) {
  return Process(program, arguments, folder, user).outcome();
}

Outcome start_on_terminal(const fs::path& program, const Arguments& arguments, const fs::path& folder) {
  const int terminal = ::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
  if (terminal < 0 || ::grantpt(terminal) != 0 || ::unlockpt(terminal) != 0) return {};
  const winsize size{24, 100, 0, 0};
  ::ioctl(terminal, TIOCSWINSZ, &size);
  const int other_end = ::open(::ptsname(terminal), O_RDWR | O_NOCTTY | O_CLOEXEC);
  const Capture output;
  std::fflush(nullptr);
  const pid_t process = ::fork();
  if (process == 0) become_in(folder, output.file(), other_end, program, arguments, User::own);
  ::close(other_end);
  const std::string errors = read_to_end(terminal);  // ends with the last process that has the other end open
  int status = 0;
  ::waitpid(process, &status, 0);
  ::close(terminal);
  return outcome_of(status, output.text(), errors);
}

OnTerminal::OnTerminal(const fs::path& program, const Arguments& arguments, const fs::path& folder)
    : terminal_(::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC)) {
  if (terminal_ < 0 || ::grantpt(terminal_) != 0 || ::unlockpt(terminal_) != 0) return;
  const std::string other_end = ::ptsname(terminal_);
  std::fflush(nullptr);
  process_ = ::fork();
  if (process_ != 0) return;
  ::setsid();
  const int file = ::open(other_end.c_str(), O_RDWR);  // the first of a session without one is its terminal
  become_in(folder, file, file, program, arguments, User::own);
}

OnTerminal::~OnTerminal() {
  hang_up();
  if (process_ < 0) return;
  ::kill(process_, SIGKILL);
  ::waitpid(process_, nullptr, 0);
}

void OnTerminal::hang_up() {
  if (terminal_ >= 0) ::close(std::exchange(terminal_, -1));
}

int OnTerminal::exit_code() {
  int status = 0;
  ::waitpid(std::exchange(process_, -1), &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

FilesOpen files_open_in(const fs::path& folder, pid_t process) {
  const std::string prefix = fs::canonical(folder).string() + "/";
  FilesOpen files;
  std::error_code error;
  const fs::path descriptors = fs::path("/proc") / std::to_string(process) / "fd";
  for (fs::directory_iterator entry(descriptors, error), end; !error && entry != end; entry.increment(error)) {
    std::error_code closed_meanwhile;
    const std::string target = fs::read_symlink(entry->path(), closed_meanwhile).string();
    struct stat status {};
    if (target.substr(0, prefix.size()) != prefix || ::stat(entry->path().c_str(), &status) != 0) continue;
    ++files.count;
    files.bytes += status.st_size;
  }
  return files;
}

bool catches(pid_t process, int signal) { return in_signal_mask(process, "SigCgt:", signal); }

bool ignores(pid_t process, int signal) { return in_signal_mask(process, "SigIgn:", signal); }

Outcome start_regression(const Arguments& arguments, const Arguments& before) {
  Arguments all;
  for (const char* const variable :
       {"GTEST_TOTAL_SHARDS", "GTEST_SHARD_INDEX", "GTEST_SHARD_STATUS_FILE", "GTEST_OUTPUT", "XML_OUTPUT_FILE"}) {
    all.insert(all.end(), {"-u", variable});
  }
  all.insert(all.end(), before.begin(), before.end());
  all.push_back(fs::read_symlink("/proc/self/exe"));
  all.insert(all.end(), arguments.begin(), arguments.end());
  return start("/usr/bin/env", all, "/");
}

}  // namespace kernwave::testing
