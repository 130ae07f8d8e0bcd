// Loads, stores and tensor descriptors.
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "kernels/tl/context.h"

namespace kernwave::tl {

namespace {

[[nodiscard]] Descriptor dma_descriptor(Engine engine, const DmaDescriptor& dma) {
  Descriptor descriptor;
  descriptor.engine = engine;
  descriptor.work = dma;
  return descriptor;
}

}  // namespace

/// A matrix moves row by row. A vector with a stride moves as a column of single elements.
Context::Transfer Context::plan_transfer(const char* operation, HbmAddress address, const Tensor& tensor,
                                         const TransferExtent& extent, SourceLocation where) const {
  const Shape& shape = tensor.shape();
  const Shape valid = extent.valid.value_or(shape);
  const bool fits = valid.rank() == shape.rank() && valid.rows() >= 0 && valid.cols() >= 0 &&
                    valid.rows() <= shape.rows() && valid.cols() <= shape.cols();
  if (!fits) {
    fail(operation, where,
         fmt::format("the valid part {} does not lie inside the shape {}", to_string(valid), to_string(shape)));
  }
  const bool vector = shape.rank() == 1;
  const auto strides = extent.strides.value_or(std::array<std::int64_t, 2>{vector ? 1 : shape[1], 1});
  require(vector || strides[1] == 1, operation, where,
          "the innermost stride must be 1; load the other way round and use trans", tensor);
  check_stride(operation, strides[0], shape, tensor.dtype(), where);
  const std::int64_t element = size_of(tensor.dtype());
  Transfer transfer;
  transfer.local = tensor.operand();
  const bool column = vector && strides[0] != 1;
  if (column) {
    std::swap(transfer.local.rows, transfer.local.cols);
    std::swap(transfer.local.row_stride, transfer.local.col_stride);
  }
  transfer.valid_rows = static_cast<std::int32_t>(column ? valid.cols() : valid.rows());
  transfer.valid_cols = static_cast<std::int32_t>(column ? 1 : valid.cols());
  transfer.region.base = address;
  transfer.region.rows = transfer.valid_rows;
  transfer.region.row_bytes = Bytes(transfer.valid_cols * element);
  transfer.region.stride = vector && !column ? transfer.region.row_bytes : Bytes(strides[0] * element);
  check_region(operation, transfer.region, shape, tensor.dtype(), where);
  return transfer;
}

void Context::check_stride(const char* operation, std::int64_t stride, const Shape& shape, DType dtype,
                           SourceLocation where) const {
  const bool fits = stride <= std::numeric_limits<std::int64_t>::max() / size_of(dtype);
  if (stride >= 0 && fits) return;
  fail(operation, where,
       fmt::format("{}: {} {} with {} elements from one row to the next",
                   fits ? "strides must not be negative" : "the addresses go beyond 64 bits", to_string(shape),
                   name_of(dtype), stride));
}

void Context::check_region(const char* operation, const HbmRegion& region, const Shape& shape, DType dtype,
                           SourceLocation where) const {
  const HbmAddress base = region.base;
  const std::optional<Bytes> extent = region.extent();
  const std::uint64_t left = std::numeric_limits<std::uint64_t>::max() - base.value();
  const bool has_addresses = extent && static_cast<std::uint64_t>(extent->count()) <= left;
  const Bytes last_row = has_addresses && region.rows > 0 ? *extent - region.row_bytes : Bytes(0);
  const bool leaves_cube = pe_.memory_is_own() && last_row.count() >= HbmAddress::cube_bytes - base.offset().count();
  if (has_addresses && !leaves_cube) return;
  fail(operation, where,
       fmt::format("{}: {} {} at cube {}, offset {:#x}, {} rows with {} B from one to the next",
                   leaves_cube ? "the rows go beyond the addresses of a cube" : "the addresses go beyond 64 bits",
                   to_string(shape), name_of(dtype), base.cube().count(), base.offset().count(), region.rows,
                   region.stride.count()));
}

Tensor Context::load(HbmAddress address, const Shape& shape, DType dtype, const LoadOptions& options,
                     SourceLocation where) {
  constexpr const char* operation = "load";
  const bool overwrites = options.into().has_value();
  if (overwrites) {
    const Tensor& target = *options.into();
    check_alive(operation, target, where);
    if (target.shape() != shape || target.dtype() != dtype || !target.contiguous()) {
      fail(operation, where,
           fmt::format("into= is {} {}, the load {} {}; they must agree, and into= must be dense",
                       to_string(target.shape()), name_of(target.dtype()), to_string(shape), name_of(dtype)));
    }
    await_overwrite(target);
    pe_.scratch().poison(target.operand());
  }
  const Tensor tensor = overwrites ? *options.into() : allocate(operation, shape, dtype, where);
  const Transfer transfer = plan_transfer(operation, address, tensor, options.extent(), where);
  await_memory_order(transfer.region, false);

  DmaDescriptor dma;
  dma.region = transfer.region;
  dma.local = transfer.local;
  dma.valid_rows = transfer.valid_rows;
  dma.valid_cols = transfer.valid_cols;
  if (options.other()) {
    dma.padding = Padding::value;
    dma.padding_value = *options.other();
  }
  const Completion completion = issue(OperationKind::load, dma_descriptor(Engine::dma_read, dma), where);
  memory_order_.add(transfer.region, false, completion);
  note_writer(tensor, completion, TimeCause::load);
  return tensor;
}

Pending Context::store(HbmAddress address, const Tensor& tensor, const StoreOptions& options, SourceLocation where) {
  constexpr const char* operation = "store";
  check_alive(operation, tensor, where);
  const DmaConfig& config = pe_.config().dma;
  const bool keeps_out = pe_.memory_is_own() || config.burst == Bytes(0) || config.zero_writes;
  require(pe_.scratch().mode() == DataMode::full || keeps_out, operation, where,
          "data mode none would write zeroes to a memory that is not the model's own; "
          "allow it with pe.dma.zero_writes = true, or run with data mode full");
  const Transfer transfer = plan_transfer(operation, address, tensor, options.extent(), where);
  await_writer(tensor);
  await_memory_order(transfer.region, true);

  DmaDescriptor dma;
  dma.region = transfer.region;
  dma.local = transfer.local;
  dma.valid_rows = transfer.valid_rows;
  dma.valid_cols = transfer.valid_cols;
  const Completion completion = issue(OperationKind::store, dma_descriptor(Engine::dma_write, dma), where);
  memory_order_.add(transfer.region, true, completion);
  note_reader(tensor, completion);
  return Pending(*this, completion, TimeCause::store);
}

TensorDescriptor Context::make_tensor_descriptor(HbmAddress base, const Shape& shape,
                                                 const std::array<std::int64_t, 2>& strides, const Shape& block_shape,
                                                 DType dtype, SourceLocation where) {
  constexpr const char* operation = "make_tensor_descriptor";
  check_shape(operation, shape, where);
  check_shape(operation, block_shape, where);
  require(shape.rank() == 2 && block_shape.rank() == 2, operation, where, "the matrix and its blocks have 2 dimensions",
          shape.rank() == 2 ? block_shape : shape);
  require(strides[1] == 1, operation, where, "the innermost stride must be 1", shape);
  check_stride(operation, strides[0], shape, dtype, where);
  const std::int64_t element = size_of(dtype);
  check_region(operation, {base, shape[0], Bytes(shape[1] * element), Bytes(strides[0] * element)}, shape, dtype,
               where);
  return TensorDescriptor(*this, base, shape, strides, block_shape, dtype);
}

Shape TensorDescriptor::inside(const std::array<std::int64_t, 2>& offset) const {
  const auto extent = [&](int axis) {
    const std::int64_t left = shape_[axis] - offset[static_cast<std::size_t>(axis)];
    return std::clamp<std::int64_t>(left, 0, block_[axis]);
  };
  return Shape{extent(0), extent(1)};
}

/// Of a block that lies outside the matrix nothing is moved, and where it would be may not even be an address.
HbmAddress TensorDescriptor::address(const std::array<std::int64_t, 2>& offset) const {
  const bool lies_outside = offset[0] >= shape_[0] || offset[1] >= shape_[1];
  if (lies_outside) return base_;
  return base_ + Bytes((offset[0] * strides_[0] + offset[1]) * size_of(dtype_));
}

Tensor TensorDescriptor::load(const std::array<std::int64_t, 2>& offset, SourceLocation where) const {
  context_.require(offset[0] >= 0 && offset[1] >= 0, "load", where, "a block's offset must not be negative", block_);
  return context_.load(address(offset), block_, dtype_,
                       LoadOptions().strides(strides_[0]).valid(inside(offset)).other(0.0F), where);
}

Pending TensorDescriptor::store(const std::array<std::int64_t, 2>& offset, const Tensor& block,
                                SourceLocation where) const {
  context_.require(offset[0] >= 0 && offset[1] >= 0, "store", where, "a block's offset must not be negative", block_);
  if (block.shape() != block_ || block.dtype() != dtype_) {
    context_.fail("store", where,
                  fmt::format("the block is {} {}, the descriptor's {} {}", to_string(block.shape()),
                              name_of(block.dtype()), to_string(block_), name_of(dtype_)));
  }
  return context_.store(address(offset), block, StoreOptions().strides(strides_[0]).valid(inside(offset)), where);
}

}  // namespace kernwave::tl
