// A machine with an engine and a timing table of one's own, run as `kernwave run` would: every output tells the same of
// the engine.
//   own_machine TABLE.toml     leaves run.json, run.sqlite, run.vcd and run.html in this folder
#include <kernwave/kernels/tl/context.h>
#include <kernwave/kernels/tl/launch.h>
#include <kernwave/platform/json/json.h>
#include <kernwave/platform/run/simulate.h>
#include <kernwave/platform/workload/hbm_tensor.h>
#include <kernwave/platform/workload/workload.h>
#include <sqlite3.h>

#include <cstdio>
#include <exception>
#include <fstream>
#include <iterator>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "transposing_machine.h"

namespace {

namespace platform = kernwave::platform;
namespace tl = kernwave::tl;
using consumer::TransposingMachine;
using kernwave::DType;
using kernwave::HbmAddress;
using platform::Json;

constexpr std::int64_t n = 16;
constexpr HbmAddress a_at(0);
constexpr HbmAddress b_at(0x1000);
constexpr HbmAddress out_at(0x2000);

/// out = (a^T b)^T = b^T a on PE 0, with both transposes by the engine.
class TransposedProduct : public platform::Workload {
 public:
  [[nodiscard]] Json shape() const override { return Json::object(); }
  [[nodiscard]] std::vector<std::string> plan() const override { return {}; }
  [[nodiscard]] DType dtype() const override { return DType::f16; }
  void place_data(kernwave::System& system) const override {
    platform::write(system, {a_at, n, n, n, DType::f16}, a());
    platform::write(system, {b_at, n, n, n, DType::f16}, b());
  }
  void launch(kernwave::System& system, tl::Policy policy) const override {
    tl::launch(system.pe(kernwave::PeId(0)), kernel, policy);
  }
  void prepare_reference() override {}
  [[nodiscard]] platform::NumericError verify(const kernwave::System& system) const override {
    // Sums of products of small whole numbers: exact.
    std::vector<double> expected(n * n);
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j < n; ++j) {
        for (std::size_t k = 0; k < n; ++k) expected[i * n + j] += b()[k * n + i] * a()[k * n + j];
      }
    }
    const std::vector<double> no_error(n * n);
    const auto out = platform::read(system, {out_at, n, n, n, DType::f32});
    return platform::numeric_error(out, {expected, no_error, DType::f32, {}}, n);
  }
  [[nodiscard]] std::vector<platform::CompulsoryWork> compulsory() const override { return {}; }

 private:
  static void kernel(tl::Context& tl) {
    const auto x = tl.load(a_at, {n, n}, DType::f16);
    const auto y = tl.load(b_at, {n, n}, DType::f16);
    const auto transposed = tl.buffer({n, n}, DType::f16);
    tl.call(TransposingMachine::transposer, tl::Call().reads(x).writes(transposed));
    const auto product = tl.dot(transposed, y);
    const auto result = tl.buffer({n, n}, DType::f32);
    tl.call(TransposingMachine::transposer, tl::Call().reads(product).writes(result));
    tl.store(out_at, result);
  }

  [[nodiscard]] static std::vector<float> a() { return numbers(7); }
  [[nodiscard]] static std::vector<float> b() { return numbers(5); }
  [[nodiscard]] static std::vector<float> numbers(std::size_t modulus) {
    std::vector<float> values(n * n);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i % modulus);
    return values;
  }
};

void require_equal(std::int64_t value, std::int64_t expected, const std::string& what) {
  if (value == expected) return;
  throw std::runtime_error(what + ": " + std::to_string(value) + ", expected " + std::to_string(expected));
}

