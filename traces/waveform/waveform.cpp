#include "traces/waveform/waveform.h"

#include <stdexcept>

namespace kernwave::traces {

namespace {

[[nodiscard]] const VcdWindow& checked(const VcdWindow& window) {
  if (window.to && *window.to <= window.from) {
    throw std::invalid_argument("the end of a waveform must be after its beginning");
  }
  return window;
}

}  // namespace

Waveform::Waveform(System& system, const WaveformOptions& options)
    : selection_(select_signals(system, options.scope)),
      file_(options.path, selection_.signals, checked(options.window)),
      observer_(selection_, file_) {}

std::vector<std::string> Waveform::signals() const {
  std::vector<std::string> names;
  names.reserve(selection_.signals.size());
  for (const WaveformSignal& signal : selection_.signals) names.push_back(signal.name);
  return names;
}

}  // namespace kernwave::traces
