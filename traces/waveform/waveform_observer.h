// The observer that passes each event to the waveform of its PE or memory.
#pragma once

#include <memory>
#include <vector>

#include "models/memory/channel_observer.h"
#include "models/pe/pe_observer.h"
#include "traces/waveform/memory_waveform.h"
#include "traces/waveform/pe_waveform.h"
#include "traces/waveform/signal_selection.h"

namespace kernwave::traces {

/// Makes changes of the selected signals out of what a machine does. A PE or a memory none of whose signals is selected
/// costs nothing.
class WaveformObserver : public PeObserver, public ChannelObserver {
 public:
  /// `sink` must outlive it.
  WaveformObserver(const SignalSelection& selection, SignalSink& sink);

  /// Whom to tell of PEs and of channels; nullptr if no such signal is selected.
  [[nodiscard]] PeObserver* pe_observer() noexcept { return has_pes_ ? this : nullptr; }
  [[nodiscard]] ChannelObserver* channel_observer() noexcept { return has_memories_ ? this : nullptr; }

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
  void dropped(const CompletedOperation& operation) override;
  void was_reset(PeId pe, const std::vector<Neighbour>& neighbours, Picoseconds at) override;

  void served(const ChannelService& service) override;

 private:
  /// nullptr if none of its signals is selected.
  [[nodiscard]] PeWaveform* of(PeId pe) const { return pes_[static_cast<std::size_t>(pe.count())].get(); }

  std::vector<std::unique_ptr<PeWaveform>> pes_;
  std::vector<std::unique_ptr<MemoryWaveform>> memories_;
  bool has_pes_ = false;
  bool has_memories_ = false;
};

}  // namespace kernwave::traces
