// Errors of kernels.
#pragma once

#include <stdexcept>

namespace kernwave::tl {

/// An error of a kernel, whose message names PE, operation, shapes and the kernel's source line.
class KernelError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace kernwave::tl
