// The waveform of a machine: a VCD file.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "models/memory/channel_observer.h"
#include "models/pe/pe_observer.h"
#include "models/system/system.h"
#include "traces/waveform/memory_waveform.h"
#include "traces/waveform/pe_waveform.h"
#include "traces/waveform/vcd_window.h"

namespace kernwave::traces {

struct WaveformOptions {
  std::string path;         ///< without the suffix ".vcd", which SystemC adds
  std::string scope = "*";  ///< which signals: "pe3", "pe3.gemm_busy", "pe?.*_busy", "cube0.channel5_*"
  Picoseconds from{0};
  std::optional<Picoseconds> to;  ///< none: the end of the run
};

/// Whether a signal is in a scope: `*` stands for any characters, `?` for one, and the pattern is that of the signal's
/// whole name or of the part before its dot.
[[nodiscard]] bool in_scope(const std::string& pattern, const std::string& signal);

/// Traces signals of PEs and of memories; `PeWaveform` and `MemoryWaveform` say which. A PE or a memory none of whose
/// signals is in the scope costs nothing.
class Waveform : public PeObserver, public ChannelObserver {
 public:
  /// During elaboration. Throws std::invalid_argument if nothing is in the scope or `to` is not after `from`,
  /// WriteError if the file cannot be made.
  Waveform(System& system, const WaveformOptions& options);

  /// The names of the signals in the file.
  [[nodiscard]] const std::vector<std::string>& signals() const noexcept { return names_; }

  /// Whom to tell of PEs and of channels; nullptr if no such signal is in the file.
  [[nodiscard]] PeObserver* pe_observer() noexcept { return has_pes_ ? this : nullptr; }
  [[nodiscard]] ChannelObserver* channel_observer() noexcept { return has_memories_ ? this : nullptr; }

  /// After the run, once. Throws WriteError if the file is not whole.
  void close() { window_->close(); }

  void issuing(PeId pe, SourceLocation where, Picoseconds from, Picoseconds to) override;
  void submitted(const IssuedOperation& operation) override;
  void wait_begins(const ProgramWait& wait) override;
  void wait_ends(const ProgramWait& wait, Picoseconds to) override;
  void scratch_used(PeId pe, Bytes bytes, Picoseconds at) override;
  void drained(PeId pe, Picoseconds at) override;
  void taken(const Descriptor& operation, Picoseconds presented, Picoseconds at) override;
  void handed_on(const Descriptor& operation, Picoseconds at) override;
  void arrived(const Descriptor& operation, Picoseconds at) override;
  void service_begins(const Descriptor& operation, Picoseconds at) override;
  void service_ends(const Descriptor& operation, Picoseconds at) override;
  void slot_filled(PeId pe, Direction from, Picoseconds at) override;
  void slot_released(PeId pe, Direction from, Picoseconds at, const std::vector<Completion>& users) override;
  void completed(const CompletedOperation& operation) override;

  void served(const ChannelService& service) override;

 private:
  void add_pes(const System& system, const std::string& scope);
  void add_memories(const System& system, const std::string& scope);
  [[nodiscard]] bool select(std::vector<WaveformSignal>& signals, const std::string& scope);
  void trace(sc_core::sc_trace_file* file) const;
  /// nullptr if it has no signal in the file, or the file has ended.
  [[nodiscard]] PeWaveform* of(PeId pe) const {
    return window_->over() ? nullptr : pes_[static_cast<std::size_t>(pe.count())].get();
  }

  std::vector<std::string> names_;
  bool has_pes_ = false;
  bool has_memories_ = false;
  std::vector<std::unique_ptr<PeWaveform>> pes_;
  std::vector<std::unique_ptr<MemoryWaveform>> memories_;
  std::unique_ptr<VcdWindow> window_;
};

}  // namespace kernwave::traces
