#include "models/pe/pe_cpu.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace kernwave {

namespace {

/// Stacks of one size would lie at equal distances, and their tops, which every operation touches, in the same few sets
/// of the host's caches. Sizes that differ by whole lines and pages spread them.
[[nodiscard]] std::size_t stack_offset(PeId id) {
  constexpr std::int64_t colours = 64;
  constexpr std::size_t step = 4096 + 320;
  return static_cast<std::size_t>(id.count() % colours) * step;
}

}  // namespace

PeCpu::PeCpu(const sc_core::sc_module_name& name, PeId id, const PeConfig& config, RunLedger& ledger,
             const EngineList& engines)
    : sc_module(name), id_(id), clock_(config.clock), ledger_(ledger), engines_(engines), commands_("commands", *this) {
  KERNWAVE_HAS_PROCESS(PeCpu);
  SC_THREAD(run);
  set_stack_size(static_cast<std::size_t>(config.kernel_stack.count()) + stack_offset(id));
}

std::string PeCpu::refusal() const {
  if (ledger_.in_kernel()) return fmt::format("PE {}: a kernel launches nothing", id_.count());
  if (ledger_.state() == RunLedger::State::failed) return fmt::format("PE {}: a kernel has failed", id_.count());
  return {};
}

void PeCpu::add_program(Program program, std::function<void()> drained) {
  if (const std::string reason = refusal(); !reason.empty()) throw std::logic_error(reason);
  ledger_.kernel_added();
  programs_.push_back({std::move(program), std::move(drained), now()});
  ++added_;
  if (process_ != nullptr) wake_.notify();
}

std::string PeCpu::position() const {
  if (last_location_.line == 0) return "before its first operation";
  return fmt::format("after the operation at {}:{}", last_location_.file, last_location_.line);
}

/// The thread never ends: SystemC looks an ended one up among all of them, so that those of a machine would take time
/// that grows with its square.
void PeCpu::run() {
  process_ = current_process();
  ledger_.add_kernel_process(process_);
  bool goes_on = true;
  while (true) {
    while (!goes_on || programs_.empty() || reset_progress_ != nullptr) wait(wake_);
    const Launch launch = std::move(programs_.front());
    programs_.pop_front();
    idle_until(std::max(launch.at, reset_at_));
    runs_program_ = true;
    goes_on = run_program(launch);
    runs_program_ = false;
    if (reset_progress_ != nullptr) reset_progress_->notify(sc_core::SC_ZERO_TIME);
  }
}

/// From the end of the program before to the launch. That the PE is idle, observers know from its end.
void PeCpu::idle_until(Picoseconds launched) {
  const Picoseconds from = local_time_;
  if (launched <= from) return;
  reached_ = std::max(reached_, launched);
  advance_to(launched, TimeCause::idle);
  if (observer_ != nullptr) observer_->wait_ends(wait_from(from, TimeCause::idle), launched);
}

/// Returns whether the PE may run another one: this one has drained, or a reset has ended it.
bool PeCpu::run_program(const Launch& launch) {
  draining_ = false;
  std::string failure;
  try {
    launch.program(*this);
    drain();
    ++drained_;
    if (observer_ != nullptr) observer_->drained(id_, local_time_);
    if (launch.drained) launch.drained();
    ledger_.kernel_drained(local_time_);
    return true;
  } catch (const sc_core::sc_unwind_exception&) {
    throw;  // the process is killed or reset, which SystemC wants to know
  } catch (const EndedByReset&) {
    failure.clear();
  } catch (const std::exception& error) {
    failure = error.what();
  } catch (...) {
    failure = fmt::format("PE {}, {}: an exception that is no std::exception", id_.count(), position());
  }
  // Outside the handler: a thread that waits inside one would leave its exception to the others.
  if (reset_progress_ != nullptr) {  // whatever the kernel has thrown since then
    forget_what_lies_ahead();
    releases_.clear();
    ++drained_;
    ledger_.kernel_drained(now());
    return true;
  }
  catch_up();
  forget_what_lies_ahead();
  ledger_.kernel_failed(id_, error_.empty() ? failure : error_);
  return false;
}

