#include "platform/host/interrupt.h"

#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <string_view>

#include "platform/host/signal_text.h"

namespace kernwave::platform {

namespace {

// A handler of signals reaches nothing but what is static.
std::atomic<int> first_signal{0};
static_assert(std::atomic<int>::is_always_lock_free, "the handler may not wait");

void note_signal(int signal) {
  int none = 0;
  if (first_signal.compare_exchange_strong(none, signal) || signal != SIGINT) return;
  (void)std::signal(SIGINT, SIG_DFL);
  (void)std::raise(SIGINT);  // comes when this handler has returned
}

[[nodiscard]] constexpr std::string_view sender_of(int signal) noexcept {
  if (signal == SIGTERM) return " by SIGTERM";
  if (signal == SIGHUP) return " by SIGHUP";
  return {};
}

void exit_interrupted(int signal) {
  say_from_handler("kernwave: interrupted");
  say_from_handler(sender_of(signal));
  say_from_handler("\n");
  ::_exit(exit_code_of_signal(signal));
}

}  // namespace

std::string interruption_text(int signal) { return "interrupted" + std::string(sender_of(signal)); }

InterruptAction::InterruptAction(void (*handler)(int)) {
  for (std::size_t i = 0; i < ending_signals.size(); ++i) {
    ::sigaction(ending_signals[i], nullptr, &before_[i]);
    if (before_[i].sa_handler == SIG_IGN) continue;
    struct sigaction action {};
    action.sa_handler = handler;
    action.sa_flags = SA_RESTART;
    ::sigemptyset(&action.sa_mask);
    ::sigaction(ending_signals[i], &action, nullptr);
  }
}

InterruptAction::~InterruptAction() {
  for (std::size_t i = 0; i < ending_signals.size(); ++i) ::sigaction(ending_signals[i], &before_[i], nullptr);
}

InterruptCatcher::InterruptCatcher() : action_((first_signal.store(0), note_signal)) {}

int InterruptCatcher::caught() const noexcept { return first_signal.load(); }

InterruptExits::InterruptExits() : action_(exit_interrupted) {}

InterruptsHeld::InterruptsHeld() {
  sigset_t interrupts;
  ::sigemptyset(&interrupts);
  for (const int signal : ending_signals) ::sigaddset(&interrupts, signal);
  ::pthread_sigmask(SIG_BLOCK, &interrupts, &before_);
}

InterruptsHeld::~InterruptsHeld() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

void restore_interrupts() noexcept {
  for (const int signal : ending_signals) {
    struct sigaction action {};
    ::sigaction(signal, nullptr, &action);
    if (action.sa_handler != SIG_IGN) (void)std::signal(signal, SIG_DFL);
  }
}

BrokenPipesAreErrors::BrokenPipesAreErrors() noexcept {
  struct sigaction ignore {};
  ignore.sa_handler = SIG_IGN;
  ::sigemptyset(&ignore.sa_mask);
  ::sigaction(SIGPIPE, &ignore, &before_);
}

BrokenPipesAreErrors::~BrokenPipesAreErrors() { ::sigaction(SIGPIPE, &before_, nullptr); }

}  // namespace kernwave::platform
