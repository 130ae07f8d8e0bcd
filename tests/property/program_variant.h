// One run of a program: a machine of its own, watched.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "kernels/tl/policy.h"
#include "models/system/system.h"
#include "tests/property/program.h"
#include "tests/property/program_work.h"
#include "tests/support/operation_rows.h"
#include "traces/critical_path/critical_path.h"
#include "traces/observer_group.h"
#include "traces/op_log/op_log.h"
#include "traces/protocol_monitor.h"

namespace kernwave::testing {

/// With data, ends of operations are told ahead of simulated time; without data, each at its instant: the same run.
/// Construct during elaboration, with a name that no other has; then `program` must outlive it. Several may run at
/// once.
class ProgramVariant {
 public:
  ProgramVariant(const std::string& name, const Program& program, tl::Policy policy, DataMode mode);

  [[nodiscard]] tl::Policy policy() const noexcept { return policy_; }
  [[nodiscard]] DataMode mode() const noexcept { return mode_; }
  [[nodiscard]] bool finished() const { return system_.ledger().state() == RunLedger::State::finished; }
  [[nodiscard]] Picoseconds latency() const { return system_.ledger().end(); }
  /// The op log without source lines.
  [[nodiscard]] std::string log() const { return testing::operations_text(log_.rows()); }
  /// Where the time of each PE went.
  [[nodiscard]] std::string account() const;

  /// After the run: what must hold of any run of the program, a sentence for each thing that does not.
  [[nodiscard]] std::vector<std::string> problems(const Work& work) const;
  /// What HBM holds that it should not.
  [[nodiscard]] std::vector<std::string> wrong_data(const std::vector<std::vector<float>>& expected) const;

 private:
  void check_end(std::vector<std::string>& problems) const;
  void check_pes(std::vector<std::string>& problems) const;
  void check_critical_path(std::vector<std::string>& problems) const;
  void check_counts(const Work& work, std::vector<std::string>& problems) const;
  void check_bounds(const Work& work, std::vector<std::string>& problems) const;

  const Program& program_;
  tl::Policy policy_;
  DataMode mode_;
  traces::MonitoringConnector connector_;
  traces::OpLog log_;
  traces::CriticalPath path_;
  PeObserver told_at_the_instant_;  // it takes no end ahead of simulated time
  traces::PeObserverGroup observers_;
  System system_;
};

}  // namespace kernwave::testing
