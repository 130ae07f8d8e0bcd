// A finer time resolution of SystemC leaves every time of the model as it is.
#include <gtest/gtest.h>

#include <cstdlib>
#include <functional>
#include <string>

#include "tests/support/child.h"
#include "tests/support/error_text.h"
#include "tests/support/policies.h"
#include "tests/support/process.h"
#include "tests/support/simulation.h"

namespace kernwave::time_resolution_test {
namespace {

using testing::Simulation;

[[nodiscard]] HbmAddress at(std::int64_t cube, std::int64_t offset) { return {CubeId(cube), Bytes(offset)}; }

[[nodiscard]] SystemConfig two_cubes() {
  SystemConfig config;
  config.cubes = 2;
  config.pes_per_cube = 2;
  config.pe.clock = Frequency(1'300'000'000);  // cycles of no whole picoseconds
  return config;
}

/// Loads from both cubes, a product, a message and a store.
void work(tl::Context& tl) {
  const auto a = tl.load(at(0, 0), {48, 64}, DType::f16);
  const auto b = tl.load(at(1, 0), {64, 48}, DType::f16);
  const auto c = tl.dot(a, b);
  tl.send(Direction::east, c);
  tl.store(at(tl.pe_id().count() / 2, 0x100000 * (1 + tl.pe_id().count())),
           c + tl.recv(Direction::west, {48, 48}, DType::f32));
}

[[nodiscard]] std::string log_with(tl::Policy policy, double resolution, sc_core::sc_time_unit unit) {
  return testing::from_child([=] {
    sc_core::sc_set_time_resolution(resolution, unit);
    Simulation simulation(two_cubes());
    simulation.run_parts({{0, work}, {1, work}, {2, work}, {3, work}}, {{Direction::west}, Bytes(16384)}, policy);
    return simulation.log_text() + std::to_string(simulation.latency().count());
  });
}

/// SystemC takes a time resolution before the first time is made, and this process may have made some. Tests run in a
/// new process: the body of `test` only there.
void in_new_process(const std::function<void()>& test) {
  constexpr const char* variable = "KERNWAVE_TEST_OF_TIME_RESOLUTION";
  if (std::getenv(variable) != nullptr) return test();
  const std::string name = ::testing::UnitTest::GetInstance()->current_test_info()->name();
  const testing::Outcome outcome =
      testing::start_regression({"--gtest_filter=TimeResolution." + name}, {std::string(variable) + "=1"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.output << outcome.errors;
  EXPECT_NE(outcome.output.find("[  PASSED  ] 1 test"), std::string::npos) << outcome.output;
}

TEST(TimeResolution, OfFemtosecondsGivesTheSamePicoseconds) {
  in_new_process([] {
    for (const tl::Policy policy : testing::all_policies) {
      const std::string usual = log_with(policy, 1.0, sc_core::SC_PS);
      ASSERT_FALSE(usual.empty());
      EXPECT_EQ(log_with(policy, 1.0, sc_core::SC_FS), usual);
      EXPECT_EQ(log_with(policy, 100.0, sc_core::SC_FS), usual);
    }
  });
}

TEST(TimeResolution, BetweenTwoPicosecondsBelongsToTheLaterOne) {
  in_new_process([] {
    sc_core::sc_set_time_resolution(1.0, sc_core::SC_FS);
    EXPECT_EQ(to_picoseconds(sc_core::sc_time(2'000.0, sc_core::SC_FS)), Picoseconds(2));
    EXPECT_EQ(to_picoseconds(sc_core::sc_time(2'001.0, sc_core::SC_FS)), Picoseconds(3));
    EXPECT_EQ(to_sc_time(Picoseconds(3)), sc_core::sc_time(3.0, sc_core::SC_PS));
    // 2^64 fs are 5 hours: what does not fit is no other time.
    EXPECT_THROW((void)to_sc_time(Picoseconds(18'446'744'073'709'552)), TimeOverflow);
    EXPECT_EQ(to_sc_time(Picoseconds(18'446'744'073'709'551)).value() % 1000, 0U);
  });
}

TEST(TimeResolution, CoarserThanAPicosecondIsRefused) {
  in_new_process([] {
    sc_core::sc_set_time_resolution(10.0, sc_core::SC_PS);
    const std::string message =
        testing::error_of<sc_core::sc_report>([] { const Simulation simulation{testing::one_cube()}; });
    EXPECT_NE(message.find("the time resolution must be 1 ps"), std::string::npos) << message;
  });
}

}  // namespace
}  // namespace kernwave::time_resolution_test
