#include "traces/checks/nan_watch.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <tuple>

#include "models/numeric/tensor_bytes.h"
#include "traces/checks/footprint.h"
#include "traces/checks/operation_text.h"

namespace kernwave::traces {

namespace {

/// By the bits: without the sign, more than infinity.
template <typename Bits, Bits infinity>
[[nodiscard]] bool is_nan(const std::uint8_t* element) noexcept {
  Bits bits;
  std::memcpy(&bits, element, sizeof bits);
  constexpr Bits sign = Bits{1} << (8 * sizeof bits - 1);
  return static_cast<Bits>(bits & static_cast<Bits>(~sign)) > infinity;
}

/// The column of the first NaN of a row of `count` elements, `step` bytes apart; `count` if there is none.
template <typename Bits, Bits infinity>
[[nodiscard]] std::int64_t nan_column(const std::uint8_t* row, std::int64_t count, std::int64_t step) noexcept {
  bool found = false;  // in adjacent elements the host looks for many at once, if nothing leaves the loop
  if (step == sizeof(Bits)) {
    for (std::int64_t col = 0; col < count; ++col) {
      found |= is_nan<Bits, infinity>(row + col * static_cast<std::int64_t>(sizeof(Bits)));
    }
    if (!found) return count;
  }
  std::int64_t col = 0;
  while (col < count && !is_nan<Bits, infinity>(row + col * step)) ++col;
  return col;
}

[[nodiscard]] std::int64_t nan_column(DType dtype, const std::uint8_t* row, std::int64_t count,
                                      std::int64_t step) noexcept {
  switch (dtype) {
    case DType::f32:
      return nan_column<std::uint32_t, 0x7F80'0000U>(row, count, step);
    case DType::f16:
      return nan_column<std::uint16_t, 0x7C00U>(row, count, step);
    case DType::bf16:
      return nan_column<std::uint16_t, 0x7F80U>(row, count, step);
    case DType::int32:
    case DType::boolean:
      break;
  }
  return count;
}

/// Whether the intervals of scratch in which two views lie have a byte in common.
[[nodiscard]] bool may_overlap(const ScratchOperand& a, const ScratchOperand& b) noexcept {
  const auto end = [](const ScratchOperand& view) {
    const std::int64_t last =
        std::int64_t{view.rows - 1} * view.row_stride + std::int64_t{view.cols - 1} * view.col_stride;
    return view.address.count() + (last + 1) * size_of(view.dtype);
  };
  return a.address.count() < end(b) && b.address.count() < end(a);
}

[[nodiscard]] bool computes(const Descriptor& operation) noexcept {
  return operation.engine == Engine::gemm || operation.engine == Engine::math;
}

[[nodiscard]] const ScratchOperand& result_of(const Descriptor& operation) {
  return operation.engine == Engine::gemm ? operation.gemm().out : operation.math().out;
}

[[nodiscard]] bool has_nan_number(const Descriptor& operation) {
  if (operation.engine != Engine::math) return false;
  const MathDescriptor& math = operation.math();
  return std::any_of(math.in.begin(), math.in.begin() + math.inputs,
                     [](const MathOperand& in) { return in.is_immediate && std::isnan(in.immediate); });
}

}  // namespace

NanWatch::NanWatch(System& system, OnNan on_nan)
    : system_(system), on_nan_(on_nan), engines_(static_cast<std::size_t>(system.pe_count())) {
  if (on_nan == OnNan::note) return;
  spawn_method("nan_watch", caught_,
               [this] { system_.ledger().kernel_failed(first()->operation.id.pe, text(*first())); });
}

std::optional<NanWatch::Element> NanWatch::first_nan(PeId pe, const ScratchOperand& view) const {
  if (!is_float(view.dtype)) return std::nullopt;
  const numeric::TensorBytes tensor = system_.pe(pe).scratch().tensor(view);
  const std::int64_t step = view.col_stride * size_of(view.dtype);
  for (std::int64_t row = 0; row < view.rows; ++row) {
    const std::int64_t col = nan_column(view.dtype, tensor.element(row, 0), view.cols, step);
    if (col < view.cols) return Element{row, col};
  }
  return std::nullopt;
}

bool& NanWatch::loses_nan(const Descriptor& operation) {
  Engines& engines = engines_[static_cast<std::size_t>(operation.id.pe.count())];
  return operation.engine == Engine::gemm ? engines.gemm : engines.math;
}

/// Whether an operation that ends at `at`, or later, may still be the first.
bool NanWatch::is_watched(const Descriptor& operation, Picoseconds at) const noexcept {
  return computes(operation) && (births_.empty() || at <= births_.front().end);
}

/// Only what the result will take the place of is looked at: all else is still there at the end. May be told ahead of
/// time, but the inputs are there: the program, or the composite, has waited for them.
void NanWatch::service_begins(const Descriptor& operation, Picoseconds at) {
  if (!is_watched(operation, at)) return;
  bool found = false;
  for_each_read(operation, [&](const ScratchOperand& operand) {
    found = found || (may_overlap(operand, result_of(operation)) && first_nan(operation.id.pe, operand));
  });
  loses_nan(operation) = found;
}

void NanWatch::service_ends(const Descriptor& operation, Picoseconds at) {
  if (!is_watched(operation, at)) return;
  const auto element = first_nan(operation.id.pe, result_of(operation));
  if (!element || loses_nan(operation) || has_nan_number(operation)) return;
  bool inherited = false;
  for_each_read(operation, [&](const ScratchOperand& operand) {
    const bool is_still_there = !may_overlap(operand, result_of(operation));
    inherited = inherited || (is_still_there && first_nan(operation.id.pe, operand));
  });
  if (!inherited) births_.push_back({operation, *element, at, std::nullopt});
}

void NanWatch::completed(const CompletedOperation& operation) {
  const OperationId& id = operation.descriptor.id;
  for (Birth& birth : births_) {
    const OperationId& born = birth.operation.id;
    if (born.pe != id.pe || born.sequence != id.sequence || born.part != id.part) continue;
    birth.where = operation.where;
    if (on_nan_ == OnNan::stop) caught_.notify(to_sc_time(Picoseconds(1)));
  }
}

const NanWatch::Birth* NanWatch::first() const noexcept {
  const Birth* found = nullptr;
  const auto key = [](const Birth& birth) {
    const OperationId& id = birth.operation.id;
    return std::make_tuple(birth.end.count(), id.pe.count(), id.sequence, id.part);
  };
  for (const Birth& birth : births_) {
    if (birth.where && (found == nullptr || key(birth) < key(*found))) found = &birth;
  }
  return found;
}

std::string NanWatch::text(const Birth& birth) {
  const std::int32_t part = birth.operation.id.part;
  return fmt::format("{}{} makes the first NaN: element ({}, {}), from operands without one",
                     operation_text(birth.operation, *birth.where),
                     part == 0 ? "" : fmt::format(", part {} of a composite,", part), birth.element.row,
                     birth.element.col);
}

std::optional<std::string> NanWatch::finding() const {
  const Birth* birth = first();
  return birth == nullptr ? std::nullopt : std::make_optional(text(*birth));
}

}  // namespace kernwave::traces
