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

MemoryWaveform::MemoryWaveform(const sc_core::sc_module_name& name, const std::vector<WaveformSignal>& signals)
    : TimedSignals(name, signals) {}

void MemoryWaveform::served(const ChannelService& service) {
  const std::size_t busy = 2 * static_cast<std::size_t>(service.channel);
  const std::size_t queue = busy + 1;
  if (service.start > service.eligible) {
    add(queue, service.eligible, 1);
    add(queue, service.start, -1);
  }
  // The channel serves one stream at a time, and is told of them in that order.
  set(busy, service.start, 1);
  set(busy, service.end, 0);
}

}  // namespace kernwave::traces
