#include "traces/waveform/vcd_writer.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <ctime>
#include <iterator>
#include <string_view>
#include <utility>

#include "traces/waveform/signal_name.h"

namespace kernwave::traces {

namespace {

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

[[nodiscard]] std::string declaration(const WaveformSignal& signal, std::string_view code) {
  const std::string_view name = name_in_scope(signal.name);
  const std::string range = signal.width == 1 ? "" : fmt::format(" [{}:0]", signal.width - 1);
  return fmt::format("$var wire {} {} {}{} $end\n", signal.width, code, name, range);
}

[[nodiscard]] bool earlier(const SignalChange& a, const SignalChange& b) noexcept { return a.at < b.at; }

/// A value's 32 digits, a code, and what stands around them; or a time stamp.
constexpr std::size_t longest_line = 64;

/// The binary digits of all bytes, eight each.
using DigitsOfBytes = std::array<char, std::size_t{8} * 256>;

[[nodiscard]] constexpr DigitsOfBytes make_digits() noexcept {
  DigitsOfBytes digits{};
  for (std::size_t i = 0; i < digits.size(); ++i) digits[i] = static_cast<char>('0' + (i / 8 >> (7 - i % 8) & 1U));
  return digits;
}
constexpr DigitsOfBytes digits_of_bytes = make_digits();

/// Without leading zeros; returns its end. Eight characters are copied at a time: behind the end there are some in
/// vain.
[[nodiscard]] char* put_binary(char* to, std::uint32_t value) noexcept {
  const int significant = 32 - __builtin_clz(value | 1U);
  int shift = (significant - 1) / 8 * 8;
  const auto digits = [&] { return &digits_of_bytes[std::size_t{8} * (value >> shift & 0xFFU)]; };
  const int of_first_byte = significant - shift;
  std::copy_n(digits() + 8 - of_first_byte, 8, to);
  to += of_first_byte;
  while (shift > 0) {
    shift -= 8;
    std::copy_n(digits(), 8, to);
    to += 8;
  }
  return to;
}

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
  std::stable_sort(changes.begin(), changes.end(), earlier);
  merged_.clear();
  std::merge(ahead_.begin(), ahead_.end(), changes.begin(), changes.end(), std::back_inserter(merged_), earlier);
  ahead_.swap(merged_);
  write_until(settled);
}

void VcdWriter::write_until(Picoseconds settled) {
  const Picoseconds until = window_.to ? std::min(settled, *window_.to) : settled;
  auto next = ahead_.begin();
  for (; next != ahead_.end() && next->at < until; ++next) apply(*next);
  ahead_.erase(ahead_.begin(), next);
}

void VcdWriter::apply(const SignalChange& change) {
  if (change.at > instant_) {
    end_instant();
    instant_ = change.at;
    if (!begun_ && instant_ > window_.from) begin(window_.from);
  }
  std::uint32_t& value = values_[change.signal()];
  value = change.applied_to(value);
  touched_.push_back(change.signal());
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
                  fmt::localtime(std::time(nullptr)), root_scope));
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
  char* const begin = file_.room(longest_line);
  *begin = '#';
  char* end = std::to_chars(begin + 1, begin + longest_line - 1, at.count()).ptr;
  *end++ = '\n';
  file_.put(end);
  last_stamp_ = at;
}

void VcdWriter::write_value(SignalIndex signal) {
  char* end = file_.room(longest_line);
  if (signals_[signal].width == 1) {
    *end++ = static_cast<char>('0' + values_[signal]);
  } else {
    *end++ = 'b';
    end = put_binary(end, values_[signal]);
    *end++ = ' ';
  }
  end = std::copy(codes_[signal].begin(), codes_[signal].end(), end);
  *end++ = '\n';
  file_.put(end);
  written_[signal] = values_[signal];
}

}  // namespace kernwave::traces
