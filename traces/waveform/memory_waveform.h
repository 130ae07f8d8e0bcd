// The waveform of the memory of one cube.
#pragma once

#include <cstdint>
#include <vector>

#include "models/base/address.h"
#include "models/memory/channel_observer.h"
#include "traces/waveform/timed_signals.h"

namespace kernwave::traces {

/// Two signals for each channel: "cube<id>.channel<n>_busy", 1 while it moves bytes, and "cube<id>.channel<n>_queue",
/// the streams that wait for it.
class MemoryWaveform : public TimedSignals, public ChannelObserver {
 public:
  /// Those of `signals_of(cube, channels)`, in that order; which are shown is up to the caller.
  MemoryWaveform(const sc_core::sc_module_name& name, const std::vector<WaveformSignal>& signals);

  [[nodiscard]] static std::vector<WaveformSignal> signals_of(CubeId cube, std::int64_t channels);

  void served(const ChannelService& service) override;
};

}  // namespace kernwave::traces
