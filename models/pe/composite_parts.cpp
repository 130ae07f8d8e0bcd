#include "models/pe/composite_parts.h"

#include <algorithm>
#include <utility>

namespace kernwave {

namespace {

/// Extents along one dimension of a matrix.
struct Span {
  std::int32_t first = 0;
  std::int32_t count = 0;
};

/// A block of a factor: rows and columns of M x K or K x N.
struct Block {
  Span rows;
  Span cols;
};

[[nodiscard]] std::int32_t extent_of(const CompositeDescriptor& composite) noexcept {
  return composite.axis == CompositeAxis::n ? composite.out.cols : composite.k;
}

[[nodiscard]] Span span_of(const CompositeDescriptor& composite, std::int64_t tile) noexcept {
  const auto first = static_cast<std::int32_t>(tile * composite.tile);
  return Span{first, std::min(composite.tile, extent_of(composite) - first)};
}

[[nodiscard]] Span along_k(const CompositeDescriptor& composite, std::int64_t tile) noexcept {
  return composite.axis == CompositeAxis::k ? span_of(composite, tile) : Span{0, composite.k};
}

[[nodiscard]] Span along_n(const CompositeDescriptor& composite, std::int64_t tile) noexcept {
  return composite.axis == CompositeAxis::n ? span_of(composite, tile) : Span{0, composite.out.cols};
}

[[nodiscard]] Block block_of_a(const CompositeDescriptor& composite, std::int64_t tile) noexcept {
  return Block{Span{0, composite.out.rows}, along_k(composite, tile)};
}

[[nodiscard]] Block block_of_b(const CompositeDescriptor& composite, std::int64_t tile) noexcept {
  return Block{along_k(composite, tile), along_n(composite, tile)};
}

[[nodiscard]] Block as_stored(const CompositeFactor& factor, const Block& block) noexcept {
  return factor.transposed ? Block{block.cols, block.rows} : block;
}

[[nodiscard]] ScratchAddress moved(ScratchAddress address, std::int64_t bytes) noexcept {
  return ScratchAddress(address.count() + bytes);
}

/// Of a block in a slot, where it stands as it is stored in HBM.
[[nodiscard]] ScratchOperand staged(const CompositeFactor& factor, const Block& block, ScratchAddress place) noexcept {
  const Block stored = as_stored(factor, block);
  return ScratchOperand{place, stored.rows.count, stored.cols.count, stored.cols.count, 1, factor.dtype};
}

/// In a slot the tile of a comes first; a full one, so that the place of b's is the same in every slot.
[[nodiscard]] std::int64_t place_of_b(const CompositeDescriptor& composite) noexcept {
  if (!composite.a.in_hbm) return 0;
  return align_up(staged(composite.a, block_of_a(composite, 0), ScratchAddress()).bytes(), scratch_alignment).count();
}

/// Rows that do not exist need not have addresses either.
[[nodiscard]] DmaDescriptor read_block(const CompositeFactor& factor, const Block& block, ScratchAddress place) {
  const Block stored = as_stored(factor, block);
  const std::int64_t element = size_of(factor.dtype);
  const std::int64_t first = std::int64_t{stored.rows.first} * factor.row_stride + stored.cols.first;
  DmaDescriptor dma;
  dma.local = staged(factor, block, place);
  dma.valid_rows = std::clamp(factor.stored_rows - stored.rows.first, 0, stored.rows.count);
  dma.valid_cols = stored.cols.count;
  dma.region.base = dma.valid_rows == 0 ? factor.hbm() : factor.hbm() + Bytes(first * element);
  dma.region.rows = dma.valid_rows;
  dma.region.row_bytes = Bytes(stored.cols.count * element);
  dma.region.stride = Bytes(factor.row_stride * element);
  dma.padding = Padding::value;
  return dma;
}

/// Elements (row, col) and on of a view whose strides are in elements.
[[nodiscard]] ScratchAddress within(ScratchAddress address, std::int64_t row, std::int64_t row_stride, std::int64_t col,
                                    std::int64_t col_stride, DType dtype) noexcept {
  return moved(address, (row * row_stride + col * col_stride) * size_of(dtype));
}

/// A block as the matrix engine takes it.
[[nodiscard]] ScratchOperand operand_of(const CompositeFactor& factor, const Block& block,
                                        ScratchAddress place) noexcept {
  if (factor.in_hbm) {
    ScratchOperand view = staged(factor, block, place);
    if (factor.transposed) {
      std::swap(view.rows, view.cols);
      std::swap(view.row_stride, view.col_stride);
    }
    return view;
  }
  const ScratchAddress address =
      within(factor.scratch(), block.rows.first, factor.row_stride, block.cols.first, factor.col_stride, factor.dtype);
  return ScratchOperand{address,           block.rows.count,  block.cols.count,
                        factor.row_stride, factor.col_stride, factor.dtype};
}

[[nodiscard]] ScratchOperand columns(const ScratchOperand& whole, Span cols) noexcept {
  ScratchOperand view = whole;
  view.address = within(whole.address, 0, whole.row_stride, cols.first, whole.col_stride, whole.dtype);
  view.cols = cols.count;
  return view;
}

/// Where products are formed: in the result, or, if a cast makes the result, in f32 beside it.
[[nodiscard]] ScratchOperand product_view(const CompositeDescriptor& composite) noexcept {
  if (composite.out.dtype == DType::f32) return composite.out;
  return ScratchOperand{composite.product, composite.out.rows, composite.out.cols, composite.out.cols, 1, DType::f32};
}

[[nodiscard]] std::int64_t parts_per_tile(const CompositeDescriptor& composite) noexcept {
  const std::int64_t steps = composite.axis == CompositeAxis::n ? composite.steps : 0;
  return reads_per_tile(composite) + 1 + steps;
}

}  // namespace

std::int64_t tiles_of(const CompositeDescriptor& composite) noexcept {
  return ceil_div(extent_of(composite), composite.tile);
}

std::int64_t reads_per_tile(const CompositeDescriptor& composite) noexcept {
  return (composite.a.in_hbm ? 1 : 0) + (composite.b.in_hbm ? 1 : 0);
}

std::int64_t epilogues_of(const CompositeDescriptor& composite) noexcept {
  if (composite.steps == 0) return 0;
  return composite.axis == CompositeAxis::n ? tiles_of(composite) : 1;
}

Bytes slot_bytes_of(const CompositeDescriptor& composite) noexcept {
  const std::int64_t of_a = place_of_b(composite);
  if (!composite.b.in_hbm) return Bytes(of_a);
  return Bytes(of_a) +
         align_up(staged(composite.b, block_of_b(composite, 0), ScratchAddress()).bytes(), scratch_alignment);
}

ScratchAddress slot_of(const CompositeDescriptor& composite, std::int64_t tile) noexcept {
  const std::int64_t slot = (composite.first_slot + tile) % composite.slots;
  return moved(composite.staging, slot * composite.slot_bytes);
}

DmaDescriptor read_of(const CompositeDescriptor& composite, std::int64_t tile, std::int64_t index) {
  const ScratchAddress slot = slot_of(composite, tile);
  if (composite.a.in_hbm && index == 0) return read_block(composite.a, block_of_a(composite, tile), slot);
  return read_block(composite.b, block_of_b(composite, tile), moved(slot, place_of_b(composite)));
}

GemmDescriptor product_of(const CompositeDescriptor& composite, std::int64_t tile) noexcept {
  const ScratchAddress slot = reads_per_tile(composite) > 0 ? slot_of(composite, tile) : ScratchAddress();
  const bool adds = composite.accumulate || (composite.axis == CompositeAxis::k && tile > 0);
  return GemmDescriptor{operand_of(composite.a, block_of_a(composite, tile), slot),
                        operand_of(composite.b, block_of_b(composite, tile), moved(slot, place_of_b(composite))),
                        columns(product_view(composite), along_n(composite, tile)), adds};
}

MathDescriptor step_of(const CompositeDescriptor& composite, std::int64_t number, std::int64_t step) noexcept {
  const CompositeStep& work = composite.epilogue[static_cast<std::size_t>(step)];
  const Span cols = along_n(composite, number);
  MathDescriptor math;
  math.op = work.op;
  math.in[0].tensor = columns(product_view(composite), cols);
  math.inputs = 1;
  math.out = work.op == MathOp::cast ? columns(composite.out, cols) : math.in[0].tensor;
  if (work.operand == CompositeStep::Operand::none) return math;
  math.inputs = 2;
  MathOperand& other = math.in[1];
  if (work.operand == CompositeStep::Operand::number) {
    other.is_immediate = true;
    other.immediate = work.number;
  } else {
    other.tensor = columns(
        {work.address, composite.out.rows, composite.out.cols, work.row_stride, work.col_stride, work.dtype}, cols);
  }
  return math;
}

std::int32_t number_of_read(const CompositeDescriptor& composite, std::int64_t tile, std::int64_t index) noexcept {
  return static_cast<std::int32_t>(1 + tile * parts_per_tile(composite) + index);
}

std::int32_t number_of_product(const CompositeDescriptor& composite, std::int64_t tile) noexcept {
  return number_of_read(composite, tile, reads_per_tile(composite));
}

std::int32_t number_of_step(const CompositeDescriptor& composite, std::int64_t number, std::int64_t step) noexcept {
  const std::int64_t tile = composite.axis == CompositeAxis::n ? number : tiles_of(composite) - 1;
  return static_cast<std::int32_t>(number_of_product(composite, tile) + 1 + step);
}

}  // namespace kernwave
