#include "models/system/run_ledger.h"

#include <algorithm>

namespace kernwave {

void RunLedger::kernel_drained(Picoseconds at) {
  end_ = std::max(end_, at);
  if (--running_ == 0) finished_.notify(sc_core::SC_ZERO_TIME);
}

void RunLedger::kernel_failed(PeId pe, const std::string& message) {
  failures_.push_back({pe, message});
  finished_.notify(sc_core::SC_ZERO_TIME);
}

RunLedger::State RunLedger::state() const noexcept {
  if (!failures_.empty()) return State::failed;
  return running_ == 0 ? State::finished : State::running;
}

}  // namespace kernwave
