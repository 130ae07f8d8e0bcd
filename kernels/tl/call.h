// The arguments of a command to a user's engine.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <optional>
#include <type_traits>
#include <vector>

#include "kernels/tl/tensor.h"
#include "models/protocol/descriptor.h"

namespace kernwave::tl {

/// The tensors that a command to a user's engine reads and writes, its parameters and its issue cost.
class Call {
 public:
  /// One more tensor that the engine reads.
  Call reads(const Tensor& tensor) const {
    Call copy = *this;
    copy.reads_.push_back(tensor);
    return copy;
  }
  /// One more tensor that the engine writes; no broadcast view. An accumulator is given to both `reads` and `writes`.
  Call writes(const Tensor& tensor) const {
    Call copy = *this;
    copy.writes_.push_back(tensor);
    return copy;
  }
  /// A value for the engine alone, of at most 24 bytes.
  template <typename Parameters>
  Call parameters(const Parameters& value) const {
    static_assert(std::is_trivially_copyable_v<Parameters>, "the engine gets its bytes");
    static_assert(sizeof(Parameters) <= CallDescriptor::most_parameter_bytes, "a command has no room for more");
    Call copy = *this;
    std::memcpy(copy.parameters_.data(), &value, sizeof(value));
    return copy;
  }
  /// The issue cost, in cycles of the CPU of the PE. Default: `pe.issue.math`.
  Call issue_cost(Cycles cycles) const {
    Call copy = *this;
    copy.issue_cost_ = cycles;
    return copy;
  }

  [[nodiscard]] const std::vector<Tensor>& reads() const noexcept { return reads_; }
  [[nodiscard]] const std::vector<Tensor>& writes() const noexcept { return writes_; }
  [[nodiscard]] const std::array<std::uint8_t, CallDescriptor::most_parameter_bytes>& parameters() const noexcept {
    return parameters_;
  }
  [[nodiscard]] std::optional<Cycles> issue_cost() const noexcept { return issue_cost_; }

 private:
  std::vector<Tensor> reads_;
  std::vector<Tensor> writes_;
  std::array<std::uint8_t, CallDescriptor::most_parameter_bytes> parameters_{};
  std::optional<Cycles> issue_cost_;
};

}  // namespace kernwave::tl
