#include "platform/run/interrupt.h"

#include <unistd.h>

#include <atomic>
#include <string_view>

namespace kernwave::platform {

namespace {

// A handler of signals reaches nothing but what is static.
std::atomic<bool> interrupted{false};
static_assert(std::atomic<bool>::is_always_lock_free, "the handler may not wait");

void note_interrupt(int /*signal*/) { interrupted.store(true); }

void exit_interrupted(int /*signal*/) {
  constexpr std::string_view message = "kernwave: interrupted\n";
  (void)!::write(STDERR_FILENO, message.data(), message.size());
  ::_exit(interrupted_exit_code);
}

}  // namespace

InterruptAction::InterruptAction(void (*handler)(int), int flags) {
  ::sigaction(SIGINT, nullptr, &before_);
  if (before_.sa_handler == SIG_IGN) return;
  struct sigaction action {};
  action.sa_handler = handler;
  action.sa_flags = flags;
  ::sigemptyset(&action.sa_mask);
  ::sigaction(SIGINT, &action, nullptr);
}

InterruptAction::~InterruptAction() { ::sigaction(SIGINT, &before_, nullptr); }

// SA_RESETHAND: the second one has the default action.
InterruptCatcher::InterruptCatcher()
    : action_((interrupted.store(false), note_interrupt), static_cast<int>(SA_RESTART | SA_RESETHAND)) {}

bool InterruptCatcher::caught() const noexcept { return interrupted.load(); }

InterruptExits::InterruptExits() : action_(exit_interrupted, 0) {}

InterruptsHeld::InterruptsHeld() {
  sigset_t interrupts;
  ::sigemptyset(&interrupts);
  ::sigaddset(&interrupts, SIGINT);
  ::pthread_sigmask(SIG_BLOCK, &interrupts, &before_);
}

InterruptsHeld::~InterruptsHeld() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

void restore_interrupts() noexcept {
  struct sigaction action {};
  ::sigaction(SIGINT, nullptr, &action);
  if (action.sa_handler != SIG_IGN) (void)std::signal(SIGINT, SIG_DFL);
}

}  // namespace kernwave::platform
