#include "platform/config/presets.h"

#include <algorithm>

namespace kernwave::platform {
namespace {

constexpr std::string_view ahbm = R"toml(
# A near-memory accelerator on which decode is bound by bandwidth and prefill by the matrix engines.

[system]
cubes = 8                        # one HBM stack each
pes_per_cube = 8

[pe]
clock = "1 GHz"

[pe.issue]                       # what the CPU spends to issue one operation
load = 8
store = 8
dot = 6
math = 2
composite = 12
send = 8
receive = 6

[pe.scheduler]
queue_depth = 16
dispatch_latency = 2
prefetch_depth = 2               # tiles that a composite's staging area holds

[pe.gemm]
rows = 64                        # 64 x 64 multiply-accumulators
cols = 64
dataflow = "ideal"               # no fill and no drain
folds = "overlapped"
f32_cycles = 4                   # a quarter of the f16 rate
f16_cycles = 1
bf16_cycles = 1
clock_multiple = 1
queue_depth = 16

[pe.math]
lanes = 256
clock_multiple = 1
queue_depth = 16

[pe.math.cycles]                 # of one vector of `lanes` elements
add = 1
mul = 1
max = 1
compare = 1
where = 1
cast = 1
copy = 1
fma = 1
exp = 4
log = 4
div = 8
rsqrt = 8

[pe.scratch]
capacity = "1 MiB"
bandwidth = "512 B/cycle"

[pe.dma]                         # a read channel and a write channel of these numbers each
bandwidth = "128 GB/s"           # 8 PEs together can ask for a little more than their cube's HBM gives
setup = "20 ns"
overlap_commands = true
max_outstanding = 16
queue_depth = 16
burst = "whole"
zero_writes = false              # data mode none leaves a memory that is not the model's own alone

[ipcq]                           # queues between PEs, one link a PE and direction
topology = "ring"                # east and west: the same PE of the next cubes
depth = 2
window = 1
bandwidth = "128 GB/s"
hop_latency = "100 ns"
slot_bytes = "auto"
shared_per_cube = false

[hbm]                            # of one cube
channels = 16
bandwidth = "819.2 GB/s"
efficiency = 1.0                 # no refresh and no row misses
latency = "100 ns"               # the local interconnect included
interleave = "256 B"
queue_depth = 16
capacity = "16 GiB"

[interconnect]                   # between cubes, which lie on a ring
bandwidth = "256 GB/s"           # one cube's port to the others: two DMA channels fill it
hop_latency = "100 ns"           # there and again on the way back

[run]                            # nothing of the machine
no_progress_limit = "10 ms"      # without any, a run is given up
kernel_stack = "2 MiB"           # of the host's memory, for a kernel on one PE
)toml";

constexpr std::string_view ahbm_ws = R"toml(
preset = "ahbm"

[pe.gemm]
dataflow = "weight_stationary"   # a systolic array that pays for fill and drain
folds = "overlapped"             # the next fold's weights load while this one streams
)toml";

}  // namespace

const std::vector<Preset>& shipped_presets() {
  static const std::vector<Preset> presets{
      {default_preset, "8 cubes of 8 PEs at 1 GHz, ideal 64 x 64 GEMM, 819.2 GB/s of HBM a cube", ahbm},
      {"ahbm-ws", "ahbm with weight-stationary systolic GEMM, folds overlapped", ahbm_ws},
  };
  return presets;
}

const Preset* find_preset(std::string_view name) {
  const std::vector<Preset>& presets = shipped_presets();
  const auto found =
      std::find_if(presets.begin(), presets.end(), [name](const Preset& preset) { return preset.name == name; });
  return found == presets.end() ? nullptr : &*found;
}

}  // namespace kernwave::platform
