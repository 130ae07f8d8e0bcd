#include "models/pe/shared_engine.h"

#include <algorithm>
#include <string>

#include "models/protocol/command.h"

namespace kernwave {

SharedEngine::SharedEngine(const sc_core::sc_module_name& name, std::int64_t ports, Picoseconds latency)
    : sc_module(name), latency_(latency), engine_("engine", *this) {
  if (latency < Picoseconds(1)) {
    report_error(report_type::configuration, this->name(), "the latency must be at least 1 ps");
  }
  TargetPort::Client& client = *this;
  for (std::int64_t id = 0; id < ports; ++id) ports_.add(("port" + std::to_string(id)).c_str(), client, id);
}

std::optional<Picoseconds> SharedEngine::request(TargetPort& port, Payload& payload, Picoseconds at) {
  arrivals_.push({at + latency_, &port, &payload});
  wake_.notify(to_sc_time(at + latency_ - now()));
  return at;
}

void SharedEngine::serve() {
  while (arrivals_.due(now())) waiting_.push_back(arrivals_.pop());
  while (!waiting_.empty() && !engine_.busy()) {
    const Pending chosen = waiting_.front();
    waiting_.pop_front();
    in_engine_.push_back(chosen);
    engine_.send(*chosen.payload, std::max(engine_.free_at() - now(), Picoseconds(0)));
  }
  if (!arrivals_.empty()) wake_.notify(to_sc_time(arrivals_.next() - now()));
}

void SharedEngine::request_accepted(InitiatorPort& /*port*/) { wake_.notify(); }

void SharedEngine::response(InitiatorPort& /*port*/, Payload& payload) {
  const auto found = std::find_if(in_engine_.begin(), in_engine_.end(),
                                  [&payload](const Pending& pending) { return pending.payload == &payload; });
  TargetPort& port = *found->port;
  in_engine_.erase(found);
  port.respond(payload);
}

}  // namespace kernwave
