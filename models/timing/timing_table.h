// Tables of measured times, of silicon or RTL, as given timings of engines and links.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "models/config/system_config.h"
#include "models/timing/timing_grid.h"

namespace kernwave {

/// The kind of commands whose times a table holds.
enum class TimingSubject : std::uint8_t { gemm, math, dma, link };

/// "gemm", "math", "dma", "link"
[[nodiscard]] std::string_view name_of(TimingSubject subject);

/// Axes that a grid of the subject may have: `m`, `k`, `n` of gemm; `elements`, or `rows` and `cols`, of math;
/// `bytes`, `rows` of dma; `bytes` of link.
[[nodiscard]] std::vector<std::string_view> timing_axes(TimingSubject subject);
/// Conditions that an entry of the subject may have: `type`, `accumulates`, `back_to_back` of gemm; `operation`,
/// `type`, `axis`, `back_to_back` of math; `channel` of dma.
[[nodiscard]] std::vector<std::string_view> timing_conditions(TimingSubject subject);
/// The values that a condition may have, as a table writes them: "f16", "true", "exp", "read".
[[nodiscard]] std::vector<std::string> timing_condition_values(TimingSubject subject, std::string_view condition);

/// A grid of times, and the conditions of the commands that it is for.
struct TimingEntry {
  struct Condition {
    std::string name;
    std::string value;
  };

  std::vector<Condition> conditions;  ///< all of which a command must meet
  std::vector<std::string> axes;      ///< names, one for each axis of the grid
  TimingGrid grid;
};

enum class TimingUnit : std::uint8_t {
  cycles,  ///< of the engine's clock; of DMA, of the PE's
  picoseconds,
};

/// The time of a command for which there is no entry, or which lies outside the grids of its entries.
enum class OutsideTable : std::uint8_t {
  refuse,       ///< an error, which names the command
  formula,      ///< the model's own formula says
  extrapolate,  ///< the outermost cells of the first entry whose conditions are met are extended; refused if none is
};

/// Times of commands by their properties. A command takes the time of the first entry whose conditions it meets and
/// whose grid contains it.
struct TimingTable {
  std::string name;  ///< of its file, for messages
  TimingSubject subject = TimingSubject::gemm;
  TimingUnit unit = TimingUnit::cycles;
  std::int64_t fixed = 0;  ///< added to each command; of DMA, its setup
  OutsideTable outside = OutsideTable::refuse;
  std::vector<TimingEntry> entries;
};

/// Sets the timing of pe.gemm, pe.math or pe.dma to that of the table. Clocks, and the formula for commands outside the
/// table, are those of `config` at the time of the call. Throws std::invalid_argument if the table is of links, or
/// names an axis, a condition or a value that its subject does not have.
void apply(const TimingTable& table, PeConfig& config);

/// The timing of a table of links, whose unit must be picoseconds, and which must extrapolate.
[[nodiscard]] LinkTiming link_timing(const TimingTable& table);

}  // namespace kernwave
