// Two machines in one simulation know nothing of each other.
#include <gtest/gtest.h>

#include <string>

#include "kernels/tl/launch.h"
#include "models/run/run.h"
#include "models/system/system.h"
#include "tests/support/child.h"
#include "tests/support/operation_rows.h"
#include "traces/op_log/op_log.h"

namespace kernwave::two_systems_test {
namespace {

[[nodiscard]] SystemConfig small() {
  SystemConfig config;
  config.cubes = 1;
  config.pes_per_cube = 2;
  return config;
}

[[nodiscard]] SystemConfig large() {
  SystemConfig config;
  config.cubes = 2;
  config.pes_per_cube = 2;
  config.pe.gemm.rows = 128;
  config.hbm.latency = Picoseconds(70'000);
  return config;
}

/// A machine with a log of its operations, whose kernels read all cubes and write to their own.
struct Logged {
  Logged(const char* name, const SystemConfig& config) : system(name, config, DataMode::full, connector) {
    system.set_observer(&log);
    for (std::int64_t id = 0; id < system.pe_count(); ++id) {
      tl::launch(system.pe(PeId(id)), [id, cubes = config.cubes, pes = config.pes_per_cube](tl::Context& tl) {
        for (std::int64_t i = 0; i < 4; ++i) {
          const auto scope = tl.scratch_scope();
          const auto a = tl.load({CubeId(i % cubes), Bytes(0)}, {64, 64}, DType::f16);
          tl.store({CubeId(id / pes), Bytes(0x100000 * (1 + id))}, tl.dot(a, a));
        }
      });
    }
  }
  [[nodiscard]] std::string text() const {
    return std::to_string(system.ledger().end().count()) + "\n" + testing::operations_text(log.rows());
  }

  Connector connector;
  traces::OpLog log;
  System system;
};

[[nodiscard]] std::string alone(const SystemConfig& config) {
  return testing::from_child([&config] {
    Logged machine("system", config);
    EXPECT_EQ(run_to_end(machine.system.ledger()), RunEnd::finished);
    return machine.text();
  });
}

TEST(TwoSystems, InOneSimulationTakeTheTimesThatEachTakesAlone) {
  const std::string small_alone = alone(small());
  const std::string large_alone = alone(large());
  testing::in_child([&] {
    Logged first("first", small());
    Logged second("second", large());
    EXPECT_EQ(run_to_end(first.system.ledger()), RunEnd::finished);
    EXPECT_EQ(run_to_end(second.system.ledger()), RunEnd::finished);
    EXPECT_EQ(first.text(), small_alone);
    EXPECT_EQ(second.text(), large_alone);
  });
}

TEST(TwoSystems, EndForReasonsOfTheirOwn) {
  testing::in_child([] {
    Connector connector;
    System failing("failing", small(), DataMode::none, connector);
    System working("working", small(), DataMode::none, connector);
    tl::launch(failing.pe(PeId(0)), [](tl::Context& tl) { tl.load(HbmAddress(0), {0, 1}, DType::f16); });
    tl::launch(working.pe(PeId(1)), [](tl::Context& tl) { tl.load(HbmAddress(0), {64, 64}, DType::f16); });
    EXPECT_EQ(run_to_end(failing.ledger()), RunEnd::failed);
    EXPECT_EQ(run_to_end(working.ledger()), RunEnd::finished);
    EXPECT_TRUE(working.ledger().failures().empty());
    EXPECT_GT(working.ledger().end(), Picoseconds(0));
  });
}

}  // namespace
}  // namespace kernwave::two_systems_test
