// Resets of PEs in a machine that runs.
#pragma once

#include <vector>

#include "models/base/systemc.h"
#include "models/ipcq/topology.h"
#include "models/pe/pe.h"
#include "models/run/run_ledger.h"

namespace kernwave {

/// Resets PEs, several at a time.
///
/// A reset takes effect at the end of the instant in which it is asserted: all that the model does in that instant is
/// done. The kernel of the PE ends where it waits, and kernels that were launched and have not begun are forgotten.
/// Commands that no engine has begun are dropped. What engines, memory and links have taken runs out: stores that were
/// requested are carried out, messages that have left arrive, and answers are discarded. When nothing of the PE is on
/// its way, its queues, credits, slots and scratch are as at the start of the simulation, and kernels that were
/// launched in the meantime begin.
///
/// A PE at the other end of a queue keeps the messages that have landed there, and may go on receiving; it sends when
/// the reset is over. What it sent before is lost.
class PeResets {
 public:
  /// During elaboration. `pes` and `ledger` must outlive this.
  PeResets(const SystemConfig& config, std::vector<Pe*> pes, RunLedger& ledger);
  PeResets(const PeResets&) = delete;
  PeResets& operator=(const PeResets&) = delete;

  void assert_reset(const std::vector<PeId>& pes);
  [[nodiscard]] bool in_reset(PeId pe) const;
  /// Raised when a reset is over.
  [[nodiscard]] const sc_core::sc_event& over() const noexcept { return over_; }
  void set_observer(PeObserver* observer) noexcept { observer_ = observer; }

 private:
  struct Resetting {
    PeId pe;
    std::vector<Neighbour> neighbours;
    bool begun = false;
  };

  void begin_at_end_of_instant();
  void begin(Resetting& reset);
  void end_if_quiet();
  [[nodiscard]] bool is_quiet(const Resetting& reset) const;
  void end();
  [[nodiscard]] Pe& pe(PeId id) const { return *pes_[static_cast<std::size_t>(id.count())]; }

  SimulatedTime now;
  SystemConfig config_;
  std::vector<Pe*> pes_;
  RunLedger& ledger_;
  std::vector<Resetting> resets_;  // that go on, by PE
  int deltas_waited_ = 0;
  sc_core::sc_event asserted_;
  sc_core::sc_event progress_;
  sc_core::sc_event over_;
  PeObserver* observer_ = nullptr;
};

}  // namespace kernwave
