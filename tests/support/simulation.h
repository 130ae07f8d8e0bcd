// A machine under test: every socket monitored, every operation logged, the critical path followed, the invariants of a
// run checked at its end.
#pragma once

#include <string>
#include <vector>

#include "kernels/tl/launch.h"
#include "models/run/run.h"
#include "models/system/system.h"
#include "tests/support/quantities.h"
#include "traces/checks/race_detector.h"
#include "traces/critical_path/critical_path.h"
#include "traces/observer_group.h"
#include "traces/op_log/op_log.h"
#include "traces/protocol_monitor.h"

namespace kernwave::testing {

/// The defaults of `SystemConfig` (the machine of preset ahbm) with one cube of `pes` PEs.
[[nodiscard]] SystemConfig one_cube(std::int64_t pes = 1);

/// Construct inside `in_child`. After `run`, expects that the kernels drained without an error (unless told otherwise),
/// no protocol violation, no payload in use, no race between PEs, that the time of every PE is accounted for to the
/// picosecond, and that the critical path explains all of the latency.
class Simulation {
 public:
  explicit Simulation(const SystemConfig& config = one_cube(), DataMode mode = DataMode::full,
                      ConstructionOrder order = ConstructionOrder::ascending, const EngineList& engines = {});

  [[nodiscard]] System& system() noexcept { return system_; }
  [[nodiscard]] Pe& pe(std::int64_t id = 0) { return system_.pe(PeId(id)); }

  /// One program on PE 0.
  void run(const tl::Kernel& kernel, tl::Policy policy = tl::Policy::lazy);
  /// A grid over all PEs.
  void run_grid(const tl::Grid& grid, const tl::Kernel& kernel, tl::Policy policy = tl::Policy::lazy);
  /// A kernel of its own on each of some PEs, all with the same queues.
  struct Part {
    std::int64_t pe = 0;
    tl::Kernel kernel;
  };
  void run_parts(const std::vector<Part>& parts, const tl::Queues& queues, tl::Policy policy = tl::Policy::lazy);
  /// The same, of which one must fail; returns its message.
  [[nodiscard]] std::string run_failing_parts(const std::vector<Part>& parts, const tl::Queues& queues);
  /// The same, of which some must wait for ever; returns what each says that it waits for, a line each.
  [[nodiscard]] std::string run_deadlocked_parts(const std::vector<Part>& parts, const tl::Queues& queues,
                                                 tl::Policy policy = tl::Policy::lazy);
  /// One program on PE 0 that must fail; returns its message.
  [[nodiscard]] std::string run_failing(const tl::Kernel& kernel, tl::Policy policy = tl::Policy::lazy);

  /// Without any expectation.
  [[nodiscard]] RunEnd run_unchecked(const std::vector<Part>& parts, const tl::Queues& queues = {},
                                     tl::Policy policy = tl::Policy::lazy);

  [[nodiscard]] Picoseconds latency() const { return system_.ledger().end(); }
  [[nodiscard]] Picoseconds time(TimeCause cause, std::int64_t pe_id = 0) {
    return pe(pe_id).cpu().account().of(cause);
  }
  [[nodiscard]] std::vector<traces::OperationRow> rows() const { return log_.rows(); }
  [[nodiscard]] traces::PathSummary critical_path() const { return path_.summary(); }
  /// Before the run: one more observer, which must outlive it.
  void observe(PeObserver& observer) { observers_.add(observer); }
  /// The operations, without source lines.
  [[nodiscard]] std::string log_text() const;
  [[nodiscard]] std::int64_t count(Engine engine) const;
  [[nodiscard]] traces::MonitoringConnector& monitor() noexcept { return connector_; }

  /// Time-free access to HBM in a storage type; `values` as f32.
  void write(HbmAddress address, DType dtype, const std::vector<float>& values);
  [[nodiscard]] std::vector<float> read(HbmAddress address, DType dtype, std::int64_t count);

 private:
  void launch_parts(const std::vector<Part>& parts, const tl::Queues& queues, tl::Policy policy);
  void finish(RunEnd expected);
  void check_critical_path() const;
  [[nodiscard]] std::string first_failure() const;
  [[nodiscard]] std::vector<Pe*> all_pes();

  traces::MonitoringConnector connector_;
  traces::OpLog log_;
  traces::CriticalPath path_;
  traces::RaceDetector races_;
  traces::PeObserverGroup observers_;
  System system_;
};

/// The duration of an isolated transfer on `config`: setup + latency + ceil(bytes / slowest rate), the port's unless
/// the range falls on so few channels that they are slower. Stated here as the tests' own formula, for ranges that are
/// aligned to, and multiples of, all channels' interleave, or lie in one channel's block.
[[nodiscard]] Picoseconds isolated_transfer(const SystemConfig& config, Bytes bytes);

}  // namespace kernwave::testing
