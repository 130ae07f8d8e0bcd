// How sockets are bound: directly, or through whatever an observer puts between them.
#pragma once

#include <string>

#include "models/base/systemc.h"

namespace kernwave {

/// Binds an initiator to a target during elaboration. Monitors interpose by overriding `connect`.
class Connector {
 public:
  Connector() = default;
  Connector(const Connector&) = delete;
  Connector& operator=(const Connector&) = delete;
  virtual ~Connector() = default;

  /// `name` says what the link is for ("pe3.cpu_to_scheduler").
  virtual void connect(InitiatorSocket& initiator, TargetSocket& target, const std::string& name);
};

}  // namespace kernwave
