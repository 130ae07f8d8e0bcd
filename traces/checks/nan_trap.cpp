#include "traces/checks/nan_trap.h"

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

template <typename T>
[[nodiscard]] T bits_at(const std::uint8_t* from) noexcept {
  T bits;
  std::memcpy(&bits, from, sizeof bits);
  return bits;
}

/// By the bits: the exponent all ones, the fraction not 0.
[[nodiscard]] bool is_nan(DType dtype, const std::uint8_t* element) noexcept {
  switch (dtype) {
    case DType::f32:
      return (bits_at<std::uint32_t>(element) & 0x7FFF'FFFFU) > 0x7F80'0000U;
    case DType::f16:
      return (bits_at<std::uint16_t>(element) & 0x7FFFU) > 0x7C00U;
    case DType::bf16:
      return (bits_at<std::uint16_t>(element) & 0x7FFFU) > 0x7F80U;
    case DType::int32:
    case DType::boolean:
      break;
  }
  return false;
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

NanTrap::NanTrap(System& system) : system_(system), engines_(static_cast<std::size_t>(system.pe_count())) {
  sc_core::sc_spawn_options options;
  options.spawn_method();
  options.dont_initialize();
  options.set_sensitivity(&caught_);
  const auto stop = [this] { system_.ledger().kernel_failed(first()->operation.id.pe, text(*first())); };
  sc_core::sc_spawn(stop, sc_core::sc_gen_unique_name("nan_trap"), &options);
}

std::optional<NanTrap::Element> NanTrap::first_nan(PeId pe, const ScratchOperand& view) {
  if (!is_float(view.dtype)) return std::nullopt;
  const numeric::TensorBytes tensor = system_.pe(pe).scratch().tensor(view);
  const std::int64_t step = view.col_stride * size_of(view.dtype);
  for (std::int64_t row = 0; row < view.rows; ++row) {
    const std::uint8_t* element = tensor.element(row, 0);
    for (std::int64_t col = 0; col < view.cols; ++col, element += step) {
      if (is_nan(view.dtype, element)) return Element{row, col};
    }
  }
  return std::nullopt;
}

bool& NanTrap::inputs_have_nan(const Descriptor& operation) {
  Engines& engines = engines_[static_cast<std::size_t>(operation.id.pe.count())];
  return operation.engine == Engine::gemm ? engines.gemm_has_nan : engines.math_has_nan;
}

bool NanTrap::has_nan_input(const Descriptor& operation) {
  bool found = has_nan_number(operation);
  for_each_read(operation, [&](const ScratchOperand& operand) {
    found = found || first_nan(operation.id.pe, operand).has_value();
  });
  return found;
}

/// May be told ahead of time, but the inputs are there: the program, or the composite, has waited for them.
void NanTrap::service_begins(const Descriptor& operation, Picoseconds /*at*/) {
  if (computes(operation)) inputs_have_nan(operation) = has_nan_input(operation);
}

void NanTrap::service_ends(const Descriptor& operation, Picoseconds at) {
  if (!computes(operation) || inputs_have_nan(operation)) return;
  const auto element = first_nan(operation.id.pe, result_of(operation));
  if (element && (births_.empty() || at <= births_.front().end)) {
    births_.push_back({operation, *element, at, std::nullopt});
  }
}

void NanTrap::completed(const CompletedOperation& operation) {
  const OperationId& id = operation.descriptor.id;
  for (Birth& birth : births_) {
    const OperationId& born = birth.operation.id;
    if (born.pe != id.pe || born.sequence != id.sequence || born.part != id.part) continue;
    birth.where = operation.where;
    caught_.notify(to_sc_time(Picoseconds(1)));
  }
}

const NanTrap::Birth* NanTrap::first() const noexcept {
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

std::string NanTrap::text(const Birth& birth) {
  const std::int32_t part = birth.operation.id.part;
  return fmt::format("{}{} makes the first NaN: element ({}, {}), from operands without one",
                     operation_text(birth.operation, *birth.where),
                     part == 0 ? "" : fmt::format(", part {} of a composite,", part), birth.element.row,
                     birth.element.col);
}

std::optional<std::string> NanTrap::finding() const {
  const Birth* birth = first();
  return birth == nullptr ? std::nullopt : std::make_optional(text(*birth));
}

}  // namespace kernwave::traces
