// The handler of a kernel's stack overflow: ends the process with a message.
#pragma once

#include <csignal>
#include <memory>
#include <string>

#include "models/base/quantity.h"

namespace kernwave::platform {

/// While it lives, a SIGSEGV at the stack pointer, which is what running into the guard page of a stack gives, ends the
/// process with a message that names the program's thread, and with exit code 1. Any other SIGSEGV does what it did
/// before. Of the thread that makes it, in which SystemC runs all of its own; one at a time.
class StackOverflowReport {
 public:
  /// A kernel has `kernel_stack` of it.
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