/// What has failed, or a reset, has ended the wait in which the program would be.
void PeCpu::forget_what_lies_ahead() {
  const std::optional<SpentTime> wait = account_.cut(now());
  const Picoseconds missing = now() - account().total();  // less than nothing: of an issue that has counted whole
  account_.add(now(), now(), {wait ? wait->cause : TimeCause::issue, missing});
  awaited_ = Completion{};
  local_time_ = std::min(local_time_, now());
  reached_ = std::min(reached_, now());
}

void PeCpu::begin_reset(sc_core::sc_event& progress) {
  reset_progress_ = &progress;
  for (; !programs_.empty(); programs_.pop_front()) {
    ++drained_;
    ledger_.kernel_drained(now());
  }
  if (process_ != nullptr) wake_.notify();
  progress.notify(sc_core::SC_ZERO_TIME);
}

void PeCpu::end_reset() {
  reset_progress_ = nullptr;
  reset_at_ = now();
  released_ = {};
  released_at_ = {};
  asked_for_ = {};
  wake_.notify();
}

void PeCpu::throw_if_over() const {
  if (reset_progress_ != nullptr) throw EndedByReset{};
  if (!error_.empty()) throw std::runtime_error(error_);
}

void PeCpu::pay_issue(Cycles cycles, SourceLocation where) {
  const Picoseconds from = local_time_;
  advance_to(from + clock_(cycles), TimeCause::issue);
  if (observer_ != nullptr) observer_->issuing(id_, where, from, local_time_);
  if (in_step_) synchronise();
}

Completion PeCpu::submit(const Descriptor& descriptor, SourceLocation where) {
  Command& command = acquire_command(descriptor, where);
  const Completion completion = command.completion;
  present(command);
  return completion;
}

Completion PeCpu::submit_awaited(const Descriptor& descriptor, SourceLocation where, TimeCause cause) {
  Command& command = acquire_command(descriptor, where);
  const Completion completion = command.completion;
  command.report.awaited = command.report.ahead;
  present(command);
  await(completion, cause);
  return completion;
}

/// What is awaited happens at that instant, which is known: the program goes on there, in simulated time or ahead.
void PeCpu::pass_to(Picoseconds instant, TimeCause cause) {
  const Picoseconds from = local_time_;
  reached_ = std::max(reached_, instant);
  advance_to(instant, cause);
  if (observer_ != nullptr) {
    const ProgramWait wait = wait_from(from, cause);
    observer_->wait_begins(wait);
    observer_->wait_ends(wait, local_time_);
  }
  constexpr std::size_t longest_lead = 512;  // in intervals of the account
  if (account_.ahead() > longest_lead || in_step_) catch_up();
  throw_if_over();
}

Command& PeCpu::acquire_command(const Descriptor& descriptor, SourceLocation where) {
  last_location_ = where;
  completions_.forget_complete(reached());
  Command& command = pool_.acquire(descriptor, engines_[descriptor.engine].doorbell);
  command.descriptor.id = OperationId{id_, next_sequence_++};
  command.report.where = where;
  command.completion = completions_.open(command.descriptor.id.sequence);
  command.issued = local_time_;
  command.end_is_taken = false;
  command.report.ahead = !in_step_ && (observer_ == nullptr || observer_->takes_ends_ahead());
  command.report.announce = command.report.ahead && commands_.is_time_transparent();
  return command;
}

/// Returns when the scheduler has accepted it.
void PeCpu::present(Command& command) {
  ledger_.activity_begins();
  ledger_.moved(reached());
  if (observer_ != nullptr) observer_->submitted({command.descriptor, last_location_, command.completion, local_time_});
  commands_.send(command, local_time_ - now());
  if (command.report.announced_end) take_announced_end(command);
  if (command.report.awaited) return;  // it was passed on at once
  if (commands_.busy()) {
    wait_until([this] { return !commands_.busy(); }, [this] { return commands_.free_at(); }, TimeCause::queue);
  } else if (commands_.free_at() > local_time_) {
    pass_to(commands_.free_at(), TimeCause::queue);
  }
}

