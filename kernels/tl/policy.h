// When a program waits for what it issued.
#pragma once

#include <cstdint>
#include <string_view>

#include "models/protocol/descriptor.h"

namespace kernwave::tl {

/// One mechanism, three sets of operations that do not wait at issue. A result never depends on the policy.
enum class Policy : std::uint8_t {
  blocking,      ///< every operation waits for its completion where it is issued
  lazy,          ///< loads and stores do not: a load is awaited where its tensor is first used
  stall_on_use,  ///< nothing does: every result is awaited where it is first used, as with a scoreboard
};

[[nodiscard]] constexpr bool waits_at_issue(Policy policy, Engine engine) noexcept {
  switch (policy) {
    case Policy::blocking:
      return true;
    case Policy::lazy:
      return engine != Engine::dma_read && engine != Engine::dma_write;
    case Policy::stall_on_use:
      return false;
  }
  return true;
}

[[nodiscard]] constexpr std::string_view name_of(Policy policy) noexcept {
  switch (policy) {
    case Policy::blocking:
      return "blocking";
    case Policy::lazy:
      return "lazy";
    case Policy::stall_on_use:
      return "stall_on_use";
  }
  return "?";
}

}  // namespace kernwave::tl
