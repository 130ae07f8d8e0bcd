#include "platform/text/message_text.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

namespace kernwave::platform::message_text_test {
namespace {

TEST(Quoting, KeepsAMessageOnOneLine) {
  EXPECT_EQ(in_quotes("plain"), "\"plain\"");
  EXPECT_EQ(in_quotes("a\nb\x1b\"\\"), "\"a\\nb\\x1b\\\"\\\\\"");
  EXPECT_LT(in_quotes(std::string(10'000, 'x')).size(), 200U);
  EXPECT_EQ(in_one_line("a\nb\x1b\"\\"), "a\\nb\\x1b\"\\");
  // U+009B, which terminals take for the beginning of a command, and its neighbour U+00A0, which is a space
  EXPECT_EQ(in_one_line("a\xc2\x9b\xc2\xa0\xc2"), "a\\x9b\xc2\xa0\xc2");
}

TEST(NearestName, IsTheFewestEditsAwayAndNotFarFetched) {
  const std::vector<std::string> names{"rows", "cols", "dataflow"};
  EXPECT_EQ(nearest_name("rowz", names), "rows");
  EXPECT_EQ(nearest_name("ROWS", names), "rows");
  EXPECT_EQ(nearest_name("dataflwo", names), "dataflow");
  EXPECT_EQ(nearest_name("clos", names), "cols");
  EXPECT_EQ(nearest_name("bandwidth", names), std::nullopt);
  EXPECT_EQ(nearest_name("", names), std::nullopt);
  EXPECT_EQ(nearest_name("rows", {}), std::nullopt);
  EXPECT_EQ(nearest_name(std::string(1'000'000, 'r'), names), std::nullopt);
}

TEST(NearestName, IsWhatAMessageEndsWith) {
  EXPECT_EQ(did_you_mean("rowz", {"rows", "cols"}), "; did you mean \"rows\"?");
  EXPECT_EQ(did_you_mean("bandwidth", {"rows", "cols"}), "");
}

TEST(Trimming, TakesWhiteSpaceFromTheEndsAlone) {
  EXPECT_EQ(trimmed(" \t a b\n"), "a b");
  EXPECT_EQ(trimmed(" \v\f\r"), "");
}

}  // namespace
}  // namespace kernwave::platform::message_text_test
