// Machines for random programs: a few numbers, each with the values that it may take.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "models/config/system_config.h"

namespace kernwave::testing {

/// Plain numbers, so that each can be varied, printed and set back to what is usual.
struct Machine {
  std::int64_t cubes = 1;
  std::int64_t pes_per_cube = 1;
  std::int64_t topology = 0;  ///< 0 ring, 1 line, 2 mesh
  std::int64_t scheduler_queue = 16;
  std::int64_t dispatch = 2;
  std::int64_t prefetch_depth = 2;
  std::int64_t gemm_extent = 8;  ///< rows and columns
  std::int64_t dataflow = 0;     ///< 0 ideal, 1 weight stationary, 2 output stationary
  std::int64_t serial_folds = 0;
  std::int64_t gemm_queue = 16;
  std::int64_t gemm_clock_multiple = 1;
  std::int64_t lanes = 16;
  std::int64_t math_queue = 16;
  std::int64_t math_clock_multiple = 1;
  std::int64_t scratch_kib = 64;
  std::int64_t scratch_bytes_per_cycle = 64;
  std::int64_t dma_gigabytes = 32;  ///< a second
  std::int64_t dma_setup_ns = 20;
  std::int64_t overlap_commands = 1;
  std::int64_t outstanding = 16;
  std::int64_t dma_queue = 16;
  std::int64_t burst = 0;  ///< bytes; 0: whole
  std::int64_t channels = 4;
  std::int64_t hbm_gigabytes = 64;  ///< a second
  std::int64_t hbm_latency_ns = 100;
  std::int64_t interleave = 64;
  std::int64_t hbm_queue = 16;
  std::int64_t hop_ns = 100;  ///< of messages and between cubes
  std::int64_t queue_slots = 2;
  std::int64_t window = 1;
  std::int64_t shared_link = 0;
  std::int64_t slot_bytes = 1024;

  [[nodiscard]] std::int64_t pes() const noexcept { return cubes * pes_per_cube; }
  [[nodiscard]] SystemConfig config() const;
  /// Scratch of one PE that is not slots of its queues.
  [[nodiscard]] std::int64_t scratch_for_tensors(std::int64_t pe) const;
  /// Memory so fast that only ports limit transfers: loads and stores do not hinder each other there.
  [[nodiscard]] bool has_ample_memory() const noexcept { return hbm_gigabytes >= ample_gigabytes; }
  static constexpr std::int64_t ample_gigabytes = 1'000'000;
};

/// A number of a machine that may be varied.
struct Knob {
  const char* name;
  std::int64_t Machine::*member;
  std::vector<std::int64_t> choices;
};

/// All but the numbers of cubes and PEs.
[[nodiscard]] const std::vector<Knob>& knobs();

/// Only what is not usual: "window 3, burst 64".
[[nodiscard]] std::string to_text(const Machine& machine);

}  // namespace kernwave::testing
