#include "platform/report/roofline.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "platform/results/summary.h"
#include "platform/text/units.h"

namespace kernwave::platform {

namespace {

[[nodiscard]] std::string value_of(const Json& result, const std::string& key) {
  return result.at("config").at(key).as_string();
}

[[nodiscard]] double count_of(const Json& result, const std::string& key) {
  return static_cast<double>(parse_count(value_of(result, key)));
}

[[nodiscard]] std::int64_t cubes_used(const Json& result) {
  const Json::Object& cubes = result.at("channels").as_object();
  return std::count_if(cubes.begin(), cubes.end(), [](const Json::Member& cube) {
    const Json::Array& channels = cube.value.as_array();
    return std::any_of(channels.begin(), channels.end(), [](const Json& channel) {
      return channel.at("read").as_int() + channel.at("written").as_int() > 0;
    });
  });
}

/// Of one PE, flops a cycle.
[[nodiscard]] double peak_of_products(const Json& result) {
  const Json* dtype = result.at("shape").find("dtype");
  const std::string name = dtype == nullptr ? "f16" : dtype->as_string();
  return 2.0 * count_of(result, "pe.gemm.rows") * count_of(result, "pe.gemm.cols") /
         count_of(result, fmt::format("pe.gemm.{}_cycles", name));
}

}  // namespace

Roofline roofline(const Json& result) {
  Roofline line;
  const std::int64_t products = result.at("flops").at("gemm").as_int();
  line.of_products = products > 0;
  line.flops = line.of_products ? products : result.at("flops").at("math").as_int();
  line.bytes = result.at("bytes").at("read").as_int() + result.at("bytes").at("written").as_int();
  line.pes = active_pes(result);
  line.cubes = cubes_used(result);
  const std::int64_t latency = result.at("latency_ps").as_int();
  if (latency > 0) line.flops_per_second = static_cast<double>(line.flops) / (static_cast<double>(latency) * 1e-12);
  const auto pes = static_cast<double>(line.pes);
  const auto clock = static_cast<double>(parse_frequency(value_of(result, "pe.clock")).count());
  line.peak_flops = pes * clock * (line.of_products ? peak_of_products(result) : count_of(result, "pe.math.lanes"));
  line.hbm_bandwidth = static_cast<double>(line.cubes) *
                       static_cast<double>(parse_bandwidth(value_of(result, "hbm.bandwidth")).count()) *
                       std::stod(value_of(result, "hbm.efficiency"));
  line.dma_bandwidth = pes * static_cast<double>(parse_bandwidth(value_of(result, "pe.dma.bandwidth")).count());
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
