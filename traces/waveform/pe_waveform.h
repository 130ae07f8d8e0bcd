// The waveform of one PE.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "models/pe/pe.h"
#include "models/pe/pe_observer.h"
#include "traces/waveform/signal_group.h"

namespace kernwave::traces {

/// The signals of a PE, each named "pe<id>.<signal>".
///
/// `state` is the number of a `TimeCause`: what the program does or waits for (see `name_of(TimeCause)`); `idle` also
/// before a program and without one. `operation` is the sequence number of the operation that the program issued last,
/// while it waits for one, of that one. Busy signals are 1 while their engine has a command in service; their integral
/// is the engine's busy time, and that of `sends_in_service` is the busy time of the queues.
class PeWaveform final : public PeObserver {
 public:
  [[nodiscard]] static std::vector<WaveformSignal> signals_of(const Pe& pe);

  /// Shows those of `signals_of(pe)` that have a place.
  PeWaveform(SignalPlaces places, SignalSink& sink) : signals_(std::move(places), sink) {}

  [[nodiscard]] bool takes_ends_ahead() const override { return true; }
  void issuing(PeId pe, SourceLocation where, Picoseconds from, Picoseconds to) override;
  void submitted(const IssuedOperation& operation) override;
  void wait_begins(const ProgramWait& wait) override;
  void wait_ends(const ProgramWait& wait, Picoseconds to) override;
  void scratch_used(PeId pe, Bytes bytes, Picoseconds at) override;
  void drained(PeId pe, Picoseconds at) override;
  void accepted(const Descriptor& operation, Picoseconds presented, Picoseconds at) override;
  void dispatched(const Descriptor& operation, Picoseconds at) override;
  void arrived(const Descriptor& operation, Picoseconds at) override;
  void service_begins(const Descriptor& operation, Picoseconds at) override;
  void service_ends(const Descriptor& operation, Picoseconds at) override;
  void slot_filled(PeId pe, Direction from, Picoseconds at) override;
  void slot_released(PeId pe, Direction from, Picoseconds at, const std::vector<Completion>& users) override;
  void completed(const CompletedOperation& operation) override;
  void dropped(const CompletedOperation& operation) override { completed(operation); }
  void was_reset(PeId pe, const std::vector<Neighbour>& neighbours, Picoseconds at) override;

 private:
  SignalGroup signals_;
  std::uint32_t last_submitted_ = 0;
  bool shows_awaited_ = false;  // `operation` is that of a wait
};

}  // namespace kernwave::traces
