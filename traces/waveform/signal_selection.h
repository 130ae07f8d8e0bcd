// The selection of the signals that a waveform shows.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "models/system/system.h"
#include "traces/waveform/signal_change.h"

namespace kernwave::traces {

/// For each signal that a PE or a memory has, its place in the waveform, if it is shown. Empty: none of them is.
using SignalPlaces = std::vector<std::optional<SignalIndex>>;

struct SignalSelection {
  std::vector<WaveformSignal> signals;  ///< those that are shown, a PE or a memory after another
  std::vector<SignalPlaces> pes;        ///< by id; of `PeWaveform::signals_of`
  std::vector<SignalPlaces> memories;   ///< by cube; of `MemoryWaveform::signals_of`
};

/// Whether a signal is in a scope: `*` stands for any characters, `?` for one, and the pattern is that of the signal's
/// whole name or of the part before its dot.
[[nodiscard]] bool in_scope(const std::string& pattern, const std::string& signal);

/// Throws std::invalid_argument if no signal is in the scope.
[[nodiscard]] SignalSelection select_signals(System& system, const std::string& scope);

}  // namespace kernwave::traces
