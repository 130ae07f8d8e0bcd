// The signals of one PE or one memory, some of which are shown.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "models/base/quantity.h"
#include "traces/waveform/signal_change.h"
#include "traces/waveform/signal_selection.h"

namespace kernwave::traces {

/// Passes changes of what is shown on.
class SignalGroup {
 public:
  SignalGroup(SignalPlaces places, SignalSink& sink) : places_(std::move(places)), sink_(sink) {}

  void set(std::size_t signal, Picoseconds at, std::uint32_t value) {
    if (const auto place = places_[signal]) sink_.set(*place, at, value);
  }
  void add(std::size_t signal, Picoseconds at, std::int32_t delta) {
    if (const auto place = places_[signal]) sink_.add(*place, at, delta);
  }

 private:
  SignalPlaces places_;
  SignalSink& sink_;
};

}  // namespace kernwave::traces
