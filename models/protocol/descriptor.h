// Descriptors of commands: plain data that can be dumped, compared and replayed.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>

#include "models/base/address.h"
#include "models/base/direction.h"
#include "models/base/dtype.h"
#include "models/base/exact_time.h"
#include "models/base/quantity.h"
#include "models/protocol/engine.h"
#include "models/protocol/math_operation.h"

namespace kernwave {

/// A view of a scratch buffer: rows x cols elements, strides in elements. A broadcast dimension has stride 0.
struct ScratchOperand {
  ScratchAddress address;
  std::int32_t rows = 0;
  std::int32_t cols = 0;
  std::int32_t row_stride = 0;
  std::int32_t col_stride = 0;
  DType dtype = DType::f32;

  [[nodiscard]] constexpr std::int64_t elements() const noexcept { return std::int64_t{rows} * cols; }
  [[nodiscard]] constexpr Bytes bytes() const noexcept { return Bytes(elements() * size_of(dtype)); }
};

/// Equally spaced rows of bytes in HBM.
struct HbmRegion {
  HbmAddress base;
  std::int64_t rows = 1;
  Bytes row_bytes;
  Bytes stride;  ///< from one row's first byte to the next row's

  [[nodiscard]] constexpr Bytes bytes() const noexcept { return row_bytes * rows; }

  /// The distance from the first byte to the end of the last row; nothing if it does not fit into 64 bits.
  [[nodiscard]] constexpr std::optional<Bytes> extent() const noexcept {
    if (rows == 0) return Bytes(0);
    const Int128 last_row = Int128{rows - 1} * stride.count();
    const Int128 end = last_row + row_bytes.count();
    if (end > std::numeric_limits<std::int64_t>::max()) return std::nullopt;
    return Bytes(static_cast<std::int64_t>(end));
  }

  /// The same bytes in as few rows as there are intervals: rows without a gap between them are one.
  [[nodiscard]] constexpr HbmRegion coalesced() const noexcept {
    if (rows > 1 && stride != row_bytes) return *this;
    return HbmRegion{base, 1, bytes(), bytes()};
  }
};

/// The value of the elements of a loaded tile that lie outside its valid part.
enum class Padding : std::uint8_t {
  poison,  ///< NaN (or a large odd integer): reading it shows in the result
  value,
};

/// One transfer between HBM and scratch. `local` is the whole tile; its leading valid_rows x valid_cols elements move.
struct DmaDescriptor {
  HbmRegion region;
  ScratchOperand local;
  std::int32_t valid_rows = 0;
  std::int32_t valid_cols = 0;
  Padding padding = Padding::poison;
  float padding_value = 0.0F;
};

/// out = a . b, or out += a . b; a is M x K, b is K x N.
struct GemmDescriptor {
  ScratchOperand a;
  ScratchOperand b;
  ScratchOperand out;
  bool accumulate = false;
};

/// A tensor in scratch, or a number that travels in the command.
struct MathOperand {
  ScratchOperand tensor;
  double immediate = 0.0;
  bool is_immediate = false;
};

/// out[i, j] = op(in[0][i, j], ...). A reduction runs over the rows (axis 0) or the columns (axis 1) of in[0].
/// `fill` writes in[0]'s immediate; `arange` writes in[0]'s immediate + column.
struct MathDescriptor {
  MathOp op = MathOp::copy;
  std::uint8_t inputs = 0;
  std::uint8_t axis = 0;
  ScratchOperand out;
  std::array<MathOperand, 3> in;
};

enum class IpcqAction : std::uint8_t { send, receive };

/// One message. Sent: the tensors' elements, one after another, each row by row. Received: into tensors[0], a slot.
struct IpcqDescriptor {
  IpcqAction action = IpcqAction::send;
  Direction direction = Direction::north;  ///< of the link: where to, or where from
  std::uint8_t count = 1;                  ///< of tensors
  PeId peer;                               ///< at the other end of the link
  std::array<ScratchOperand, 4> tensors;

  [[nodiscard]] constexpr Bytes bytes() const noexcept {
    Bytes sum;
    for (std::size_t i = 0; i < count; ++i) sum += tensors[i].bytes();
    return sum;
  }
};

/// The dimension of a product that is cut into tiles.
enum class CompositeAxis : std::uint8_t {
  n,  ///< columns of b and of the result: tile by tile of the result
  k,  ///< what is summed over: each tile adds to all of the result
};

/// A factor of a composite, M x K or K x N.
struct CompositeFactor {
  std::uint64_t address = 0;     ///< a ScratchAddress, or with `in_hbm` an HbmAddress
  std::int32_t row_stride = 0;   ///< in elements; in HBM from one stored row to the next
  std::int32_t col_stride = 1;   ///< in elements; in HBM 1
  std::int32_t stored_rows = 0;  ///< in HBM: leading stored rows that exist; those behind read as 0
  DType dtype = DType::f32;
  bool in_hbm = false;
  bool transposed = false;  ///< in HBM: what is stored is the factor's transpose

