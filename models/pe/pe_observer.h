// The interface of observers of a PE.
#pragma once

#include <vector>

#include "models/base/address.h"
#include "models/base/direction.h"
#include "models/base/quantity.h"
#include "models/ipcq/topology.h"
#include "models/pe/stall_account.h"
#include "models/protocol/completion.h"
#include "models/protocol/descriptor.h"

namespace kernwave {

/// An operation that a program has issued.
struct IssuedOperation {
  const Descriptor& descriptor;
  SourceLocation where;
  Completion completion;
  Picoseconds issued;  ///< its issue cost is paid and it is presented to the scheduler
};

/// An operation, or a part of a composite (`descriptor.id.part` > 0), that has completed.
struct CompletedOperation {
  const Descriptor& descriptor;
  SourceLocation where;
  Completion completion;  ///< none of a part
  Picoseconds issued;  ///< its issue cost is paid and it is presented to the scheduler; of a part: its dispatch began
  Picoseconds start;   ///< its engine takes it in service
  Picoseconds end;
};

/// An interval of time in which a program waits.
struct ProgramWait {
  PeId pe;
  TimeCause cause = TimeCause::compute;
  Picoseconds from;
  Completion on;                           ///< the operation waited for; none for a credit, a place in a queue, drain
  Direction direction = Direction::north;  ///< of a credit
  bool ended_by_reset = false;
};

/// How a command passed a DMA channel.
struct TransferPhases {
  Picoseconds arrival;        ///< dispatched by the scheduler
  Picoseconds setup_start;    ///< its setup began
  Picoseconds setup_done;     ///< its first request may be sent
  Picoseconds port_time;      ///< how long its data need the port, if they come without a gap
  Picoseconds requested;      ///< its last request was sent
  Picoseconds first_data;     ///< the memory had or took the first data
  Picoseconds last_response;  ///< the memory's last answer
  Picoseconds contention;     ///< part of the time to the last answer: channels and links that served others
  Picoseconds end;
};

/// An observer of a PE, which gets a call for each event; each kind of observer overrides the calls that it needs.
///
/// Calls come in causal order: an event is reported after the events that led to it. The times of calls need not
/// ascend: the program and the scheduler work ahead of simulated time, so a time may lie in the future, but never after
/// the time of an event that depends on it. Calls of different PEs in one instant come in any order.
class PeObserver {
 public:
  PeObserver() = default;
  PeObserver(const PeObserver&) = delete;
  PeObserver& operator=(const PeObserver&) = delete;
  virtual ~PeObserver() = default;

  /// Whether the observer can be told of the end of an operation ahead of simulated time, in the call that issues the
  /// operation. Other observers are told at that instant; all times are the same.
  [[nodiscard]] virtual bool takes_ends_ahead() const { return false; }

  // ---- the program, in program order

  /// The program pays the issue cost of an operation.
  virtual void issuing(PeId /*pe*/, SourceLocation /*where*/, Picoseconds /*from*/, Picoseconds /*to*/) {}
  /// The next operation to be submitted reads the result of `on`.
  virtual void depends(PeId /*pe*/, Completion /*on*/) {}
  virtual void submitted(const IssuedOperation& /*operation*/) {}
  virtual void wait_begins(const ProgramWait& /*wait*/) {}
  /// A wait ends at `to`, which may equal `wait.from`. The call is made for every operand; if the operand was there
  /// already, without wait_begins.
  virtual void wait_ends(const ProgramWait& /*wait*/, Picoseconds /*to*/) {}
  /// Bytes of scratch in use, slots of queues included.
  virtual void scratch_used(PeId /*pe*/, Bytes /*bytes*/, Picoseconds /*at*/) {}
  /// Scratch was given to a new tensor: the old contents are invalid, and nothing is written yet.
  virtual void scratch_allocated(PeId /*pe*/, const ScratchOperand& /*tensor*/) {}
  /// The last operation of the PE's program is complete.
  virtual void drained(PeId /*pe*/, Picoseconds /*at*/) {}

  // ---- the scheduler, in the order of its queue

  virtual void accepted(const Descriptor& /*operation*/, Picoseconds /*presented*/, Picoseconds /*at*/) {}
  virtual void dispatched(const Descriptor& /*operation*/, Picoseconds /*at*/) {}
  /// A part of a composite goes to its engine; its dispatch began at `issued`.
  virtual void presented(const Descriptor& /*part*/, Picoseconds /*issued*/, Picoseconds /*at*/) {}

  // ---- engines, each in its own order

  /// The command has a place in the engine's queue (END_REQ).
  virtual void arrived(const Descriptor& /*operation*/, Picoseconds /*at*/) {}
  virtual void service_begins(const Descriptor& /*operation*/, Picoseconds /*at*/) {}
  /// The phases of a command of a DMA channel. Called before service_ends.
  virtual void transferred(const Descriptor& /*operation*/, const TransferPhases& /*phases*/) {}
  virtual void service_ends(const Descriptor& /*operation*/, Picoseconds /*at*/) {}

  // ---- queues from neighbours

  virtual void slot_filled(PeId /*pe*/, Direction /*from*/, Picoseconds /*at*/) {}
  /// The oldest unreleased slot is free from `at` on, and its credit then returns to the sender. `users` are the last
  /// operations that used the slot, all complete.
  virtual void slot_released(PeId /*pe*/, Direction /*from*/, Picoseconds /*at*/,
                             const std::vector<Completion>& /*users*/) {}

  // ---- the end of an operation

  /// Called in order of completion, parts before their composite.
  virtual void completed(const CompletedOperation& /*operation*/) {}

  // ---- a reset of the PE

  /// The operation ends without having been carried out: it had reached no engine, or waited in one for a message or a
  /// link.
  virtual void dropped(const CompletedOperation& /*operation*/) {}
  /// The PE is as it was at its start, and nothing of it is on its way. Messages that it had sent stay with their
  /// receivers; messages that it had not received are lost.
  virtual void was_reset(PeId /*pe*/, const std::vector<Neighbour>& /*neighbours*/, Picoseconds /*at*/) {}
};

}  // namespace kernwave
