#include "traces/waveform/vcd_writer.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <ctime>
#include <string_view>
#include <utility>

namespace kernwave::traces {

namespace {

constexpr std::string_view root = "SystemC";

/// Short and printable: 0 is "!", 93 is "~", 94 is "!\"".
[[nodiscard]] std::string code_of(std::size_t signal) {
  constexpr std::size_t first = '!';
  constexpr std::size_t digits = '~' - '!' + 1;
  std::string code;
  do {
    code += static_cast<char>(first + signal % digits);
    signal /= digits;
  } while (signal > 0);
  return code;
}

[[nodiscard]] std::string_view scope_of(std::string_view name) { return name.substr(0, name.find('.')); }

[[nodiscard]] std::string declaration(const WaveformSignal& signal, std::string_view code) {
  const std::string_view name = std::string_view(signal.name).substr(signal.name.find('.') + 1);
  const std::string range = signal.width == 1 ? "" : fmt::format(" [{}:0]", signal.width - 1);
  return fmt::format("$var wire {} {} {}{} $end\n", signal.width, code, name, range);
}

/// A line, made from its end to its beginning: a number's last digit is the first to be known.
class Line {
 public:
  void prepend(char character) noexcept { text_[--first_] = character; }
  void prepend(std::string_view text) noexcept {
    first_ -= text.size();
    std::copy(text.begin(), text.end(), text_.begin() + static_cast<std::ptrdiff_t>(first_));
  }
  /// Without leading zeros.
  void prepend_binary(std::uint32_t value) noexcept {
    do {
      prepend(static_cast<char>('0' + (value & 1U)));
      value >>= 1U;
    } while (value > 0);
  }
  [[nodiscard]] std::string_view text() const noexcept { return {text_.data() + first_, text_.size() - first_}; }

 private:
  std::array<char, 64> text_;  // 32 digits, a code, and what stands between them
  std::size_t first_ = 64;
};

}  // namespace

VcdWriter::VcdWriter(ByteStream& file, std::vector<WaveformSignal> signals, const VcdWindow& window)
    : file_(file), signals_(std::move(signals)), window_(window) {
  for (std::size_t i = 0; i < signals_.size(); ++i) {
    values_.push_back(signals_[i].initial);
    codes_.push_back(code_of(i));
  }
  written_.resize(signals_.size());
}

void VcdWriter::take(std::vector<SignalChange>& changes, Picoseconds settled) {
  ahead_.insert(ahead_.end(), changes.begin(), changes.end());
  write_until(settled);
}

void VcdWriter::write_until(Picoseconds settled) {
  const Picoseconds until = window_.to ? std::min(settled, *window_.to) : settled;
  const auto later = std::stable_partition(ahead_.begin(), ahead_.end(),
                                           [until](const SignalChange& change) { return change.at < until; });
  std::stable_sort(ahead_.begin(), later, [](const SignalChange& a, const SignalChange& b) { return a.at < b.at; });
  std::for_each(ahead_.begin(), later, [this](const SignalChange& change) { apply(change); });
  ahead_.erase(ahead_.begin(), later);
}

void VcdWriter::apply(const SignalChange& change) {
  if (change.at > instant_) {
    end_instant();
    instant_ = change.at;
    if (!begun_ && instant_ > window_.from) begin(window_.from);
  }
  std::uint32_t& value = values_[change.signal];
  value = change.applied_to(value);
  touched_.push_back(change.signal);
}

/// In the order of signals: calls of different PEs in one instant come in any.
void VcdWriter::end_instant() {
  if (begun_) {
    if (touched_.size() > 1) std::sort(touched_.begin(), touched_.end());
    for (const SignalIndex signal : touched_) {
      if (values_[signal] == written_[signal]) continue;
      if (last_stamp_ != instant_) write_stamp(instant_);
      write_value(signal);
    }
  }
  touched_.clear();
}

void VcdWriter::finish(Picoseconds end) {
  const bool cut = window_.to && *window_.to <= end;
  write_until(end + Picoseconds(1));
  end_instant();
  if (!begun_) begin(std::min(window_.from, end));
  const Picoseconds last = cut ? *window_.to : end;
  if (last_stamp_ != last) write_stamp(last);
}

void VcdWriter::begin(Picoseconds at) {
  begun_ = true;
  write_header();
  write_stamp(at);
  file_.write("$dumpvars\n");
  for (SignalIndex signal = 0; signal < signals_.size(); ++signal) write_value(signal);
  file_.write("$end\n");
}

void VcdWriter::write_header() {
  file_.write(
      fmt::format("$date\n     {:%Y-%m-%d %H:%M:%S}\n$end\n\n$version\n kernwave\n$end\n\n$timescale\n     1 "
                  "ps\n$end\n\n$scope module {} $end\n",
                  fmt::localtime(std::time(nullptr)), root));
  std::string_view scope;
  for (std::size_t i = 0; i < signals_.size(); ++i) {
    if (const std::string_view own = scope_of(signals_[i].name); own != scope) {
      if (!scope.empty()) file_.write("$upscope $end\n");
      file_.write(fmt::format("$scope module {} $end\n", own));
      scope = own;
    }
    file_.write(declaration(signals_[i], codes_[i]));
  }
  file_.write("$upscope $end\n$upscope $end\n$enddefinitions $end\n\n");
}

void VcdWriter::write_stamp(Picoseconds at) {
  std::array<char, 32> text{'#'};
  char* end = std::to_chars(text.data() + 1, text.data() + text.size() - 1, at.count()).ptr;
  *end++ = '\n';
  file_.write({text.data(), static_cast<std::size_t>(end - text.data())});
  last_stamp_ = at;
}

void VcdWriter::write_value(SignalIndex signal) {
  const bool is_bit = signals_[signal].width == 1;
  Line line;
  line.prepend('\n');
  line.prepend(codes_[signal]);
  if (!is_bit) line.prepend(' ');
  line.prepend_binary(values_[signal]);
  if (!is_bit) line.prepend('b');
  file_.write(line.text());
  written_[signal] = values_[signal];
}

}  // namespace kernwave::traces
