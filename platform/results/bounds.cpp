#include "platform/results/bounds.h"

#include <algorithm>

#include "models/base/bandwidth_server.h"
#include "models/base/clock.h"
#include "models/base/exact_time.h"
#include "models/pe/gemm_timing.h"

namespace kernwave::platform {

namespace {

/// ceil(bytes / (bandwidth x efficiency)) of a whole cube.
[[nodiscard]] Picoseconds cube_time(const HbmConfig& hbm, Bytes bytes) {
  BandwidthServer channels(ByteTime(hbm.bandwidth, hbm.efficiency, 1));
  return channels.round_up(channels.stream(Picoseconds(0), bytes));
}

void raise(Bounds& bounds, Resource resource, Picoseconds time) { bounds[resource] = std::max(bounds[resource], time); }

/// time x part / whole, rounded down: a bound must not be too large.
[[nodiscard]] Picoseconds share(Picoseconds time, std::int64_t part, std::int64_t whole) {
  if (whole == 0) return Picoseconds(0);
  return Picoseconds(static_cast<std::int64_t>(Int128{time.count()} * part / whole));
}

/// What the data of the channel need of its port.
[[nodiscard]] Picoseconds port_time(const Pe& pe, Engine channel) {
  const DmaConfig& dma = pe.config().dma;
  const EngineStatistics statistics = pe.statistics(channel);
  return dma.timing ? statistics.given_port : duration(statistics.bytes, dma.bandwidth);
}

/// The same of that many bytes, which the channel has moved at least. With a timing that is given: their share.
[[nodiscard]] Picoseconds port_time(const Pe& pe, Engine channel, Bytes bytes) {
  const DmaConfig& dma = pe.config().dma;
  if (!dma.timing) return duration(bytes, dma.bandwidth);
  return share(port_time(pe, channel), bytes.count(), pe.statistics(channel).bytes.count());
}

/// Of the engines of one PE. A share of the work is an equal one where the workload cannot say who has how much of it:
/// what the PE did not do bounds nothing.
void raise_by_engines(Bounds& bounds, const Pe& pe, const CompulsoryWork& mine, DType dtype) {
  const PeConfig& config = pe.config();
  const Bytes read = std::min(mine.read, pe.statistics(Engine::dma_read).bytes);
  const Bytes written = std::min(mine.written, pe.statistics(Engine::dma_write).bytes);
  raise(bounds, Resource::dma_read, port_time(pe, Engine::dma_read, read));
  raise(bounds, Resource::dma_write, port_time(pe, Engine::dma_write, written));
  const GemmWork issued = pe.gemm_work();
  const std::int64_t macs = std::min(mine.multiply_accumulates, issued.multiply_accumulates);
  const Picoseconds dataflow = share(issued.dataflow, macs, issued.multiply_accumulates);
  GemmConfig ideal = config.gemm;
  ideal.dataflow = GemmDataflow::ideal;
  const Cycles cycles = dataflow_cycles(ideal, {macs, 1, 1}, dtype, GemmStart::back_to_back);
  raise(bounds, Resource::gemm_ideal, config.gemm.timing ? dataflow : Clock(gemm_clock(config))(cycles));
  raise(bounds, Resource::gemm_dataflow, dataflow);
  if (!config.math.timing) raise(bounds, Resource::math, Clock(math_clock(config))(mine.math));
}

}  // namespace

std::string_view name_of(Resource resource) noexcept {
  constexpr std::array<std::string_view, resource_count> names = {
      "hbm_read",   "hbm_write",     kernwave::name_of(Engine::dma_read), kernwave::name_of(Engine::dma_write),
      "gemm_ideal", "gemm_dataflow", kernwave::name_of(Engine::math),     kernwave::name_of(Engine::ipcq),
      "issue"};
  return names[static_cast<std::size_t>(resource)];
}

Resource Bounds::largest() const {
  const auto longest = std::max_element(times.begin(), times.end());
  const auto found = static_cast<Resource>(longest - times.begin());
  return found == Resource::gemm_ideal ? Resource::gemm_dataflow : found;
}

Bounds compulsory_bounds(const System& system, const std::vector<CompulsoryWork>& work, DType dtype) {
  const SystemConfig& config = system.config();
  Bounds bounds;
  std::vector<CompulsoryWork> cubes(static_cast<std::size_t>(config.cubes));
  for (std::size_t i = 0; i < work.size(); ++i) {
    const Pe& pe = system.pe(PeId(static_cast<std::int64_t>(i)));
    raise_by_engines(bounds, pe, work[i], dtype);
    CompulsoryWork& cube = cubes[i / static_cast<std::size_t>(config.pes_per_cube)];
    cube.read += work[i].read;
    cube.written += work[i].written;
  }
  for (const CompulsoryWork& cube : cubes) {
    raise(bounds, Resource::hbm_read, cube_time(config.hbm, cube.read));
    raise(bounds, Resource::hbm_write, cube_time(config.hbm, cube.written));
  }
  return bounds;
}

Bounds issued_bounds(const System& system) {
  const SystemConfig& config = system.config();
  Bounds bounds;
  for (std::int64_t i = 0; i < system.pe_count(); ++i) {
    const Pe& pe = system.pe(PeId(i));
    raise(bounds, Resource::dma_read, port_time(pe, Engine::dma_read));
    raise(bounds, Resource::dma_write, port_time(pe, Engine::dma_write));
    raise(bounds, Resource::gemm_ideal, pe.gemm_work().ideal);
    raise(bounds, Resource::gemm_dataflow, pe.gemm_work().dataflow);
    raise(bounds, Resource::math, pe.statistics(Engine::math).busy);
    for (std::size_t d = 0; d < direction_count; ++d) {
      const IpcqLink* link = system.queue_link(pe.id(), static_cast<Direction>(d));
      if (link == nullptr) continue;
      const LinkStatistics& carried = link->statistics();
      raise(bounds, Resource::ipcq,
            config.pe.ipcq.timing ? carried.busy : duration(carried.bytes, config.pe.ipcq.bandwidth));
    }
    raise(bounds, Resource::issue, pe.cpu().account().of(TimeCause::issue));
  }
  for (std::int64_t i = 0; i < config.cubes; ++i) {
    Bytes read;
    Bytes written;
    for (const ChannelStatistics& channel : system.cube(CubeId(i)).hbm().statistics()) {
      read += channel.read;
      written += channel.written;
    }
    raise(bounds, Resource::hbm_read, cube_time(config.hbm, read));
    raise(bounds, Resource::hbm_write, cube_time(config.hbm, written));
  }
  return bounds;
}

}  // namespace kernwave::platform
