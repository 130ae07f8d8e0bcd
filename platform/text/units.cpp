#include "platform/text/units.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>
#include <optional>

#include "models/base/exact_time.h"
#include "platform/text/message_text.h"

namespace kernwave::platform {
namespace {

struct Unit {
  std::string_view name;
  std::int64_t scale;   ///< in base units
  bool printed = true;  ///< used when printing, not only accepted
};

constexpr std::int64_t kibi = std::int64_t{1} << 10;
constexpr std::int64_t mebi = std::int64_t{1} << 20;
constexpr std::int64_t gibi = std::int64_t{1} << 30;
constexpr std::int64_t tebi = std::int64_t{1} << 40;
constexpr std::int64_t kilo = 1'000;
constexpr std::int64_t mega = 1'000'000;
constexpr std::int64_t giga = 1'000'000'000;
constexpr std::int64_t tera = 1'000'000'000'000;
constexpr std::int64_t peta = 1'000'000'000'000'000;

// Printed units ascend in every table: the printers walk them from the back.
constexpr std::array bandwidth_units{Unit{"B/s", 1},
                                     Unit{"KB/s", kilo},
                                     Unit{"MB/s", mega},
                                     Unit{"GB/s", giga},
                                     Unit{"TB/s", tera},
                                     Unit{"PB/s", peta},
                                     Unit{"KiB/s", kibi, false},
                                     Unit{"MiB/s", mebi, false},
                                     Unit{"GiB/s", gibi, false},
                                     Unit{"TiB/s", tebi, false},
                                     Unit{"kB/s", kilo, false}};
constexpr std::array bytes_per_cycle_units{Unit{"B/cycle", 1}, Unit{"KiB/cycle", kibi}, Unit{"MiB/cycle", mebi}};
constexpr std::array time_units{Unit{"ps", 1}, Unit{"ns", kilo}, Unit{"us", mega}, Unit{"ms", giga}, Unit{"s", tera}};
constexpr std::array size_units{Unit{"B", 1},
                                Unit{"KiB", kibi},
                                Unit{"MiB", mebi},
                                Unit{"GiB", gibi},
                                Unit{"TiB", tebi},
                                Unit{"KB", kilo, false},
                                Unit{"MB", mega, false},
                                Unit{"GB", giga, false},
                                Unit{"TB", tera, false},
                                Unit{"kB", kilo, false}};
constexpr std::array frequency_units{Unit{"Hz", 1}, Unit{"kHz", kilo}, Unit{"MHz", mega}, Unit{"GHz", giga}};
constexpr std::array count_units{Unit{"", 1},     Unit{"K", kibi}, Unit{"M", mebi}, Unit{"G", gibi},
                                 Unit{"k", kibi}, Unit{"m", mebi}, Unit{"g", gibi}};

/// One kind of quantity: its units, and the words for its errors.
class Dimension {
 public:
  template <std::size_t size>
  constexpr Dimension(const std::array<Unit, size>& units, std::string_view expected, std::string_view base) noexcept
      : first_(units.data()), count_(size), expected_(expected), base_(base) {}

  [[nodiscard]] constexpr const Unit* begin() const noexcept { return first_; }
  [[nodiscard]] constexpr const Unit* end() const noexcept { return first_ + count_; }

  /// The plural name of the base unit: what a value must be a whole number of.
  [[nodiscard]] constexpr std::string_view base() const noexcept { return base_; }

  [[nodiscard]] std::string expected() const { return fmt::format("expected {}", expected_); }

  [[nodiscard]] const Unit* find(std::string_view name) const noexcept {
    const Unit* const found = std::find_if(begin(), end(), [name](const Unit& unit) { return unit.name == name; });
    return found == end() ? nullptr : found;
  }

