// One PE on a memory of the test's own.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "kernels/tl/launch.h"
#include "models/run/run.h"
#include "tests/support/quantities.h"
#include "tests/support/stub_memory.h"
#include "traces/op_log/op_log.h"
#include "traces/protocol_monitor.h"

namespace kernwave::testing {

/// Construct inside `in_child`. Both memory sockets of the PE reach the stub through protocol monitors.
class LonePe {
 public:
  explicit LonePe(AnswerStyle style, const StubTiming& timing = {}, const PeConfig& config = with_bursts(),
                  PeId id = PeId(0))
      : memory_("memory", style, timing), pe_("pe", id, config, DataMode::full, ledger_, connector_) {
    connector_.connect(pe_.read_socket(), memory_.read_socket(), "read");
    connector_.connect(pe_.write_socket(), memory_.write_socket(), "write");
    pe_.set_observer(&log_);
  }

  /// The default PE with naturally aligned requests of at most 64 bytes, the longest that the stub takes.
  [[nodiscard]] static PeConfig with_bursts() {
    PeConfig config;
    config.dma.burst = Bytes(StubMemory::longest_burst);
    return config;
  }

  [[nodiscard]] RunEnd run(const tl::Kernel& kernel, tl::Policy policy = tl::Policy::lazy) {
    tl::launch(pe_, kernel, policy);
    const RunEnd end = run_to_end(ledger_);
    EXPECT_EQ(connector_.violations(), std::vector<std::string>());
    return end;
  }

  [[nodiscard]] Pe& pe() noexcept { return pe_; }
  [[nodiscard]] StubMemory& memory() noexcept { return memory_; }
  [[nodiscard]] RunLedger& ledger() noexcept { return ledger_; }
  [[nodiscard]] std::vector<traces::OperationRow> rows() const { return log_.rows(); }
  [[nodiscard]] const traces::MonitoringConnector& monitor() const noexcept { return connector_; }

 private:
  traces::MonitoringConnector connector_;
  traces::OpLog log_;
  RunLedger ledger_;
  StubMemory memory_;
  Pe pe_;
};

}  // namespace kernwave::testing
