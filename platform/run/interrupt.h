// Ctrl-C: what SIGINT does while something is to be finished first.
#pragma once

#include <csignal>

namespace kernwave::platform {

/// The exit code of a command that Ctrl-C has ended, as shells report it.
inline constexpr int interrupted_exit_code = 130;

/// Sets what SIGINT does, and sets it back. A process that ignores SIGINT (`nohup`) goes on ignoring it.
class InterruptAction {
 public:
  InterruptAction(void (*handler)(int), int flags);
  InterruptAction(const InterruptAction&) = delete;
  InterruptAction& operator=(const InterruptAction&) = delete;
  ~InterruptAction();

 private:
  struct sigaction before_ {};
};

/// While it lives, the first Ctrl-C is noted and does nothing else; the second ends the process at once. One at a time.
class InterruptCatcher {
 public:
  InterruptCatcher();

  /// There was one. From any thread.
  [[nodiscard]] bool caught() const noexcept;

 private:
  InterruptAction action_;
};

/// While it lives, Ctrl-C ends the process at once, with a message and `interrupted_exit_code`.
class InterruptExits {
 public:
  InterruptExits();

 private:
  InterruptAction action_;
};

/// While it lives, Ctrl-C waits.
class InterruptsHeld {
 public:
  InterruptsHeld();
  InterruptsHeld(const InterruptsHeld&) = delete;
  InterruptsHeld& operator=(const InterruptsHeld&) = delete;
  ~InterruptsHeld();

 private:
  sigset_t before_{};
};

/// In a forked child: Ctrl-C ends it silently, whatever its parent does.
void restore_interrupts() noexcept;

}  // namespace kernwave::platform
