#include "tests/support/sanitizer.h"

#ifdef __SANITIZE_ADDRESS__
#include <pthread.h>
#include <sanitizer/lsan_interface.h>

#include <cstddef>
#include <sstream>

namespace kernwave::testing {

bool has_leaks() {
  // The search knows threads by the numbers that they had before a fork, so it would not look at this one's stack.
  pthread_attr_t attributes;
  void* stack = nullptr;
  std::size_t size = 0;
  pthread_getattr_np(pthread_self(), &attributes);
  pthread_attr_getstack(&attributes, &stack, &size);
  pthread_attr_destroy(&attributes);
  __lsan_register_root_region(stack, size);
  return __lsan_do_recoverable_leak_check() != 0;
}

std::string without_sanitizer_remarks(const std::string& errors) {
  std::istringstream lines(errors);
  std::string kept;
  for (std::string line; std::getline(lines, line);) {
    const bool remark = line.find("WARNING: ASan is ignoring requested __asan_handle_no_return") != std::string::npos ||
                        line == "False positive error reports may follow" ||
                        line == "For details see https://github.com/google/sanitizers/issues/189";
    if (remark) continue;
    kept += line;
    if (!lines.eof()) kept += '\n';
  }
  return kept;
}

}  // namespace kernwave::testing
#else

namespace kernwave::testing {

bool has_leaks() { return false; }
std::string without_sanitizer_remarks(const std::string& errors) { return errors; }

}  // namespace kernwave::testing
#endif
