// The connector, which binds sockets: directly, or through a module that an observer puts between them.
#pragma once

#include <string>

#include "models/base/systemc.h"

namespace kernwave {

/// Binds an initiator to a target during elaboration. Monitors interpose by overriding `connect`.
///
/// A link is time-transparent if it passes each call on at once and unchanged. Only over such links may one side rely
/// on an announcement of the other side outside the protocol's phases. A link is time-transparent only if its `connect`
/// declares it.
class Connector {
 public:
  Connector() = default;
  Connector(const Connector&) = delete;
  Connector& operator=(const Connector&) = delete;
  virtual ~Connector() = default;

  /// `name` names the link by its purpose ("pe3.cpu_to_scheduler").
  virtual void connect(InitiatorSocket& initiator, TargetSocket& target, const std::string& name);

  /// Connects the two; returns whether the link is time-transparent.
  [[nodiscard]] bool link(InitiatorSocket& initiator, TargetSocket& target, const std::string& name);

 protected:
  /// For use in `connect`: declares that the link between these two is time-transparent.
  void declare_time_transparent(const InitiatorSocket& initiator, const TargetSocket& target) noexcept;

 private:
  const InitiatorSocket* linked_ = nullptr;  // by the call of `link` under way
  const TargetSocket* linked_to_ = nullptr;
  bool time_transparent_ = false;
};

}  // namespace kernwave
