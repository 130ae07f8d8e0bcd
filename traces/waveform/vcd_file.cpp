#include "traces/waveform/vcd_file.h"

#include <utility>

namespace kernwave::traces {

VcdFile::VcdFile(const std::string& path, std::vector<WaveformSignal> signals, const VcdWindow& window)
    : to_(window.to),
      pending_(path),
      file_(pending_.descriptor(), Compression::none),
      text_(file_, std::move(signals), window),
      writer_([this](Batch& batch) {
        text_.take(batch.changes, batch.settled);
        file_.check();
      }) {}

void VcdFile::hand_over(Picoseconds current) {
  batch_.settled = current;
  writer_.exchange(batch_);
  over_ = to_ && *to_ <= current;
}

void VcdFile::close() {
  const Picoseconds end = now();
  hand_over(end);
  writer_.finish();
  text_.finish(end);
  file_.close();
  pending_.commit();
}

}  // namespace kernwave::traces
