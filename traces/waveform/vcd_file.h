// A VCD file that is written while the simulation goes on.
#pragma once

#include <string>
#include <vector>

#include "models/base/quantity.h"
#include "models/base/systemc.h"
#include "traces/background_writer.h"
#include "traces/byte_stream.h"
#include "traces/waveform/signal_change.h"
#include "traces/waveform/vcd_writer.h"

namespace kernwave::traces {

/// Collects changes; a thread puts them in order and writes them. Memory does not grow with the run.
class VcdFile : public SignalSink {
 public:
  /// Throws WriteError if the file cannot be made.
  VcdFile(const std::string& path, std::vector<WaveformSignal> signals, const VcdWindow& window);

  void change(const SignalChange& change) override {
    if (over_) return;
    batch_.changes.push_back(change);
    const Picoseconds current = now();
    if (change.at < current) batch_.changes.back().at = current;
    if (batch_.changes.size() >= batch_size) hand_over(current);
  }

  /// After the run, once, at its end. Throws WriteError if the file is not whole.
  void close();

 private:
  struct Batch {
    std::vector<SignalChange> changes;
    Picoseconds settled;  ///< nothing more is told of what is before

    void clear() { changes.clear(); }
  };

  static constexpr std::size_t batch_size = 4096;

  void hand_over(Picoseconds current);

  SimulatedTime now;
  std::optional<Picoseconds> to_;
  bool over_ = false;  // what happens from now on is not in the file
  Batch batch_;
  ByteStream file_;
  VcdWriter text_;
  BackgroundWriter<Batch> writer_;
};

}  // namespace kernwave::traces
