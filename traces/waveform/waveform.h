// The waveform of a machine: a VCD file.
#pragma once

#include <string>
#include <vector>

#include "models/memory/channel_observer.h"
#include "models/pe/pe_observer.h"
#include "models/system/system.h"
#include "traces/waveform/signal_selection.h"
#include "traces/waveform/vcd_file.h"
#include "traces/waveform/waveform_observer.h"

namespace kernwave::traces {

struct WaveformOptions {
  std::string path;         ///< of the file
  std::string scope = "*";  ///< which signals: "pe3", "pe3.gemm_busy", "pe?.*_busy", "cube0.channel5_*"
  VcdWindow window;
};

/// Writes signals of PEs and of memories; `PeWaveform` and `MemoryWaveform` say which.
class Waveform {
 public:
  /// During elaboration. Throws std::invalid_argument if nothing is in the scope or the window is empty, WriteError if
  /// the file cannot be made.
  Waveform(System& system, const WaveformOptions& options);

  /// The names of the signals in the file.
  [[nodiscard]] std::vector<std::string> signals() const;

  /// Whom to tell of PEs and of channels; nullptr if no such signal is in the file.
  [[nodiscard]] PeObserver* pe_observer() noexcept { return observer_.pe_observer(); }
  [[nodiscard]] ChannelObserver* channel_observer() noexcept { return observer_.channel_observer(); }

  /// Of the file, as it was asked for.
  [[nodiscard]] const std::string& path() const noexcept { return file_.path(); }
  /// A write has failed: `close` will throw.
  [[nodiscard]] bool failed() const noexcept { return file_.failed(); }
  /// After the run, once, at its end: the file gets its name. Throws WriteError if it is not whole; an older one is
  /// then as it was, as it is without this call.
  void close() { file_.close(); }

 private:
  SignalSelection selection_;
  VcdFile file_;
  WaveformObserver observer_;
};

}  // namespace kernwave::traces
