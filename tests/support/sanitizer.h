// The regression under AddressSanitizer and its search for leaks: what they do not understand of SystemC's coroutines
// and of forked processes.
#pragma once

#include <string>

namespace kernwave::testing {

/// Whether what this process frees may be given back and used again; AddressSanitizer keeps it for a while.
#ifdef __SANITIZE_ADDRESS__
inline constexpr bool freed_memory_is_reused = false;
#else
inline constexpr bool freed_memory_is_reused = true;
#endif

/// Whether a process can run with a limit on its addresses; AddressSanitizer reserves more than any.
inline constexpr bool addresses_can_be_limited = freed_memory_is_reused;

/// Prints what this process, which may be a forked one, has allocated and lost. Without AddressSanitizer: false.
///
/// What a kernel holds does not count (platform/cli/leak_suppressions.cpp).
[[nodiscard]] bool has_leaks();

/// What a process said, without AddressSanitizer's remark that it does not know the stack on which an exception was
/// thrown: an SC_THREAD's.
[[nodiscard]] std::string without_sanitizer_remarks(const std::string& errors);

}  // namespace kernwave::testing
