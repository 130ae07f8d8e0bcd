// A kernel of one's own, in the kernel language.
#pragma once

#include <kernwave/kernels/tl/context.h>

#include <cstdint>

namespace consumer {

constexpr std::int64_t rows = 16;
constexpr std::int64_t cols = 16;

/// Where the kernel's arguments lie.
struct ScaleAndShift {
  kernwave::HbmAddress x;
  kernwave::HbmAddress y;
  float scale = 1.0F;
  float shift = 0.0F;
};

/// y = x * scale + shift, f32.
inline void scale_and_shift(kernwave::tl::Context& tl, const ScaleAndShift& args) {
  const auto x = tl.load(args.x, {rows, cols}, kernwave::DType::f32);
  tl.store(args.y, tl.fma(x, args.scale, args.shift));  // waits for x, then for the result
}

}  // namespace consumer
