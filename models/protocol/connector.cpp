#include "models/protocol/connector.h"

namespace kernwave {

void Connector::connect(InitiatorSocket& initiator, TargetSocket& target, const std::string& /*name*/) {
  initiator.bind(target);
}

}  // namespace kernwave
