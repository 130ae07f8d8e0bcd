// The interface between the program of a PE and its queues: credits and windows for sends, and their return.
#pragma once

#include <string>

#include "models/base/direction.h"
#include "models/base/quantity.h"

namespace kernwave {

/// The listener to returned credits and places in the window.
class CreditListener {
 public:
  virtual void credit_returned() = 0;

 protected:
  ~CreditListener() = default;
};

/// The counts of free slots at the receivers, and of messages that are sent and not yet received.
class CreditProvider {
 public:
  [[nodiscard]] virtual bool may_send(Direction direction) const = 0;
  /// "0 of 2 slots are free, 1 of 1 messages sent is not received"
  [[nodiscard]] virtual std::string describe_credits(Direction direction) const = 0;
  /// Takes a credit and a place in the window for a send issued at `at`; `may_send` must be true.
  virtual void take_credit(Direction direction, Picoseconds at) = 0;
  /// Releases the oldest unreleased slot, which is free from `at` on (now or later).
  virtual void release_slot(Direction direction, Picoseconds at) = 0;

 protected:
  ~CreditProvider() = default;
};

}  // namespace kernwave
