#include "platform/report/roofline.h"

#include <algorithm>

#include "models/config/pe_kinds.h"
#include "models/protocol/engine.h"
#include "platform/results/recorded_machine.h"
#include "platform/results/result_figures.h"

namespace kernwave::platform {

namespace {

[[nodiscard]] std::int64_t cubes_used(const Json& result) {
  const Json::Object& cubes = result.at("channels").as_object();
  return std::count_if(cubes.begin(), cubes.end(), [](const Json::Member& cube) {
    const Json::Array& channels = cube.value.as_array();
    return std::any_of(channels.begin(), channels.end(), [](const Json& channel) {
      return channel.at("read").as_int() + channel.at("written").as_int() > 0;
    });
  });
}

[[nodiscard]] std::int64_t cycles_of_type(const GemmConfig& gemm, const Json& result) {
  const Json* dtype = result.at("shape").find("dtype");
  if (dtype != nullptr && dtype->as_string() == name_of(DType::f32)) return gemm.f32_cycles;
  if (dtype != nullptr && dtype->as_string() == name_of(DType::bf16)) return gemm.bf16_cycles;
  return gemm.f16_cycles;
}

/// Of one PE, flops a second.
[[nodiscard]] double peak_of_products(const PeConfig& pe, const Json& result) {
  return 2.0 * static_cast<double>(pe.gemm.rows) * static_cast<double>(pe.gemm.cols) *
         static_cast<double>(gemm_clock(pe).count()) / static_cast<double>(cycles_of_type(pe.gemm, result));
}

/// Of one PE, elementwise operations a second.
[[nodiscard]] double peak_of_vectors(const PeConfig& pe) {
  return static_cast<double>(math_clock(pe).count()) * static_cast<double>(pe.math.lanes);
}

}  // namespace

Roofline roofline(const Json& result) {
  Roofline line;
  const std::int64_t products = result.at("flops").at(name_of(Engine::gemm)).as_int();
  line.of_products = products > 0;
  line.flops = line.of_products ? products : result.at("flops").at(name_of(Engine::math)).as_int();
  line.bytes = result.at("bytes").at("read").as_int() + result.at("bytes").at("written").as_int();
  line.pes = active_pes(result);
  line.cubes = cubes_used(result);
  const std::int64_t latency = result.at("latency_ps").as_int();
  if (latency > 0) line.flops_per_second = static_cast<double>(line.flops) / (static_cast<double>(latency) * 1e-12);
  const SystemConfig machine = recorded_machine(result);
  for (const PeId id : numbers_of_active_pes(result)) {
    const PeConfig pe = pe_config(machine, id);
    line.peak_flops += line.of_products ? peak_of_products(pe, result) : peak_of_vectors(pe);
    line.dma_bandwidth += static_cast<double>(pe.dma.bandwidth.count());
  }
  line.hbm_bandwidth = static_cast<double>(line.cubes) * static_cast<double>(machine.hbm.bandwidth.count()) *
                       (static_cast<double>(machine.hbm.efficiency.count()) / 1e6);
  return line;
}

Json to_json(const Roofline& line) {
  return Json::object({{"of_products", line.of_products},
                       {"intensity", line.intensity()},
                       {"flops_per_second", line.flops_per_second},
                       {"peak_flops", line.peak_flops},
                       {"hbm_bandwidth", line.hbm_bandwidth},
                       {"dma_bandwidth", line.dma_bandwidth},
                       {"pes", line.pes},
                       {"cubes", line.cubes}});
}

}  // namespace kernwave::platform
