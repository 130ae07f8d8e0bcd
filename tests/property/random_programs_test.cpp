// Random programs: under every policy and in both data modes they leave in HBM what an interpreter says, and their time
// is accounted for.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

#include "tests/property/program_generator.h"
#include "tests/property/program_run.h"
#include "tests/property/program_shrinker.h"

namespace kernwave::random_programs_test {
namespace {

using testing::failure_of;
using testing::generate;
using testing::Program;
using testing::ProgramReport;
using testing::run_together;
using testing::shrink;

constexpr std::int64_t cases = 8;
constexpr std::int64_t programs_together = 6;  // in one process; more take longer, for the simulator's lists grow
constexpr int most_shrinking_steps = 1500;

[[nodiscard]] std::optional<std::int64_t> number_from(const char* variable) {
  const char* text = std::getenv(variable);
  return text == nullptr ? std::nullopt : std::optional(std::strtoll(text, nullptr, 10));
}

/// Which programs to run: docs/testing.md says how the variables work.
class Plan {
 public:
  explicit Plan(std::int64_t of_case)
      : next_(number_from("KERNWAVE_PROPERTY_SEED").value_or(1) + of_case), until_(std::chrono::steady_clock::now()) {
    const auto first = number_from("KERNWAVE_PROPERTY_SEED");
    const auto seconds = number_from("KERNWAVE_PROPERTY_SECONDS");
    const std::int64_t programs =
        number_from("KERNWAVE_PROPERTY_PROGRAMS").value_or(first && !seconds ? 1 : usual_programs);
    end_ = first.value_or(1) + programs;
    if (seconds) until_ += std::chrono::milliseconds(*seconds * 1000 / cases);
    by_time_ = seconds.has_value();
    asks_for_one_ = first.has_value() && !by_time_ && programs == 1;
  }

  [[nodiscard]] bool asks_for_one() const noexcept { return asks_for_one_; }

  /// The seeds of the next few programs; none: all are done.
  [[nodiscard]] std::vector<std::int64_t> next() {
    std::vector<std::int64_t> seeds;
    while (seeds.size() < programs_together && (by_time_ ? std::chrono::steady_clock::now() < until_ : next_ < end_)) {
      seeds.push_back(next_);
      next_ += cases;
    }
    return seeds;
  }

 private:
  static constexpr std::int64_t usual_programs = 2000;
  std::int64_t next_;
  std::int64_t end_ = 0;
  std::chrono::steady_clock::time_point until_;
  bool by_time_ = false;
  bool asks_for_one_ = false;
};

/// A program that was asked for by its seed, on its own.
void print(std::int64_t seed, const Program& program, const ProgramReport& report) {
  std::printf("seed %lld: %s", static_cast<long long>(seed), to_text(program).c_str());
  std::printf("blocking %lld ps, lazy %lld ps, stall_on_use %lld ps\n", static_cast<long long>(report.latencies[0]),
              static_cast<long long>(report.latencies[1]), static_cast<long long>(report.latencies[2]));
}

/// How often waiting later took longer.
struct Slowdowns {
  std::int64_t programs = 0;
  std::int64_t lazy = 0;
  std::int64_t stall_on_use = 0;
  double largest = 1.0;

  void add(const ProgramReport& report) {
    const auto [blocking_time, lazy_time, stall_time] = report.latencies;
    ++programs;
    lazy += lazy_time > blocking_time ? 1 : 0;
    stall_on_use += stall_time > lazy_time ? 1 : 0;
    largest = std::max({largest, static_cast<double>(lazy_time) / static_cast<double>(blocking_time),
                        static_cast<double>(stall_time) / static_cast<double>(lazy_time)});
  }
};

/// Reports the failure of one program, and the smallest that fails.
void report_failure(std::int64_t seed, const std::string& together) {
  const Program program = generate(static_cast<std::uint64_t>(seed));
  const std::string alone = failure_of(program);
  if (alone.empty()) {
    ADD_FAILURE() << "seed " << seed << " fails beside other programs and not alone:\n" << together;
    return;
  }
  const Program small = shrink(
      program, [](const Program& p) { return !failure_of(p).empty(); }, most_shrinking_steps);
  ADD_FAILURE() << "KERNWAVE_PROPERTY_SEED=" << seed << " fails:\n"
                << alone << "\nThe program of " << program.steps.size() << " steps, shrunk to " << small.steps.size()
                << ":\n"
                << to_text(small) << "fails:\n"
                << failure_of(small);
}

class RandomPrograms : public ::testing::TestWithParam<std::int64_t> {};

TEST_P(RandomPrograms, LeaveWhatTheirStepsSayAndAccountForTheirTime) {
  Plan plan(GetParam());
  Slowdowns slowdowns;
  for (std::vector<std::int64_t> seeds = plan.next(); !seeds.empty(); seeds = plan.next()) {
    std::vector<Program> programs;
    programs.reserve(seeds.size());
    for (const std::int64_t seed : seeds) programs.push_back(generate(static_cast<std::uint64_t>(seed)));
    const std::vector<ProgramReport> reports = run_together(programs);
    if (plan.asks_for_one()) print(seeds.front(), programs.front(), reports.front());
    for (std::size_t i = 0; i < seeds.size(); ++i) {
      if (reports[i].failures.empty()) {
        slowdowns.add(reports[i]);
        continue;
      }
      report_failure(seeds[i], reports[i].failures.front());
      if (HasFailure()) return;  // one program, shrunk, is enough
    }
  }
  std::printf("%lld programs: lazy was slower than blocking in %lld, stall_on_use than lazy in %lld, at most x %.3f\n",
              static_cast<long long>(slowdowns.programs), static_cast<long long>(slowdowns.lazy),
              static_cast<long long>(slowdowns.stall_on_use), slowdowns.largest);
}

INSTANTIATE_TEST_SUITE_P(Of, RandomPrograms, ::testing::Range<std::int64_t>(0, cases));

}  // namespace
}  // namespace kernwave::random_programs_test
