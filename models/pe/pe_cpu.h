// The CPU of a PE: runs a program in an SC_THREAD and accounts for its time.
#pragma once

#include <algorithm>
#include <array>
#include <functional>
#include <string>
#include <vector>

#include "models/base/clock.h"
#include "models/base/ring_queue.h"
#include "models/base/systemc.h"
#include "models/config/system_config.h"
#include "models/pe/ahead_account.h"
#include "models/pe/credit_port.h"
#include "models/pe/pe_observer.h"
#include "models/pe/stall_account.h"
#include "models/protocol/command.h"
#include "models/protocol/completion.h"
#include "models/protocol/initiator_port.h"
#include "models/run/run_ledger.h"

namespace kernwave {

/// Runs one program and submits its operations.
///
/// The program's time, `local_time()`, may run ahead of simulated time: issue costs are carried as the annotated delay
/// of BEGIN_REQ, and the thread waits only for ends that are not known yet. This is exact and uses no quantum: the
/// thread waits for an unknown end in simulated time, and the program's time then becomes the later of its own and that
/// end. If the end of an operation is already known, because it came with TLM_COMPLETED, was announced with END_REQ, or
/// came as the annotated delay of a response, the thread does not wait and the program's time becomes that end. So the
/// program may be far ahead of simulated time. `reached()` is the instant at which the program would be if it had
/// waited each time; its errors, progress, deadlocks and account count at that instant. The lead is bounded, so that
/// interrupts and progress of the host take effect.
class PeCpu : public sc_core::sc_module, private InitiatorPort::Client, private CreditListener {
 public:
  using Program = std::function<void(PeCpu&)>;

  PeCpu(const sc_core::sc_module_name& name, PeId id, const PeConfig& config, RunLedger& ledger,
        const EngineList& engines);

  [[nodiscard]] InitiatorSocket& command_socket() noexcept { return commands_.socket(); }
  /// Declares, during elaboration, whether the link to the scheduler is time-transparent.
  void declare_time_transparent(bool is) noexcept { commands_.declare_time_transparent(is); }

  /// The listener that the queues of this PE call when credits return.
  [[nodiscard]] CreditListener& credit_listener() noexcept { return *this; }
  /// Sets the queues of this PE, during elaboration.
  void set_queues(CreditProvider& queues) noexcept { queues_ = &queues; }

  /// Adds a program. It begins now, or when the programs before it have drained; `drained`, if any, is called when it
  /// has drained. A PE without a program is idle. Throws std::logic_error if `refusal()` gives a reason.
  void add_program(Program program, std::function<void()> drained = {});
  /// The reason why this PE takes no program: a kernel asks, or a kernel has failed. Empty if it takes one.
  [[nodiscard]] std::string refusal() const;
  /// The number of the next message to be received from there, over all programs.
  [[nodiscard]] std::int64_t next_message(Direction from) noexcept {
    return asked_for_[static_cast<std::size_t>(from)]++;
  }
  void set_observer(PeObserver* observer) noexcept { observer_ = observer; }

  // A reset (`PeResets`).
  /// Keeps the program in simulated time, during elaboration: nothing of it happens before a reset that may come.
  void allow_reset() noexcept { in_step_ = true; }
  /// Ends the program where it waits, and forgets the programs that were added. From now on every end of an operation
  /// notifies `progress`.
  void begin_reset(sc_core::sc_event& progress);
  /// Whether no program runs and no operation is on its way.
  [[nodiscard]] bool is_quiet() const noexcept { return !runs_program_ && pool_.in_use() == 0; }
  /// As at the start of the simulation; programs that were added since `begin_reset` may begin.
  void end_reset();

  /// Whether this PE's program runs now.
  [[nodiscard]] bool runs_here() const noexcept { return current_process() == process_; }
  /// The position of the program, for messages: "after the operation at decode.cpp:33".
  [[nodiscard]] std::string position() const;

  // For the program, from its thread.
  [[nodiscard]] PeId id() const noexcept { return id_; }
  [[nodiscard]] Picoseconds local_time() const noexcept { return local_time_; }
  /// Spends cycles on issuing the operation at `where`.
  void pay_issue(Cycles cycles, SourceLocation where);
  /// Presents a command to the scheduler; returns when it has been accepted. The id is filled in.
  Completion submit(const Descriptor& descriptor, SourceLocation where);
  /// The same; also waits until the operation is complete.
  Completion submit_awaited(const Descriptor& descriptor, SourceLocation where, TimeCause cause);
  /// Waits until simulated time is the program's time, for host code that reads simulated time or memory.
  void synchronise();
  void wait_for(Completion completion, TimeCause cause);
  /// Waits for the operation, if it is not complete.
  void await(Completion completion, TimeCause cause) {
    if (observer_ != nullptr) return await_observed(completion, cause);
    if (!is_complete(completion)) wait_for(completion, cause);
  }
  /// Waits for an operand: the next operation reads the result of `completion`.
  void await_operand(Completion completion, TimeCause cause) {
    if (observer_ != nullptr) observer_->depends(id_, completion);
    await(completion, cause);
  }
  /// The program uses scratch up to `top`.
  void note_scratch(Bytes top) {
    if (observer_ != nullptr) observer_->scratch_used(id_, top, local_time_);
  }
  /// The program has allocated a tensor.
  void note_allocated(const ScratchOperand& tensor) {
    if (observer_ != nullptr) observer_->scratch_allocated(id_, tensor);
  }
  /// Waits until the peer in that direction has a free slot and the window is open, and takes both.
  void take_credit(Direction direction, SourceLocation where);
  /// The program is done with message `number` of a direction; its slot falls free when the `users` of its bytes are
  /// complete and all slots before it are free.
  void release_slot(Direction direction, std::int64_t number, const std::vector<Completion>& users);
  /// Whether the operation is complete at the instant at which the program would be if it had waited in simulated time.
  [[nodiscard]] bool is_complete(Completion completion) const noexcept {
    return completions_.is_complete(completion, reached());
  }