[[nodiscard]] std::string text_of(const std::string& file) {
  std::ifstream stream(file);
  return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

/// The sum of end_ps - start_ps of an engine's operations.
[[nodiscard]] std::int64_t busy_in_op_log(const std::string& file, const std::string& engine) {
  sqlite3* log = nullptr;
  sqlite3_stmt* query = nullptr;
  const std::string text = "SELECT sum(end_ps - start_ps) FROM operations WHERE engine = '" + engine + "'";
  std::int64_t busy = -1;
  if (sqlite3_open_v2(file.c_str(), &log, SQLITE_OPEN_READONLY, nullptr) == SQLITE_OK &&
      sqlite3_prepare_v2(log, text.c_str(), -1, &query, nullptr) == SQLITE_OK && sqlite3_step(query) == SQLITE_ROW) {
    busy = sqlite3_column_int64(query, 0);
  }
  sqlite3_finalize(query);
  sqlite3_close(log);
  return busy;
}

/// How long a signal of one bit is 1. Times of the file are picoseconds.
[[nodiscard]] std::int64_t high_in_vcd(const std::string& file, const std::string& signal) {
  std::istringstream words(text_of(file));
  std::string code;
  std::int64_t time = 0;
  std::int64_t since = 0;
  std::int64_t high = 0;
  bool is_high = false;
  for (std::string word, type, width, id, name; words >> word;) {
    if (word == "$var") {
      words >> type >> width >> id >> name;
      if (name == signal) code = id;
    } else if (word.front() == 'b') {
      words >> word;  // the code of a wider signal
    } else if (word.front() == '#') {
      time = std::stoll(word.substr(1));
    } else if (!code.empty() && (word == "0" + code || word == "1" + code)) {
      if (is_high) high += time - since;
      is_high = word.front() == '1';
      since = time;
    }
  }
  return high;
}

[[nodiscard]] platform::RunRequest request_with(const std::string& table) {
  platform::RunRequest request;
  request.configuration =
      platform::load_configuration({"ahbm", {"system.cubes=1", "system.pes_per_cube=1", "pe.gemm.timing=" + table}});
  request.kernel = "transposed_product";
  request.build = [](const kernwave::SystemConfig& config, kernwave::DataMode data) {
    return std::make_unique<TransposingMachine>(config, data);
  };
  return request;
}

[[nodiscard]] platform::RunOptions all_outputs() {
  platform::RunOptions options;
  options.outputs.json = "run.json";
  options.outputs.op_log = "run.sqlite";
  options.outputs.vcd = "run.vcd";
  options.outputs.report = "run.html";
  options.outputs.critical_path = true;
  return options;
}

void simulate(const std::string& table) {
  // Given a machine with the engine and the table, when a kernel uses both,
  const platform::RunOutcome run = platform::simulate(request_with(table), TransposedProduct(), all_outputs());
  if (!run.problems.empty()) throw std::runtime_error(run.problems.front());
  platform::require_right_result(run.document);

  // then every output has the same time of the engine: two calls of 16 rows, 3 ns each;
  constexpr std::int64_t busy = 2 * n * 3'000;
  const Json document = platform::parse_json(text_of("run.json"), "run.json");
  const Json& busy_of_pe = document.at("busy_ps").at("pe0");
  require_equal(busy_of_pe.at("transposer").as_int(), busy, "busy time in the result document");
  require_equal(busy_in_op_log("run.sqlite", "transposer"), busy, "busy time in the op log");
  require_equal(high_in_vcd("run.vcd", "transposer_busy"), busy, "busy time in the waveform");

  // the product takes the table's 40 cycles and the fixed 5 at 1 GHz, likewise everywhere;
  constexpr std::int64_t product = (40 + 5) * 1'000;
  require_equal(busy_of_pe.at("gemm").as_int(), product, "the product in the result document");
  require_equal(busy_in_op_log("run.sqlite", "gemm"), product, "the product in the op log");
  require_equal(high_in_vcd("run.vcd", "gemm_busy"), product, "the product in the waveform");

  // the critical path, on which both lie whole, explains every picosecond;
  const Json& causes = document.at("critical_path").at("by_cause");
  require_equal(causes.at("added_engine").as_int(), busy, "the engine on the critical path");
  require_equal(causes.at("gemm").as_int(), product, "the product on the critical path");
  if (causes.find("unexplained") != nullptr) throw std::runtime_error("the critical path has unexplained time");

  // and the report names the engine.
  if (text_of("run.html").find("custom/transposer of 16x16 f16") == std::string::npos) {
    throw std::runtime_error("the report does not name the engine's operations");
  }
  std::printf("own_machine: the engine is busy for %lld ps in every output\n", static_cast<long long>(busy));
}

}  // namespace

int main(int argc, char** argv) {
  try {
    if (argc != 2) throw std::runtime_error("usage: own_machine TABLE.toml");
    simulate(argv[1]);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "own_machine: %s\n", error.what());
    return 1;
  }
  return 0;
}

int sc_main(int /*argc*/, char** /*argv*/) { return 0; }  // SystemC's library asks for it
