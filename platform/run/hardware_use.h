// The parts of the machine that a run used, and the user's keys that therefore had no effect.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "models/config/system_config.h"
#include "models/pe/pe_observer.h"
#include "platform/config/configuration.h"

namespace kernwave::platform {

/// The kinds of operations that completed in a run, those inside composites included.
class HardwareUse : public PeObserver {
 public:
  explicit HardwareUse(std::int64_t pes_per_cube) : pes_per_cube_(pes_per_cube) {}

  [[nodiscard]] bool takes_ends_ahead() const override { return true; }
  void completed(const CompletedOperation& operation) override;

  [[nodiscard]] bool computes(MathOp op) const noexcept { return math_[static_cast<std::size_t>(op)]; }
  [[nodiscard]] bool computes_elements() const noexcept;
  /// Products of that type.
  [[nodiscard]] bool multiplies(DType input) const noexcept { return products_[static_cast<std::size_t>(input)]; }
  [[nodiscard]] bool multiplies() const noexcept;

  // Issued by a program, not as a part of a composite.
  bool issues_loads = false;
  bool issues_stores = false;
  bool issues_products = false;
  bool issues_math = false;
  bool issues_composites = false;

  bool sends = false;                ///< messages
  bool sends_between_cubes = false;  ///< messages to a PE of another cube
  bool reaches_other_cubes = false;  ///< loads or stores in the HBM of another cube

 private:
  void note_issued(const Descriptor& descriptor);

  std::int64_t pes_per_cube_;
  std::array<bool, math_op_count> math_{};
  std::array<bool, static_cast<std::size_t>(DType::boolean) + 1> products_{};
};

/// A sentence for each reason why keys that the user has set had no effect in a run that has ended: "ipcq.hop_latency
/// and ipcq.depth have no effect in this run: no PE sends a message".
[[nodiscard]] std::vector<std::string> keys_without_effect(const Configuration& configuration, const HardwareUse& use);

}  // namespace kernwave::platform
