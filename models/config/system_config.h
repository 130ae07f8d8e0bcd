// The configuration of the modelled machine: every number as a plain checked value, with its unit in its type. The
// initial values of the members are the preset `ahbm` and the defaults of the keys.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "models/base/dtype.h"
#include "models/base/quantity.h"
#include "models/config/given_timing.h"

namespace kernwave {

/// Data mode. `full`: bytes move and results can be checked. `none`: no bytes move; the times are the same.
enum class DataMode : std::uint8_t { full, none };

/// Cycles that the CPU of a PE takes to issue one operation, by kind.
struct IssueCosts {
  Cycles load{8};
  Cycles store{8};
  Cycles dot{6};
  Cycles math{2};
  Cycles composite{12};
  Cycles send{8};
  Cycles receive{6};
};

struct SchedulerConfig {
  std::int64_t queue_depth = 16;    ///< commands accepted and not yet dispatched to an engine
  Cycles dispatch_latency{2};       ///< from accepting a command to presenting it to its engine
  std::int64_t prefetch_depth = 2;  ///< slots of a composite's staging area, one tile each
};

enum class GemmDataflow : std::uint8_t { ideal, weight_stationary, output_stationary };

/// `serial`: a fold starts when the one before it is done. `overlapped`: the next fold's weights load (weight
/// stationary) or the previous fold's results drain (output stationary) while this one streams.
enum class FoldOverlap : std::uint8_t { serial, overlapped };

struct GemmConfig {
  std::int64_t rows = 64;
  std::int64_t cols = 64;
  GemmDataflow dataflow = GemmDataflow::ideal;
  FoldOverlap folds = FoldOverlap::overlapped;
  /// Cycles of a multiply-accumulate by input type; 4 for f32 at a quarter of the rate.
  std::int64_t f32_cycles = 4;
  std::int64_t f16_cycles = 1;
  std::int64_t bf16_cycles = 1;
  std::int64_t clock_multiple = 1;  ///< the engine's clock, that of its scratch port too, in clocks of the PE
  std::int64_t queue_depth = 16;
  ServiceTiming timing;  ///< in the place of array, dataflow and scratch bandwidth
};

/// Cycles of one vector (`lanes` elements) by group of operations.
struct MathCycles {
  Cycles add{1};      ///< add, sub, neg, sum
  Cycles mul{1};      ///< mul
  Cycles max{1};      ///< maximum, minimum, abs, max, min
  Cycles compare{1};  ///< comparisons and logical operations
  Cycles where{1};
  Cycles cast{1};
  Cycles copy{1};  ///< copy, full, zeros, arange
  Cycles fma{1};
  Cycles exp{4};    ///< exp, exp2
  Cycles log{4};    ///< log, log2
  Cycles div{8};    ///< div, floor_div
  Cycles rsqrt{8};  ///< rsqrt, sqrt
};

struct MathConfig {
  std::int64_t lanes = 256;
  MathCycles cycles;
  std::int64_t clock_multiple = 1;  ///< the engine's clock in clocks of the PE
  std::int64_t queue_depth = 16;
  ServiceTiming timing;  ///< in the place of lanes and cycles
};

struct ScratchConfig {
  Bytes capacity{1 << 20};
  std::int64_t bytes_per_cycle = 512;
};

struct DmaConfig {
  Bandwidth bandwidth{128'000'000'000};  ///< of each channel, read and write
  Picoseconds setup{20'000};             ///< before a command's first request
  bool overlap_commands = true;          ///< setup and latency of the next command hide under this one's data
  /// Whether data mode `none` may write zeroes to a user's memory: the memory of a `Pe` outside a `System`, with a
  /// burst other than whole.
  bool zero_writes = false;
  std::int64_t max_outstanding = 16;  ///< requests in the memory at once, per channel
  std::int64_t queue_depth = 16;      ///< commands queued, per channel
  /// Longest request, a power of two; requests are then naturally aligned powers of two, as AXI-like memories expect.
  /// 0: one request for each command, which only kernwave's memory accepts.
  Bytes burst{0};
  TransferTiming timing;  ///< in the place of setup and bandwidth
};

/// The PEs to which the queues of a PE lead.
enum class IpcqTopology : std::uint8_t {
  ring,  ///< east and west: the same PE of the next and the previous cube, around; north and south: along the cube
  line,  ///< the same without the link between the last cube and the first
  mesh,  ///< all four inside the cube, whose PEs form the squarest possible grid
};

struct IpcqConfig {
  IpcqTopology topology = IpcqTopology::ring;
  std::int64_t depth = 2;                ///< slots of one direction at the receiver
  std::int64_t window = 1;               ///< messages of one direction that are sent and not yet received
  Bandwidth bandwidth{128'000'000'000};  ///< of one link
  Picoseconds hop_latency{100'000};      ///< from sending a message to its first data
  Bytes slot_bytes{0};                   ///< 0: as large as the kernel's largest message
  bool shared_per_cube = false;          ///< the PEs of a cube share one link a direction
  LinkTiming timing;                     ///< in the place of the bandwidth
};

struct PeConfig {
  Frequency clock{1'000'000'000};
  IssueCosts issue;
  SchedulerConfig scheduler;
  GemmConfig gemm;
  MathConfig math;
  ScratchConfig scratch;
  DmaConfig dma;
  IpcqConfig ipcq;
  /// The least stack of the host's thread in which a program runs; no property of the machine. Pages that the program
  /// does not touch cost nothing. SystemC protects the page beyond the end of the stack: a program that needs more
  /// stack ends with SIGSEGV and does not overwrite other memory.
  Bytes kernel_stack{std::int64_t{2} << 20};
};

/// Clocks of the engines.
[[nodiscard]] constexpr Frequency gemm_clock(const PeConfig& config) noexcept {
  return config.clock * config.gemm.clock_multiple;
}
[[nodiscard]] constexpr Frequency math_clock(const PeConfig& config) noexcept {
  return config.clock * config.math.clock_multiple;
}

struct HbmConfig {
  std::int64_t channels = 16;
  Bandwidth bandwidth{819'200'000'000};    ///< of the whole cube
  PartsPerMillion efficiency{1'000'000};   ///< share of it that is sustained
  Picoseconds latency{100'000};            ///< from request to first data
  Bytes interleave{256};                   ///< consecutive bytes in one channel
  std::int64_t queue_depth = 16;           ///< requests accepted per port and not yet answered
  Bytes capacity{std::int64_t{16} << 30};  ///< of one cube
};

/// The links between cubes, which lie on a ring.
struct InterconnectConfig {
  Bandwidth bandwidth{256'000'000'000};  ///< of one cube's port: what it sends to other cubes
  Picoseconds hop_latency{100'000};      ///< of one hop, there or back
  LinkTiming timing;                     ///< in the place of the bandwidth
};

/// The watch of a run; no property of the machine.
struct RunConfig {
  /// Simulated time without a completed or issued operation after which the run ends as `no_progress`; 0: never.
  Picoseconds no_progress_limit{10'000'000'000};
};

/// Numbers from first to last, both included.
struct PeRange {
  std::int64_t first = 0;
  std::int64_t last = 0;
};

/// PEs that differ from the others. `pe_config` says what a PE is.
struct PeKind {
  std::string name;
  std::vector<PeRange> pes;           ///< by their numbers in the machine
  std::vector<PeRange> of_each_cube;  ///< by their places in every cube
  PeConfig pe;
};

struct SystemConfig {
  std::int64_t cubes = 8;
  std::int64_t pes_per_cube = 8;
  PeConfig pe;                ///< of every PE that no kind names
  std::vector<PeKind> kinds;  ///< none names a PE of another
  HbmConfig hbm;
  InterconnectConfig interconnect;
  RunConfig run;
};

}  // namespace kernwave
