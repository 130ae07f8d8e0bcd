#include "traces/op_log/work_record.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <vector>

namespace kernwave::traces {

namespace {

/// A tensor that an operation is told by.
struct Named {
  std::int64_t rows;
  std::int64_t cols;
  DType dtype;
};

[[nodiscard]] Named named(const ScratchOperand& tensor) noexcept { return {tensor.rows, tensor.cols, tensor.dtype}; }

/// Tensors, what stands between them, and what else there is to say.
struct Wording {
  std::vector<Named> tensors;
  std::string_view between = " . ";
  std::string more = {};
};

[[nodiscard]] Wording wording(const IpcqDescriptor& ipcq) {
  Wording words;
  words.between = ", ";
  for (std::size_t i = 0; i < ipcq.count; ++i) words.tensors.push_back(named(ipcq.tensors.at(i)));
  words.more = fmt::format(" {} PE {} ({})", ipcq.action == IpcqAction::send ? "to" : "from", ipcq.peer.count(),
                           kernwave::name_of(ipcq.direction));
  return words;
}

[[nodiscard]] Wording wording(const CompositeDescriptor& composite) {
  Wording words;
  words.tensors = {{composite.out.rows, composite.k, composite.a.dtype},
                   {composite.k, composite.out.cols, composite.b.dtype}};
  words.more =
      fmt::format(" by tiles of {} {}", composite.tile, composite.axis == CompositeAxis::n ? "columns" : "of k");
  for (std::size_t i = 0; i < composite.steps; ++i) {
    words.more += fmt::format(", {}", kernwave::name_of(composite.epilogue.at(i).op));
  }
  return words;
}

[[nodiscard]] Wording wording(const MathDescriptor& math) {
  if (!is_reduction(math.op)) return {{named(math.out)}};
  return {{named(math.in[0].tensor), named(math.out)}, " -> "};
}

[[nodiscard]] Wording wording(const CallDescriptor& call) {
  Wording words;
  words.between = ", ";
  for (std::size_t i = 0; i < std::size_t{call.reads} + call.writes; ++i) {
    words.tensors.push_back(named(call.tensors.at(i)));
  }
  return words;
}

[[nodiscard]] Wording wording(const GemmDescriptor& gemm) { return {{named(gemm.a), named(gemm.b)}}; }

[[nodiscard]] Wording wording(const DmaDescriptor& dma) { return {{named(dma.local)}}; }

}  // namespace

bool operator<(const WorkRecord& a, const WorkRecord& b) noexcept {
  const auto key = [](const WorkRecord& record) {
    return std::make_tuple(std::string_view(record.file), record.line, std::string_view(record.label),
                           std::string_view(record.shape), record.bytes.count(), record.flops);
  };
  return key(a) < key(b);
}

WorkRecord work_record(const Descriptor& descriptor, SourceLocation where) {
  const Wording words = std::visit([](const auto& work) { return wording(work); }, descriptor.work);
  WorkRecord record;
  record.engine = engine_name_of(descriptor);
  record.category = category_of(descriptor);
  record.kind = kernwave::name_of(descriptor);
  record.label = fmt::format("{}/{} of ", record.category, record.kind);
  const bool one_type = std::all_of(words.tensors.begin(), words.tensors.end(),
                                    [&](const Named& tensor) { return tensor.dtype == words.tensors.front().dtype; });
  std::string_view between;
  for (const Named& tensor : words.tensors) {
    const std::string shape = fmt::format("{}x{}", tensor.rows, tensor.cols);
    const std::string_view dtype = kernwave::name_of(tensor.dtype);
    record.label += fmt::format("{}{} {}", between, shape, dtype);
    record.shape += fmt::format("{}{}", between, shape);
    if (record.dtype.empty() || !one_type) record.dtype += fmt::format("{}{}", between, dtype);
    between = words.between;
  }
  record.label += words.more;
  record.bytes = transferred_bytes(descriptor);
  record.flops = flops_of(descriptor);
  record.file = where.file;
  record.line = where.line;
  return record;
}

}  // namespace kernwave::traces
