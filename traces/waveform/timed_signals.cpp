#include "traces/waveform/timed_signals.h"

#include <algorithm>
#include <utility>

namespace kernwave::traces {

TimedSignals::TimedSignals(const sc_core::sc_module_name& name, std::vector<WaveformSignal> signals)
    : sc_module(name), signals_(std::move(signals)) {
  values_.reserve(signals_.size());
  for (const WaveformSignal& signal : signals_) values_.push_back(signal.initial);
  KERNWAVE_HAS_PROCESS(TimedSignals);
  SC_METHOD(advance);
  sensitive << wake_;
  dont_initialize();
}

void TimedSignals::trace(sc_core::sc_trace_file* file) const {
  for (std::size_t i = 0; i < signals_.size(); ++i) {
    if (signals_[i].shown) sc_core::sc_trace(file, values_[i], signals_[i].name, signals_[i].width);
  }
}

void TimedSignals::change(Change change) {
  if (!signals_[change.signal].shown) return;
  const Picoseconds current = now();
  if (change.at <= current) {
    apply_due();
    apply(change);
    return;
  }
  change.number = calls_++;
  const bool earliest = ahead_.empty() || change.at < ahead_.front().at;
  ahead_.push_back(change);
  std::push_heap(ahead_.begin(), ahead_.end(), later);
  if (earliest) wake_.notify(to_sc_time(change.at - current));
}

void TimedSignals::apply(const Change& change) noexcept {
  unsigned int& value = values_[change.signal];
  value = change.relative ? value + change.value : change.value;
}

void TimedSignals::apply_due() {
  const Picoseconds current = now();
  while (!ahead_.empty() && ahead_.front().at <= current) {
    apply(ahead_.front());
    std::pop_heap(ahead_.begin(), ahead_.end(), later);
    ahead_.pop_back();
  }
}

void TimedSignals::advance() {
  apply_due();
  if (!ahead_.empty()) wake_.notify(to_sc_time(ahead_.front().at - now()));
}

}  // namespace kernwave::traces
