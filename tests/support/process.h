// The executable `kernwave`, and others, as processes: what they are given, what they say, how they end.
#pragma once

#include <sys/types.h>

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
  void interrupt() const;
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

/// This regression as another process in the folder /, without this one's choice of a shard and place of a report.
/// `before`: variables as `NAME=VALUE`, then a command that starts the rest of its line.
[[nodiscard]] Outcome start_regression(const Arguments& arguments, const Arguments& before = {});

}  // namespace kernwave::testing
