#include "traces/waveform/memory_waveform.h"

#include <fmt/format.h>

namespace kernwave::traces {

std::vector<WaveformSignal> MemoryWaveform::signals_of(CubeId cube, std::int64_t channels) {
  std::vector<WaveformSignal> signals;
  for (std::int64_t channel = 0; channel < channels; ++channel) {
    signals.push_back({fmt::format("cube{}.channel{}_busy", cube.count(), channel), 1});
    signals.push_back({fmt::format("cube{}.channel{}_queue", cube.count(), channel)});
  }
  return signals;
}

void MemoryWaveform::served(const ChannelService& service) {
  const std::size_t busy = 2 * static_cast<std::size_t>(service.channel);
  const std::size_t queue = busy + 1;
  if (service.start > service.eligible) {
    signals_.add(queue, service.eligible, 1);
    signals_.add(queue, service.start, -1);
  }
  // The channel serves one stream at a time, and is told of them in that order.
  signals_.set(busy, service.start, 1);
  signals_.set(busy, service.end, 0);
}

}  // namespace kernwave::traces
