// A VCD file that is written while the simulation goes on.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "models/base/quantity.h"
#include "models/base/systemc.h"
#include "traces/files/background_writer.h"
#include "traces/files/byte_stream.h"
#include "traces/files/pending_file.h"
#include "traces/waveform/signal_change.h"
#include "traces/waveform/vcd_writer.h"

namespace kernwave::traces {

/// Collects changes; a thread puts them in order and writes them. Memory does not grow with the run. The file gets its
/// name when it is closed.
class VcdFile : public SignalSink {
 public:
  /// Throws WriteError if the file cannot be made.
  VcdFile(const std::string& path, std::vector<WaveformSignal> signals, const VcdWindow& window);

  void set(SignalIndex signal, Picoseconds at, std::uint32_t value) override { put(signal, at, value, false); }
  void add(SignalIndex signal, Picoseconds at, std::int32_t delta) override {
    put(signal, at, static_cast<std::uint32_t>(delta), true);
  }

  [[nodiscard]] const std::string& path() const noexcept { return pending_.path(); }
  /// A write has failed: `close` will throw.
  [[nodiscard]] bool failed() const noexcept { return writer_.failed(); }
  /// After the run, once, at its end. Throws WriteError if the file is not whole, and it does not get its name.
  void close();

 private:
  struct Batch {
    std::vector<SignalChange> changes;
    Picoseconds settled;  ///< nothing more is told of what is before

    void clear() { changes.clear(); }
  };

  static constexpr std::size_t batch_size = 4096;

  /// Members on their way to a batch stay in registers: a record that is written and then copied whole holds the
  /// processor up for longer than all else here.
  void put(SignalIndex signal, Picoseconds at, std::uint32_t value, bool relative) {
    if (over_) return;
    const Picoseconds current = now();
    batch_.changes.emplace_back(std::max(at, current), signal, value, relative);
    if (batch_.changes.size() >= batch_size) hand_over(current);
  }
  void hand_over(Picoseconds current);

  SimulatedTime now;
  std::optional<Picoseconds> to_;
  bool over_ = false;  // what happens from now on is not in the file
  Batch batch_;
  PendingFile pending_;
  // What the thread writes shares no line of the cache with what is above: each would wait for the other's.
  alignas(cache_line_bytes) ByteStream file_;
  VcdWriter text_;
  BackgroundWriter<Batch> writer_;
};

}  // namespace kernwave::traces
