#include "models/pe/pe_scheduler.h"

#include <algorithm>

#include "models/base/exact_time.h"

namespace kernwave {

PeScheduler::PeScheduler(const sc_core::sc_module_name& name, const PeConfig& config)
    : sc_module(name),
      dispatch_time_(duration(config.scheduler.dispatch, config.clock)),
      queue_depth_(static_cast<std::size_t>(config.scheduler.queue_depth)),
      commands_("commands", *this) {
  constexpr std::array<const char*, engine_count> names = {"dma_read", "dma_write", "gemm", "math"};
  InitiatorPort::Client& client = *this;
  for (std::size_t i = 0; i < engine_count; ++i) engines_[i] = std::make_unique<InitiatorPort>(names[i], client);
  KERNWAVE_HAS_PROCESS(PeScheduler);
  SC_METHOD(dispatch);
  sensitive << wake_;
  dont_initialize();
}

bool PeScheduler::request(TargetPort& /*port*/, Payload& payload, Picoseconds at) {
  if (queue_.size() == queue_depth_) return false;
  take(payload, at);
  return true;
}

void PeScheduler::take(Payload& payload, Picoseconds at) {
  queue_.push_back({&payload, at + dispatch_time_});
  if (queue_.size() == 1) wake_.notify(to_sc_time(queue_.front().ready - now()));
}

void PeScheduler::dispatch() {
  while (!queue_.empty()) {
    const Entry next = queue_.front();
    if (next.ready > now()) {
      wake_.notify(to_sc_time(next.ready - now()));
      return;
    }
    const std::uint64_t address = next.payload->get_address();
    const bool known = address % doorbell_stride == 0 && address / doorbell_stride < engine_count;
    if (known) {
      InitiatorPort& port = port_of(static_cast<Engine>(address / doorbell_stride));
      if (port.busy()) return;  // request_accepted wakes us
      if (port.free_at() > now()) {
        wake_.notify(to_sc_time(port.free_at() - now()));
        return;
      }
    }
    queue_.pop_front();
    known ? hand_on(*next.payload) : reject(*next.payload);
    if (Payload* waiting = commands_.withheld()) {
      // It was presented while the queue was full; its dispatch starts with its place in the queue.
      queue_.push_back({waiting, std::max(commands_.withheld_since(), now()) + dispatch_time_});
      commands_.accept_withheld();
    }
  }
}

void PeScheduler::hand_on(Payload& payload) {
  port_of(static_cast<Engine>(payload.get_address() / doorbell_stride)).send(payload);
}

void PeScheduler::reject(Payload& payload) {
  payload.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
  commands_.respond(payload);
}

void PeScheduler::request_accepted(InitiatorPort& /*port*/) { wake_.notify(sc_core::SC_ZERO_TIME); }

void PeScheduler::response(InitiatorPort& /*port*/, Payload& payload) { commands_.respond(payload); }

}  // namespace kernwave
