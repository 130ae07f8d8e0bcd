// kernwave_bench: what the model costs the host, as ratios to a bare AT round trip measured in the same run.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <exception>
#include <filesystem>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "models/base/systemc.h"
#include "platform/files/whole_file.h"
#include "platform/host/child_process.h"
#include "platform/json/json.h"
#include "tests/bench/bare_at.h"
#include "tests/bench/decode_loop.h"
#include "tests/bench/large_machine.h"
#include "traces/critical_path/critical_path.h"
#include "traces/op_log/sqlite_op_log.h"
#include "traces/timeline/timeline.h"
#include "traces/waveform/waveform.h"

int sc_main(int /*argc*/, char** /*argv*/) { return 0; }  // the library asks for the symbol; nothing calls it

namespace kernwave::bench {
namespace {

constexpr int rounds = 7;

/// What a measure is a multiple of.
enum class Unit : std::uint8_t { bare_at, quiet_operation };

struct Measure {
  const char* key;
  const char* what;
  std::function<double()> nanoseconds;
  double budget;  ///< in units; 0: none
  Unit unit = Unit::bare_at;
  double best = std::numeric_limits<double>::infinity();
};

/// One PE, observed.
[[nodiscard]] double with(const Attach& attach) { return decode_operation_nanoseconds({}, attach); }

[[nodiscard]] double with_critical_path() {
  std::unique_ptr<traces::CriticalPath> path;
  return with([&path](System& system) {
    path = std::make_unique<traces::CriticalPath>(system.config(), traces::CriticalPath::Detail::sums);
    system.set_observer(path.get());
    return [] {};
  });
}

/// A file that goes away.
class Scrap {
 public:
  explicit Scrap(const char* suffix)
      : path_((std::filesystem::temp_directory_path() / fmt::format("kernwave_bench_{}{}", ::getpid(), suffix))) {}
  Scrap(const Scrap&) = delete;
  Scrap& operator=(const Scrap&) = delete;
  ~Scrap() {
    std::error_code ignored;
    std::filesystem::remove(path_, ignored);
  }
  [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }

