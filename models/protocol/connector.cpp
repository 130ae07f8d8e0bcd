#include "models/protocol/connector.h"

namespace kernwave {

void Connector::connect(InitiatorSocket& initiator, TargetSocket& target, const std::string& /*name*/) {
  initiator.bind(target);
  declare_time_transparent(initiator, target);
}

bool Connector::link(InitiatorSocket& initiator, TargetSocket& target, const std::string& name) {
  linked_ = &initiator;
  linked_to_ = &target;
  time_transparent_ = false;
  connect(initiator, target, name);
  return time_transparent_;
}

/// An override that interposes and leaves the rest to its base class connects other sockets than were asked for.
void Connector::declare_time_transparent(const InitiatorSocket& initiator, const TargetSocket& target) noexcept {
  if (&initiator == linked_ && &target == linked_to_) time_transparent_ = true;
}

}  // namespace kernwave
