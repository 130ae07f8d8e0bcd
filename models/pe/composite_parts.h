// The parts of a composite, as plain functions of its descriptor: reads of tiles, products, steps of the epilogue.
#pragma once

#include "models/protocol/descriptor.h"

namespace kernwave {

/// The number of tiles. Tiles are numbered from 0 along the axis; the last one may be smaller.
[[nodiscard]] std::int64_t tiles_of(const CompositeDescriptor& composite) noexcept;
/// The number of factors in HBM: 0, 1 or 2.
[[nodiscard]] std::int64_t reads_per_tile(const CompositeDescriptor& composite) noexcept;
/// The number of epilogues. Along N every tile of the result has its own epilogue; along K the result has one, after
/// the last tile.
[[nodiscard]] std::int64_t epilogues_of(const CompositeDescriptor& composite) noexcept;
/// The size of a slot of the staging area: a tile of each factor in HBM, at multiples of 64 bytes.
[[nodiscard]] Bytes slot_bytes_of(const CompositeDescriptor& composite) noexcept;
[[nodiscard]] ScratchAddress slot_of(const CompositeDescriptor& composite, std::int64_t tile) noexcept;

/// The read of a tile of the `index`-th factor in HBM into its slot. Rows behind the stored rows are 0.
[[nodiscard]] DmaDescriptor read_of(const CompositeDescriptor& composite, std::int64_t tile, std::int64_t index);
[[nodiscard]] GemmDescriptor product_of(const CompositeDescriptor& composite, std::int64_t tile) noexcept;
/// Step `step` on the part of the result that epilogue `number` works on.
[[nodiscard]] MathDescriptor step_of(const CompositeDescriptor& composite, std::int64_t number,
                                     std::int64_t step) noexcept;

/// Numbers of the parts, from 1: tile by tile its reads, its product, its epilogue; along K the epilogue at the end.
[[nodiscard]] std::int32_t number_of_read(const CompositeDescriptor& composite, std::int64_t tile,
                                          std::int64_t index) noexcept;
[[nodiscard]] std::int32_t number_of_product(const CompositeDescriptor& composite, std::int64_t tile) noexcept;
[[nodiscard]] std::int32_t number_of_step(const CompositeDescriptor& composite, std::int64_t number,
                                          std::int64_t step) noexcept;

}  // namespace kernwave
