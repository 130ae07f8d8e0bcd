// The roofline of a run: operations per byte, the rate achieved, and the rate that the machine allows.
#pragma once

#include <cstdint>

#include "platform/json/json.h"
#include "platform/results/quotient.h"

namespace kernwave::platform {

/// Floating-point operations of the products; of a run without products, those of MATH.
struct Roofline {
  bool of_products = true;
  std::int64_t flops = 0;
  std::int64_t bytes = 0;         ///< between HBM and scratch
  double flops_per_second = 0.0;  ///< achieved: flops / latency
  double peak_flops = 0.0;        ///< per second, of the PEs that worked
  double hbm_bandwidth = 0.0;     ///< bytes per second that the cubes sustain that carried anything
  double dma_bandwidth = 0.0;     ///< bytes per second of the read channels of the PEs that worked
  std::int64_t pes = 0;           ///< that worked
  std::int64_t cubes = 0;         ///< that carried anything

  /// Flops a byte; 0 if nothing was moved.
  [[nodiscard]] double intensity() const noexcept { return quotient(flops, bytes); }
};

/// Throws JsonError or ParseError where the document's configuration cannot be read.
[[nodiscard]] Roofline roofline(const Json& result);

[[nodiscard]] Json to_json(const Roofline& roofline);

}  // namespace kernwave::platform
