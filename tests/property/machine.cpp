#include "tests/property/machine.h"

#include <fmt/format.h>

#include "models/ipcq/topology.h"

namespace kernwave::testing {

namespace {

constexpr std::int64_t giga = 1'000'000'000;

void set_engines(const Machine& machine, PeConfig& pe) {
  pe.scheduler.queue_depth = machine.scheduler_queue;
  pe.scheduler.dispatch_latency = Cycles(machine.dispatch);
  pe.scheduler.prefetch_depth = machine.prefetch_depth;
  pe.gemm.rows = machine.gemm_extent;
  pe.gemm.cols = machine.gemm_extent;
  pe.gemm.dataflow = static_cast<GemmDataflow>(machine.dataflow);
  pe.gemm.folds = machine.serial_folds != 0 ? FoldOverlap::serial : FoldOverlap::overlapped;
  pe.gemm.queue_depth = machine.gemm_queue;
  pe.gemm.clock_multiple = machine.gemm_clock_multiple;
  pe.math.lanes = machine.lanes;
  pe.math.queue_depth = machine.math_queue;
  pe.math.clock_multiple = machine.math_clock_multiple;
  pe.scratch.capacity = Bytes(machine.scratch_kib * 1024);
  pe.scratch.bytes_per_cycle = machine.scratch_bytes_per_cycle;
}

void set_transfers(const Machine& machine, SystemConfig& config) {
  DmaConfig& dma = config.pe.dma;
  dma.bandwidth = Bandwidth(machine.dma_gigabytes * giga);
  dma.setup = Picoseconds(machine.dma_setup_ns * 1000);
  dma.overlap_commands = machine.overlap_commands != 0;
  dma.max_outstanding = machine.outstanding;
  dma.queue_depth = machine.dma_queue;
  dma.burst = Bytes(machine.burst);
  dma.zero_writes = true;
  config.hbm.channels = machine.channels;
  config.hbm.bandwidth = Bandwidth(machine.hbm_gigabytes * giga);
  config.hbm.latency = Picoseconds(machine.hbm_latency_ns * 1000);
  config.hbm.interleave = Bytes(machine.interleave);
  config.hbm.queue_depth = machine.hbm_queue;
  config.interconnect.hop_latency = Picoseconds(machine.hop_ns * 1000);
  IpcqConfig& ipcq = config.pe.ipcq;
  ipcq.topology = static_cast<IpcqTopology>(machine.topology);
  ipcq.depth = machine.queue_slots;
  ipcq.window = machine.window;
  ipcq.hop_latency = Picoseconds(machine.hop_ns * 1000);
  ipcq.shared_per_cube = machine.shared_link != 0;
}

}  // namespace

SystemConfig Machine::config() const {
  SystemConfig config;
  config.cubes = cubes;
  config.pes_per_cube = pes_per_cube;
  set_engines(*this, config.pe);
  set_transfers(*this, config);
  return config;
}

std::int64_t Machine::scratch_for_tensors(std::int64_t pe) const {
  const auto directions = static_cast<std::int64_t>(neighbours(config(), PeId(pe)).size());
  return scratch_kib * 1024 - directions * queue_slots * slot_bytes;
}

const std::vector<Knob>& knobs() {
  static const std::vector<Knob> all = {
      {"topology", &Machine::topology, {0, 0, 1, 2}},
      {"scheduler_queue", &Machine::scheduler_queue, {1, 2, 4, 16}},
      {"dispatch", &Machine::dispatch, {1, 2, 2, 7}},
      {"prefetch_depth", &Machine::prefetch_depth, {1, 2, 3, 4}},
      {"gemm_extent", &Machine::gemm_extent, {2, 4, 8, 16}},
      {"dataflow", &Machine::dataflow, {0, 1, 2}},
      {"serial_folds", &Machine::serial_folds, {0, 0, 1}},
      {"gemm_queue", &Machine::gemm_queue, {1, 2, 16}},
      {"gemm_clock_multiple", &Machine::gemm_clock_multiple, {1, 1, 3}},
      {"lanes", &Machine::lanes, {4, 16, 64}},
      {"math_queue", &Machine::math_queue, {1, 2, 16}},
      {"math_clock_multiple", &Machine::math_clock_multiple, {1, 1, 2}},
      {"scratch_kib", &Machine::scratch_kib, {16, 32, 64}},
      {"scratch_bytes_per_cycle", &Machine::scratch_bytes_per_cycle, {16, 64, 512}},
      {"dma_gigabytes", &Machine::dma_gigabytes, {8, 32, 128}},
      {"dma_setup_ns", &Machine::dma_setup_ns, {0, 20}},
      {"overlap_commands", &Machine::overlap_commands, {0, 1, 1}},
      {"outstanding", &Machine::outstanding, {1, 2, 16}},
      {"dma_queue", &Machine::dma_queue, {1, 2, 16}},
      {"burst", &Machine::burst, {0, 0, 0, 16, 64, 256}},
      {"channels", &Machine::channels, {1, 2, 3, 8}},
      {"hbm_gigabytes", &Machine::hbm_gigabytes, {8, 64, 256, Machine::ample_gigabytes}},
      {"hbm_latency_ns", &Machine::hbm_latency_ns, {1, 30, 100}},
      {"interleave", &Machine::interleave, {32, 64, 256}},
      {"hbm_queue", &Machine::hbm_queue, {1, 2, 16}},
      {"hop_ns", &Machine::hop_ns, {1, 20, 100}},
      {"queue_slots", &Machine::queue_slots, {1, 2, 3}},
      {"window", &Machine::window, {1, 2, 3}},
      {"shared_link", &Machine::shared_link, {0, 1}},
      {"slot_bytes", &Machine::slot_bytes, {256, 1024}},
  };
  return all;
}

std::string to_text(const Machine& machine) {
  std::string text = fmt::format("{} cubes of {} PEs", machine.cubes, machine.pes_per_cube);
  const Machine usual;
  for (const Knob& knob : knobs()) {
    if (machine.*knob.member != usual.*knob.member) text += fmt::format(", {} {}", knob.name, machine.*knob.member);
  }
  return text;
}

}  // namespace kernwave::testing
