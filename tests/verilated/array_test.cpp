// A matrix engine in Verilog in the place of the model's: it takes the cycles of its formula, and everything that
// watches a run shows them.
#include <gtest/gtest.h>
#include <kernwave/kernels/tl/context.h>
#include <kernwave/kernels/tl/launch.h>
#include <kernwave/models/run/run.h>
#include <kernwave/platform/files/whole_file.h>
#include <kernwave/platform/host/child_process.h>
#include <kernwave/platform/run/simulate.h>
#include <kernwave/platform/workload/workload.h>
#include <kernwave/traces/op_log/op_log.h>

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "array_machine.h"

int sc_main(int /*argc*/, char** /*argv*/) { return 0; }  // SystemC's library asks for it

namespace verilated {
namespace {

namespace platform = kernwave::platform;
namespace tl = kernwave::tl;
using kernwave::DType;
using kernwave::HbmAddress;
using kernwave::Picoseconds;
using platform::Json;

constexpr std::int64_t rows = 32;  // of the parameters of systolic_array.v
constexpr std::int64_t cols = 16;
constexpr std::int64_t period_ps = 1'000;

struct Product {
  std::int64_t m;
  std::int64_t k;
  std::int64_t n;
};

[[nodiscard]] constexpr std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

/// Folds of a fill, K elements, and a drain.
[[nodiscard]] constexpr std::int64_t cycles_of(const Product& product) {
  return ceil_div(product.m, rows) * ceil_div(product.n, cols) * ((rows + cols - 2) + product.k + rows);
}
// By hand: one fold of 46 + 1 + 32; one of 46 + 64 + 32; 2 x 3 folds of 46 + 10 + 32.
static_assert(cycles_of({1, 1, 1}) == 79);
static_assert(cycles_of({32, 64, 16}) == 142);
static_assert(cycles_of({33, 10, 33}) == 528);

constexpr std::array<Product, 6> products = {
    {{1, 1, 1}, {32, 64, 16}, {33, 10, 33}, {64, 1, 16}, {32, 7, 17}, {100, 128, 60}}};

/// Gives a product to the idle block, and expects it done after its cycles, and not one edge before.
void expect_cycles(SystolicArray& array, const Product& product) {
  array.start(product.m, product.k, product.n);
  for (std::int64_t edge = 1; edge < cycles_of(product); ++edge) {
    array.edge();
    ASSERT_TRUE(array.is_busy()) << "edge " << edge << " of " << product.m << " x " << product.k << " x " << product.n;
    ASSERT_FALSE(array.is_done()) << "edge " << edge << " of " << product.m << " x " << product.k << " x " << product.n;
  }
  array.edge();
  ASSERT_FALSE(array.is_busy());
  ASSERT_TRUE(array.is_done());
}

TEST(VerilogBlock, IsDoneAfterTheCyclesOfItsFoldsAndNotOneBefore) {
  SystolicArray array;
  for (const Product& product : products) {
    expect_cycles(array, product);
    array.edge();
    ASSERT_FALSE(array.is_done()) << "done is one cycle long";
  }
}

TEST(VerilogBlock, StartsTheNextProductInTheCycleInWhichItIsDone) {
  SystolicArray array;
  for (const Product& product : products) expect_cycles(array, product);
}

/// One PE, with the array of the Verilog.
[[nodiscard]] platform::Configuration configuration() {
  return platform::load_configuration({ARRAY_CONFIGURATION, {}});
}

/// "start end" of each product of a kernel in picoseconds, a line each.
[[nodiscard]] std::string product_times(platform::Machine& machine, const tl::Kernel& kernel, tl::Policy policy) {
  kernwave::System& system = machine.system();
  kernwave::traces::OpLog log;
  system.pe(kernwave::PeId(0)).set_observer(&log);
  tl::launch(system.pe(kernwave::PeId(0)), kernel, policy);
  if (kernwave::run_to_end(system.ledger()) != kernwave::RunEnd::finished) {
    return system.ledger().failures().front().message;
  }
  std::string text;
  for (const kernwave::traces::OperationRow& row : log.rows()) {
    if (row.descriptor.engine != kernwave::Engine::gemm) continue;
    text += std::to_string(row.start.count()) + " " + std::to_string(row.end.count()) + "\n";
  }
  return text;
}

[[nodiscard]] std::string product_times(const tl::Kernel& kernel, tl::Policy policy) {
  return platform::text_from_child([&] {
    ArrayMachine machine(configuration().system, kernwave::DataMode::none);
    return product_times(machine, kernel, policy);
  });
}

TEST(VerilatedEngine, ServesEachProductFromItsDispatchForItsCycles) {
  // Given two products that do not wait for data, when the program waits for neither,
  const auto kernel = [](tl::Context& tl) {
    const auto a = tl.buffer({33, 10}, DType::f16);
    const auto b = tl.buffer({10, 33}, DType::f16);
    tl.dot(a, b);
    tl.dot(a, b);
  };
  // then the first is issued for 6 cycles and dispatched in 2, and the second follows without a gap: 528 cycles each.
  EXPECT_EQ(product_times(kernel, tl::Policy::stall_on_use), "8000 536000\n536000 1064000\n");
}

TEST(VerilatedEngine, BeginsAProductThatComesBetweenEdgesWithTheNextEdge) {
  // Given a product whose operand arrives between two edges: 4 bytes of HBM take 8 + 2 cycles, and 120.079 ns,
  const auto kernel = [](tl::Context& tl) {
    const auto b = tl.buffer({2, 1}, DType::f16);
    const auto a = tl.load(HbmAddress(0), {1, 2}, DType::f16);
    tl.dot(a, b);
  };
  // when it has been issued and dispatched, at 138.079 ns,
  constexpr std::int64_t dispatched = (8 + 2) * period_ps + 120'079 + (6 + 2) * period_ps;
  // then its 46 + 2 + 32 cycles begin at 139 ns.
  constexpr std::int64_t end = 139 * period_ps + 80 * period_ps;
  EXPECT_EQ(product_times(kernel, tl::Policy::lazy), std::to_string(dispatched) + " " + std::to_string(end) + "\n");
}

TEST(VerilatedEngine, RefusesWhatItsBlockDoesNotKnow) {
  const auto kernel = [](tl::Context& tl) {
    const auto a = tl.zeros({4, 4}, DType::f32);
    tl.wait(tl.dot(a, a));
  };
  const std::string message = product_times(kernel, tl::Policy::lazy);
  EXPECT_NE(message.find("gemm/dot of 4x4 f32 . 4x4 f32"), std::string::npos) << message;
  EXPECT_NE(message.find("is no product of a 16-bit type"), std::string::npos) << message;
}

[[nodiscard]] platform::RunRequest gemm_request(const platform::MachineBuilder& build) {
  platform::RunRequest request;
  request.configuration = configuration();
  request.kernel = "gemm";
  request.build = build;
  return request;
}

/// The result document of a product on a machine, and its report in `report`.
[[nodiscard]] Json gemm_result(const Product& product, const platform::MachineBuilder& build,
                               const std::string& report) {
  const std::string text = platform::text_from_child([&] {
    const platform::RunRequest request = gemm_request(build);
    platform::WorkloadRequest work;
    work.kernel = "gemm";
    work.m = product.m;
    work.k = product.k;
    work.n = product.n;
    const auto workload = platform::make_workload(work, request.configuration.system);
    workload->prepare_reference();
    platform::RunOptions options;
    options.outputs.critical_path = true;
    options.outputs.report = report;
    const platform::RunOutcome outcome = platform::simulate(request, *workload, options);
    platform::require_right_result(outcome.document);
    return platform::to_text(outcome.document);
  });
  return platform::parse_json(text, "result");
}

TEST(VerilatedEngine, RunsAKernelOfTheCatalogueAsItsFormulaSays) {
  // Given the model's engine with the same dataflow, and the Verilated one,
  const std::string report = testing::TempDir() + "array_report.html";
  const Product whole{256, 256, 256};
  const Json formula = gemm_result(whole, {}, testing::TempDir() + "formula_report.html");
  // when both run the kernel `gemm`, whose results are checked against float64,
  const Json rtl = gemm_result(whole, build_array_machine, report);
  // then times and counts are the same, and the critical path explains all of the latency,
  for (const char* figure : {"latency_ps", "busy_ps", "counts", "stall_ps", "critical_path"}) {
    EXPECT_EQ(platform::to_text(rtl.at(figure)), platform::to_text(formula.at(figure))) << figure;
  }
  EXPECT_EQ(rtl.at("critical_path").at("by_cause").find("unexplained"), nullptr);
  // the array is busy with 8 blocks of 128 x 128 x 128, which are 4 x 8 folds of 46 + 128 + 32 cycles each,
  constexpr std::int64_t busy = 8 * 4 * 8 * (46 + 128 + 32) * period_ps;
  EXPECT_EQ(rtl.at("busy_ps").at("pe0").at("gemm").as_int(), busy);
  // and so the report has it.
  EXPECT_NE(platform::read_file(report).find("\"gemm\":" + std::to_string(busy)), std::string::npos);
}

}  // namespace
}  // namespace verilated
