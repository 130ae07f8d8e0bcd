#include "platform/host/stack_overflow.h"

#include <fmt/format.h>
#include <ucontext.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "models/base/systemc.h"
#include "platform/host/signal_text.h"
#include "platform/text/units.h"

namespace kernwave::platform {

namespace {

// A handler of signals reaches nothing but what is static.
struct sigaction action_before {};
std::string_view advice;

/// 0 where it is not known how to find it.
[[nodiscard]] std::uintptr_t stack_pointer([[maybe_unused]] const void* context) noexcept {
#if defined(__x86_64__)
  return static_cast<std::uintptr_t>(static_cast<const ucontext_t*>(context)->uc_mcontext.gregs[REG_RSP]);
#elif defined(__aarch64__)
  return static_cast<std::uintptr_t>(static_cast<const ucontext_t*>(context)->uc_mcontext.sp);
#else
  return 0;
#endif
}

/// The address that was touched lies at the stack pointer, or a page beside it.
void report(int signal, siginfo_t* info, void* context) {
  constexpr std::uintptr_t page = 4096;
  const auto touched = reinterpret_cast<std::uintptr_t>(info->si_addr);
  const std::uintptr_t top = stack_pointer(context);
  const bool on_the_stack = top != 0 && touched + 2 * page > top && touched < top + 2 * page;
  if (!on_the_stack) {
    ::sigaction(signal, &action_before, nullptr);
    return;  // to the same instruction, and so to whoever was there before
  }
  say_from_handler("kernwave: stack overflow in ");
  const char* thread = sc_core::sc_get_current_process_handle().name();
  say_from_handler(thread[0] == '\0' ? "the main program" : thread);
  say_from_handler(advice);
  ::_exit(1);
}

}  // namespace

StackOverflowReport::StackOverflowReport(Bytes kernel_stack)
    : advice_(
          fmt::format(": a kernel has {} of stack (run.kernel_stack); keep large arrays on the heap (std::vector)\n",
                      format_quantity(kernel_stack))) {
  advice = advice_;
  constexpr std::size_t handler_stack = std::size_t{64} * 1024;
  stack_ = std::make_unique<unsigned char[]>(handler_stack);
  stack_t stack{};
  stack.ss_sp = stack_.get();
  stack.ss_size = handler_stack;
  ::sigaltstack(&stack, &stack_before_);
  struct sigaction action {};
  action.sa_sigaction = report;
  action.sa_flags = static_cast<int>(SA_SIGINFO | SA_ONSTACK);
  ::sigemptyset(&action.sa_mask);
  ::sigaction(SIGSEGV, &action, &action_before);
}

StackOverflowReport::~StackOverflowReport() {
  ::sigaction(SIGSEGV, &action_before, nullptr);
  ::sigaltstack(&stack_before_, nullptr);
}

}  // namespace kernwave::platform
