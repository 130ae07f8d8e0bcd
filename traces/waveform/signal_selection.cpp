#include "traces/waveform/signal_selection.h"

#include <fmt/format.h>
#include <fnmatch.h>

#include <stdexcept>

#include "traces/waveform/memory_waveform.h"
#include "traces/waveform/pe_waveform.h"
#include "traces/waveform/signal_name.h"

namespace kernwave::traces {

namespace {

/// Adds those in the scope to the selection.
[[nodiscard]] SignalPlaces select(const std::vector<WaveformSignal>& candidates, const std::string& scope,
                                  std::vector<WaveformSignal>& selected) {
  const std::size_t before = selected.size();
  SignalPlaces places;
  places.reserve(candidates.size());
  for (const WaveformSignal& signal : candidates) {
    places.emplace_back();
    if (!signal.exists || !in_scope(scope, signal.name)) continue;
    places.back() = static_cast<SignalIndex>(selected.size());
    selected.push_back(signal);
  }
  if (selected.size() == before) places.clear();
  return places;
}

}  // namespace

bool in_scope(const std::string& pattern, const std::string& signal) {
  if (::fnmatch(pattern.c_str(), signal.c_str(), FNM_NOESCAPE) == 0) return true;
  return ::fnmatch(pattern.c_str(), std::string(scope_of(signal)).c_str(), FNM_NOESCAPE) == 0;
}

SignalSelection select_signals(System& system, const std::string& scope) {
  const SystemConfig& config = system.config();
  SignalSelection selection;
  for (std::int64_t id = 0; id < system.pe_count(); ++id) {
    selection.pes.push_back(select(PeWaveform::signals_of(system.pe(PeId(id))), scope, selection.signals));
  }
  for (std::int64_t id = 0; id < config.cubes; ++id) {
    selection.memories.push_back(
        select(MemoryWaveform::signals_of(CubeId(id), config.hbm.channels), scope, selection.signals));
  }
  if (selection.signals.empty()) {
    throw std::invalid_argument(
        fmt::format("no signal is in the scope \"{}\"; there are pe0 to pe{} (pe0.state, pe0.gemm_busy, ...) and cube0 "
                    "to cube{} (cube0.channel0_busy, ...)",
                    scope, system.pe_count() - 1, config.cubes - 1));
  }
  return selection;
}

}  // namespace kernwave::traces