/// One that takes longer than a run may go on without progress is awaited in simulated time, so that the run ends as it
/// should. So is a failure.
bool PeCpu::takes_ahead(const Command& command, Picoseconds end) const {
  return command.report.ahead && command.is_response_ok() && !ledger_.stalls(reached(), end);
}

void PeCpu::take_announced_end(Command& command) {
  const Picoseconds end = *command.report.announced_end;
  if (!takes_ahead(command, end)) return;
  command.end_is_taken = true;
  end_operation(command, end);
}

bool PeCpu::response_ahead(InitiatorPort& /*port*/, Payload& payload, Picoseconds at) {
  auto& command = static_cast<Command&>(payload);
  note_response(command, at);
  if (command.end_is_taken) return true;
  if (!takes_ahead(command, at)) return false;
  end_operation(command, at);
  return true;
}

/// An announced end is a promise.
void PeCpu::note_response(const Command& command, Picoseconds at) {
  if (command.report.announced_end.value_or(at) == at) return;
  report_error(report_type::protocol, commands_.socket().name(),
               fmt::format("{} was announced to end at {} ps and is answered for {} ps: a link that changes the "
                           "times of a response is not time-transparent",
                           describe(command.descriptor), command.report.announced_end->count(), at.count()));
}

void PeCpu::catch_up() {
  while (reached_ > now() && error_.empty() && reset_progress_ == nullptr) wait(to_sc_time(reached_ - now()), wake_);
}

void PeCpu::synchronise() {
  reached_ = local_time_;
  catch_up();
  throw_if_over();
}

void PeCpu::wait_for(Completion completion, TimeCause cause) {
  awaited_ = completion;
  if (completions_.has_known_end(completion)) {
    pass_to(completions_.end_of(completion), cause);
  } else {
    wait_until([this, completion] { return completions_.has_known_end(completion); },
               [this, completion] { return completions_.end_of(completion); }, cause);
  }
  awaited_ = Completion{};
}

void PeCpu::await_observed(Completion completion, TimeCause cause) {
  if (!is_complete(completion)) return wait_for(completion, cause);
  ProgramWait none = wait_from(local_time_, cause);
  none.on = completion;
  observer_->wait_ends(none, local_time_);
}

ProgramWait PeCpu::wait_from(Picoseconds from, TimeCause cause) const {
  return {id_, cause, from, awaited_, credit_direction_, reset_progress_ != nullptr};
}

void PeCpu::take_credit(Direction direction, SourceLocation where) {
  last_location_ = where;
  credit_direction_ = direction;
  wait_until([this, direction] { return queues_->may_send(direction); }, TimeCause::credit);
  queues_->take_credit(direction, local_time_);
}

void PeCpu::release_slot(Direction direction, std::int64_t number, const std::vector<Completion>& users) {
  if (reset_progress_ != nullptr) return;  // the kernel's tensors go
  releases_.push_back({direction, number, local_time_, users});
  release_slots();
}

/// One that falls free may let another one of its direction follow.
void PeCpu::release_slots() {
  for (std::size_t i = 0; i < releases_.size();) {
    if (release_if_due(releases_[i])) {
      releases_.erase(releases_.begin() + static_cast<std::ptrdiff_t>(i));
      i = 0;
    } else {
      ++i;
    }
  }
}

/// Notes the ends of its users as they become known: their completions may be forgotten before the last one is.
bool PeCpu::release_if_due(Release& release) {
  bool all_known = true;
  for (const Completion user : release.users) {
    const bool known = completions_.has_known_end(user);
    if (known) release.not_before = std::max(release.not_before, completions_.end_of(user));
    all_known = all_known && known;
  }
  std::int64_t& released = released_[static_cast<std::size_t>(release.direction)];
  if (!all_known || release.number != released) return false;
  ++released;
  Picoseconds& at = released_at_[static_cast<std::size_t>(release.direction)];
  at = std::max({release.not_before, now(), at});
  if (observer_ != nullptr) observer_->slot_released(id_, release.direction, at, release.users);
  queues_->release_slot(release.direction, at);
  return true;
}

