// A result document as people read it.
#pragma once

#include <string>
#include <string_view>

#include "platform/json/json.h"

namespace kernwave::platform {

/// Several lines: latency, what bounds it and by how much, each resource, where the time of the PEs went, memory
/// traffic by channel, numeric error, host time.
[[nodiscard]] std::string summary(const Json& result);

/// "41.93 us": picoseconds in the unit that leaves one to three digits before the point.
[[nodiscard]] std::string time_text(std::int64_t picoseconds);

/// The relative error of a result's `error` object: "3.1e-04", "NaN" or, where the reference is 0, "infinite".
[[nodiscard]] std::string relative_error_text(const Json& error);

/// The compulsory bound that binds, of a result.
struct BindingBound {
  std::string resource;
  std::int64_t picoseconds = 0;
};
[[nodiscard]] BindingBound binding_bound(const Json& result);

/// Whether the run came to its end. An incomplete one has `complete` false, and a `reason`.
[[nodiscard]] bool is_complete(const Json& result);

/// What the counts of a result call the operations of the engine of that name.
[[nodiscard]] std::string_view counts_of_engine(std::string_view engine) noexcept;

/// The sum over all PEs of one engine's busy time.
[[nodiscard]] std::int64_t busy_of(const Json& result, std::string_view engine);

/// The sum over the PEs that worked of their programs' time of one cause.
[[nodiscard]] std::int64_t stalled_for(const Json& result, std::string_view cause);

/// How many PEs did any work.
[[nodiscard]] std::int64_t active_pes(const Json& result);

/// Bytes read and written per second of latency, in GB/s.
[[nodiscard]] double gigabytes_per_second(const Json& result);

}  // namespace kernwave::platform
