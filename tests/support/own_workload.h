// A kernel of the test's own in place of one of the catalogue's.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "kernels/tl/launch.h"
#include "platform/config/configuration.h"
#include "platform/run/simulate.h"
#include "platform/workload/workload.h"

namespace kernwave::testing {

/// Programs 0, 1 and 2 of `kernel` on PEs 0, 1 and 2, which receive up to 64 B from the north, and a result
/// that is as wrong as wanted.
class OwnWorkload : public platform::Workload {
 public:
  explicit OwnWorkload(tl::Kernel kernel, platform::NumericError error = {})
      : kernel_(std::move(kernel)), error_(std::move(error)) {}

  /// Called before the launch.
  std::function<void(System& system)> prepare;

  [[nodiscard]] platform::Json shape() const override { return platform::Json::object(); }
  [[nodiscard]] std::vector<std::string> plan() const override { return {}; }
  [[nodiscard]] DType dtype() const override { return DType::f16; }
  void place_data(System& /*system*/) const override {}
  void launch(System& system, tl::Policy policy) const override {
    if (prepare) prepare(system);
    tl::launch({&system.pe(PeId(0)), &system.pe(PeId(1)), &system.pe(PeId(2))}, {3, 1, 1}, kernel_, policy,
               {{Direction::north}, Bytes(64)});
  }
  void prepare_reference() override {}
  [[nodiscard]] platform::NumericError verify(const System& /*system*/) const override { return error_; }
  [[nodiscard]] std::vector<platform::CompulsoryWork> compulsory() const override { return {}; }

 private:
  tl::Kernel kernel_;
  platform::NumericError error_;
};

/// Of a run of such a workload on the preset ahbm, lazily.
[[nodiscard]] inline platform::RunRequest own_request(DataMode data, const platform::CheckRequest& checks = {}) {
  return {platform::load_configuration({"ahbm", {}}), "own", tl::Policy::lazy, data, "", checks};
}

}  // namespace kernwave::testing
