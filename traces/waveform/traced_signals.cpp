#include "traces/waveform/traced_signals.h"

#include <algorithm>
#include <utility>

namespace kernwave::traces {

TracedSignals::TracedSignals(const sc_core::sc_module_name& name, std::vector<WaveformSignal> signals)
    : sc_module(name), signals_(std::move(signals)) {
  values_.reserve(signals_.size());
  for (const WaveformSignal& signal : signals_) values_.push_back(signal.initial);
  KERNWAVE_HAS_PROCESS(TracedSignals);
  SC_METHOD(advance);
  sensitive << wake_;
  dont_initialize();
}

void TracedSignals::trace(sc_core::sc_trace_file* file) const {
  for (std::size_t i = 0; i < signals_.size(); ++i) {
    sc_core::sc_trace(file, values_[i], signals_[i].name, signals_[i].width);
  }
}

void TracedSignals::change(const SignalChange& change) {
  const Picoseconds current = now();
  if (change.at <= current) {
    apply_due();
    apply(change);
    return;
  }
  const bool earliest = ahead_.empty() || change.at < ahead_.front().change.at;
  ahead_.push_back({change, calls_++});
  std::push_heap(ahead_.begin(), ahead_.end(), later);
  if (earliest) wake_.notify(to_sc_time(change.at - current));
}

void TracedSignals::apply(const SignalChange& change) noexcept {
  unsigned int& value = values_[change.signal()];
  value = change.applied_to(value);
}

void TracedSignals::apply_due() {
  const Picoseconds current = now();
  while (!ahead_.empty() && ahead_.front().change.at <= current) {
    apply(ahead_.front().change);
    std::pop_heap(ahead_.begin(), ahead_.end(), later);
    ahead_.pop_back();
  }
}

void TracedSignals::advance() {
  apply_due();
  if (!ahead_.empty()) wake_.notify(to_sc_time(ahead_.front().change.at - now()));
}

}  // namespace kernwave::traces