 private:
  const Unit* first_;
  std::size_t count_;
  std::string_view expected_;
  std::string_view base_;
};

constexpr Dimension bandwidth_dimension{
    bandwidth_units, R"(a bandwidth such as "819.2 GB/s" (B/s, KB/s ... PB/s, KiB/s ... TiB/s))", "bytes per second"};
constexpr Dimension bytes_per_cycle_dimension{
    bytes_per_cycle_units, R"(bytes per cycle such as "512 B/cycle" (B/cycle, KiB/cycle, MiB/cycle))",
    "bytes per cycle"};
constexpr Dimension time_dimension{time_units, R"(a time such as "20 ns" (ps, ns, us, ms, s))", "picoseconds"};
constexpr Dimension size_dimension{size_units, R"(a size such as "1 MiB" (B, KiB ... TiB, KB ... TB))", "bytes"};
constexpr Dimension frequency_dimension{frequency_units, R"(a frequency such as "1.3 GHz" (Hz, kHz, MHz, GHz))",
                                        "hertz"};
constexpr Dimension count_dimension{count_units,
                                    "a count such as 8192 or 128K (K, M and G are 1024, 1024^2 and 1024^3)", "units"};

bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }

/// Removes the leading digits of `text` and returns them.
std::string_view take_digits(std::string_view& text) noexcept {
  const auto end = std::find_if_not(text.begin(), text.end(), is_digit);
  const auto length = static_cast<std::size_t>(end - text.begin());
  const std::string_view digits = text.substr(0, length);
  text.remove_prefix(length);
  return digits;
}

/// The digits before and after the decimal point, without zeros that mean nothing, and the text that follows.
struct Split {
  std::string_view whole;
  std::string_view fraction;
  std::string_view unit;
};

std::optional<Split> split(std::string_view text) noexcept {
  Split result;
  result.whole = take_digits(text);
  if (result.whole.empty()) return std::nullopt;
  if (!text.empty() && text.front() == '.') {
    text.remove_prefix(1);
    result.fraction = take_digits(text);
    if (result.fraction.empty()) return std::nullopt;
  }
  while (!result.whole.empty() && result.whole.front() == '0') result.whole.remove_prefix(1);
  while (!result.fraction.empty() && result.fraction.back() == '0') result.fraction.remove_suffix(1);
  result.unit = trimmed(text);
  return result;
}

const Unit& unit_of(std::string_view text, std::string_view name, const Dimension& dimension) {
  if (const Unit* const unit = dimension.find(name)) return *unit;
  if (name.empty()) throw ParseError(fmt::format("{} has no unit; {}", in_quotes(text), dimension.expected()));
  throw ParseError(fmt::format("{} has the wrong unit {}; {}", in_quotes(text), in_quotes(name), dimension.expected()));
}

std::int64_t parse(std::string_view untrimmed, const Dimension& dimension) {
  // As many as the largest 64-bit integer has. Times the largest scale, 10^15, they stay far below 2^127.
  constexpr std::size_t max_digits = 19;

  const std::string_view text = trimmed(untrimmed);
  const auto fail = [&](std::string_view reason) {
    return ParseError(fmt::format("{} {}; {}", in_quotes(text), reason, dimension.expected()));
  };
  if (text.empty()) throw ParseError(fmt::format("nothing is given; {}", dimension.expected()));
  if (text.front() == '-') throw fail("is negative or not a number");
  const std::optional<Split> parts = split(text);
  if (!parts) throw fail("does not start with a decimal number");
  const Unit& unit = unit_of(text, parts->unit, dimension);
  if (parts->whole.size() + parts->fraction.size() > max_digits) throw fail("has more than 19 digits");

  Int128 numerator = 0;
  Int128 denominator = 1;
  for (const char digit : parts->whole) numerator = numerator * 10 + (digit - '0');
  for (const char digit : parts->fraction) {
    numerator = numerator * 10 + (digit - '0');
    denominator *= 10;
  }
  numerator *= unit.scale;
  if (numerator % denominator != 0) throw fail(fmt::format("is not a whole number of {}", dimension.base()));
  const Int128 value = numerator / denominator;
  if (value > std::numeric_limits<std::int64_t>::max()) throw fail("is too large");
  return static_cast<std::int64_t>(value);
}

/// The largest printed unit for which `fits(scale)`, or the base unit.
template <typename Fits>
const Unit& largest_unit(const Dimension& dimension, Fits fits) {
  const Unit* best = dimension.begin();
  for (const Unit& unit : dimension) {
    if (unit.printed && fits(unit.scale)) best = &unit;
  }
  return *best;
}

/// count / scale in decimal; `scale` is a power of ten.
std::string decimal(std::int64_t count, std::int64_t scale) {
  std::string text = std::to_string(count / scale);
  std::int64_t rest = count % scale;
  if (rest == 0) return text;
  text += '.';
  for (std::int64_t digit = scale / 10; rest != 0; digit /= 10) {
    text += static_cast<char>('0' + rest / digit);
    rest %= digit;
  }
  return text;
}

std::string format_decimal(std::int64_t count, const Dimension& dimension) {
  const Unit& unit = largest_unit(dimension, [count](std::int64_t scale) { return count >= scale; });
  return fmt::format("{} {}", decimal(count, unit.scale), unit.name);
}

std::string format_binary(std::int64_t count, const Dimension& dimension) {
  const Unit& unit = largest_unit(dimension, [count](std::int64_t scale) { return count != 0 && count % scale == 0; });
  return fmt::format("{} {}", count / unit.scale, unit.name);
}

}  // namespace

Bandwidth parse_bandwidth(std::string_view text) { return Bandwidth(parse(text, bandwidth_dimension)); }

std::int64_t parse_bytes_per_cycle(std::string_view text) { return parse(text, bytes_per_cycle_dimension); }

Picoseconds parse_time(std::string_view text) { return Picoseconds(parse(text, time_dimension)); }

Bytes parse_size(std::string_view text) { return Bytes(parse(text, size_dimension)); }

Frequency parse_frequency(std::string_view text) { return Frequency(parse(text, frequency_dimension)); }

std::int64_t parse_count(std::string_view text) { return parse(text, count_dimension); }

std::string format_quantity(Bandwidth bandwidth) { return format_decimal(bandwidth.count(), bandwidth_dimension); }

std::string format_quantity(Picoseconds time) { return format_decimal(time.count(), time_dimension); }

std::string format_quantity(Bytes size) { return format_binary(size.count(), size_dimension); }

std::string format_quantity(Frequency frequency) { return format_decimal(frequency.count(), frequency_dimension); }

std::string format_bytes_per_cycle(std::int64_t bytes) { return format_binary(bytes, bytes_per_cycle_dimension); }

std::string format_millionths(std::int64_t millionths) {
  const std::string text = decimal(millionths, mega);
  return text.find('.') == std::string::npos ? text + ".0" : text;
}

std::string time_text(std::int64_t picoseconds) {
  struct Unit {
    std::int64_t size;
    const char* name;
  };
  constexpr std::array<Unit, 5> units = {
      {{1'000'000'000'000, "s"}, {1'000'000'000, "ms"}, {1'000'000, "us"}, {1'000, "ns"}, {1, "ps"}}};
  for (const Unit& unit : units) {
    if (picoseconds >= unit.size && unit.size > 1) {
      return fmt::format("{:.3f} {}", static_cast<double>(picoseconds) / static_cast<double>(unit.size), unit.name);
    }
  }
  return fmt::format("{} ps", picoseconds);
}

}  // namespace kernwave::platform
