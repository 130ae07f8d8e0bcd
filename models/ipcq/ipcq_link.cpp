#include "models/ipcq/ipcq_link.h"

#include <algorithm>
#include <string>

#include "models/ipcq/message.h"

namespace kernwave {

IpcqLink::Pair::Pair(std::int64_t id, IpcqLink& link)
    : input(("in" + std::to_string(id)).c_str(), link, id), output(("out" + std::to_string(id)).c_str(), link) {}

IpcqLink::IpcqLink(const sc_core::sc_module_name& name, const IpcqConfig& config, std::int64_t pairs)
    : sc_module(name), hop_(config.hop_latency), stream_(config.bandwidth, config.timing) {
  if (config.hop_latency < Picoseconds(1)) {
    report_error(report_type::configuration, this->name(), "the hop must be at least 1 ps");
  }
  for (std::int64_t id = 0; id < pairs; ++id) pairs_.add(id, *this);
}

std::optional<Picoseconds> IpcqLink::request(TargetPort& port, Payload& payload, Picoseconds at) {
  arrivals_.push({at + hop_, &port, &payload});
  wake_.notify(to_sc_time(at + hop_ - now()));
  return at;
}

void IpcqLink::serve() {
  while (arrivals_.due(now())) enter(arrivals_.pop());
  while (deliveries_.due(now())) {
    const Pending arrived = deliveries_.pop();
    pair_of(*arrived.port).waiting.push_back(arrived.payload);
  }
  for (const auto& pair : pairs_) deliver(*pair);
  if (!arrivals_.empty()) wake_.notify(to_sc_time(arrivals_.next() - now()));
  if (!deliveries_.empty()) wake_.notify(to_sc_time(deliveries_.next() - now()));
}

void IpcqLink::enter(const Pending& message) {
  if (!carries_data(message.payload->get_address())) {
    deliveries_.push(message);
    return;
  }
  const Bytes bytes(static_cast<std::int64_t>(message.payload->get_data_length()));
  const Picoseconds start = std::max(stream_.free_at(), now());
  stream_.carry(now(), bytes);
  ++statistics_.messages;
  statistics_.bytes += bytes;
  statistics_.busy += stream_.free_at() - start;
  deliveries_.push({stream_.free_at(), message.port, message.payload});
}

void IpcqLink::deliver(Pair& pair) {
  while (!pair.waiting.empty() && !pair.output.busy()) {
    const Picoseconds delay = std::max(pair.output.free_at() - now(), Picoseconds(0));
    Payload& payload = *pair.waiting.front();
    pair.waiting.pop_front();
    pair.output.send(payload, delay);
  }
}

void IpcqLink::request_accepted(InitiatorPort& /*port*/) { wake_.notify(); }

void IpcqLink::response(InitiatorPort& port, Payload& payload) {
  const auto pair =
      std::find_if(pairs_.begin(), pairs_.end(), [&port](const auto& each) { return &each->output == &port; });
  (*pair)->input.respond(payload);
}

unsigned IpcqLink::debug_access(TargetPort& port, Payload& payload) {
  return pair_of(port).output.socket()->transport_dbg(payload);
}

}  // namespace kernwave
