#include "models/pe/compute_engine.h"

#include <fmt/format.h>

#include <algorithm>

namespace kernwave {

ComputeEngine::ComputeEngine(const sc_core::sc_module_name& name, std::int64_t queue_depth)
    : sc_module(name), commands_("commands", *this), places_(queue_depth) {}

std::optional<Picoseconds> ComputeEngine::request(TargetPort& /*port*/, Payload& payload, Picoseconds at) {
  const Descriptor& descriptor = descriptor_of(payload);
  Service service;
  service.payload = &payload;
  auto* report = payload.get_extension<ExecutionReport>();
  service.start = std::max(at, free_at_);
  service.end = service.start;
  try {
    service.end += duration(descriptor, {service.start, service.start == free_at_});
  } catch (const TimingError& error) {
    service.fails = true;
    if (report != nullptr) report->problem = error.what();
  }
  free_at_ = service.end;
  const Picoseconds accepted = places_.take(at);
  places_.leave(service.end);

  if (observer_ != nullptr) observer_->arrived(descriptor, accepted);
  const bool ahead = report != nullptr && report->ahead && !keeps_commands();
  ahead ? carry_out_ahead(service, *report) : keep(service);
  return accepted;
}

ServiceTime ComputeEngine::given_time(const ServiceTiming& timing, const Descriptor& descriptor, ServiceStart start) {
  const ServiceTime time = timing.function(descriptor, start);
  if (time.taken < Picoseconds(0) || time.least < Picoseconds(0) || time.least > time.taken) {
    throw TimingError(
        fmt::format("{} gives it {} ps, and at least {} ps", timing.name, time.taken.count(), time.least.count()));
  }
  return time;
}

void ComputeEngine::carry_out_ahead(Service service, ExecutionReport& report) {
  if (observer_ != nullptr) observer_->service_begins(descriptor_of(*service.payload), service.start);
  end_service(service, &report);
  if (report.awaited && commands_.presents(*service.payload)) return commands_.respond(*service.payload, service.end);
  if (report.announce) report.announced_end = service.end;
  service.carried_out = true;
  unanswered_.push_back(service);
  if (unanswered_.size() == 1) answer_due_.notify();  // one notification answers all of an evaluation
}

void ComputeEngine::keep(const Service& service) {
  unanswered_.push_back(service);
  if (unanswered_.size() > 1) return;
  begin_service();
  answer_due_.notify(to_sc_time(service.end - now()));
}

void ComputeEngine::begin_service() const {
  const Service& service = unanswered_.front();
  if (observer_ != nullptr && !service.carried_out) {
    observer_->service_begins(descriptor_of(*service.payload), service.start);
  }
}

/// The command takes effect, and is accounted for.
void ComputeEngine::end_service(const Service& service, ExecutionReport* report) {
  const Descriptor& descriptor = descriptor_of(*service.payload);
  if (!service.fails) execute(descriptor);
  EngineStatistics one;
  one.operations = 1;
  one.flops = flops_of(descriptor);
  one.busy = service.end - service.start;
  statistics_.add(service.end, now(), one);
  if (report != nullptr) {
    report->start = service.start;
    report->end = service.end;
  }
  service.payload->set_response_status(service.fails ? tlm::TLM_GENERIC_ERROR_RESPONSE : tlm::TLM_OK_RESPONSE);
  if (observer_ != nullptr) observer_->service_ends(descriptor, service.end);
}

void ComputeEngine::answer() {
  while (!unanswered_.empty()) {
    const Service service = unanswered_.front();
    if (!service.carried_out) {
      if (service.end > now()) return answer_due_.notify(to_sc_time(service.end - now()));
      end_service(service, service.payload->get_extension<ExecutionReport>());
    }
    unanswered_.pop_front();
    if (!unanswered_.empty()) begin_service();
    commands_.respond(*service.payload, service.end);
  }
}

}  // namespace kernwave
