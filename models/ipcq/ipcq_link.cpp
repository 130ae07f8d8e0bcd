#include "models/ipcq/ipcq_link.h"

#include <algorithm>
#include <string>

#include "models/ipcq/message.h"

namespace kernwave {

IpcqLink::IpcqLink(const sc_core::sc_module_name& name, const IpcqConfig& config, std::int64_t pairs)
    : sc_module(name), hop_(config.hop_latency), stream_(config.bandwidth) {
  if (config.hop_latency < Picoseconds(1)) SC_REPORT_ERROR(this->name(), "the hop must be at least 1 ps");
  TargetPort::Client& receiver = *this;
  InitiatorPort::Client& sender = *this;
  for (std::int64_t id = 0; id < pairs; ++id) {
    const std::string number = std::to_string(id);
    inputs_.push_back(std::make_unique<TargetPort>(("in" + number).c_str(), receiver, id));
    outputs_.push_back(std::make_unique<Output>(("out" + number).c_str(), sender, *inputs_.back()));
  }
  KERNWAVE_HAS_PROCESS(IpcqLink);
  SC_METHOD(serve);
  sensitive << wake_;
  dont_initialize();
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
    output_of(*arrived.port).waiting.push_back(arrived.payload);
  }
  for (const auto& output : outputs_) deliver(*output);
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
  stream_.stream(now(), bytes);
  ++statistics_.messages;
  statistics_.bytes += bytes;
  statistics_.busy += stream_.free_at() - start;
  deliveries_.push({stream_.free_at(), message.port, message.payload});
}

void IpcqLink::deliver(Output& output) {
  while (!output.waiting.empty() && !output.port.busy()) {
    const Picoseconds delay = std::max(output.port.free_at() - now(), Picoseconds(0));
    Payload& payload = *output.waiting.front();
    output.waiting.pop_front();
    output.port.send(payload, delay);
  }
}

void IpcqLink::request_accepted(InitiatorPort& /*port*/) { wake_.notify(); }

void IpcqLink::response(InitiatorPort& port, Payload& payload) {
  const auto output = std::find_if(outputs_.begin(), outputs_.end(),
                                   [&port](const std::unique_ptr<Output>& each) { return &each->port == &port; });
  (*output)->source.respond(payload);
}

unsigned IpcqLink::debug_access(TargetPort& port, Payload& payload) {
  return output_of(port).port.socket()->transport_dbg(payload);
}

}  // namespace kernwave