  [[nodiscard]] constexpr HbmAddress hbm() const noexcept { return HbmAddress(address); }
  [[nodiscard]] constexpr ScratchAddress scratch() const noexcept {
    return ScratchAddress(static_cast<std::int64_t>(address));
  }
};

inline constexpr std::size_t max_composite_steps = 3;

/// One step of an epilogue, in place on a tile of the result: x = op(x), x = op(x, number) or x = op(x, tensor). The
/// tensor is a view of M x N elements; a broadcast dimension has stride 0.
struct CompositeStep {
  enum class Operand : std::uint8_t { none, number, tensor };

  MathOp op = MathOp::copy;
  Operand operand = Operand::none;
  DType dtype = DType::f32;
  float number = 0.0F;
  ScratchAddress address;
  std::int32_t row_stride = 0;
  std::int32_t col_stride = 0;
};

/// out = a . b, or out += a . b, tile by tile, then the epilogue. Factors in HBM are read into a staging area: slots of
/// `slot_bytes`, one tile each, used in turn from `first_slot` on.
struct CompositeDescriptor {
  CompositeFactor a;
  CompositeFactor b;
  ScratchOperand out;      ///< M x N; f32, or another float type if the last step is a cast
  ScratchAddress product;  ///< with a cast: where the product stands before it, dense f32
  std::int32_t k = 0;
  std::int32_t tile = 1;  ///< extent along the axis; the last tile may have less
  ScratchAddress staging;
  std::int32_t slot_bytes = 0;
  std::uint8_t slots = 0;
  std::uint8_t first_slot = 0;
  CompositeAxis axis = CompositeAxis::n;
  bool accumulate = false;
  std::uint8_t steps = 0;
  std::array<CompositeStep, max_composite_steps> epilogue;
};

/// One command of an engine that was added to a machine: tensors that it reads and writes, and parameters of which only
/// the kernel and the engine know the meaning.
struct CallDescriptor {
  static constexpr std::size_t most_tensors = 4;
  static constexpr std::size_t most_parameter_bytes = 24;

  std::array<ScratchOperand, most_tensors> tensors;  ///< those that it reads, then those that it writes
  std::uint8_t reads = 0;
  std::uint8_t writes = 0;  ///< an accumulator is among both
  std::array<std::uint8_t, most_parameter_bytes> parameters{};
  std::string_view name;  ///< of its engine, a text that outlives the machine

  /// The parameters as the value that the kernel gave.
  template <typename Parameters>
  [[nodiscard]] Parameters parameters_as() const noexcept {
    static_assert(std::is_trivially_copyable_v<Parameters> && sizeof(Parameters) <= most_parameter_bytes);
    Parameters value;
    std::memcpy(&value, parameters.data(), sizeof(value));
    return value;
  }
};

struct Descriptor {
  OperationId id;
  Engine engine = Engine::math;
  std::variant<MathDescriptor, GemmDescriptor, DmaDescriptor, IpcqDescriptor, CompositeDescriptor, CallDescriptor> work;

  [[nodiscard]] const DmaDescriptor& dma() const { return std::get<DmaDescriptor>(work); }
  [[nodiscard]] const GemmDescriptor& gemm() const { return std::get<GemmDescriptor>(work); }
  [[nodiscard]] const MathDescriptor& math() const { return std::get<MathDescriptor>(work); }
  [[nodiscard]] const IpcqDescriptor& ipcq() const { return std::get<IpcqDescriptor>(work); }
  [[nodiscard]] const CallDescriptor& call() const { return std::get<CallDescriptor>(work); }
  [[nodiscard]] const CompositeDescriptor& composite() const { return std::get<CompositeDescriptor>(work); }
};
static_assert(std::is_trivially_copyable_v<Descriptor>);
static_assert(sizeof(Descriptor) <= 200, "copied once an operation");

/// The category of the engine: "memory", "gemm", "math", "comm" or "composite"; "custom" for an added engine.
[[nodiscard]] std::string_view category_of(const Descriptor& descriptor) noexcept;
/// "gemm", "dma_read", ...; for an added engine, its name.
[[nodiscard]] std::string_view engine_name_of(const Descriptor& descriptor) noexcept;
/// "dma_read", "dma_write", "dot", "exp2", "ipcq_copy", "ipcq_recv", "gemm" of a composite, the name of an engine that
/// was added, ...
[[nodiscard]] std::string_view name_of(const Descriptor& descriptor);
/// Text for messages: "memory/dma_read of 128x128 f16 at cube 0, offset 0x4000", "gemm/dot of 4x128 f16 . 128x512 f16",
/// ...
[[nodiscard]] std::string describe(const Descriptor& descriptor);
/// Bytes between HBM and scratch, or of a message (0 for a computation). Of a composite: those of its reads.
[[nodiscard]] Bytes transferred_bytes(const Descriptor& descriptor) noexcept;
/// Floating-point operations: 2 M N K of a dot, one an element of a MATH operation. Of a composite: those of its parts.
[[nodiscard]] std::int64_t flops_of(const Descriptor& descriptor) noexcept;

}  // namespace kernwave
