// The waveform of the memory of one cube.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "models/base/address.h"
#include "models/memory/channel_observer.h"
#include "traces/waveform/signal_group.h"

namespace kernwave::traces {

/// Two signals for each channel: "cube<id>.channel<n>_busy", 1 while it moves bytes, and "cube<id>.channel<n>_queue",
/// the streams that wait for it.
class MemoryWaveform : public ChannelObserver {
 public:
  [[nodiscard]] static std::vector<WaveformSignal> signals_of(CubeId cube, std::int64_t channels);

  /// Shows those of `signals_of(cube, channels)` that have a place.
  MemoryWaveform(SignalPlaces places, SignalSink& sink) : signals_(std::move(places), sink) {}

  void served(const ChannelService& service) override;

 private:
  SignalGroup signals_;
};

}  // namespace kernwave::traces
