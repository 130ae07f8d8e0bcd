#include "models/pe/pe_cpu.h"

#include <stdexcept>
#include <string>
#include <utility>

namespace kernwave {

namespace {

constexpr std::size_t stack_bytes = 1 << 20;  // SystemC's default, 256 KiB, is little for a kernel with local arrays

/// Stacks of one size would lie at equal distances, and their tops, which every operation touches, in the same few sets
/// of the host's caches. Sizes that differ by whole lines and pages spread them.
[[nodiscard]] std::size_t stack_offset(PeId id) {
  constexpr std::int64_t colours = 64;
  constexpr std::size_t step = 4096 + 320;
  return static_cast<std::size_t>(id.count() % colours) * step;
}

}  // namespace

PeCpu::PeCpu(const sc_core::sc_module_name& name, PeId id, const PeConfig& config, RunLedger& ledger)
    : sc_module(name), id_(id), clock_(config.clock), ledger_(ledger), commands_("commands", *this) {
  require_picosecond_resolution();
  KERNWAVE_HAS_PROCESS(PeCpu);
  SC_THREAD(run);
  set_stack_size(stack_bytes + stack_offset(id));
}

void PeCpu::set_program(Program program) {
  if (!program_) ledger_.kernel_added();
  program_ = std::move(program);
}

void PeCpu::run() {
  if (!program_) return;
  try {
    program_(*this);
    drain();
    drained_ = true;
    ledger_.kernel_drained(local_time_);
  } catch (const std::exception& error) {
    ledger_.kernel_failed(id_, error.what());
  }
}

void PeCpu::spend(TimeCause cause, Cycles cycles) { advance_to(local_time_ + clock_(cycles), cause); }

Completion PeCpu::submit(const Descriptor& descriptor, SourceLocation where) {
  last_location_ = where;
  Command& command = pool_.acquire(descriptor);
  command.descriptor.id = OperationId{id_, next_sequence_++};
  command.times.where = where;
  command.completion = completions_.open();
  command.issued = local_time_;
  const Completion completion = command.completion;
  commands_.send(command, local_time_ - now());
  if (commands_.busy()) wait_until([this] { return !commands_.busy(); }, TimeCause::queue);
  advance_to(commands_.free_at(), TimeCause::queue);
  return completion;
}

void PeCpu::wait_for(Completion completion, TimeCause cause) {
  awaited_ = completion;
  wait_until([this, completion] { return completions_.is_complete(completion); }, cause);
  awaited_ = Completion{};
}

void PeCpu::drain() {
  draining_ = true;
  wait_until([this] { return completions_.open_count() == 0; }, TimeCause::drain);
  // The end of the program is an instant of simulated time.
  if (local_time_ > now()) wait(to_sc_time(local_time_ - now()));
}

template <typename Ready>
void PeCpu::wait_until(Ready ready, TimeCause cause) {
  if (!ready()) {
    waiting_for_ = cause;
    while (!ready()) wait(wake_);
    advance_to(now(), cause);
  }
  if (!error_.empty()) throw std::runtime_error(error_);
}

void PeCpu::advance_to(Picoseconds time, TimeCause cause) {
  if (time <= local_time_) return;
  account_.add(cause, time - local_time_);
  local_time_ = time;
}

void PeCpu::request_accepted(InitiatorPort& /*port*/) { wake_.notify(); }

void PeCpu::response(InitiatorPort& /*port*/, Payload& payload) {
  auto& command = static_cast<Command&>(payload);
  if (payload.is_response_error() && error_.empty()) {
    error_ = "PE " + std::to_string(id_.count()) + ": " + describe(command.descriptor) + ", issued at " +
             command.times.where.file + ":" + std::to_string(command.times.where.line) + ", was answered with " +
             payload.get_response_string();
  }
  if (observer_ != nullptr) {
    observer_->completed(
        {command.descriptor, command.times.where, command.issued, command.times.start, command.times.end});
  }
  completions_.complete(command.completion);
  const bool last = draining_ && completions_.open_count() == 0;
  if (command.completion == awaited_ || last) wake_.notify();
}

}  // namespace kernwave