void PeCpu::credit_returned() {
  if (waiting_for_ == TimeCause::credit) wake_.notify();
}

void PeCpu::drain() {
  draining_ = true;
  if (completions_.open_count() > 0) {
    wait_until([this] { return completions_.open_count() == 0; }, [this] { return completions_.last_end(); },
               TimeCause::drain);
  } else if (completions_.last_end() > reached()) {
    pass_to(completions_.last_end(), TimeCause::drain);
  }
  // The end of the program is an instant of simulated time.
  while (local_time_ > now() && reset_progress_ == nullptr) wait(to_sc_time(local_time_ - now()), wake_);
  if (reset_progress_ != nullptr) throw EndedByReset{};
}

template <typename Ready, typename Until>
void PeCpu::wait_until(Ready ready, Until until, TimeCause cause) {
  if (!ready()) {
    waiting_for_ = cause;
    const Picoseconds from = local_time_;
    if (observer_ != nullptr) observer_->wait_begins(wait_from(from, cause));
    ledger_.moved(reached());
    ledger_.activity_ends();
    while (!ready() && error_.empty() && reset_progress_ == nullptr) wait(wake_);
    ledger_.activity_begins();
    const Picoseconds happens = ready() && error_.empty() ? std::max(now(), until()) : now();
    reached_ = std::max(reached_, happens);
    advance_to(happens, cause);
    if (observer_ != nullptr) observer_->wait_ends(wait_from(from, cause), local_time_);
  }
  throw_if_over();
}

void PeCpu::advance_to(Picoseconds time, TimeCause cause) {
  if (time <= local_time_) return;
  account_.add(reached(), now(), {cause, time - local_time_});
  local_time_ = time;
}

void PeCpu::request_accepted(InitiatorPort& /*port*/) { wake_.notify(); }

void PeCpu::response(InitiatorPort& /*port*/, Payload& payload) {
  auto& command = static_cast<Command&>(payload);
  note_response(command, now());
  if (command.end_is_taken) return;
  if (payload.is_response_error() && error_.empty() && reset_progress_ == nullptr) {
    const std::string& problem = command.report.problem;
    error_ = fmt::format("PE {}: {}, issued at {}:{}, {}", id_.count(), describe(command.descriptor),
                         command.report.where.file, command.report.where.line,
                         problem.empty() ? "was answered with " + payload.get_response_string() : problem);
  }
  end_operation(command, now());
  if (!error_.empty()) wake_.notify();
}

/// It ends at that instant, now or later.
void PeCpu::end_operation(const Command& command, Picoseconds end) {
  if (observer_ != nullptr) {
    const CompletedOperation operation{command.descriptor, command.report.where, command.completion,
                                       command.issued,     command.report.start, command.report.end};
    command.report.dropped ? observer_->dropped(operation) : observer_->completed(operation);
  }
  completions_.complete(command.completion, end);
  ledger_.moved(end);
  ledger_.activity_ends();
  if (!releases_.empty()) release_slots();
  const bool last = draining_ && completions_.open_count() == 0;
  if (command.completion == awaited_ || last) wake_.notify();
  if (reset_progress_ != nullptr) reset_progress_->notify(sc_core::SC_ZERO_TIME);
}

std::string PeCpu::describe_wait() const {
  const std::string who = fmt::format("PE {} waits for {}: ", id_.count(), name_of(waiting_for_));
  const Command* awaited = pool_.find(awaited_);
  if (awaited != nullptr) {
    return who + fmt::format("{}, issued at {}:{}", describe(awaited->descriptor), awaited->report.where.file,
                             awaited->report.where.line);
  }
  const std::string where = fmt::format("at {}:{}", last_location_.file, last_location_.line);
  if (waiting_for_ == TimeCause::credit) {
    return who + fmt::format("send to the {} {}; {}", name_of(credit_direction_), where,
                             queues_->describe_credits(credit_direction_));
  }
  return who + fmt::format("its last operation was issued {}, {} are in flight", where, operations_in_flight());
}

}  // namespace kernwave
