#include "platform/results/what_if.h"

#include <algorithm>
#include <array>

#include "models/config/pe_kinds.h"

namespace kernwave::platform {

namespace {

using traces::PathCause;

/// What becomes half as long.
[[nodiscard]] std::vector<PathCause> causes_of(Faster resource) {
  switch (resource) {
    case Faster::hbm:
      return {PathCause::hbm, PathCause::contention};
    case Faster::memory:
      return {PathCause::memory};
    case Faster::dma:
      return {PathCause::dma_read, PathCause::dma_write};
    case Faster::dma_setup:
      return {PathCause::dma_setup};
    case Faster::gemm:
      return {PathCause::gemm};
    case Faster::math:
      return {PathCause::math};
    case Faster::issue:
      return {PathCause::issue};
    case Faster::dispatch:
      return {PathCause::dispatch};
    case Faster::link:
      return {PathCause::link, PathCause::link_queue};
    case Faster::hop:
      break;
  }
  return {PathCause::hop};
}

[[nodiscard]] Cycles half(Cycles cycles) { return Cycles(ceil_div(cycles.count(), 2)); }
/// At least 1 ps, below which no latency of the model may fall.
[[nodiscard]] Picoseconds half(Picoseconds time) {
  return Picoseconds(std::max<std::int64_t>(1, ceil_div(time.count(), 2)));
}

[[nodiscard]] IssueCosts half(const IssueCosts& costs) {
  return {half(costs.load),      half(costs.store), half(costs.dot),    half(costs.math),
          half(costs.composite), half(costs.send),  half(costs.receive)};
}

/// A timing that is given knows nothing of clocks and bandwidths: its own times are changed. None stays none.
template <typename Timing, typename Change>
[[nodiscard]] Timing changed(const Timing& timing, Change change) {
  if (!timing) return timing;
  return {timing.name,
          [given = timing.function, change](const auto& work, const auto& start) { return change(given(work, start)); },
          timing.uses_formula};
}

[[nodiscard]] ServiceTime with_half_service(ServiceTime time) { return {half(time.taken), half(time.least)}; }
[[nodiscard]] TransferTime with_half_setup(TransferTime time) { return {half(time.setup), time.port}; }
[[nodiscard]] TransferTime with_half_port(TransferTime time) { return {time.setup, half(time.port)}; }
[[nodiscard]] Picoseconds with_half_time(Picoseconds time) { return half(time); }

}  // namespace

std::string_view name_of(Faster resource) noexcept {
  constexpr std::array<std::string_view, faster_count> names = {"hbm",  "memory", "dma",      "dma_setup", "gemm",
                                                                "math", "issue",  "dispatch", "link",      "hop"};
  return names[static_cast<std::size_t>(resource)];
}

std::string_view keys_of(Faster resource) noexcept {
  constexpr std::array<std::string_view, faster_count> keys = {"hbm.bandwidth x 2",
                                                               "hbm.latency and interconnect.hop_latency / 2",
                                                               "pe.dma.bandwidth x 2",
                                                               "pe.dma.setup / 2",
                                                               "pe.gemm.clock_multiple x 2",
                                                               "pe.math.clock_multiple x 2",
                                                               "pe.issue.* / 2",
                                                               "pe.scheduler.dispatch_latency / 2",
                                                               "ipcq.bandwidth x 2",
                                                               "ipcq.hop_latency / 2"};
  return keys[static_cast<std::size_t>(resource)];
}

SystemConfig twice_as_fast(const SystemConfig& config, Faster resource) {
  SystemConfig faster = config;
  switch (resource) {
    case Faster::hbm:
      faster.hbm.bandwidth = config.hbm.bandwidth * 2;
      break;
    case Faster::memory:
      faster.hbm.latency = half(config.hbm.latency);
      faster.interconnect.hop_latency = half(config.interconnect.hop_latency);
      break;
    case Faster::dma:
      change_every_pe(faster, [](PeConfig& pe) {
        pe.dma.bandwidth = pe.dma.bandwidth * 2;
        pe.dma.timing = changed(pe.dma.timing, with_half_port);
      });
      break;
    case Faster::dma_setup:
      change_every_pe(faster, [](PeConfig& pe) {
        pe.dma.setup = Picoseconds(ceil_div(pe.dma.setup.count(), 2));
        pe.dma.timing = changed(pe.dma.timing, with_half_setup);
      });
      break;
    case Faster::gemm:
      change_every_pe(faster, [](PeConfig& pe) {
        pe.gemm.clock_multiple *= 2;
        pe.gemm.timing = changed(pe.gemm.timing, with_half_service);
      });
      break;
    case Faster::math:
      change_every_pe(faster, [](PeConfig& pe) {
        pe.math.clock_multiple *= 2;
        pe.math.timing = changed(pe.math.timing, with_half_service);
      });
      break;
    case Faster::issue:
      change_every_pe(faster, [](PeConfig& pe) { pe.issue = half(pe.issue); });
      break;
    case Faster::dispatch:
      change_every_pe(faster,
                      [](PeConfig& pe) { pe.scheduler.dispatch_latency = half(pe.scheduler.dispatch_latency); });
      break;
    case Faster::link:
      faster.pe.ipcq.bandwidth = config.pe.ipcq.bandwidth * 2;
      faster.pe.ipcq.timing = changed(config.pe.ipcq.timing, with_half_time);
      break;
    case Faster::hop:
      faster.pe.ipcq.hop_latency = half(config.pe.ipcq.hop_latency);
      break;
  }
  return faster;
}

std::vector<Prediction> predict(const traces::PathSummary& path) {
  std::vector<Prediction> predictions;
  for (std::size_t i = 0; i < faster_count; ++i) {
    const auto resource = static_cast<Faster>(i);
    Picoseconds spent;
    for (const PathCause cause : causes_of(resource)) spent += path.causes[static_cast<std::size_t>(cause)];
    if (spent == Picoseconds(0)) continue;
    predictions.push_back({resource, path.latency - Picoseconds(spent.count() / 2)});
  }
  std::stable_sort(predictions.begin(), predictions.end(),
                   [](const Prediction& a, const Prediction& b) { return a.latency < b.latency; });
  return predictions;
}

}  // namespace kernwave::platform
