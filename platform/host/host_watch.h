// The host's access to a running simulation: Ctrl-C goes in, progress comes out.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

#include "models/base/systemc.h"
#include "models/run/run_ledger.h"
#include "platform/host/interrupt.h"
#include "platform/host/progress.h"

namespace kernwave::platform {

/// From its construction, during elaboration, to its destruction, after the run, a thread of the host checks ten times
/// a second whether the run has to be interrupted after a Ctrl-C, or its progress has to be shown. The simulation
/// carries this out between two delta cycles, without processes or events of the model: times and results are the same
/// with and without the watch. While one kernel computes for long between two operations, interrupt and progress wait.
class HostWatch : private sc_core::sc_prim_channel {
 public:
  /// The line of progress, `seconds` of the host's time after the start. Called in the simulation's thread.
  using Report = std::function<std::string(double seconds)>;

  /// Both may be left out (nullptr, empty). `interrupts` must outlive the watch.
  HostWatch(RunLedger& ledger, const InterruptCatcher* interrupts, Report report);
  HostWatch(const HostWatch&) = delete;
  HostWatch& operator=(const HostWatch&) = delete;
  ~HostWatch() override;

 private:
  void update() override;
  void watch();
  [[nodiscard]] bool interrupted() const noexcept { return interrupts_ != nullptr && interrupts_->caught() != 0; }

  RunLedger& ledger_;
  const InterruptCatcher* interrupts_;
  Report report_;
  ProgressLine line_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  std::mutex mutex_;
  std::condition_variable wake_;
  bool over_ = false;
  std::thread thread_;
};

}  // namespace kernwave::platform
