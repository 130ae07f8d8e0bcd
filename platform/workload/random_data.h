// Random inputs that are the same on every machine and in any order.
#pragma once

#include <cstdint>
#include <vector>

#include "models/base/dtype.h"

namespace kernwave::platform {

/// Rounds values, in place, to the nearest of a float type, ties to even.
void round_to(DType dtype, float* values, std::int64_t count);

/// A tensor of independent, nearly normal values of mean 0 and variance 1. Each element is a function of (seed, tensor,
/// index) alone, so that any part can be made without the others.
///
/// Element i is made of the i-th 64-bit word of the SplitMix64 sequence (Steele, Lea, Flood, "Fast splittable
/// pseudorandom number generators", 2014) that starts at a mix of seed and tensor: the sum of the word's four 16-bit
/// digits, centred and scaled (Irwin-Hall of four: bounded by 2 sqrt(3), kurtosis 2.7). Integers until one last
/// multiplication, so no mathematical library takes part.
class RandomTensor {
 public:
  RandomTensor(std::uint64_t seed, std::uint64_t tensor) noexcept;

  [[nodiscard]] float operator[](std::int64_t index) const noexcept;
  /// Elements first, first + 1, ..., rounded to a storage type.
  void write(std::int64_t first, std::int64_t count, DType dtype, float* out) const;
  [[nodiscard]] std::vector<float> values(std::int64_t first, std::int64_t count, DType dtype) const;

 private:
  std::uint64_t start_;
};

}  // namespace kernwave::platform
