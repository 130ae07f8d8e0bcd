// The first NaN of a run: what is caught, where, and what is not.
#include "traces/checks/nan_watch.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "tests/support/child.h"
#include "tests/support/policies.h"
#include "tests/support/simulation.h"

namespace kernwave::nan_watch_test {
namespace {

using testing::in_child;
using testing::one_cube;
using testing::Simulation;

struct Caught {
  RunEnd end = RunEnd::finished;
  Picoseconds at;
  std::optional<std::string> finding;
  std::vector<RunLedger::Failure> failures;
};

[[nodiscard]] Caught trap(const std::vector<Simulation::Part>& parts, tl::Policy policy = tl::Policy::lazy,
                          traces::OnNan on_nan = traces::OnNan::stop) {
  Simulation simulation(one_cube(2));
  traces::NanWatch nan_watch(simulation.system(), on_nan);
  simulation.observe(nan_watch);
  simulation.write(HbmAddress(0), DType::f32, {1.0F, std::numeric_limits<float>::quiet_NaN(), -1.0F, 2.0F});
  const RunEnd end = simulation.run_unchecked(parts, {}, policy);
  return {end, now(), nan_watch.finding(), simulation.system().ledger().failures()};
}

/// The NaN of this kernel on PE 0 is told with these words, at the line that it sets.
void expect_caught(const std::string& operation, const std::string& element,
                   const std::function<void(tl::Context& tl, int& line)>& kernel) {
  for (const tl::Policy policy : testing::all_policies) {
    in_child([&] {
      int line = 0;
      const Caught caught = trap({{0, [&](tl::Context& tl) { kernel(tl, line); }}}, policy);
      ASSERT_TRUE(caught.finding);
      EXPECT_EQ(*caught.finding, fmt::format("PE 0, {} at {}:{} makes the first NaN: element {}, from operands without "
                                             "one",
                                             operation, __FILE__, line, element));
    });
  }
}

void expect_not_caught(const tl::Kernel& kernel) {
  in_child([&] {
    const Caught caught = trap({{0, kernel}});
    EXPECT_EQ(caught.end, RunEnd::finished);
    EXPECT_EQ(caught.finding.value_or(""), "");
  });
}

TEST(NanWatch, NamesTheOperationTheLineAndTheElement) {
  expect_caught("math/log of 2x3 f32", "(1, 2)", [](tl::Context& tl, int& line) {
    const auto x = tl.full({2, 3}, 1.0, DType::f32);
    tl.fill(tl.slice(tl.reshape(x, {6}), 5, 6), -1.0);
    line = __LINE__ + 1;
    const auto y = tl.log(x);
    tl.exp(y);  // which has a NaN among its operands
  });
}

TEST(NanWatch, SeesEveryFloatTypeAndBothEngines) {
  for (const DType dtype : {DType::f32, DType::f16, DType::bf16}) {
    expect_caught(fmt::format("math/sub of 1x2 {}", name_of(dtype)), "(0, 0)", [dtype](tl::Context& tl, int& line) {
      const auto x = tl.full({2}, std::numeric_limits<double>::infinity(), dtype);
      line = __LINE__ + 1;
      tl.sub(x, x);
    });
  }
  expect_caught("gemm/dot of 2x1 f16 . 1x2 f16", "(0, 0)", [](tl::Context& tl, int& line) {
    const auto a = tl.full({2, 1}, std::numeric_limits<double>::infinity(), DType::f16);
    const auto b = tl.zeros({1, 2}, DType::f16);
    line = __LINE__ + 1;
    tl.dot(a, b);
  });
}

TEST(NanWatch, SeesANanThatTakesThePlaceOfItsOperand) {
  expect_caught("math/sqrt of 1x2 f32", "(0, 0)", [](tl::Context& tl, int& line) {
    const auto x = tl.full({2}, -1.0, DType::f32);
    line = __LINE__ + 1;
    tl.sqrt(x, tl::out(x));
  });
}

TEST(NanWatch, SeesThePartsOfAComposite) {
  in_child([] {
    int line = 0;
    const Caught caught = trap({{0, [&line](tl::Context& tl) {
                                   const auto a = tl.full({2, 1}, -1.0, DType::f32);
                                   const auto b = tl.full({1, 4}, 1.0, DType::f32);
                                   const auto out = tl.buffer({2, 4}, DType::f32);
                                   const auto options = tl::CompositeOptions().out(out).tile(2).then(MathOp::log);
                                   line = __LINE__ + 1;
                                   tl.composite(a, b, options);
                                 }}});
    // Two tiles of a product and a logarithm each: parts 1 to 4.
    EXPECT_EQ(caught.finding, fmt::format("PE 0, math/log of 2x2 f32 at {}:{}, part 2 of a composite, makes the first "
                                          "NaN: element (0, 0), from operands without one",
                                          __FILE__, line));
  });
}

TEST(NanWatch, PassesOverANanThatWasThereBefore) {
  expect_not_caught([](tl::Context& tl) { tl.exp(tl.load(HbmAddress(0), {2}, DType::f32)); });
  expect_not_caught([](tl::Context& tl) {  // poison of a masked load
    tl.exp(tl.load(HbmAddress(0), {4}, DType::f32, tl::LoadOptions().valid({1})));
  });
  expect_not_caught([](tl::Context& tl) { tl.exp(tl.buffer({4}, DType::f32)); });
  expect_not_caught([](tl::Context& tl) {  // of which nothing is left
    const auto x = tl.buffer({4}, DType::f32);
    tl.exp(x, tl::out(x));
  });
  expect_not_caught([](tl::Context& tl) { tl.full({4}, std::numeric_limits<double>::quiet_NaN(), DType::f32); });
  expect_not_caught([](tl::Context& tl) { (void)tl.zeros({4}, DType::int32).to(DType::f32); });
}

TEST(NanWatch, EndsTheRunAPicosecondAfterTheOperation) {
  in_child([] {
    const Caught caught = trap({{0, [](tl::Context& tl) {
                                   const auto x = tl.full({256}, -1.0, DType::f32);  // to 5 ns: 2 + 2 + 1 cycles
                                   const auto y = tl.log(x);                         // to 13 ns: 2 + 2 + 4
                                   for (int i = 0; i < 100; ++i) tl.exp(y);
                                 }}});
    EXPECT_EQ(caught.end, RunEnd::failed);
    EXPECT_EQ(caught.at, Picoseconds(13'001));
    ASSERT_EQ(caught.failures.size(), 1U);
    EXPECT_EQ(caught.failures.front().pe, PeId(0));
    EXPECT_EQ(caught.failures.front().message, caught.finding);
  });
}

TEST(NanWatch, LetsTheRunGoOnIfItIsOnlyToBeNoted) {
  in_child([] {
    int line = 0;
    const auto kernel = [&line](tl::Context& tl) {
      const auto x = tl.full({256}, -1.0, DType::f32);
      line = __LINE__ + 1;
      const auto y = tl.log(x);
      tl.sqrt(x);  // which makes more of them, and is not the first
      for (int i = 0; i < 100; ++i) tl.exp(y);
    };
    const Caught caught = trap({{0, kernel}}, tl::Policy::lazy, traces::OnNan::note);
    EXPECT_EQ(caught.end, RunEnd::finished);
    EXPECT_EQ(caught.finding, fmt::format("PE 0, math/log of 1x256 f32 at {}:{} makes the first NaN: element (0, 0), "
                                          "from operands without one",
                                          __FILE__, line));
  });
}

TEST(NanWatch, TellsOfTwoInOneInstantThatOfTheSmallerPe) {
  const auto kernel = [](tl::Context& tl) { tl.exp(tl.log(tl.full({4}, -1.0, DType::f32))); };
  const auto later = [](tl::Context& tl) {
    tl.full({4}, 1.0, DType::f32);
    tl.exp(tl.log(tl.full({4}, -1.0, DType::f32)));
  };
  const auto first_of = [](const tl::Kernel& of_0, const tl::Kernel& of_1) {
    return testing::from_child([&] { return trap({{0, of_0}, {1, of_1}}).finding.value_or("none").substr(0, 5); });
  };
  EXPECT_EQ(first_of(kernel, kernel), "PE 0,");
  EXPECT_EQ(first_of(later, kernel), "PE 1,");
}

TEST(NanWatch, KnowsOfANanInTheLastInstantOfARun) {
  in_child([] {
    const Caught caught = trap({{0, [](tl::Context& tl) { tl.log(tl.full({4}, -1.0, DType::f32)); }}});
    EXPECT_EQ(caught.end, RunEnd::finished);
    EXPECT_TRUE(caught.finding);
  });
}

}  // namespace
}  // namespace kernwave::nan_watch_test
