// The handler of a kernel's stack overflow: ends the process with a message.
#pragma once

#include <csignal>
#include <memory>
#include <string>

#include "models/base/quantity.h"

namespace kernwave::platform {

/// While this object lives, a SIGSEGV at the stack pointer, the sign of an access to the guard page of a stack, ends
/// the process with exit code 1 and a message that names the program's thread. Any other SIGSEGV has its usual effect.
/// The handler is that of the thread that makes the object, in which SystemC runs all its threads. Only one object at a
/// time.
class StackOverflowReport {
 public:
  /// `kernel_stack`: the stack of a kernel.
  explicit StackOverflowReport(Bytes kernel_stack);
  StackOverflowReport(const StackOverflowReport&) = delete;
  StackOverflowReport& operator=(const StackOverflowReport&) = delete;
  ~StackOverflowReport();

 private:
  std::unique_ptr<unsigned char[]> stack_;  // of the handler: the program's is used up
  stack_t stack_before_{};
  std::string advice_;
};

}  // namespace kernwave::platform
