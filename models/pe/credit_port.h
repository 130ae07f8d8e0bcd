// The interface between the program of a PE and its queues: credits and windows for sends, and their return.
#pragma once

#include <string>

#include "models/base/direction.h"
#include "models/base/quantity.h"

namespace kernwave {

/// Told that credits or room in the window have come back.
class CreditListener {
 public:
  virtual void credit_returned() = 0;

 protected:
  ~CreditListener() = default;
};

/// Counts free slots at the receivers, and messages that are sent and not yet received.
class CreditProvider {
 public:
  [[nodiscard]] virtual bool may_send(Direction direction) const = 0;
  /// "0 of 2 slots are free, 1 of 1 messages sent is not received"
  [[nodiscard]] virtual std::string describe_credits(Direction direction) const = 0;
  /// Takes what `may_send` found, for a send issued at `at`.
  virtual void take_credit(Direction direction, Picoseconds at) = 0;
  /// The oldest slot that is not released is free from `at`, now or later, on.
  virtual void release_slot(Direction direction, Picoseconds at) = 0;

 protected:
  ~CreditProvider() = default;
};

}  // namespace kernwave
