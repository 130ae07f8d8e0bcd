// Figures of a result document: sums, averages, and the rows of the tables that show them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "models/base/address.h"
#include "platform/json/json.h"

namespace kernwave::platform {

// Times are in picoseconds. A share is of 1, and of the latency unless it says otherwise.

/// The compulsory bound that binds.
struct BindingBound {
  std::string resource;
  std::int64_t picoseconds = 0;
};
[[nodiscard]] BindingBound binding_bound(const Json& result);

/// Whether the run came to its end. An incomplete one has `complete` false, and a `reason`.
[[nodiscard]] bool is_complete(const Json& result);

/// The name of an engine's operations among the counts of a result.
[[nodiscard]] std::string_view counts_of_engine(std::string_view engine) noexcept;

/// The sum over all PEs of one engine's busy time.
[[nodiscard]] std::int64_t busy_of(const Json& result, std::string_view engine);

/// The sum over the PEs that worked of their programs' time of one cause.
[[nodiscard]] std::int64_t stalled_for(const Json& result, std::string_view cause);

/// The number of PEs that did any work.
[[nodiscard]] std::int64_t active_pes(const Json& result);
[[nodiscard]] std::vector<PeId> numbers_of_active_pes(const Json& result);

/// Bytes read and written per second of latency, in GB/s.
[[nodiscard]] double gigabytes_per_second(const Json& result);

/// A lower bound of the latency. Rows without one are left out.
struct BoundRow {
  std::string resource;
  std::int64_t compulsory = 0;
  std::int64_t issued = 0;
  std::optional<double> multiple;  ///< latency / compulsory; none where that is 0
};
[[nodiscard]] std::vector<BoundRow> bound_rows(const Json& result);

/// An engine that was used.
struct EngineUse {
  std::string name;  ///< of its operations among the counts
  std::int64_t operations = 0;
  std::int64_t busy = 0;  ///< per PE that worked
  double share = 0.0;
};
[[nodiscard]] std::vector<EngineUse> engines_used(const Json& result);

/// The time of the PEs that worked by cause, per PE. Causes without time are left out.
struct CauseRow {
  std::string name;
  std::int64_t time = 0;
  double share = 0.0;
};
[[nodiscard]] std::vector<CauseRow> cause_rows(const Json& result);

/// Neighbouring channels of a cube that moved the same bytes, more than none: the figures of each of them.
struct ChannelRow {
  std::string name;  ///< "cube0 ch0-15"
  std::int64_t read = 0;
  std::int64_t written = 0;
  double gigabytes_per_second = 0.0;
  double share_of_peak = 0.0;  ///< `hbm.bandwidth` / `hbm.channels`, before `efficiency`
};
[[nodiscard]] std::vector<ChannelRow> channel_rows(const Json& result);

/// The links between PEs in a direction in which any message was sent.
struct LinkRow {
  std::string direction;
  std::int64_t messages = 0;
  std::int64_t bytes = 0;
  double busiest_share = 0.0;  ///< of the time in which the busiest link moved bytes
  std::int64_t in_flight_peak = 0;
  double in_flight_average = 0.0;
};
[[nodiscard]] std::vector<LinkRow> link_rows(const Json& result);

}  // namespace kernwave::platform
