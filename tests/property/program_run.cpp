#include "tests/property/program_run.h"

#include <fmt/format.h>

#include <chrono>
#include <memory>
#include <sstream>

#include "tests/property/program_interpreter.h"
#include "tests/property/program_variant.h"
#include "tests/property/program_work.h"
#include "tests/support/child_outcome.h"
#include "tests/support/policies.h"

namespace kernwave::testing {

namespace {

constexpr std::chrono::minutes time_limit(15);  // what a hundred programs take, many times over

/// The six runs of one program.
class Runs {
 public:
  Runs(const Program& program, std::size_t number) : program_(program), work_(work_of(program)) {
    for (const tl::Policy policy : all_policies) {
      for (const DataMode mode : {DataMode::full, DataMode::none}) {
        const std::string name = fmt::format("system_{}_{}", number, variants_.size());
        variants_.push_back(std::make_unique<ProgramVariant>(name, program, policy, mode));
      }
    }
  }

  [[nodiscard]] ProgramReport report() const;

 private:
  [[nodiscard]] const ProgramVariant& variant(std::size_t policy, DataMode mode) const {
    return *variants_[2 * policy + (mode == DataMode::full ? 0 : 1)];
  }
  void check_each(ProgramReport& report) const;
  void check_modes(ProgramReport& report) const;
  void check_order_of_policies(ProgramReport& report) const;
  /// Whether waiting later can cost nothing: nothing of the program competes for what another one could take first.
  [[nodiscard]] bool later_waits_are_free() const;

  const Program& program_;
  Work work_;
  std::vector<std::unique_ptr<ProgramVariant>> variants_;
};

void Runs::check_each(ProgramReport& report) const {
  const std::vector<std::vector<float>> expected = interpret(program_);
  for (const auto& variant : variants_) {
    std::vector<std::string> problems = variant->problems(work_);
    if (variant->finished() && variant->mode() == DataMode::full) {
      for (const std::string& wrong : variant->wrong_data(expected)) problems.push_back(wrong);
    }
    for (const std::string& problem : problems) {
      report.failures.push_back(fmt::format("{}, data {}: {}", name_of(variant->policy()),
                                            variant->mode() == DataMode::full ? "full" : "none", problem));
    }
  }
}

void Runs::check_modes(ProgramReport& report) const {
  for (std::size_t policy = 0; policy < all_policies.size(); ++policy) {
    const ProgramVariant& full = variant(policy, DataMode::full);
    const ProgramVariant& none = variant(policy, DataMode::none);
    if (full.latency() != none.latency()) {
      report.failures.push_back(fmt::format("{}: {} ps with data, {} without", name_of(full.policy()),
                                            full.latency().count(), none.latency().count()));
    } else if (full.log() != none.log()) {
      report.failures.push_back(fmt::format("{}: the op log differs without data", name_of(full.policy())));
    } else if (full.account() != none.account()) {
      report.failures.push_back(fmt::format("{}: time goes elsewhere without data", name_of(full.policy())));
    }
  }
}

bool Runs::later_waits_are_free() const {
  return program_.machine.pes() == 1 && work_.counts[0].composites == 0 && program_.machine.has_ample_memory();
}

void Runs::check_order_of_policies(ProgramReport& report) const {
  for (std::size_t policy = 0; policy < all_policies.size(); ++policy) {
    report.latencies.at(policy) = variant(policy, DataMode::full).latency().count();
    if (policy == 0 || !later_waits_are_free()) continue;
    if (report.latencies.at(policy) <= report.latencies.at(policy - 1)) continue;
    report.failures.push_back(fmt::format("{} takes {} ps, {} {} ps", name_of(all_policies.at(policy)),
                                          report.latencies.at(policy), name_of(all_policies.at(policy - 1)),
                                          report.latencies.at(policy - 1)));
  }
}

ProgramReport Runs::report() const {
  ProgramReport report;
  check_each(report);
  if (!report.failures.empty()) return report;
  check_modes(report);
  check_order_of_policies(report);
  return report;
}

// ---- reports come out of another process as text: the latencies, the number of failures, a line each

[[nodiscard]] std::string to_text(const std::vector<ProgramReport>& reports) {
  std::string text;
  for (const ProgramReport& report : reports) {
    for (const std::int64_t latency : report.latencies) text += fmt::format("{} ", latency);
    text += fmt::format("{}\n", report.failures.size());
    for (std::string failure : report.failures) {
      for (char& character : failure) {
        if (character == '\n') character = ' ';
      }
      text += failure + "\n";
    }
  }
  return text;
}

[[nodiscard]] std::vector<ProgramReport> from_text(const std::string& text, std::size_t count) {
  std::istringstream in(text);
  std::vector<ProgramReport> reports(count);
  for (ProgramReport& report : reports) {
    std::size_t failures = 0;
    for (std::int64_t& latency : report.latencies) in >> latency;
    in >> failures;
    std::string line;
    std::getline(in, line);
    for (std::size_t i = 0; i < failures && std::getline(in, line); ++i) report.failures.push_back(line);
  }
  return reports;
}

[[nodiscard]] std::string simulate(const std::vector<Program>& programs) {
  // Never taken apart: that would be a third of the process's time, and it ends soon. Static, so that it is not lost.
  static auto& all = *new std::vector<std::unique_ptr<Runs>>();
  all.reserve(programs.size());
  for (std::size_t i = 0; i < programs.size(); ++i) all.push_back(std::make_unique<Runs>(programs[i], i));
  sc_core::sc_start();  // nothing but the programs makes events
  std::vector<ProgramReport> reports;
  reports.reserve(all.size());
  for (const auto& runs : all) reports.push_back(runs->report());
  return to_text(reports);
}

}  // namespace

std::vector<ProgramReport> run_together(const std::vector<Program>& programs) {
  const ChildOutcome outcome = run_child_process([&] { return simulate(programs); }, time_limit);
  if (outcome.problem.empty()) return from_text(outcome.result, programs.size());
  std::vector<ProgramReport> reports(programs.size());
  for (ProgramReport& report : reports) report.failures.push_back(outcome.problem + "\n" + outcome.output);
  return reports;
}

std::string failure_of(const Program& program) {
  const std::vector<ProgramReport> reports = run_together({program});
  std::string text;
  for (const std::string& failure : reports.front().failures) text += failure + "\n";
  return text;
}

}  // namespace kernwave::testing
