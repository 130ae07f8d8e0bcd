// The bytes of scratch and of HBM that an operation reads and writes, from its descriptor alone.
#pragma once

#include <cstdint>
#include <utility>

#include "models/protocol/descriptor.h"

namespace kernwave::traces {

/// The part of a factor of rows x cols that exists in HBM.
[[nodiscard]] HbmRegion stored_region(const CompositeFactor& factor, std::int32_t rows, std::int32_t cols) noexcept;

/// Calls `visit(region, writes)` for each region that an operation reads from or writes to HBM. A composite includes
/// its parts.
template <typename Visit>
void for_each_region(const Descriptor& descriptor, Visit visit) {
  if (descriptor.engine == Engine::dma_read || descriptor.engine == Engine::dma_write) {
    visit(descriptor.dma().region, descriptor.engine == Engine::dma_write);
  }
  if (descriptor.engine == Engine::composite) {
    const CompositeDescriptor& work = descriptor.composite();
    if (work.a.in_hbm) visit(stored_region(work.a, work.out.rows, work.k), false);
    if (work.b.in_hbm) visit(stored_region(work.b, work.k, work.out.cols), false);
  }
}

/// Calls `visit(begin, count)` for each interval of adjacent bytes of a region, by offsets in its cube.
template <typename Visit>
void for_each_interval(const HbmRegion& region, Visit visit) {
  if (region.bytes() == Bytes(0)) return;
  const std::int64_t first = region.base.offset().count();
  if (region.stride == region.row_bytes) return visit(first, region.bytes().count());
  const std::int64_t rows = region.stride == Bytes(0) ? 1 : region.rows;
  for (std::int64_t row = 0; row < rows; ++row) {
    visit(first + row * region.stride.count(), region.row_bytes.count());
  }
}

/// The same for a view of scratch, by addresses.
template <typename Visit>
void for_each_interval(const ScratchOperand& view, Visit visit) {
  struct Axis {
    std::int64_t count;
    std::int64_t stride;
  };
  Axis outer{view.row_stride == 0 ? 1 : view.rows, view.row_stride};
  Axis inner{view.col_stride == 0 ? 1 : view.cols, view.col_stride};
  if (view.elements() == 0) return;
  if (inner.count > 1 && inner.stride != 1 && outer.stride == 1) std::swap(outer, inner);
  const bool adjacent = inner.count == 1 || inner.stride == 1;
  const std::int64_t element = size_of(view.dtype);
  const std::int64_t first = view.address.count();
  if (adjacent && (outer.count == 1 || outer.stride == inner.count)) {
    return visit(first, outer.count * inner.count * element);
  }
  for (std::int64_t i = 0; i < outer.count; ++i) {
    const std::int64_t row = first + i * outer.stride * element;
    if (adjacent) visit(row, inner.count * element);
    for (std::int64_t j = 0; !adjacent && j < inner.count; ++j) visit(row + j * inner.stride * element, element);
  }
}

/// Calls `visit(view)` for each tensor in scratch that an operation reads. A composite includes its parts, without the
/// tensors that its parts pass to one another.
template <typename Visit>
void for_each_read(const Descriptor& descriptor, Visit visit);

/// The same for each tensor that it writes; for a load, the whole tile, which is padded outside its valid part.
template <typename Visit>
void for_each_write(const Descriptor& descriptor, Visit visit);

// ---- implementation

namespace detail {

template <typename Visit>
void for_each_read(const CompositeDescriptor& work, Visit visit) {
  const auto factor = [&visit](const CompositeFactor& side, std::int32_t rows, std::int32_t cols) {
    if (!side.in_hbm) visit(ScratchOperand{side.scratch(), rows, cols, side.row_stride, side.col_stride, side.dtype});
  };
  factor(work.a, work.out.rows, work.k);
  factor(work.b, work.k, work.out.cols);
  for (std::size_t i = 0; i < work.steps; ++i) {
    const CompositeStep& step = work.epilogue[i];
    if (step.operand != CompositeStep::Operand::tensor) continue;
    visit(ScratchOperand{step.address, work.out.rows, work.out.cols, step.row_stride, step.col_stride, step.dtype});
  }
  if (work.accumulate) visit(work.out);
}

}  // namespace detail

template <typename Visit>
void for_each_read(const Descriptor& descriptor, Visit visit) {
  if (const auto* call = std::get_if<CallDescriptor>(&descriptor.work)) {
    for (std::size_t i = 0; i < call->reads; ++i) visit(call->tensors[i]);
    return;
  }
  switch (descriptor.engine) {
    case Engine::dma_read:
      return;
    case Engine::dma_write: {
      ScratchOperand moved = descriptor.dma().local;
      moved.rows = descriptor.dma().valid_rows;
      moved.cols = descriptor.dma().valid_cols;
      return visit(moved);
    }
    case Engine::gemm: {
      const GemmDescriptor& gemm = descriptor.gemm();
      visit(gemm.a);
      visit(gemm.b);
      if (gemm.accumulate) visit(gemm.out);
      return;
    }
    case Engine::math: {
      const MathDescriptor& math = descriptor.math();
      for (std::size_t i = 0; i < math.inputs; ++i) {
        if (!math.in[i].is_immediate) visit(math.in[i].tensor);
      }
      return;
    }
    case Engine::ipcq: {
      const IpcqDescriptor& ipcq = descriptor.ipcq();
      if (ipcq.action == IpcqAction::receive) return;
      for (std::size_t i = 0; i < ipcq.count; ++i) visit(ipcq.tensors[i]);
      return;
    }
    case Engine::composite:
      return detail::for_each_read(descriptor.composite(), visit);
  }
}

template <typename Visit>
void for_each_write(const Descriptor& descriptor, Visit visit) {
  if (const auto* call = std::get_if<CallDescriptor>(&descriptor.work)) {
    for (std::size_t i = call->reads; i < std::size_t{call->reads} + call->writes; ++i) visit(call->tensors[i]);
    return;
  }
  switch (descriptor.engine) {
    case Engine::dma_read:
      return visit(descriptor.dma().local);
    case Engine::dma_write:
      return;
    case Engine::gemm:
      return visit(descriptor.gemm().out);
    case Engine::math:
      return visit(descriptor.math().out);
    case Engine::ipcq:
      if (descriptor.ipcq().action == IpcqAction::receive) visit(descriptor.ipcq().tensors[0]);
      return;
    case Engine::composite:
      return visit(descriptor.composite().out);
  }
}

}  // namespace kernwave::traces
