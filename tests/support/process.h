// The executable `kernwave`, and others, as processes: what they are given, what they say, how they end.
#pragma once

#include <sys/types.h>

#include <csignal>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace kernwave::testing {

using Arguments = std::vector<std::string>;

/// How a process ended and what it said.
struct Outcome {
  int exit_code = -1;  ///< -1: it died of a signal
  int signal = 0;
  std::string output;
  std::string errors;
};

/// `kernwave` lands in the same folder as this executable.
[[nodiscard]] std::filesystem::path kernwave_executable();

/// "list --all" as separate words.
[[nodiscard]] Arguments words(const std::string& line);

enum class User : std::uint8_t { own, without_rights };

/// A file without a name, for what a process says.
class Capture {
 public:
  Capture();
  Capture(const Capture&) = delete;
  Capture& operator=(const Capture&) = delete;
  ~Capture();

  [[nodiscard]] int file() const noexcept { return file_; }
  [[nodiscard]] std::string text() const;

 private:
  int file_;
};

/// A process of a program, in a folder; Ctrl-C ends it unless it has something better to do. Killed with this object.
class Process {
 public:
  Process(const std::filesystem::path& program, const Arguments& arguments, const std::filesystem::path& folder,
          User user = User::own);
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;
  ~Process();

  /// False from its end on.
  [[nodiscard]] bool runs();
  [[nodiscard]] pid_t id() const noexcept { return process_; }
  /// Ctrl-C, or another signal.
  void interrupt(int signal = SIGINT) const;
  /// Waits for its end.
  [[nodiscard]] Outcome outcome();

 private:
  Capture output_;
  Capture errors_;
  pid_t process_ = -1;
  int status_ = 0;
  bool over_ = false;
};

/// A process from its start to its end.
[[nodiscard]] Outcome start(const std::filesystem::path& program, const Arguments& arguments,
                            const std::filesystem::path& folder, User user = User::own);

/// The same with a terminal as standard error, 100 columns wide.
[[nodiscard]] Outcome start_on_terminal(const std::filesystem::path& program, const Arguments& arguments,
                                        const std::filesystem::path& folder);

/// A process with a terminal as its standard output and error, which is the terminal of its session, until that hangs
/// up.
class OnTerminal {
 public:
  OnTerminal(const std::filesystem::path& program, const Arguments& arguments, const std::filesystem::path& folder);
  OnTerminal(const OnTerminal&) = delete;
  OnTerminal& operator=(const OnTerminal&) = delete;
  ~OnTerminal();

  [[nodiscard]] pid_t id() const noexcept { return process_; }
  /// The window is closed: SIGHUP, and nothing can be written any more.
  void hang_up();
  /// Waits for the end; -1: a signal.
  [[nodiscard]] int exit_code();

 private:
  int terminal_ = -1;
  pid_t process_ = -1;
};

/// The files of a folder that a process has open, with and without names.
struct FilesOpen {
  int count = 0;
  std::int64_t bytes = 0;
};
[[nodiscard]] FilesOpen files_open_in(const std::filesystem::path& folder, pid_t process);

/// The process has a handler for the signal, or ignores it.
[[nodiscard]] bool catches(pid_t process, int signal);
[[nodiscard]] bool ignores(pid_t process, int signal);

/// This regression as another process in the folder /, without this one's choice of a shard and place of a report.
/// `before`: variables as `NAME=VALUE`, then a command that starts the rest of its line.
[[nodiscard]] Outcome start_regression(const Arguments& arguments, const Arguments& before = {});

}  // namespace kernwave::testing
