#include "tests/support/tensors.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <ostream>
#include <sstream>

#include "models/numeric/tensor_bytes.h"
#include "tests/support/child.h"
#include "tests/support/same_value.h"

namespace kernwave::testing {

namespace {

/// Integers and floats travel apart: neither f32 nor int32 holds the other.
template <typename Number>
[[nodiscard]] std::vector<std::uint8_t> encode(const Values& values) {
  std::vector<Number> numbers;
  numbers.reserve(values.elements.size());
  for (const double element : values.elements) numbers.push_back(static_cast<Number>(element));
  std::vector<std::uint8_t> bytes(numbers.size() * static_cast<std::size_t>(size_of(values.dtype)));
  numeric::write_row({bytes.data(), numeric::dense_row(values.dtype, static_cast<std::int64_t>(numbers.size()))}, 0,
                     numbers.data());
  return bytes;
}

template <typename Number>
void decode(std::vector<std::uint8_t>& bytes, Values& values) {
  std::vector<Number> numbers(static_cast<std::size_t>(values.shape.elements()));
  numeric::read_row({bytes.data(), numeric::dense_row(values.dtype, static_cast<std::int64_t>(numbers.size()))}, 0,
                    numbers.data());
  values.elements.assign(numbers.begin(), numbers.end());
}

[[nodiscard]] std::string to_text(const Values& values) {
  std::ostringstream text;
  text << values.shape.rank() << ' ' << values.shape[0] << ' ' << values.shape[1] << ' '
       << static_cast<int>(values.dtype) << std::hexfloat;
  for (const double element : values.elements) text << ' ' << element;
  return text.str();
}

[[nodiscard]] Values from_text(const std::string& text) {
  std::istringstream in(text);
  int rank = 0;
  std::int64_t outer = 0;
  std::int64_t inner = 0;
  int dtype = 0;
  in >> rank >> outer >> inner >> dtype;
  Values values{rank == 1 ? tl::Shape{outer} : tl::Shape{outer, inner}, static_cast<DType>(dtype), {}};
  std::string word;
  while (in >> word) values.elements.push_back(std::strtod(word.c_str(), nullptr));  // streams do not read hexfloat
  return values;
}

}  // namespace

bool operator==(const Values& a, const Values& b) {
  return a.shape == b.shape && a.dtype == b.dtype &&
         std::equal(a.elements.begin(), a.elements.end(), b.elements.begin(), b.elements.end(), same_value);
}

std::ostream& operator<<(std::ostream& out, const Values& values) {
  constexpr std::size_t shown = 64;
  out << to_string(values.shape) << ' ' << name_of(values.dtype) << " {";
  for (std::size_t i = 0; i < std::min(shown, values.elements.size()); ++i) {
    out << (i == 0 ? "" : ", ") << values.elements[i];
  }
  return out << (values.elements.size() > shown ? ", ...}" : "}");
}

Values vector_of(DType dtype, const std::vector<double>& elements) {
  return {tl::Shape{static_cast<std::int64_t>(elements.size())}, dtype, elements};
}

Values matrix_of(DType dtype, const std::vector<std::vector<double>>& rows) {
  const tl::Shape shape{static_cast<std::int64_t>(rows.size()), static_cast<std::int64_t>(rows.at(0).size())};
  return tabulate(shape, dtype, [&rows](std::int64_t row, std::int64_t col) {
    return rows.at(static_cast<std::size_t>(row)).at(static_cast<std::size_t>(col));
  });
}

Values tabulate(const tl::Shape& shape, DType dtype,
                const std::function<double(std::int64_t row, std::int64_t col)>& element) {
  Values values{shape, dtype, {}};
  values.elements.reserve(static_cast<std::size_t>(shape.elements()));
  for (std::int64_t row = 0; row < shape.rows(); ++row) {
    for (std::int64_t col = 0; col < shape.cols(); ++col) values.elements.push_back(element(row, col));
  }
  return values;
}

Values eighths(const tl::Shape& shape, DType dtype, std::uint32_t seed) {
  std::uint32_t state = seed * 2654435769U + 1U;
  return tabulate(shape, dtype, [&state](std::int64_t, std::int64_t) {
    state = state * 1664525U + 1013904223U;
    return (static_cast<double>((state >> 16) % 33U) - 16.0) / 8.0;
  });
}

double nearest(DType dtype, double value) {
  if (dtype == DType::f32) return static_cast<float>(value);
  if (!std::isfinite(value) || value == 0.0) return value;
  const bool half = dtype == DType::f16;
  const int fraction_bits = half ? 10 : 7;
  const int smallest_exponent = half ? -14 : -126;
  const int largest_exponent = half ? 15 : 127;
  // Neighbours of `value` are 2^(exponent - fraction bits) apart, subnormals like the smallest normal numbers.
  const int spacing = std::max(std::ilogb(value), smallest_exponent) - fraction_bits;
  const double rounded = std::ldexp(std::nearbyint(std::ldexp(value, -spacing)), spacing);
  const bool overflows = std::abs(rounded) >= std::ldexp(1.0, largest_exponent + 1);
  return overflows ? std::copysign(std::numeric_limits<double>::infinity(), value) : rounded;
}

void put(Simulation& simulation, HbmAddress address, const Values& values) {
  const std::vector<std::uint8_t> bytes = is_float(values.dtype) ? encode<float>(values) : encode<std::int64_t>(values);
  simulation.system()
      .cube(address.cube())
      .hbm()
      .write(address.offset(), bytes.data(), Bytes(static_cast<std::int64_t>(bytes.size())));
}

Values get(Simulation& simulation, HbmAddress address, const tl::Shape& shape, DType dtype) {
  std::vector<std::uint8_t> bytes(static_cast<std::size_t>(shape.elements() * size_of(dtype)));
  simulation.system()
      .cube(address.cube())
      .hbm()
      .read(address.offset(), bytes.data(), Bytes(static_cast<std::int64_t>(bytes.size())));
  Values values{shape, dtype, {}};
  is_float(dtype) ? decode<float>(bytes, values) : decode<std::int64_t>(bytes, values);
  return values;
}

Values compute(const std::vector<Values>& inputs, const Computation& computation, tl::Policy policy) {
  constexpr std::int64_t room = 1 << 20;  // of HBM for each input
  const std::string text = from_child([&] {
    Simulation simulation;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      put(simulation, HbmAddress(CubeId(0), Bytes(static_cast<std::int64_t>(i + 1) * room)), inputs[i]);
    }
    tl::Shape shape;
    DType dtype = DType::f32;
    simulation.run(
        [&](tl::Context& tl) {
          std::vector<tl::Tensor> tensors;
          tensors.reserve(inputs.size());
          for (std::size_t i = 0; i < inputs.size(); ++i) {
            const HbmAddress address(CubeId(0), Bytes(static_cast<std::int64_t>(i + 1) * room));
            tensors.push_back(tl.load(address, inputs[i].shape, inputs[i].dtype));
          }
          const tl::Tensor result = computation(tl, tensors);
          shape = result.shape();
          dtype = result.dtype();
          tl.store(HbmAddress(0), result);
        },
        policy);
    return to_text(get(simulation, HbmAddress(0), shape, dtype));
  });
  return from_text(text);
}

}  // namespace kernwave::testing
