// kernwave_bench: what the model costs the host, as ratios to a bare AT round trip measured in the same run.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <exception>
#include <filesystem>
#include <functional>
#include <limits>
#include <memory>
#include <stdexcept>
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

constexpr std::int64_t sample = 400'000;

/// Host nanoseconds of one of so many operations, or round trips.
using Loop = std::function<double(std::int64_t)>;

struct Measure {
  const char* key;
  const char* what;
  Loop nanoseconds;
  double budget;  ///< in bare AT round trips; 0: none
  double best = std::numeric_limits<double>::infinity();
};

/// One PE, observed.
[[nodiscard]] double with(std::int64_t operations, const Attach& attach) {
  DecodeLoop loop;
  loop.operations = operations;
  return decode_operation_nanoseconds(loop, attach);
}

[[nodiscard]] double with_critical_path(std::int64_t operations) {
  std::unique_ptr<traces::CriticalPath> path;
  return with(operations, [&path](System& system) {
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

[[nodiscard]] double with_op_log(std::int64_t operations) {
  const Scrap file(".sqlite");
  traces::SqliteOpLog log(file.path());
  return with(operations, [&log](System& system) {
    system.set_observer(&log.observer());
    return [&log] { log.close({}); };
  });
}

[[nodiscard]] double with_timeline(std::int64_t operations) {
  const Scrap file(".pftrace");
  std::unique_ptr<traces::Timeline> timeline;
  return with(operations, [&](System& system) {
    timeline = std::make_unique<traces::Timeline>(file.path(), traces::Compression::none, system.config());
    system.set_observer(timeline.get());
    system.set_channel_observer(timeline.get());
    return [&timeline] { timeline->close({}); };
  });
}

[[nodiscard]] double with_waveform(std::int64_t operations) {
  const Scrap file(".vcd");
  std::unique_ptr<traces::Waveform> waveform;
  return with(operations, [&](System& system) {
    traces::WaveformOptions options;
    options.path = file.path().string();
    options.scope = "pe0";
    waveform = std::make_unique<traces::Waveform>(system, options);
    system.set_observer(waveform->pe_observer());
    return [&waveform] { waveform->close(); };
  });
}

[[nodiscard]] Loop round_trips(std::int64_t pairs) {
  return [pairs](std::int64_t count) { return bare_at_nanoseconds(pairs, count); };
}

[[nodiscard]] Loop decode(std::int64_t cubes, std::int64_t pes, tl::Policy policy, kernels::KvSource kv) {
  return [=](std::int64_t operations) { return decode_operation_nanoseconds({cubes, pes, operations, policy, kv}); };
}

/// A program that waits for what it computes where it issues it.
[[nodiscard]] Loop lazy(std::int64_t cubes, std::int64_t pes) {
  return decode(cubes, pes, tl::Policy::lazy, kernels::KvSource::load);
}

/// One that goes on until it uses a result.
[[nodiscard]] Loop stall_on_use(std::int64_t cubes, std::int64_t pes) {
  return decode(cubes, pes, tl::Policy::stall_on_use, kernels::KvSource::load);
}

/// One whose products are composites.
[[nodiscard]] Loop composites(std::int64_t cubes, std::int64_t pes) {
  return decode(cubes, pes, tl::Policy::lazy, kernels::KvSource::composite);
}

[[nodiscard]] std::vector<Measure> measures() {
  return {{"bare_at_ns", "bare AT round trip", round_trips(1), 0.0},
          {"bare_at_ns_512pairs", "the same, 512 pairs", round_trips(512), 0.0},
          {"operation_ns_1pe", "operation, 1 PE", lazy(1, 1), 1.5},
          {"operation_ns_64pe", "operation, 64 PEs", lazy(8, 8), 2.25},
          {"operation_ns_512pe", "operation, 512 PEs", lazy(64, 8), 8.5},
          {"stall_on_use_operation_ns_1pe", "stall_on_use, 1 PE", stall_on_use(1, 1), 2.0},
          {"stall_on_use_operation_ns_64pe", "stall_on_use, 64 PEs", stall_on_use(8, 8), 0.0},
          {"stall_on_use_operation_ns_512pe", "stall_on_use, 512 PEs", stall_on_use(64, 8), 0.0},
          {"composite_operation_ns_1pe", "composites, 1 PE", composites(1, 1), 3.25},
          {"composite_operation_ns_64pe", "composites, 64 PEs", composites(8, 8), 0.0},
          {"composite_operation_ns_512pe", "composites, 512 PEs", composites(64, 8), 0.0},
          {"critical_path_ns_1pe", "1 PE, critical path", with_critical_path, 3.0},
          {"op_log_ns_1pe", "1 PE, SQLite op log", with_op_log, 5.5},
          {"timeline_ns_1pe", "1 PE, timeline", with_timeline, 4.5},
          {"waveform_ns_1pe", "1 PE, its waveform", with_waveform, 2.5}};
}

/// The best of several rounds, all measures in turn in each: a busy host slows them alike.
[[nodiscard]] std::vector<Measure> measured() {
  std::vector<Measure> all = measures();
  for (int round = 0; round < rounds; ++round) {
    for (Measure& measure : all) {
      const std::string text =
          platform::text_from_child([&] { return fmt::format("{}", measure.nanoseconds(sample)); });
      measure.best = std::min(measure.best, std::stod(text));
    }
  }
  return all;
}

[[nodiscard]] const Measure* find(const std::vector<Measure>& measures, std::string_view key) {
  const auto of_key = [key](const Measure& measure) { return measure.key == key; };
  const auto found = std::find_if(measures.begin(), measures.end(), of_key);
  return found == measures.end() ? nullptr : &*found;
}

/// One measure in this very process, for tools that count instructions.
int run_loop(const std::string& key, const std::string& operations) {
  const std::vector<Measure> all = measures();
  const Measure* measure = find(all, key);
  if (measure == nullptr) throw std::invalid_argument(fmt::format("no measure is called \"{}\"", key));
  fmt::print("{:.1f} ns\n", measure->nanoseconds(std::stoll(operations)));
  return 0;
}

int run(const std::vector<std::string>& arguments) {
  if (arguments.size() == 3 && arguments[0] == "--loop") return run_loop(arguments[1], arguments[2]);
  const bool with_json = arguments.size() == 2 && arguments[0] == "--json";
  if (!arguments.empty() && !with_json) {
    fmt::print(stderr, "usage: kernwave_bench [--json FILE | --loop KEY OPERATIONS]\n");
    return 2;
  }
  if (with_json) platform::check_writable(arguments[1]);
  const std::vector<Measure> all = measured();
  const double bare = find(all, "bare_at_ns")->best;
  platform::Json document = platform::Json::object();
  for (const Measure& measure : all) {
    const std::string budget = measure.budget == 0.0 ? "" : fmt::format("  (budget {:.2f})", measure.budget);
    fmt::print("{:<22}{:>8.1f} ns{:>8.2f} bare AT round trips{}\n", measure.what, measure.best, measure.best / bare,
               budget);
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
