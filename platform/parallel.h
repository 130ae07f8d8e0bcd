// A loop that is shared out among all cores of the host.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <thread>

namespace kernwave::platform {

/// The number of threads that this process may run at once.
[[nodiscard]] unsigned host_cores() noexcept;

/// A thread that leaves signals to the others; nothing where the host does not give one. `work` must not throw.
[[nodiscard]] std::optional<std::thread> helper_thread(const std::function<void()>& work);

/// Calls work(0) ... work(count - 1), each once, in any order, on up to `host_cores` threads, of which the caller's is
/// one. Where the host does not give threads, the caller does all. Returns when all have ended. If calls throw,
/// rethrows the exception of the lowest number; numbers that were not begun by then are skipped.
void for_each_in_parallel(std::int64_t count, const std::function<void(std::int64_t)>& work);

}  // namespace kernwave::platform