  // After the run.
  [[nodiscard]] StallAccount account() const { return account_.at(now()); }
  [[nodiscard]] bool has_program() const noexcept { return added_ > 0; }
  /// All of its programs have.
  [[nodiscard]] bool drained() const noexcept { return added_ > 0 && drained_ == added_; }
  [[nodiscard]] std::int64_t operations_in_flight() const noexcept {
    return static_cast<std::int64_t>(completions_.in_flight(now()));
  }
  [[nodiscard]] std::int64_t operations() const noexcept { return next_sequence_; }
  /// The wait of the program, for reports of a run that did not end: cause, operation, source line.
  [[nodiscard]] std::string describe_wait() const;
  [[nodiscard]] const CommandPool& command_pool() const noexcept { return pool_; }

 private:
  /// A message that the program is done with.
  struct Release {
    Direction direction;
    std::int64_t number;
    Picoseconds not_before;
    std::vector<Completion> users;
  };

  void request_accepted(InitiatorPort& port) override;
  void response(InitiatorPort& port, Payload& payload) override;
  [[nodiscard]] bool response_ahead(InitiatorPort& port, Payload& payload, Picoseconds at) override;
  void credit_returned() override;

  /// A program that is to run.
  struct Launch {
    Program program;
    std::function<void()> drained;
    Picoseconds at;
  };

  /// Thrown in the program's thread, whose kernel a reset ends. No std::exception: a kernel's handlers are not meant.
  struct EndedByReset {};

  void run();
  void idle_until(Picoseconds launched);
  [[nodiscard]] bool run_program(const Launch& launch);
  void drain();
  void throw_if_over() const;
  void forget_what_lies_ahead();
  [[nodiscard]] Command& acquire_command(const Descriptor& descriptor, SourceLocation where);
  void present(Command& command);
  [[nodiscard]] bool takes_ahead(const Command& command, Picoseconds end) const;
  void take_announced_end(Command& command);
  void end_operation(const Command& command, Picoseconds end);
  void note_response(const Command& command, Picoseconds at);
  /// See above; never later than `local_time_`.
  [[nodiscard]] Picoseconds reached() const noexcept { return std::max(reached_, now()); }
  void catch_up();
  /// Waits until `ready()`. The program's time becomes at least the present time, and the difference counts as `cause`.
  template <typename Ready>
  void wait_until(Ready ready, TimeCause cause) {
    wait_until(
        ready, [] { return Picoseconds(0); }, cause);
  }
  /// The same, for an event whose instant `until()` is known when `ready()` and may be later.
  template <typename Ready, typename Until>
  void wait_until(Ready ready, Until until, TimeCause cause);
  void pass_to(Picoseconds instant, TimeCause cause);
  void await_observed(Completion completion, TimeCause cause);
  [[nodiscard]] ProgramWait wait_from(Picoseconds from, TimeCause cause) const;
  void advance_to(Picoseconds time, TimeCause cause);
  void release_slots();
  [[nodiscard]] bool release_if_due(Release& release);

  SimulatedTime now;
  CurrentProcess current_process;
  PeId id_;
  Clock clock_;
  RunLedger& ledger_;
  const EngineList& engines_;
  InitiatorPort commands_;
  CommandPool pool_;
  CompletionTable completions_;
  RingQueue<Launch> programs_;  // that have not begun
  std::int64_t added_ = 0;
  std::int64_t drained_ = 0;                        // of these
  const sc_core::sc_process_b* process_ = nullptr;  // the one in which the program runs
  PeObserver* observer_ = nullptr;
  sc_core::sc_event wake_;
  Completion awaited_;     // whose completion wakes the thread
  bool draining_ = false;  // the last completion wakes the thread
  Picoseconds local_time_;
  Picoseconds reached_;  // the last instant that was not awaited in simulated time
  AheadAccount<StallAccount, SpentTime> account_;
  std::int64_t next_sequence_ = 0;
  bool in_step_ = false;  // the program's time is simulated time
  bool runs_program_ = false;
  sc_core::sc_event* reset_progress_ = nullptr;  // while a reset goes on
  Picoseconds reset_at_;                         // when the last one ended
  std::string error_;                            // the first answer of an engine that was one
  SourceLocation last_location_;
  TimeCause waiting_for_ = TimeCause::issue;
  CreditProvider* queues_ = nullptr;
  std::array<std::int64_t, direction_count> released_{};    // messages of each direction whose slots are free again
  std::array<Picoseconds, direction_count> released_at_{};  // when the last of them was, now or later
  std::array<std::int64_t, direction_count> asked_for_{};   // messages of each direction
  std::vector<Release> releases_;                           // in the order in which the program was done with them
  Direction credit_direction_ = Direction::north;           // of the send that waits for a credit
};

}  // namespace kernwave
