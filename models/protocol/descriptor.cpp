#include "models/protocol/descriptor.h"

#include <fmt/format.h>

namespace kernwave {

namespace {

[[nodiscard]] std::string shape_text(const ScratchOperand& tensor) {
  return fmt::format("{}x{} {}", tensor.rows, tensor.cols, name_of(tensor.dtype));
}

/// The shape of a composite's factor, its type, and how it comes.
[[nodiscard]] std::string factor_text(const CompositeFactor& factor, std::int64_t rows, std::int64_t cols) {
  std::string text = fmt::format("{}x{} {}", rows, cols, name_of(factor.dtype));
  if (!factor.in_hbm) return text;
  const HbmAddress base = factor.hbm();
  return text + fmt::format(" at cube {}, offset {:#x}", base.cube().count(), base.offset().count());
}

[[nodiscard]] std::string composite_text(const CompositeDescriptor& composite) {
  std::string text = fmt::format(" of {} . {}", factor_text(composite.a, composite.out.rows, composite.k),
                                 factor_text(composite.b, composite.k, composite.out.cols));
  text += fmt::format(" by tiles of {} {}", composite.tile, composite.axis == CompositeAxis::n ? "columns" : "of k");
  for (std::size_t i = 0; i < composite.steps; ++i) text += fmt::format(", {}", name_of(composite.epilogue[i].op));
  return text;
}

[[nodiscard]] std::string call_text(const CallDescriptor& call) {
  std::string text;
  for (std::size_t i = 0; i < std::size_t{call.reads} + call.writes; ++i) {
    text += i == call.reads ? " to " : i == 0 ? " of " : ", ";
    text += shape_text(call.tensors[i]);
  }
  return text;
}

/// What exists of a factor that is in HBM; `rows` x `cols` is its shape.
[[nodiscard]] Bytes stored_bytes(const CompositeFactor& factor, std::int64_t rows, std::int64_t cols) noexcept {
  if (!factor.in_hbm) return Bytes(0);
  return Bytes(factor.stored_rows * (factor.transposed ? rows : cols) * size_of(factor.dtype));
}

}  // namespace

std::string_view category_of(const Descriptor& descriptor) noexcept {
  return std::holds_alternative<CallDescriptor>(descriptor.work) ? "custom" : row_of(descriptor.engine).category;
}

std::string_view engine_name_of(const Descriptor& descriptor) noexcept {
  const auto* call = std::get_if<CallDescriptor>(&descriptor.work);
  return call != nullptr ? call->name : name_of(descriptor.engine);
}

std::string_view name_of(const Descriptor& descriptor) {
  if (const auto* call = std::get_if<CallDescriptor>(&descriptor.work)) return call->name;
  if (const auto* math = std::get_if<MathDescriptor>(&descriptor.work)) return name_of(math->op);
  const auto* ipcq = std::get_if<IpcqDescriptor>(&descriptor.work);
  if (ipcq != nullptr && ipcq->action == IpcqAction::receive) return "ipcq_recv";
  return row_of(descriptor.engine).kind;
}

std::string describe(const Descriptor& descriptor) {
  std::string text = fmt::format("{}/{}", category_of(descriptor), name_of(descriptor));
  if (const auto* dma = std::get_if<DmaDescriptor>(&descriptor.work)) {
    const HbmAddress base = dma->region.base;
    return text + fmt::format(" of {} at cube {}, offset {:#x}", shape_text(dma->local), base.cube().count(),
                              base.offset().count());
  }
  if (const auto* gemm = std::get_if<GemmDescriptor>(&descriptor.work)) {
    return text + fmt::format(" of {} . {}", shape_text(gemm->a), shape_text(gemm->b));
  }
  if (const auto* ipcq = std::get_if<IpcqDescriptor>(&descriptor.work)) {
    for (std::size_t i = 0; i < ipcq->count; ++i) text += (i == 0 ? " of " : ", ") + shape_text(ipcq->tensors[i]);
    const bool sends = ipcq->action == IpcqAction::send;
    return text + fmt::format(" {} PE {} ({})", sends ? "to" : "from", ipcq->peer.count(), name_of(ipcq->direction));
  }
  if (const auto* composite = std::get_if<CompositeDescriptor>(&descriptor.work)) {
    return text + composite_text(*composite);
  }
  if (const auto* call = std::get_if<CallDescriptor>(&descriptor.work)) return text + call_text(*call);
  return text + fmt::format(" to {}", shape_text(descriptor.math().out));
}

Bytes transferred_bytes(const Descriptor& descriptor) noexcept {
  if (const auto* dma = std::get_if<DmaDescriptor>(&descriptor.work)) return dma->region.bytes();
  if (const auto* ipcq = std::get_if<IpcqDescriptor>(&descriptor.work)) return ipcq->bytes();
  if (const auto* composite = std::get_if<CompositeDescriptor>(&descriptor.work)) {
    return stored_bytes(composite->a, composite->out.rows, composite->k) +
           stored_bytes(composite->b, composite->k, composite->out.cols);
  }
  return Bytes(0);
}

std::int64_t flops_of(const Descriptor& descriptor) noexcept {
  if (const auto* gemm = std::get_if<GemmDescriptor>(&descriptor.work)) {
    return 2 * gemm->out.elements() * gemm->a.cols;
  }
  if (const auto* math = std::get_if<MathDescriptor>(&descriptor.work)) {
    return is_reduction(math->op) ? math->in[0].tensor.elements() : math->out.elements();
  }
  if (const auto* composite = std::get_if<CompositeDescriptor>(&descriptor.work)) {
    return composite->out.elements() * (2 * std::int64_t{composite->k} + composite->steps);
  }
  return 0;
}

}  // namespace kernwave
