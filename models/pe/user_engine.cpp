#include "models/pe/user_engine.h"

#include <algorithm>

namespace kernwave {

UserEngine::UserEngine(const sc_core::sc_module_name& name, EngineData data, PeScratch& scratch)
    : sc_module(name), data_(data), calculator_(scratch), commands_("commands", *this), engine_("engine", *this) {}

/// Of its end nothing is known until it is there.
std::optional<Picoseconds> UserEngine::request(TargetPort& /*port*/, Payload& payload, Picoseconds at) {
  if (auto* report = payload.get_extension<ExecutionReport>()) {
    report->awaited = false;
    report->announce = false;
    report->ahead = false;
  }
  in_flight_.push_back({&payload, at});
  if (in_flight_.size() == 1) begin_service();
  sends_ = true;
  engine_.send(payload, at - now());
  sends_ = false;
  if (engine_.busy()) return std::nullopt;
  const Picoseconds accepted = std::max(at, engine_.free_at());
  if (!in_flight_.empty() && in_flight_[in_flight_.size() - 1].command == &payload) has_place(accepted);
  return accepted;
}

void UserEngine::request_accepted(InitiatorPort& /*port*/) {
  if (sends_) return;  // `request` sees it
  has_place(engine_.free_at());
  commands_.accept_withheld(engine_.free_at());
}

/// The command that came last.
void UserEngine::has_place(Picoseconds at) {
  InFlight& last = in_flight_[in_flight_.size() - 1];
  last.has_place = true;
  if (observer_ != nullptr) observer_->arrived(descriptor_of(*last.command), at);
}

void UserEngine::begin_service() {
  service_began_ = std::max(in_flight_.front().arrival, last_end_);
  if (observer_ != nullptr) observer_->service_begins(descriptor_of(*in_flight_.front().command), service_began_);
}

void UserEngine::response(InitiatorPort& /*port*/, Payload& payload) {
  if (in_flight_.front().command != &payload) {
    report_error(report_type::protocol, name(), "the engine answers a command before those that came before it");
  }
  if (!in_flight_.front().has_place) has_place(now());
  if (data_ == EngineData::model && payload.is_response_ok()) compute(descriptor_of(payload));
  count(descriptor_of(payload));
  if (auto* report = payload.get_extension<ExecutionReport>()) {
    report->start = service_began_;
    report->end = now();
  }
  if (observer_ != nullptr) observer_->service_ends(descriptor_of(payload), now());
  in_flight_.pop_front();
  last_end_ = now();
  if (!in_flight_.empty()) begin_service();
  commands_.respond(payload);
}

void UserEngine::compute(const Descriptor& descriptor) {
  if (descriptor.engine == Engine::gemm) calculator_.execute(descriptor.gemm());
  if (descriptor.engine == Engine::math) calculator_.execute(descriptor.math());
}

void UserEngine::count(const Descriptor& descriptor) {
  EngineStatistics one;
  one.operations = 1;
  one.flops = flops_of(descriptor);
  one.busy = now() - service_began_;
  statistics_ += one;
  if (descriptor.engine != Engine::gemm) return;
  const GemmShape shape = shape_of(descriptor.gemm());
  gemm_work_ += {shape.m * shape.k * shape.n, one.busy, one.busy};
}

}  // namespace kernwave
