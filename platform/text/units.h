// Quantities with units as users write them ("819.2 GB/s", "1 MiB"), read and printed exactly.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

#include "models/base/quantity.h"

namespace kernwave::platform {

/// A text that is not the quantity asked for. what() quotes the text, says what is expected and gives an example.
class ParseError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Every parser reads decimal digits exactly, never through a double, and accepts white space around the text and
// between number and unit. Each throws ParseError for a number that cannot be read, is negative, is too large or is
// not a whole number of the base unit, and for a unit that is missing or unknown. Units are case-sensitive.
// Zero is accepted: whether it makes sense is for the caller to say.

/// "819.2 GB/s": bytes per second, with decimal (KB/s ... PB/s) or binary (KiB/s ... TiB/s) multiples.
[[nodiscard]] Bandwidth parse_bandwidth(std::string_view text);

/// "512 B/cycle": bytes per cycle (also KiB/cycle, MiB/cycle).
[[nodiscard]] std::int64_t parse_bytes_per_cycle(std::string_view text);

/// "20 ns": a whole number of picoseconds (ps, ns, us, ms, s).
[[nodiscard]] Picoseconds parse_time(std::string_view text);

/// "1 MiB": bytes, with binary (KiB ... TiB) or decimal (KB ... TB) multiples.
[[nodiscard]] Bytes parse_size(std::string_view text);

/// "1.3 GHz": a whole number of hertz (Hz, kHz, MHz, GHz).
[[nodiscard]] Frequency parse_frequency(std::string_view text);

/// "8192" or "128K" as on the command line: K, M and G, in either case, are 1024, 1024^2 and 1024^3.
[[nodiscard]] std::int64_t parse_count(std::string_view text);

// Every printer is the inverse of its parser. Quantities are never negative.

/// In the largest decimal unit that keeps the value at or above 1: "819.2 GB/s".
[[nodiscard]] std::string format_quantity(Bandwidth bandwidth);
/// In the largest unit that keeps the value at or above 1: "1.5 us".
[[nodiscard]] std::string format_quantity(Picoseconds time);
/// In the largest binary unit of which it is a whole number: "1 MiB", "1536 KiB", "1000 B".
[[nodiscard]] std::string format_quantity(Bytes size);
/// In the largest unit that keeps the value at or above 1: "1.3 GHz".
[[nodiscard]] std::string format_quantity(Frequency frequency);
/// In the largest binary unit of which it is a whole number: "512 B/cycle".
[[nodiscard]] std::string format_bytes_per_cycle(std::int64_t bytes);
/// "41.93 us": picoseconds in the unit that leaves one to three digits before the point, rounded.
[[nodiscard]] std::string time_text(std::int64_t picoseconds);
/// `millionths` / 10^6 as a decimal with at least one digit after the point: 860000 is "0.86", 1000000 is "1.0".
[[nodiscard]] std::string format_millionths(std::int64_t millionths);

}  // namespace kernwave::platform