 private:
  std::filesystem::path path_;
};

[[nodiscard]] double with_op_log() {
  const Scrap file(".sqlite");
  traces::SqliteOpLog log(file.path());
  return with([&log](System& system) {
    system.set_observer(&log.observer());
    return [&log] { log.close({}); };
  });
}

[[nodiscard]] double with_timeline() {
  const Scrap file(".pftrace");
  std::unique_ptr<traces::Timeline> timeline;
  return with([&](System& system) {
    timeline = std::make_unique<traces::Timeline>(file.path(), traces::Compression::none, system.config());
    system.set_observer(timeline.get());
    system.set_channel_observer(timeline.get());
    return [&timeline] { timeline->close({}); };
  });
}

[[nodiscard]] double with_waveform() {
  const Scrap file(".vcd");
  std::unique_ptr<traces::Waveform> waveform;
  return with([&](System& system) {
    traces::WaveformOptions options;
    options.path = file.path().string();
    options.scope = "pe0";
    waveform = std::make_unique<traces::Waveform>(system, options);
    system.set_observer(waveform->pe_observer());
    return [&waveform] { waveform->close(); };
  });
}

[[nodiscard]] std::function<double()> round_trips(std::int64_t pairs) {
  return [pairs] { return bare_at_nanoseconds(pairs, 400'000); };
}

/// A program that waits for what it computes where it issues it.
[[nodiscard]] std::function<double()> operations(std::int64_t cubes, std::int64_t pes) {
  return [=] {
    DecodeLoop loop;
    loop.cubes = cubes;
    loop.pes_per_cube = pes;
    return decode_operation_nanoseconds(loop);
  };
}

/// One that goes on until it uses a result.
[[nodiscard]] std::function<double()> stalled_on_use(std::int64_t cubes, std::int64_t pes) {
  return [=] {
    DecodeLoop loop;
    loop.cubes = cubes;
    loop.pes_per_cube = pes;
    loop.policy = tl::Policy::stall_on_use;
    return decode_operation_nanoseconds(loop);
  };
}

/// One whose products are composites.
[[nodiscard]] std::function<double()> composites(std::int64_t cubes, std::int64_t pes) {
  return [=] {
    DecodeLoop loop;
    loop.cubes = cubes;
    loop.pes_per_cube = pes;
    loop.kv = kernels::KvSource::composite;
    return decode_operation_nanoseconds(loop);
  };
}

[[nodiscard]] std::vector<Measure> measures() {
  return {{"bare_at_ns", "bare AT round trip", round_trips(1), 0.0},
          {"bare_at_ns_512pairs", "the same, 512 pairs", round_trips(512), 0.0},
          {"operation_ns_1pe", "operation, 1 PE", operations(1, 1), 1.5},
          {"operation_ns_64pe", "operation, 64 PEs", operations(8, 8), 2.25},
          {"operation_ns_512pe", "operation, 512 PEs", operations(64, 8), 8.5},
          {"stall_on_use_operation_ns_1pe", "stall_on_use, 1 PE", stalled_on_use(1, 1), 2.0},
          {"stall_on_use_operation_ns_64pe", "stall_on_use, 64 PEs", stalled_on_use(8, 8), 0.0},
          {"stall_on_use_operation_ns_512pe", "stall_on_use, 512 PEs", stalled_on_use(64, 8), 0.0},
          {"composite_operation_ns_1pe", "composites, 1 PE", composites(1, 1), 3.25},
          {"composite_operation_ns_64pe", "composites, 64 PEs", composites(8, 8), 0.0},
          {"composite_operation_ns_512pe", "composites, 512 PEs", composites(64, 8), 0.0},
          {"critical_path_ns_1pe", "with critical path", with_critical_path, 1.5, Unit::quiet_operation},
          {"op_log_ns_1pe", "with SQLite op log", with_op_log, 2.5, Unit::quiet_operation},
          {"timeline_ns_1pe", "with timeline", with_timeline, 2.0, Unit::quiet_operation},
          {"waveform_ns_1pe", "with waveform of the PE", with_waveform, 2.0, Unit::quiet_operation}};
}

/// The best of several rounds, all measures in turn in each: a busy host slows them alike.
[[nodiscard]] std::vector<Measure> measured() {
  std::vector<Measure> all = measures();
  for (int round = 0; round < rounds; ++round) {
    for (Measure& measure : all) {
      const std::string text = platform::text_from_child([&] { return fmt::format("{}", measure.nanoseconds()); });
      measure.best = std::min(measure.best, std::stod(text));
    }
  }
  return all;
}

[[nodiscard]] double best_of(const std::vector<Measure>& measures, std::string_view key) {
  const auto of_key = [key](const Measure& measure) { return measure.key == key; };
  return std::find_if(measures.begin(), measures.end(), of_key)->best;
}

int run(const std::vector<std::string>& arguments) {
  const bool with_json = arguments.size() == 2 && arguments[0] == "--json";
  if (!arguments.empty() && !with_json) {
    fmt::print(stderr, "usage: kernwave_bench [--json FILE]\n");
    return 2;
  }
  if (with_json) platform::check_writable(arguments[1]);
  const std::vector<Measure> all = measured();
  const double bare = best_of(all, "bare_at_ns");
  const double quiet = best_of(all, "operation_ns_1pe");
  platform::Json document = platform::Json::object();
  for (const Measure& measure : all) {
    const std::string budget = measure.budget == 0.0 ? "" : fmt::format("  (budget {:.1f})", measure.budget);
    const bool of_bare = measure.unit == Unit::bare_at;
    fmt::print("{:<22}{:>8.1f} ns{:>8.2f} {}{}\n", measure.what, measure.best, measure.best / (of_bare ? bare : quiet),
               of_bare ? "bare AT round trips" : "operations without it", budget);
    document[measure.key] = measure.best;
  }
  const auto tell_of_large_machine = [&document](const char* key, const char* what, double value, double budget) {
    fmt::print("{:<45}{:>8.1f}  (budget {:.0f})\n", what, value, budget);
    document[key] = value;
  };
  tell_of_large_machine("teardown_growth_128_to_1024pe", "taking a PE down, 1,024 PEs to 128", teardown_growth(), 2);
  tell_of_large_machine("memory_bytes_per_pe", "memory, bytes a PE", memory_bytes_per_pe(), 60'000);
  if (with_json) platform::write_file_atomically(arguments[1], platform::to_text(document) + "\n");
  return 0;
}

}  // namespace
}  // namespace kernwave::bench

int main(int argc, char** argv) {
  try {
    return kernwave::bench::run(std::vector<std::string>(argv + 1, argv + argc));
  } catch (const std::exception& error) {
    fmt::print(stderr, "kernwave_bench: {}\n", error.what());
    return 1;
  }
}
