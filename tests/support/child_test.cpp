// The harness itself: what goes wrong in a child process fails its test, and says why.
#include "tests/support/child.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/support/error_text.h"
#include "tests/support/process.h"

namespace kernwave::child_test {
namespace {

using testing::Outcome;
using testing::start_regression;

struct Fault {
  const char* name;
  const char* said;  ///< in the output of its test
};

void PrintTo(const Fault& fault, std::ostream* out) { *out << fault.name; }

/// Tests which fail on purpose, in a process of their own.
[[nodiscard]] Outcome run_planted(const std::string& name) {
  return start_regression({"--with-planted-faults", "--gtest_filter=PlantedFaults." + name});
}

TEST(Harness, PassesAChildThatDoesWhatItShould) {
  const Outcome outcome = run_planted("Nothing");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.output;
  EXPECT_TRUE(testing::contains(outcome.output, "[  PASSED  ] 1 test.")) << outcome.output;
}

class HarnessFails : public ::testing::TestWithParam<Fault> {};

TEST_P(HarnessFails, TheTestOfAChildWith) {
  const Outcome outcome = run_planted(GetParam().name);
  EXPECT_EQ(outcome.exit_code, 1) << outcome.output;
  EXPECT_TRUE(testing::contains(outcome.output, GetParam().said)) << outcome.output;
  EXPECT_TRUE(testing::contains(outcome.output, "[  FAILED  ] 1 test")) << outcome.output;
}

INSTANTIATE_TEST_SUITE_P(
    Of, HarnessFails,
    ::testing::Values(Fault{"Expectation", "on purpose"}, Fault{"Assertion", "what the child has said"},
                      Fault{"Exception", "exception: on purpose"},
                      Fault{"ForeignException", "an exception that is not a std::exception"},
                      Fault{"ExitCode", "ended with 3"}, Fault{"EarlyExit", "ended before the test did"},
                      Fault{"Signal", "died of signal 9"}, Fault{"TimeOut", "did not end in 1 s"},
                      Fault{"TimeOutOfATalker", "did not end in 1 s"},
                      Fault{"ShortResult", "ended before the test did"}, Fault{"GrandchildExpectation", "on purpose"}),
    [](const ::testing::TestParamInfo<Fault>& fault) { return fault.param.name; });

TEST(Harness, FailsTheTestOfAChildThatLeaks) {
#ifdef __SANITIZE_ADDRESS__
  const Outcome outcome = run_planted("Leak");
  EXPECT_EQ(outcome.exit_code, 1) << outcome.output;
  EXPECT_TRUE(testing::contains(outcome.output, "detected memory leaks")) << outcome.output;
#else
  GTEST_SKIP() << "leaks are looked for by AddressSanitizer, in builds of the preset sanitize";
#endif
}

TEST(Harness, RefusesArgumentsThatItDoesNotKnow) {
  const Outcome outcome = start_regression({"--update-golden"});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_EQ(outcome.output, "");
  EXPECT_TRUE(testing::contains(outcome.errors, "unknown argument: --update-golden ")) << outcome.errors;
}

TEST(Harness, GoesOnWithTheOtherTests) {
  const Outcome outcome = run_planted("Signal:PlantedFaults.Nothing:PlantedFaults.ExitCode");
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_TRUE(testing::contains(outcome.output, "[  PASSED  ] 1 test.")) << outcome.output;
  EXPECT_TRUE(testing::contains(outcome.output, "[  FAILED  ] 2 tests")) << outcome.output;
}

}  // namespace
}  // namespace kernwave::child_test
