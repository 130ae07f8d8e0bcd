// JSON: documents that are built, printed and read back; errors that say where.
#include "platform/json/json.h"
#include "tests/support/error_text.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace kernwave::platform::json_test {
namespace {

std::string parse_error(const std::string& text) {
  return testing::error_of<JsonError>([&] { (void)parse_json(text, "file.json"); });
}

template <typename Read>
std::string read_error(Read read) {
  return testing::error_of<JsonError>([&] { (void)read(); });
}

TEST(JsonBuilding, WritesNestedDocumentsInTheOrderOfInsertion) {
  // Given a document whose members are named out of alphabetical order
  Json result = Json::object({{"schema", 1}, {"command", "run"}});
  result["latency_ps"] = std::int64_t{123};
  result["counts"]["gemm"] = 2;
  result["counts"]["dma_read"] = 4;
  result["notes"].push_back("first");
  result["notes"].push_back(nullptr);
  result["empty"] = Json::array();
  result["nothing"] = Json::object();
  // When it is printed, then the order is that of insertion
  EXPECT_EQ(to_text(result, 0), R"({"schema":1,"command":"run","latency_ps":123,"counts":{"gemm":2,"dma_read":4},)"
                                R"("notes":["first",null],"empty":[],"nothing":{}})");
}

TEST(JsonBuilding, ReplacesTheValueOfAKeyInItsPlace) {
  Json json = Json::object({{"a", 1}, {"b", 2}, {"a", 3}});
  json["b"] = 4;
  EXPECT_EQ(to_text(json, 0), R"({"a":3,"b":4})");
}

TEST(JsonBuilding, RefusesToTurnAValueIntoAnother) {
  Json number = 1;
  EXPECT_THROW(number["key"], JsonError);
  EXPECT_THROW(number.push_back(1), JsonError);
  EXPECT_THROW((void)Json(std::numeric_limits<std::uint64_t>::max()), JsonError);
}

TEST(JsonPrinting, IndentsEachLevel) {
  const Json json = Json::object({{"a", Json::array({1, 2})}, {"b", true}});
  EXPECT_EQ(to_text(json), "{\n  \"a\": [\n    1,\n    2\n  ],\n  \"b\": true\n}");
}

TEST(JsonPrinting, KeepsIntegersExact) {
  for (const std::int64_t value : {std::numeric_limits<std::int64_t>::max(), std::numeric_limits<std::int64_t>::min(),
                                   std::int64_t{9'007'199'254'740'993}}) {
    EXPECT_EQ(parse_json(to_text(value), "text").as_int(), value);
  }
}

TEST(JsonPrinting, KeepsDoublesExactAndDistinctFromIntegers) {
  for (const double value : {0.1, 1.0, -0.0, 1e300, 5e-324, 1.0 / 3.0}) {
    const Json read = parse_json(to_text(value), "text");
    ASSERT_TRUE(read.is_double());
    EXPECT_EQ(read.as_double(), value);
  }
}

TEST(JsonPrinting, WritesNullForWhatJsonCannotSay) {
  const double infinity = std::numeric_limits<double>::infinity();
  const Json json = Json::array({std::numeric_limits<double>::quiet_NaN(), infinity, -infinity});
  EXPECT_EQ(to_text(json, 0), "[null,null,null]");
}

TEST(JsonPrinting, EscapesTextAndReplacesWhatIsNotUtf8) {
  EXPECT_EQ(to_text(Json("a\"b\\c\n\x01")), R"("a\"b\\c\n\u0001")");
  EXPECT_EQ(to_text(Json("\xff")), "\"\xEF\xBF\xBD\"");
  EXPECT_EQ(to_text(Json("µs")), "\"µs\"");
}

TEST(JsonReading, ReadsEveryKindOfValue) {
  const Json json = parse_json(R"({"n": null, "t": true, "i": -7, "d": 2.5, "s": "x\u00e9", "a": [1, [2]]})", "text");
  EXPECT_TRUE(json.at("n").is_null());
  EXPECT_TRUE(json.at("t").as_bool());
  EXPECT_EQ(json.at("i").as_int(), -7);
  EXPECT_EQ(json.at("i").as_double(), -7.0);
  EXPECT_EQ(json.at("d").as_double(), 2.5);
  EXPECT_EQ(json.at("s").as_string(), "x\xC3\xA9");
  EXPECT_EQ(json.at("a").at(1).at(0).as_int(), 2);
  EXPECT_EQ(json.at("a").size(), 2U);
  EXPECT_EQ(json.find("absent"), nullptr);
}

TEST(JsonReading, SaysWhatWasExpectedAndWhatIsThere) {
  const Json json = parse_json(R"({"i": 7, "s": "x", "d": 1.0, "a": [1]})", "text");
  EXPECT_EQ(read_error([&] { return json.at("s").as_int(); }), R"(expected an integer, found the text "x")");
  EXPECT_EQ(read_error([&] { return json.at("d").as_int(); }), "expected an integer, found the number 1.0");
  EXPECT_EQ(read_error([&] { return json.at("i").as_string(); }), "expected a text, found the integer 7");
  EXPECT_EQ(read_error([&] { return json.at("i").as_bool(); }), "expected true or false, found the integer 7");
  EXPECT_EQ(read_error([&] { return json.at("a").as_double(); }), "expected a number, found an array");
  EXPECT_EQ(read_error([&] { return json.as_array().size(); }), "expected an array, found an object");
  EXPECT_EQ(read_error([&] { return json.at("x").as_int(); }), R"(there is no member "x")");
  EXPECT_EQ(read_error([&] { return json.at("a").at(1).as_int(); }), "there is no element 1 in an array of 1");
  EXPECT_EQ(read_error([&] { return json.at("i").find("x") == nullptr; }), "expected an object, found the integer 7");
}

TEST(JsonReading, LetsTheLastOfEqualKeysWin) {
  EXPECT_EQ(to_text(parse_json(R"({"a": 1, "b": 2, "a": {"c": 3}})", "text"), 0), R"({"a":{"c":3},"b":2})");
}

TEST(JsonReading, TurnsIntegersBeyond64BitsIntoDoubles) {
  EXPECT_EQ(parse_json("9223372036854775807", "text").as_int(), std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(parse_json("9223372036854775808", "text").as_double(), 9223372036854775808.0);
  EXPECT_EQ(parse_json("36893488147419103232", "text").as_double(), 36893488147419103232.0);
}

TEST(JsonReading, NamesLineAndColumnOfAMistake) {
  struct Case {
    std::string text;
    std::string start;
  };
  const std::vector<Case> cases{
      {"", "file.json:1:1: "},
      {"{\n  \"a\": 1,\n  \"b\" 2\n}", "file.json:3:7: "},
      {"{\"a\": 1} x", "file.json:1:10: "},
      {"[1, 2", "file.json:1:6: "},
      {"nul", "file.json:1:4: "},
      {"{'a': 1}", "file.json:1:2: "},
      {"[1e999]", "file.json:1:6: number overflow"},
      {"[NaN]", "file.json:1:2: "},
      {"\"\xff\"", "file.json:1:2: "},
      {"\"open", "file.json:1:6: "},
      {"[1,]", "file.json:1:4: "},
      {"[\"a\x7f\\q\"]", "file.json:1:6: "},
  };
  for (const Case& bad : cases) {
    const std::string error = parse_error(bad.text);
    EXPECT_EQ(error.substr(0, bad.start.size()), bad.start) << "of " << bad.text << ": " << error;
    EXPECT_EQ(error.find("json.exception"), std::string::npos) << error;
    EXPECT_GT(error.size(), bad.start.size() + 5) << "no reason given";
    EXPECT_EQ(error.find('\x7f'), std::string::npos) << error;
  }
}

// Python's json module writes what is not finite by name; JSON has no such numbers, and parse_json() none either.
TEST(JsonOfPython, HasNumbersThatAreNotFinite) {
  const Json json =
      parse_python_json(R"({"a": [1, NaN, 2.5, -Infinity], "b": Infinity, "NaN": "Infinity \" NaN", "c": -3})", "text");
  EXPECT_EQ(json.at("a").at(0).as_int(), 1);
  EXPECT_TRUE(std::isnan(json.at("a").at(1).as_double()));
  EXPECT_EQ(json.at("a").at(2).as_double(), 2.5);
  EXPECT_EQ(json.at("a").at(3).as_double(), -std::numeric_limits<double>::infinity());
  EXPECT_EQ(json.at("b").as_double(), std::numeric_limits<double>::infinity());
  EXPECT_EQ(json.at("NaN").as_string(), "Infinity \" NaN");
  EXPECT_EQ(json.at("c").as_int(), -3);
  EXPECT_EQ(parse_python_json("NaN", "text").description(), "the number nan");
}

TEST(JsonOfPython, HasNoOtherNamesAndNamesMistakesWhereTheyAre) {
  const auto error_of = [](const std::string& text) {
    return testing::error_of<JsonError>([&] { (void)parse_python_json(text, "file.json"); });
  };
  for (const std::string text :
       {"[nan]", "[inf]", "[+Infinity]", "[-NaN]", "[NaNs]", "[1NaN]", "{NaN: 1}", "NaN NaN"}) {
    EXPECT_TRUE(testing::contains(error_of(text), "file.json:1:")) << text << ": " << error_of(text);
  }
  EXPECT_TRUE(testing::contains(error_of("[NaN, -Infinity,\n Infinity x]"), "file.json:2:11: "))
      << error_of("[NaN, -Infinity,\n Infinity x]");
}

TEST(JsonReading, BoundsTheDepthOfNesting) {
  const auto nested = [](std::size_t depth) { return std::string(depth, '[') + std::string(depth, ']'); };
  EXPECT_NO_THROW((void)parse_json(nested(256), "text"));
  EXPECT_EQ(parse_error(nested(257)), "file.json:1:257: nested more than 256 levels deep");
  EXPECT_EQ(parse_error(std::string(1'000'000, '[')), "file.json:1:257: nested more than 256 levels deep");
  // Brackets inside a text are no nesting.
  EXPECT_NO_THROW((void)parse_json("\"\\\"" + std::string(1000, '[') + "\"", "text"));
}

TEST(JsonReading, TakesTimeInProportionToAnObjectsSize) {
  // Given an object of 200,000 members (a quadratic search for duplicates would take minutes)
  std::string text = "{";
  for (int i = 0; i < 200'000; ++i) text += "\"key" + std::to_string(i) + "\":" + std::to_string(i) + ",";
  text += "\"key0\":-1}";
  // When it is read, then every member is there once
  const Json json = parse_json(text, "text");
  EXPECT_EQ(json.size(), 200'000U);
  EXPECT_EQ(json.at("key0").as_int(), -1);
  EXPECT_EQ(json.at("key199999").as_int(), 199'999);
}

TEST(JsonRoundTrip, GivesTheSameDocument) {
  const std::string text = R"({"z":1,"a":[{"x":0.1},[],{}],"t":"\u0000µ"})";
  const Json json = parse_json(text, "text");
  EXPECT_EQ(parse_json(to_text(json, 2), "text"), json);
  EXPECT_NE(parse_json("[1]", "text"), parse_json("[1.0]", "text"));
}

}  // namespace
}  // namespace kernwave::platform::json_test
