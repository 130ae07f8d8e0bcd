#include "models/pe/pe_scheduler.h"

#include <algorithm>

#include "models/base/clock.h"

namespace kernwave {

PeScheduler::PeScheduler(const sc_core::sc_module_name& name, const PeConfig& config)
    : sc_module(name),
      dispatch_time_(Clock(config.clock)(config.scheduler.dispatch)),
      queue_depth_(static_cast<std::size_t>(config.scheduler.queue_depth)),
      commands_("commands", *this),
      handed_on_at_(queue_depth_) {
  constexpr std::array<const char*, engine_count> names = {"dma_read", "dma_write", "gemm", "math", "ipcq"};
  InitiatorPort::Client& client = *this;
  for (std::size_t i = 0; i < engine_count; ++i) engines_[i] = std::make_unique<InitiatorPort>(names[i], client);
  KERNWAVE_HAS_PROCESS(PeScheduler);
  SC_METHOD(dispatch);
  sensitive << wake_;
  dont_initialize();
}

std::optional<Picoseconds> PeScheduler::request(TargetPort& /*port*/, Payload& payload, Picoseconds at) {
  if (queue_.size() == queue_depth_) return std::nullopt;
  wake_.notify();
  return take(payload, at);
}

Picoseconds PeScheduler::take(Payload& payload, Picoseconds presented) {
  const Picoseconds place_free = handed_on_at_[static_cast<std::size_t>(taken_) % queue_depth_];
  const Picoseconds taken = std::max(presented, place_free);
  ++taken_;
  queue_.push_back({&payload, taken});
  return taken;
}

void PeScheduler::dispatch() {
  while (!queue_.empty()) {
    const Entry next = queue_.front();
    Picoseconds at = std::max(next.taken + dispatch_time_, last_handed_on_);
    const std::uint64_t address = next.payload->get_address();
    const bool known = address % doorbell_stride == 0 && address / doorbell_stride < engine_count;
    if (known) {
      InitiatorPort& port = port_of(static_cast<Engine>(address / doorbell_stride));
      if (port.busy()) return;  // request_accepted wakes us
      at = std::max(at, port.free_at());
      hand_on(*next.payload, port, at);
    } else {
      reject(*next.payload);
    }
    handed_on_at_[static_cast<std::size_t>(handed_on_++) % queue_depth_] = at;
    last_handed_on_ = at;
    queue_.pop_front();
    take_withheld();
  }
}

void PeScheduler::hand_on(Payload& payload, InitiatorPort& port, Picoseconds at) {
  port.send(payload, std::max(at - now(), Picoseconds(0)));
}

void PeScheduler::take_withheld() {
  Payload* waiting = commands_.withheld();
  if (waiting == nullptr) return;
  const Picoseconds taken = take(*waiting, commands_.withheld_since());
  commands_.accept_withheld(taken);
}

void PeScheduler::reject(Payload& payload) {
  payload.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
  commands_.respond(payload);
}

void PeScheduler::request_accepted(InitiatorPort& /*port*/) { wake_.notify(); }

void PeScheduler::response(InitiatorPort& /*port*/, Payload& payload) { commands_.respond(payload); }

}  // namespace kernwave
