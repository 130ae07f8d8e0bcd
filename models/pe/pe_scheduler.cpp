#include "models/pe/pe_scheduler.h"

#include <algorithm>
#include <limits>

#include "models/base/clock.h"

namespace kernwave {

namespace {

/// From END_REQ of one command to BEGIN_REQ of the next one on a socket that commands and parts share.
constexpr Picoseconds socket_gap(1);

void forbid_announcement(Payload& payload) {
  if (auto* report = payload.get_extension<ExecutionReport>()) report->announce = false;
}

/// Where END_REQ has an instant of its own, a response in the return value would hide it.
void forbid_answer_in_return(Payload& payload) {
  if (auto* report = payload.get_extension<ExecutionReport>()) report->awaited = false;
}

/// What is kept for a while is not answered in the call that brought it.
void keep(Payload& payload) {
  forbid_announcement(payload);
  forbid_answer_in_return(payload);
}

constexpr Picoseconds no_end(std::numeric_limits<std::int64_t>::max());

[[nodiscard]] constexpr Engine engine_of(CompositeStage stage) noexcept {
  switch (stage) {
    case CompositeStage::read:
      return Engine::dma_read;
    case CompositeStage::product:
      return Engine::gemm;
    case CompositeStage::epilogue:
      break;
  }
  return Engine::math;
}

[[nodiscard]] constexpr CompositeStage stage_of(Engine engine) noexcept {
  if (engine == Engine::dma_read) return CompositeStage::read;
  return engine == Engine::gemm ? CompositeStage::product : CompositeStage::epilogue;
}

}  // namespace

PeScheduler::PeScheduler(const sc_core::sc_module_name& name, const PeConfig& config, RunLedger& ledger,
                         const EngineList& engines)
    : sc_module(name),
      ledger_(ledger),
      dispatch_time_(Clock(config.clock)(config.scheduler.dispatch_latency)),
      commands_("commands", *this),
      engine_list_(engines),
      places_(config.scheduler.queue_depth),
      composites_(dispatch_time_, config.dma.overlap_commands) {
  InitiatorPort::Client& client = *this;
  for (const EngineRow& row : engines) {
    const bool is_itself = row.service == EngineService::parts;
    engines_.push_back(is_itself ? nullptr : std::make_unique<InitiatorPort>(std::string(row.name).c_str(), client));
  }
}

std::optional<Picoseconds> PeScheduler::request(TargetPort& /*port*/, Payload& payload, Picoseconds at) {
  if (const auto status = command_status(payload); status != tlm::TLM_OK_RESPONSE) {
    payload.set_response_status(status);
    commands_.respond(payload, at);
    return at;
  }
  if (!places_.is_next_known()) {
    keep(payload);
    return std::nullopt;
  }
  const bool forwards = queue_.empty();
  const Picoseconds accepted = accept(payload, at);
  if (accepted != at) forbid_answer_in_return(payload);
  if (!forwards) {
    keep(payload);
    wake_.notify();
  } else if (!hand_on_next()) {
    keep(payload);
  }
  return accepted;
}

Picoseconds PeScheduler::accept(Payload& payload, Picoseconds presented) {
  const Picoseconds accepted = places_.take(presented);
  queue_.push_back({&payload, accepted});
  if (observer_ != nullptr) observer_->accepted(descriptor_of(payload), presented, accepted);
  return accepted;
}

void PeScheduler::dispatch() {
  while (!queue_.empty() && hand_on_next()) {
  }
  if (sharing()) present_parts();
}

/// Returns whether the first command has left the queue. If not, something will wake us.
bool PeScheduler::hand_on_next() {
  Payload& payload = *queue_.front().payload;
  Picoseconds at = std::max(queue_.front().accepted + dispatch_time_, last_dispatched_);
  const EngineRow* engine = engine_list_.at_doorbell(payload.get_address());
  if (engine == nullptr) {
    reject(payload);
  } else if (engine->service == EngineService::parts) {
    if (!keep_composite(payload, at)) return false;
  } else if (!hand_on(payload, engine->engine, at)) {
    return false;
  }
  places_.leave(at);
  last_dispatched_ = at;
  queue_.pop_front();
  take_withheld();
  return true;
}

bool PeScheduler::hand_on(Payload& payload, Engine engine, Picoseconds& at) {
  InitiatorPort& port = port_of(engine);
  if (port.busy()) return false;  // request_accepted wakes us
  const Picoseconds socket_free = port.free_at() + socket_gap;
  if (std::max(at, port.free_at()) > shared_until_) {
    at = std::max(at, port.free_at());
  } else if (socket_free > at || has_parts_for(engine)) {
    at = std::max(at, socket_free);
    if (at > now()) {
      wake_at(at);
      return false;
    }
  }
  if (in_step_ && at > now()) {
    wake_at(at);
    return false;
  }
  if (observer_ != nullptr) observer_->dispatched(descriptor_of(payload), at);
  if (!port.is_time_transparent()) forbid_announcement(payload);
  port.send(payload, std::max(at - now(), Picoseconds(0)));
  return true;
}

/// Parts that may come before a command that is dispatched ahead of time. Those of a later composite do not.
bool PeScheduler::has_parts_for(Engine engine) const {
  switch (engine) {
    case Engine::dma_read:
      return composites_.has_parts(CompositeStage::read);
    case Engine::gemm:
      return composites_.has_parts(CompositeStage::product);
    case Engine::math:
      return composites_.has_parts(CompositeStage::epilogue);
    case Engine::dma_write:
    case Engine::ipcq:
    case Engine::composite:
      break;
  }
  return false;
}

/// In the very instant of its dispatch: what was dispatched before has arrived by then.
bool PeScheduler::keep_composite(Payload& payload, Picoseconds at) {
  if (at > now()) {
    wake_at(at);
    return false;
  }
  if (observer_ != nullptr) observer_->dispatched(descriptor_of(payload), at);
  composites_.add(payload, at);
  shared_until_ = no_end;
  return true;
}

void PeScheduler::present_parts() {
  for (const CompositeStage stage : composite_stages) {
    InitiatorPort& port = port_of(engine_of(stage));
    for (auto due = composites_.due(stage); due && !port.busy(); due = composites_.due(stage)) {
      const Picoseconds at = std::max(*due, port.free_at() + socket_gap);
      if (at > now()) {
        wake_at(at);
        break;
      }
      present_part(stage, port);
    }
  }
}

void PeScheduler::present_part(CompositeStage stage, InitiatorPort& port) {
  const CompositeSequencer::Part part = composites_.present(stage);
  Command& command = parts_.acquire(part.descriptor, doorbell(part.descriptor.engine));
  command.report.where = part.where;
  command.report.ahead = observer_ == nullptr || observer_->takes_ends_ahead();
  command.issued = part.issued;
  if (observer_ != nullptr) observer_->presented(part.descriptor, part.issued, now());
  port.send(command);
}

/// Now, or ahead of its end.
void PeScheduler::part_ended(const Command& part, Picoseconds at) {
  ledger_.moved(at);
  if (observer_ != nullptr) {
    observer_->completed(
        {part.descriptor, part.report.where, Completion{}, part.issued, part.report.start, part.report.end});
  }
  const CompositeStage stage = stage_of(part.descriptor.engine);
  if (stage == CompositeStage::read) composite_statistics_.add(at, now(), {0, 1});
  if (Payload* composite = composites_.ended(stage, part, at)) {
    last_complete_ = std::max(last_complete_, at);
    if (composites_.empty()) shared_until_ = last_complete_;
    composite_statistics_.add(at, now(), {1, 0});
    commands_.respond(*composite, at);
  }
  wake_at(at + dispatch_time_);  // whatever waited for this part may be presented then
}

void PeScheduler::take_withheld() {
  Payload* waiting = commands_.withheld();
  if (waiting == nullptr) return;
  const Picoseconds accepted = accept(*waiting, commands_.withheld_since());
  commands_.accept_withheld(accepted);
}

void PeScheduler::begin_reset() {
  while (!queue_.empty()) {
    Payload& payload = *queue_.front().payload;
    queue_.pop_front();
    places_.leave(now());
    last_dispatched_ = now();
    if (observer_ != nullptr) observer_->dispatched(descriptor_of(payload), now());
    drop(payload, now());
    commands_.respond(payload);
    take_withheld();
  }
  drop_composites();
}

void PeScheduler::drop_composites() {
  for (Payload* composite : composites_.drop_parts(now())) commands_.respond(*composite);
  if (composites_.empty() && shared_until_ > now()) shared_until_ = now();
}

void PeScheduler::reject(Payload& payload) {
  payload.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
  commands_.respond(payload);
}

/// Goes on to the CPU, or to the composite that it is a part of, ahead of time too.
bool PeScheduler::response_ahead(InitiatorPort& /*port*/, Payload& payload, Picoseconds at) {
  const auto* report = payload.get_extension<ExecutionReport>();
  if (report == nullptr || !report->ahead) return false;
  if (!is_part(payload)) {
    commands_.respond(payload, at);
    return true;
  }
  if (ledger_.stalls(now(), at)) return false;
  part_ended(static_cast<const Command&>(payload), at);
  return true;
}

void PeScheduler::request_accepted(InitiatorPort& /*port*/) { wake_.notify(); }

void PeScheduler::response(InitiatorPort& /*port*/, Payload& payload) {
  is_part(payload) ? part_ended(static_cast<const Command&>(payload), now()) : commands_.respond(payload);
}

void PeScheduler::wake_at(Picoseconds time) { wake_.notify(to_sc_time(time - now())); }

}  // namespace kernwave
