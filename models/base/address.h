// Addresses and identities, each a type of its own.
#pragma once

#include <cstdint>

#include "models/base/quantity.h"

namespace kernwave {

/// Number of a processing element, from configuration: cube * pes_per_cube + index. Never an order of construction.
using PeId = Quantity<struct PeIdUnit>;
using CubeId = Quantity<struct CubeIdUnit>;

/// Tensors in scratch start at multiples of this, and so do slots of queues and of staging areas.
inline constexpr std::int64_t scratch_alignment = 64;

/// A byte of some cube's HBM, unique in the system: the cube stands in the bits from `cube_shift` up.
class HbmAddress {
 public:
  static constexpr int cube_shift = 40;
  /// The number of bytes of each cube that have an address.
  static constexpr std::int64_t cube_bytes = std::int64_t{1} << cube_shift;

  constexpr HbmAddress() noexcept = default;
  constexpr explicit HbmAddress(std::uint64_t value) noexcept : value_(value) {}
  /// Throws std::out_of_range where no address has that cube and that offset.
  constexpr HbmAddress(CubeId cube, Bytes offset)
      : value_((static_cast<std::uint64_t>(cube.count()) << cube_shift) | static_cast<std::uint64_t>(offset.count())) {
    const bool exists = cube.count() >= 0 && cube.count() < cubes && offset.count() >= 0 && offset.count() < cube_bytes;
    if (!exists) fail_no_address(cube, offset);
  }

  [[nodiscard]] constexpr std::uint64_t value() const noexcept { return value_; }
  [[nodiscard]] constexpr CubeId cube() const noexcept {
    return CubeId(static_cast<std::int64_t>(value_ >> cube_shift));
  }
  [[nodiscard]] constexpr Bytes offset() const noexcept {
    return Bytes(static_cast<std::int64_t>(value_ & ((std::uint64_t{1} << cube_shift) - 1)));
  }

  /// Throws std::out_of_range beyond 64 bits.
  friend constexpr HbmAddress operator+(HbmAddress a, Bytes distance) {
    std::uint64_t sum = 0;
    if (__builtin_add_overflow(a.value_, distance.count(), &sum)) fail_no_sum(a, distance);
    return HbmAddress(sum);
  }
  friend constexpr bool operator==(HbmAddress a, HbmAddress b) noexcept { return a.value_ == b.value_; }
  friend constexpr bool operator!=(HbmAddress a, HbmAddress b) noexcept { return a.value_ != b.value_; }

 private:
  static constexpr std::int64_t cubes = std::int64_t{1} << (64 - cube_shift);

  [[noreturn]] static void fail_no_address(CubeId cube, Bytes offset);
  [[noreturn]] static void fail_no_sum(HbmAddress address, Bytes distance);

  std::uint64_t value_ = 0;
};

/// A byte of a PE's scratch memory; 32 bits, as in a descriptor.
class ScratchAddress {
 public:
  constexpr ScratchAddress() noexcept = default;
  constexpr explicit ScratchAddress(std::int64_t value) noexcept : value_(static_cast<std::uint32_t>(value)) {}

  [[nodiscard]] constexpr std::int64_t count() const noexcept { return value_; }

  friend constexpr bool operator==(ScratchAddress a, ScratchAddress b) noexcept { return a.value_ == b.value_; }
  friend constexpr bool operator!=(ScratchAddress a, ScratchAddress b) noexcept { return a.value_ != b.value_; }
  friend constexpr bool operator<(ScratchAddress a, ScratchAddress b) noexcept { return a.value_ < b.value_; }

 private:
  std::uint32_t value_ = 0;
};

/// Operations are numbered per PE in program order.
struct OperationId {
  PeId pe;
  std::int64_t sequence = 0;
  std::int32_t part = 0;  ///< 0: the operation itself; n: the n-th part of a composite
};

/// The place of a call in a kernel's source. Lines appear in messages; results never depend on them.
struct SourceLocation {
  const char* file = "";
  int line = 0;

  /// For use as a default argument: the place of the call.
  static constexpr SourceLocation current(const char* file = __builtin_FILE(), int line = __builtin_LINE()) noexcept {
    return SourceLocation{file, line};
  }
};

}  // namespace kernwave
