#include "traces/timeline/slice_kinds.h"

#include <fmt/format.h>

#include <string_view>

namespace kernwave::traces {

namespace {

[[nodiscard]] constexpr std::uint64_t both(std::int32_t high, std::int32_t low) noexcept {
  return std::uint64_t{static_cast<std::uint32_t>(high)} << 32U | static_cast<std::uint32_t>(low);
}

[[nodiscard]] constexpr std::uint64_t shape_of(const ScratchOperand& tensor) noexcept {
  return both(tensor.rows, tensor.cols);
}

template <typename Enumeration>
[[nodiscard]] constexpr std::uint64_t bits(Enumeration value, unsigned position) noexcept {
  return static_cast<std::uint64_t>(value) << position;
}

// Each adds to word 0 what is its own from bit 8 on, and uses words 3 to 7.

void add_work(std::array<std::uint64_t, 8>& key, const DmaDescriptor& dma) noexcept {
  key[0] |= bits(dma.local.dtype, 8);
  key[3] = shape_of(dma.local);
  key[4] = static_cast<std::uint64_t>(dma.region.bytes().count());
}

void add_work(std::array<std::uint64_t, 8>& key, const GemmDescriptor& gemm) noexcept {
  key[0] |= bits(gemm.a.dtype, 8) | bits(gemm.b.dtype, 16);
  key[3] = shape_of(gemm.a);
  key[4] = shape_of(gemm.b);
}

void add_work(std::array<std::uint64_t, 8>& key, const MathDescriptor& math) noexcept {
  key[0] |= bits(math.out.dtype, 8) | bits(math.op, 16);
  key[3] = shape_of(math.out);
  if (is_reduction(math.op)) key[4] = shape_of(math.in[0].tensor);
}

void add_work(std::array<std::uint64_t, 8>& key, const IpcqDescriptor& ipcq) noexcept {
  key[0] |= bits(ipcq.action, 8) | bits(ipcq.direction, 12) | bits(ipcq.peer.count(), 32);
  for (std::size_t i = 0; i < ipcq.count; ++i) {
    key[0] |= bits(ipcq.tensors[i].dtype, static_cast<unsigned>(16 + 4 * i));
    key[3 + i] = shape_of(ipcq.tensors[i]);
  }
  key[7] = ipcq.count;
}

void add_work(std::array<std::uint64_t, 8>& key, const CompositeDescriptor& composite) noexcept {
  key[0] |= bits(composite.a.dtype, 8) | bits(composite.b.dtype, 16) | bits(composite.steps, 24);
  key[3] = shape_of(composite.out);
  key[4] = both(composite.k, 0);
}

void add_work(std::array<std::uint64_t, 8>& key, const CallDescriptor& call) noexcept {
  const std::size_t count = std::size_t{call.reads} + call.writes;
  for (std::size_t i = 0; i < count; ++i) {
    key[0] |= bits(call.tensors[i].dtype, static_cast<unsigned>(16 + 4 * i));
    key[3 + i] = shape_of(call.tensors[i]);
  }
  key[7] = both(call.reads, call.writes);
}

[[nodiscard]] std::string shape_text(const ScratchOperand& tensor) {
  return fmt::format("{}x{}", tensor.rows, tensor.cols);
}

[[nodiscard]] std::string product_text(std::int64_t m, std::int64_t k, std::int64_t n, DType a, DType b) {
  if (a == b) return fmt::format("{}x{} . {}x{} {}", m, k, k, n, name_of(a));
  return fmt::format("{}x{} {} . {}x{} {}", m, k, name_of(a), k, n, name_of(b));
}

template <std::size_t most>
[[nodiscard]] std::string tensors_text(const std::array<ScratchOperand, most>& tensors, std::size_t count) {
  std::string text;
  for (std::size_t i = 0; i < count; ++i) {
    const ScratchOperand& tensor = tensors[i];
    text += fmt::format("{}{} {}", i == 0 ? "" : ", ", shape_text(tensor), name_of(tensor.dtype));
  }
  return text;
}

[[nodiscard]] std::string work_text(const Descriptor& descriptor) {
  if (const auto* dma = std::get_if<DmaDescriptor>(&descriptor.work)) {
    return fmt::format("{} {}", shape_text(dma->local), name_of(dma->local.dtype));
  }
  if (const auto* gemm = std::get_if<GemmDescriptor>(&descriptor.work)) {
    return product_text(gemm->a.rows, gemm->a.cols, gemm->b.cols, gemm->a.dtype, gemm->b.dtype);
  }
  if (const auto* math = std::get_if<MathDescriptor>(&descriptor.work)) {
    const ScratchOperand& tensor = is_reduction(math->op) ? math->in[0].tensor : math->out;
    return fmt::format("{} {}", shape_text(tensor), name_of(tensor.dtype));
  }
  if (const auto* ipcq = std::get_if<IpcqDescriptor>(&descriptor.work)) {
    return tensors_text(ipcq->tensors, ipcq->count);
  }
  if (const auto* call = std::get_if<CallDescriptor>(&descriptor.work)) {
    return tensors_text(call->tensors, std::size_t{call->reads} + call->writes);
  }
  const CompositeDescriptor& work = descriptor.composite();
  return product_text(work.out.rows, work.k, work.out.cols, work.a.dtype, work.b.dtype);
}

}  // namespace

std::string source_text(SourceLocation where) {
  std::string_view file = where.file;
  file.remove_prefix(file.rfind('/') + 1);  // npos + 1 is 0
  return fmt::format("{}:{}", file, where.line);
}

SliceKinds::SliceKinds() {
  for (std::size_t cause = 0; cause < time_cause_count; ++cause) {
    const auto name = name_of(static_cast<TimeCause>(cause));
    SliceKind kind;
    kind.name = static_cast<TimeCause>(cause) == TimeCause::issue ? std::string(name) : fmt::format("wait {}", name);
    kinds_.push_back(kind);
    keys_.emplace_back();
  }
  rehash();
}

SliceKinds::Key SliceKinds::key_of(const Descriptor& descriptor, SourceLocation where) {
  Key key{};
  key[0] = static_cast<std::uint64_t>(descriptor.engine);
  key[1] = reinterpret_cast<std::uintptr_t>(where.file);
  key[2] = both(where.line, 0);
  std::visit([&key](const auto& work) { add_work(key, work); }, descriptor.work);
  if (descriptor.engine == Engine::composite) {
    key[5] = static_cast<std::uint64_t>(transferred_bytes(descriptor).count());
    key[6] = static_cast<std::uint64_t>(flops_of(descriptor));
  }
  return key;
}

std::size_t SliceKinds::hash(const Key& key) noexcept {
  std::uint64_t sum = 0;
  for (const std::uint64_t word : key) {
    sum = (sum ^ word) * 0x9E37'79B9'7F4A'7C15U;
    sum ^= sum >> 29U;
  }
  return sum;
}

KindNumber SliceKinds::of_operation(const Descriptor& descriptor, SourceLocation where) {
  const Key key = key_of(descriptor, where);
  const std::size_t mask = table_.size() - 1;
  for (std::size_t i = hash(key) & mask; table_[i] != no_kind; i = (i + 1) & mask) {
    if (keys_[table_[i]] == key) return table_[i];
  }
  return add(key, descriptor, where);
}

KindNumber SliceKinds::add(const Key& key, const Descriptor& descriptor, SourceLocation where) {
  SliceKind kind;
  kind.name = fmt::format("{} {}", name_of(descriptor), work_text(descriptor));
  kind.issue = fmt::format("issue {}", name_of(descriptor));
  kind.source = source_text(where);
  kind.bytes = transferred_bytes(descriptor).count();
  kind.flops = flops_of(descriptor);
  if (const auto* ipcq = std::get_if<IpcqDescriptor>(&descriptor.work)) kind.peer = ipcq->peer.count();
  kinds_.push_back(kind);
  keys_.push_back(key);
  rehash();
  return static_cast<KindNumber>(kinds_.size() - 1);
}

/// A kind more; at most half of the table is in use.
void SliceKinds::rehash() {
  std::size_t first = keys_.size() - 1;
  if (table_.size() < 2 * keys_.size()) {
    table_.assign(table_.empty() ? 256 : 2 * table_.size(), no_kind);
    first = time_cause_count;
  }
  for (std::size_t kind = first; kind < keys_.size(); ++kind) {
    std::size_t i = hash(keys_[kind]) & (table_.size() - 1);
    while (table_[i] != no_kind) i = (i + 1) & (table_.size() - 1);
    table_[i] = static_cast<KindNumber>(kind);
  }
}

}  // namespace kernwave::traces
