#include "models/pe/compute_engine.h"

#include <algorithm>

#include "models/protocol/command.h"

namespace kernwave {

ComputeEngine::ComputeEngine(const sc_core::sc_module_name& name, std::int64_t queue_depth)
    : sc_module(name), commands_("commands", *this), queue_depth_(static_cast<std::size_t>(queue_depth)) {
  KERNWAVE_HAS_PROCESS(ComputeEngine);
  SC_METHOD(finish);
  sensitive << done_;
  dont_initialize();
}

std::optional<Picoseconds> ComputeEngine::request(TargetPort& /*port*/, Payload& payload, Picoseconds at) {
  if (queue_.size() == queue_depth_) return std::nullopt;
  may_answer_ahead(payload) ? answer_ahead(payload, at) : take(payload, at);
  return at;
}

bool ComputeEngine::may_answer_ahead(const Payload& payload) const {
  const auto* report = payload.get_extension<ExecutionReport>();
  return report != nullptr && report->awaited && queue_.empty() && commands_.presents(payload);
}

void ComputeEngine::answer_ahead(Payload& payload, Picoseconds arrival) {
  const Descriptor& descriptor = descriptor_of(payload);
  const Picoseconds start = std::max(arrival, free_at_);
  free_at_ = start + duration(descriptor, start);
  if (observer_ != nullptr) {
    observer_->arrived(descriptor, arrival);
    observer_->service_begins(descriptor, start);
  }
  end_service(payload, start, free_at_);
  (void)commands_.respond_in_return(payload, free_at_);
}

/// The command takes effect, and is accounted for.
void ComputeEngine::end_service(Payload& payload, Picoseconds start, Picoseconds end) {
  const Descriptor& descriptor = descriptor_of(payload);
  execute(descriptor);
  EngineStatistics one;
  one.operations = 1;
  one.flops = flops_of(descriptor);
  one.busy = end - start;
  statistics_.add(end, now(), one);
  if (auto* report = payload.get_extension<ExecutionReport>()) {
    report->start = start;
    report->end = end;
  }
  payload.set_response_status(tlm::TLM_OK_RESPONSE);
  if (observer_ != nullptr) observer_->service_ends(descriptor, end);
}

void ComputeEngine::take(Payload& payload, Picoseconds arrival) {
  queue_.push_back({&payload, arrival});
  if (observer_ != nullptr) observer_->arrived(descriptor_of(payload), arrival);
  if (queue_.size() == 1) start_next();
}

void ComputeEngine::start_next() {
  const Picoseconds current = now();
  started_ = std::max({queue_.front().arrival, current, free_at_});
  const Picoseconds taken = duration(descriptor_of(*queue_.front().payload), started_);
  done_.notify(to_sc_time(started_ + taken - current));
  if (observer_ != nullptr) observer_->service_begins(descriptor_of(*queue_.front().payload), started_);
}

void ComputeEngine::finish() {
  Payload& payload = *queue_.front().payload;
  end_service(payload, started_, now());
  queue_.pop_front();
  if (!queue_.empty()) start_next();
  if (Payload* waiting = commands_.withheld()) {
    take(*waiting, commands_.withheld_since());
    commands_.accept_withheld();
  }
  commands_.respond(payload);
}

}  // namespace kernwave
