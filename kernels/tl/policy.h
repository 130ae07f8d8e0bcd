// Policies: when a program waits for the operations that it issued.
#pragma once

#include <cstdint>
#include <string_view>

namespace kernwave::tl {

/// The kinds of operations that a program can issue.
enum class OperationKind : std::uint8_t { load, store, dot, math, send, receive, receive_async, composite, call };

/// A policy is the set of operations for which a program does not wait at issue. A result never depends on the policy.
/// Calls that are asynchronous by name (recv_async, composite) never wait; `recv` always does.
enum class Policy : std::uint8_t {
  blocking,      ///< every operation waits for its completion where it is issued
  lazy,          ///< no wait at the issue of loads, stores and sends: a load is awaited at the first use of its tensor
  stall_on_use,  ///< no wait at any issue: every result is awaited at its first use, as with a scoreboard
};

[[nodiscard]] constexpr bool waits_at_issue(Policy policy, OperationKind kind) noexcept {
  switch (kind) {
    case OperationKind::receive:
      return true;
    case OperationKind::receive_async:
    case OperationKind::composite:
      return false;
    case OperationKind::load:
    case OperationKind::store:
    case OperationKind::send:
      return policy == Policy::blocking;
    case OperationKind::dot:
    case OperationKind::math:
    case OperationKind::call:
      break;
  }
  return policy != Policy::stall_on_use;
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
