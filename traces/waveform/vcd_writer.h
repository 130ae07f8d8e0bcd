// Changes of signals as the text of a VCD file (IEEE 1364-2005, section 18).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "models/base/quantity.h"
#include "traces/files/byte_stream.h"
#include "traces/waveform/signal_change.h"

namespace kernwave::traces {

/// A part of simulated time.
struct VcdWindow {
  Picoseconds from{0};
  std::optional<Picoseconds> to;  ///< what happens in this instant is no longer in the file; none: the end of the run
};

/// Time unit 1 ps; a time stamp at the first and at the last instant of the window, and at each between them in which a
/// value has changed; the scopes are "SystemC", as in files by SystemC, and below it those of the signals' names.
class VcdWriter {
 public:
  /// Writes to `file`, which must outlive it.
  VcdWriter(ByteStream& file, std::vector<WaveformSignal> signals, const VcdWindow& window);

  /// Takes changes in the order of the calls. All changes before `settled` are known, and are written.
  void take(std::vector<SignalChange>& changes, Picoseconds settled);

  /// Ends the file at the end of the run: changes up to this instant are written, later ones never happen. If the run
  /// has not reached the window, the file holds the values at its end.
  void finish(Picoseconds end);

 private:
  void write_until(Picoseconds settled);
  void apply(const SignalChange& change);
  void end_instant();
  void begin(Picoseconds at);
  void write_header();
  void write_stamp(Picoseconds at);
  void write_value(SignalIndex signal);

  ByteStream& file_;
  std::vector<WaveformSignal> signals_;
  VcdWindow window_;
  std::vector<SignalChange> ahead_;  // told and not written yet, in the order of (time, call)
  std::vector<SignalChange> merged_;
  std::vector<std::uint32_t> values_;
  std::vector<std::uint32_t> written_;
  std::vector<std::string> codes_;
  std::vector<SignalIndex> touched_;  // in this instant, once or more
  Picoseconds instant_;
  Picoseconds last_stamp_;
  bool begun_ = false;
};

}  // namespace kernwave::traces
