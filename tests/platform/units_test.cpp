// Quantities with units: read exactly, refused with a reason and an example, printed so that they read back.
#include "platform/text/units.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "tests/support/error_text.h"

namespace kernwave::platform::units_test {
namespace {

using testing::contains;
using testing::error_of;

TEST(Bandwidth, IsReadInDecimalAndBinaryMultiples) {
  EXPECT_EQ(parse_bandwidth("819.2 GB/s").count(), 819'200'000'000);
  EXPECT_EQ(parse_bandwidth("3.35 TB/s").count(), 3'350'000'000'000);
  EXPECT_EQ(parse_bandwidth("1 GiB/s").count(), 1'073'741'824);
  EXPECT_EQ(parse_bandwidth("1.5 KB/s").count(), 1'500);
  EXPECT_EQ(parse_bandwidth("1.5 kB/s").count(), 1'500);
  EXPECT_EQ(parse_bandwidth("7 B/s").count(), 7);
}

TEST(Bandwidth, IsReadExactlyWhereADoubleWouldRound) {
  // 2^53 + 1 bytes per second, the first integer that no double holds.
  EXPECT_EQ(parse_bandwidth("9.007199254740993 PB/s").count(), 9'007'199'254'740'993);
  EXPECT_EQ(parse_bandwidth("0.3 GB/s").count(), 300'000'000);
}

TEST(BytesPerCycle, IsReadWithItsUnit) {
  EXPECT_EQ(parse_bytes_per_cycle("512 B/cycle"), 512);
  EXPECT_EQ(parse_bytes_per_cycle("1.5 KiB/cycle"), 1536);
}

TEST(Time, IsReadInPicoseconds) {
  EXPECT_EQ(parse_time("1 ps").count(), 1);
  EXPECT_EQ(parse_time("20 ns").count(), 20'000);
  EXPECT_EQ(parse_time("1.5 us").count(), 1'500'000);
  EXPECT_EQ(parse_time("2 ms").count(), 2'000'000'000);
  EXPECT_EQ(parse_time("0.001 ns").count(), 1);
}

TEST(Size, IsReadInBinaryAndDecimalMultiples) {
  EXPECT_EQ(parse_size("1 MiB").count(), 1'048'576);
  EXPECT_EQ(parse_size("256 B").count(), 256);
  EXPECT_EQ(parse_size("16 GiB").count(), 17'179'869'184);
  EXPECT_EQ(parse_size("1 KB").count(), 1'000);
}

TEST(Frequency, IsReadInHertz) {
  EXPECT_EQ(parse_frequency("1 GHz").count(), 1'000'000'000);
  EXPECT_EQ(parse_frequency("1300 MHz").count(), 1'300'000'000);
  EXPECT_EQ(parse_frequency("1 Hz").count(), 1);
}

TEST(Count, TakesBinarySuffixesAsOnTheCommandLine) {
  EXPECT_EQ(parse_count("8192"), 8192);
  EXPECT_EQ(parse_count("128K"), 131'072);
  EXPECT_EQ(parse_count("128k"), 131'072);
  EXPECT_EQ(parse_count("2M"), 2'097'152);
  EXPECT_EQ(parse_count("1G"), 1'073'741'824);
  EXPECT_EQ(parse_count("0"), 0);
}

TEST(Quantities, AllowWhiteSpaceAroundThemAndNoneBeforeTheUnit) {
  EXPECT_EQ(parse_time("  20ns ").count(), 20'000);
  EXPECT_EQ(parse_time("20   ns").count(), 20'000);
  EXPECT_EQ(parse_time("0020.500 ns").count(), 20'500);
}

TEST(Quantities, ReachTheLargestIntegerAndNotBeyond) {
  constexpr std::int64_t largest = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(parse_size("9223372036854775807 B").count(), largest);
  EXPECT_EQ(parse_time(format_quantity(Picoseconds(largest))).count(), largest);
  EXPECT_THROW((void)parse_size("9223372036854775808 B"), ParseError);
}

// C10: a wrong unit or a bad number is answered with what is expected and an example.
TEST(Quantities, AreRefusedWithTheReasonAndAnExample) {
  struct Case {
    std::string text;
    std::function<void(const std::string&)> parse;
    std::vector<std::string> parts;
  };
  const auto bandwidth = [](const std::string& text) { (void)parse_bandwidth(text); };
  const auto per_cycle = [](const std::string& text) { (void)parse_bytes_per_cycle(text); };
  const auto time = [](const std::string& text) { (void)parse_time(text); };
  const auto size = [](const std::string& text) { (void)parse_size(text); };
  const auto frequency = [](const std::string& text) { (void)parse_frequency(text); };
  const auto count = [](const std::string& text) { (void)parse_count(text); };
  const std::vector<Case> cases{
      {"819.2 GB", bandwidth, {"wrong unit \"GB\"", "819.2 GB/s"}},
      {"819.2 Gb/s", bandwidth, {"wrong unit \"Gb/s\"", "819.2 GB/s"}},
      {"819.2", bandwidth, {"has no unit", "819.2 GB/s"}},
      {"819,2 GB/s", bandwidth, {"wrong unit \",2 GB/s\""}},
      {"fast", bandwidth, {"\"fast\"", "decimal number"}},
      {"1e9 B/s", bandwidth, {"wrong unit \"e9 B/s\""}},
      {"-1 GB/s", bandwidth, {"negative"}},
      {"99999 PB/s", bandwidth, {"too large"}},
      {"1.5 B/s", bandwidth, {"whole number of bytes per second"}},
      {"512 B", per_cycle, {"wrong unit \"B\"", "512 B/cycle"}},
      {"20", time, {"has no unit", "20 ns"}},
      {"20 sec", time, {"wrong unit \"sec\"", "20 ns"}},
      {"0.5 ps", time, {"whole number of picoseconds"}},
      {"", time, {"nothing is given", "20 ns"}},
      {"  ", time, {"nothing is given"}},
      {"1. ns", time, {"decimal number"}},
      {".5 ns", time, {"decimal number"}},
      {"+5 ns", time, {"decimal number"}},
      {"1.2.3 ns", time, {"wrong unit \".3 ns\""}},
      {"0.00000000000000000001 s", time, {"19 digits"}},
      {"1 mib", size, {"wrong unit \"mib\"", "1 MiB"}},
      {"0.3 B", size, {"whole number of bytes"}},
      {"12345678901234567890 B", size, {"19 digits"}},
      {"1 ghz", frequency, {"wrong unit \"ghz\"", "1.3 GHz"}},
      {"1.5 Hz", frequency, {"whole number of hertz"}},
      {"128Q", count, {"wrong unit \"Q\"", "128K"}},
      {"K", count, {"decimal number", "128K"}},
      {"1.5", count, {"whole number"}},
      {"-8", count, {"negative", "8192"}},
      {"99999999999G", count, {"too large"}},
  };
  for (const Case& bad : cases) {
    const std::string error = error_of<ParseError>([&bad] { bad.parse(bad.text); });
    ASSERT_FALSE(error.empty()) << "accepted: " << bad.text;
    for (const std::string& part : bad.parts) EXPECT_TRUE(contains(error, part)) << error << "\nlacks " << part;
  }
}

TEST(Printing, UsesTheLargestExactUnit) {
  EXPECT_EQ(format_quantity(Bandwidth(819'200'000'000)), "819.2 GB/s");
  EXPECT_EQ(format_quantity(Bandwidth(3'350'000'000'000)), "3.35 TB/s");
  EXPECT_EQ(format_quantity(Bandwidth(999)), "999 B/s");
  EXPECT_EQ(format_quantity(Picoseconds(20'000)), "20 ns");
  EXPECT_EQ(format_quantity(Picoseconds(1'500'000)), "1.5 us");
  EXPECT_EQ(format_quantity(Picoseconds(1'000'000'000'001)), "1.000000000001 s");
  EXPECT_EQ(format_quantity(Picoseconds(0)), "0 ps");
  EXPECT_EQ(format_quantity(Bytes(1'048'576)), "1 MiB");
  EXPECT_EQ(format_quantity(Bytes(1'572'864)), "1536 KiB");
  EXPECT_EQ(format_quantity(Bytes(1'000)), "1000 B");
  EXPECT_EQ(format_quantity(Bytes(0)), "0 B");
  EXPECT_EQ(format_quantity(Frequency(1'000'000'000)), "1 GHz");
  EXPECT_EQ(format_quantity(Frequency(1'300'000'000)), "1.3 GHz");
  EXPECT_EQ(format_bytes_per_cycle(512), "512 B/cycle");
  EXPECT_EQ(format_millionths(860'000), "0.86");
  EXPECT_EQ(format_millionths(1'000'000), "1.0");
  EXPECT_EQ(format_millionths(1), "0.000001");
}

TEST(Printing, ReadsBackToTheSameValue) {
  for (const std::int64_t value : {1LL, 7LL, 999LL, 1'000LL, 1'024LL, 1'025LL, 123'456'789LL, 819'200'000'000LL,
                                   1'000'000'000'001LL, 999'999'999'999'999LL}) {
    EXPECT_EQ(parse_bandwidth(format_quantity(Bandwidth(value))).count(), value);
    EXPECT_EQ(parse_time(format_quantity(Picoseconds(value))).count(), value);
    EXPECT_EQ(parse_size(format_quantity(Bytes(value))).count(), value);
    EXPECT_EQ(parse_frequency(format_quantity(Frequency(value))).count(), value);
    EXPECT_EQ(parse_bytes_per_cycle(format_bytes_per_cycle(value)), value);
  }
}

}  // namespace
}  // namespace kernwave::platform::units_test
