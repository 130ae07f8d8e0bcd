#include "models/system/pe_resets.h"

#include <algorithm>
#include <utility>

namespace kernwave {

PeResets::PeResets(const SystemConfig& config, std::vector<Pe*> pes, RunLedger& ledger)
    : config_(config), pes_(std::move(pes)), ledger_(ledger) {
  for (Pe* each : pes_) each->allow_reset();
  spawn_method("begin_reset", asserted_, [this] { begin_at_end_of_instant(); });
  spawn_method("end_reset", progress_, [this] { end_if_quiet(); });
}

void PeResets::assert_reset(const std::vector<PeId>& pes) {
  for (const PeId id : pes) {
    if (in_reset(id)) continue;
    Resetting reset{id, neighbours(config_, id), false};
    const auto place = std::lower_bound(resets_.begin(), resets_.end(), id,
                                        [](const Resetting& other, PeId pe) { return other.pe < pe; });
    resets_.insert(place, std::move(reset));
    ledger_.hold();
  }
  deltas_waited_ = 0;
  asserted_.notify(sc_core::SC_ZERO_TIME);
}

bool PeResets::in_reset(PeId pe) const {
  return std::any_of(resets_.begin(), resets_.end(), [pe](const Resetting& reset) { return reset.pe == pe; });
}

/// When nothing else is left to do in this instant: what it does does not depend on the order of its processes. If
/// somebody else waits in the same way, one of the two has to begin.
void PeResets::begin_at_end_of_instant() {
  constexpr int patience = 1000;
  if (sc_core::sc_pending_activity_at_current_time() && ++deltas_waited_ < patience) {
    asserted_.notify(sc_core::SC_ZERO_TIME);
    return;
  }
  for (Resetting& reset : resets_) {
    if (!reset.begun) begin(reset);
  }
}

void PeResets::begin(Resetting& reset) {
  reset.begun = true;
  for (const auto& [direction, peer] : reset.neighbours) pe(peer).ipcq().hold_link(opposite(direction), progress_);
  pe(reset.pe).begin_reset(progress_);
}

void PeResets::end_if_quiet() {
  const bool quiet = !resets_.empty() && std::all_of(resets_.begin(), resets_.end(),
                                                     [this](const Resetting& reset) { return is_quiet(reset); });
  if (quiet) end();
}

bool PeResets::is_quiet(const Resetting& reset) const {
  return reset.begun && pe(reset.pe).is_quiet() &&
         std::all_of(reset.neighbours.begin(), reset.neighbours.end(), [this](const Neighbour& neighbour) {
           return pe(neighbour.pe).ipcq().is_quiet_toward(opposite(neighbour.direction));
         });
}

void PeResets::end() {
  const std::vector<Resetting> ended = std::exchange(resets_, {});
  for (const Resetting& reset : ended) pe(reset.pe).end_reset();
  for (const Resetting& reset : ended) {
    for (const auto& [direction, peer] : reset.neighbours) {
      pe(peer).ipcq().peer_was_reset(opposite(direction));
      pe(reset.pe).ipcq().resume_link(direction, pe(peer).ipcq().held(opposite(direction)));
    }
    if (observer_ != nullptr) observer_->was_reset(reset.pe, reset.neighbours, now());
  }
  over_.notify();
  for (std::size_t i = 0; i < ended.size(); ++i) ledger_.release();
}

}  // namespace kernwave
