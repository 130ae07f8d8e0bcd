// Requests from outside to end a run: Ctrl-C, a batch system or `kill`, the end of a session.
#pragma once

#include <array>
#include <csignal>
#include <string>

namespace kernwave::platform {

/// Ctrl-C, the end of a job, and that of a session.
inline constexpr std::array<int, 3> ending_signals = {SIGINT, SIGTERM, SIGHUP};

/// The exit code of a command that a signal has ended, as shells report it: 130 for Ctrl-C, 143, 129.
[[nodiscard]] constexpr int exit_code_of_signal(int signal) noexcept { return 128 + signal; }

/// "interrupted", after Ctrl-C; "interrupted by SIGTERM".
[[nodiscard]] std::string interruption_text(int signal);

/// Sets what the ending signals do, and sets it back. A process that ignores one (`nohup` SIGHUP, a job in the
/// background SIGINT) goes on ignoring it.
class InterruptAction {
 public:
  explicit InterruptAction(void (*handler)(int));
  InterruptAction(const InterruptAction&) = delete;
  InterruptAction& operator=(const InterruptAction&) = delete;
  ~InterruptAction();

 private:
  std::array<struct sigaction, ending_signals.size()> before_{};
};

/// While it lives, the first ending signal is noted and does nothing else. A Ctrl-C after it ends the process at once.
/// A second SIGTERM or SIGHUP has no further effect, because these signals may come twice for one request (`timeout`
/// sends SIGTERM to the process and to its group; a shell passes on the SIGHUP that the terminal has sent already).
/// Only one object at a time.
class InterruptCatcher {
 public:
  InterruptCatcher();

  /// The first signal; 0: there was none. From any thread.
  [[nodiscard]] int caught() const noexcept;

 private:
  InterruptAction action_;
};

/// While it lives, an ending signal ends the process at once, with a message and its exit code.
class InterruptExits {
 public:
  InterruptExits();

 private:
  InterruptAction action_;
};

/// While it lives, ending signals wait.
class InterruptsHeld {
 public:
  InterruptsHeld();
  InterruptsHeld(const InterruptsHeld&) = delete;
  InterruptsHeld& operator=(const InterruptsHeld&) = delete;
  ~InterruptsHeld();

 private:
  sigset_t before_{};
};

/// In a forked child: ending signals end it silently, whatever its parent does.
void restore_interrupts() noexcept;

/// While this object lives, a write to a pipe without a reader is an error of that output and does not end the process,
/// so that the other outputs are still written.
class BrokenPipesAreErrors {
 public:
  BrokenPipesAreErrors() noexcept;
  BrokenPipesAreErrors(const BrokenPipesAreErrors&) = delete;
  BrokenPipesAreErrors& operator=(const BrokenPipesAreErrors&) = delete;
  ~BrokenPipesAreErrors();

 private:
  struct sigaction before_ {};
};

}  // namespace kernwave::platform
