#include "models/pe/compute_engine.h"

#include "models/protocol/command.h"

namespace kernwave {

ComputeEngine::ComputeEngine(const sc_core::sc_module_name& name, std::int64_t queue_depth)
    : sc_module(name), commands_("commands", *this), queue_depth_(static_cast<std::size_t>(queue_depth)) {
  KERNWAVE_HAS_PROCESS(ComputeEngine);
  SC_METHOD(finish);
  sensitive << done_;
  dont_initialize();
}

bool ComputeEngine::request(TargetPort& /*port*/, Payload& payload, Picoseconds at) {
  sc_assert(at == now());  // the scheduler presents commands in simulated time
  if (queue_.size() == queue_depth_) return false;
  take(payload);
  return true;
}

void ComputeEngine::take(Payload& payload) {
  queue_.push_back(&payload);
  if (queue_.size() == 1) start_next();
}

void ComputeEngine::start_next() {
  started_ = now();
  done_.notify(to_sc_time(duration(descriptor_of(*queue_.front()), started_)));
}

void ComputeEngine::finish() {
  Payload& payload = *queue_.front();
  const Descriptor& descriptor = descriptor_of(payload);
  execute(descriptor);
  ++statistics_.operations;
  statistics_.flops += flops_of(descriptor);
  statistics_.busy += now() - started_;
  if (auto* times = payload.get_extension<ExecutionTimes>()) {
    times->start = started_;
    times->end = now();
  }
  payload.set_response_status(tlm::TLM_OK_RESPONSE);
  queue_.pop_front();
  if (!queue_.empty()) start_next();
  if (Payload* waiting = commands_.withheld()) {
    take(*waiting);
    commands_.accept_withheld();
  }
  commands_.respond(payload);
}

}  // namespace kernwave
