#include "traces/op_log/work_table.h"

#include <variant>

namespace kernwave::traces {

namespace {

[[nodiscard]] std::uint64_t pair(std::int32_t high, std::int32_t low) noexcept {
  return (std::uint64_t{static_cast<std::uint32_t>(high)} << 32) | static_cast<std::uint32_t>(low);
}

[[nodiscard]] std::uint64_t extent(const ScratchOperand& tensor) noexcept { return pair(tensor.rows, tensor.cols); }

/// Up to eight small numbers in one.
class Bundle {
 public:
  template <typename Small>
  Bundle& add(Small small) noexcept {
    static_assert(sizeof(Small) == 1);
    value_ = (value_ << 8) | static_cast<std::uint8_t>(small);
    return *this;
  }
  [[nodiscard]] std::uint64_t value() const noexcept { return value_; }

 private:
  std::uint64_t value_ = 0;
};

}  // namespace

std::size_t WorkTable::Hash::operator()(const Key& key) const noexcept {
  constexpr std::uint64_t odd = 0x9E3779B97F4A7C15U;
  std::uint64_t hash = reinterpret_cast<std::uintptr_t>(key.file);
  hash = (hash ^ pair(key.line, static_cast<std::int32_t>(key.kind))) * odd;
  for (const std::uint64_t number : key.numbers) {
    hash = (hash ^ (hash >> 32) ^ number) * odd;
  }
  return static_cast<std::size_t>(hash ^ (hash >> 32));
}

void WorkTable::fill(Key& key, const DmaDescriptor& dma) noexcept {
  key.numbers = {extent(dma.local), Bundle().add(dma.local.dtype).value(),
                 static_cast<std::uint64_t>(dma.region.bytes().count())};
}

void WorkTable::fill(Key& key, const GemmDescriptor& gemm) noexcept {
  key.numbers = {extent(gemm.a), extent(gemm.b), extent(gemm.out),
                 Bundle().add(gemm.a.dtype).add(gemm.b.dtype).value()};
}

void WorkTable::fill(Key& key, const MathDescriptor& math) noexcept {
  key.numbers = {extent(math.out), is_reduction(math.op) ? extent(math.in[0].tensor) : 0,
                 Bundle().add(math.op).add(math.out.dtype).value()};
}

void WorkTable::fill(Key& key, const IpcqDescriptor& ipcq) noexcept {
  Bundle types;
  types.add(ipcq.action).add(ipcq.direction).add(ipcq.count);
  for (std::size_t i = 0; i < ipcq.count; ++i) {
    key.numbers[i] = extent(ipcq.tensors[i]);
    types.add(ipcq.tensors[i].dtype);
  }
  key.numbers[4] = types.value();
  key.numbers[5] = static_cast<std::uint64_t>(ipcq.peer.count());
}

void WorkTable::fill(Key& key, const CompositeDescriptor& composite) noexcept {
  Bundle types;
  types.add(composite.a.dtype).add(composite.b.dtype).add(composite.axis).add(composite.steps);
  for (std::size_t i = 0; i < composite.steps; ++i) types.add(composite.epilogue[i].op);
  key.numbers = {extent(composite.out), pair(composite.k, composite.tile), types.value(),
                 pair(composite.a.stored_rows, composite.b.stored_rows),
                 Bundle()
                     .add(composite.a.in_hbm)
                     .add(composite.a.transposed)
                     .add(composite.b.in_hbm)
                     .add(composite.b.transposed)
                     .value()};
}

void WorkTable::fill(Key& key, const CallDescriptor& call) noexcept {
  Bundle types;
  types.add(call.reads).add(call.writes);
  for (std::size_t i = 0; i < std::size_t{call.reads} + call.writes; ++i) {
    key.numbers[i] = extent(call.tensors[i]);
    types.add(call.tensors[i].dtype);
  }
  key.numbers[4] = types.value();
}

std::uint32_t WorkTable::index_of(const Descriptor& descriptor, SourceLocation where) {
  Key key;
  key.file = where.file;
  key.line = where.line;
  key.kind = static_cast<std::uint32_t>(descriptor.engine);
  std::visit([&key](const auto& work) { fill(key, work); }, descriptor.work);
  if (const auto known = by_key_.find(key); known != by_key_.end()) return known->second;
  const auto next = static_cast<std::uint32_t>(records_.size());
  const auto [place, is_new] = by_record_.emplace(work_record(descriptor, where), next);
  if (is_new) records_.push_back(&place->first);
  by_key_.emplace(key, place->second);
  return place->second;
}

}  // namespace kernwave::traces
