#include "tests/support/simulation.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "platform/workload/hbm_tensor.h"
#include "tests/support/operation_rows.h"

namespace kernwave::testing {

SystemConfig one_cube(std::int64_t pes) {
  SystemConfig config;
  config.cubes = 1;
  config.pes_per_cube = pes;
  return config;
}

Simulation::Simulation(const SystemConfig& config, DataMode mode, ConstructionOrder order, const EngineList& engines)
    : path_(config, traces::CriticalPath::Detail::sums),
      races_(config),
      system_("system", config, mode, connector_, order, engines) {
  observers_.add(log_);
  observers_.add(path_);
  observers_.add(races_);
  system_.set_observer(&observers_);
}

std::vector<Pe*> Simulation::all_pes() {
  std::vector<Pe*> pes;
  for (std::int64_t id = 0; id < system_.pe_count(); ++id) pes.push_back(&pe(id));
  return pes;
}

void Simulation::run(const tl::Kernel& kernel, tl::Policy policy) {
  tl::launch(pe(), kernel, policy);
  finish(RunEnd::finished);
}

void Simulation::run_grid(const tl::Grid& grid, const tl::Kernel& kernel, tl::Policy policy) {
  tl::launch(all_pes(), grid, kernel, policy);
  finish(RunEnd::finished);
}

void Simulation::launch_parts(const std::vector<Part>& parts, const tl::Queues& queues, tl::Policy policy) {
  for (const Part& part : parts) tl::launch(pe(part.pe), part.kernel, policy, queues);
}

void Simulation::run_parts(const std::vector<Part>& parts, const tl::Queues& queues, tl::Policy policy) {
  launch_parts(parts, queues, policy);
  finish(RunEnd::finished);
}

std::string Simulation::run_failing_parts(const std::vector<Part>& parts, const tl::Queues& queues) {
  launch_parts(parts, queues, tl::Policy::lazy);
  finish(RunEnd::failed);
  return first_failure();
}

std::string Simulation::run_deadlocked_parts(const std::vector<Part>& parts, const tl::Queues& queues,
                                             tl::Policy policy) {
  launch_parts(parts, queues, policy);
  finish(RunEnd::deadlocked);
  std::string text;
  for (const Part& part : parts) {
    const PeCpu& cpu = pe(part.pe).cpu();
    if (!cpu.drained()) text += cpu.describe_wait() + "\n";
  }
  return text;
}

RunEnd Simulation::run_unchecked(const std::vector<Part>& parts, const tl::Queues& queues, tl::Policy policy) {
  launch_parts(parts, queues, policy);
  return run_to_end(system_.ledger());
}

std::string Simulation::first_failure() const {
  const auto& failures = system_.ledger().failures();
  return failures.empty() ? std::string() : failures.front().message;
}

std::string Simulation::run_failing(const tl::Kernel& kernel, tl::Policy policy) {
  tl::launch(pe(), kernel, policy);
  finish(RunEnd::failed);
  return first_failure();
}

void Simulation::finish(RunEnd expected) {
  const RunEnd end = run_to_end(system_.ledger());
  EXPECT_EQ(end, expected) << (system_.ledger().failures().empty() ? pe().cpu().describe_wait()
                                                                   : system_.ledger().failures().front().message);
  EXPECT_EQ(connector_.violations(), std::vector<std::string>());
  EXPECT_EQ(races_.findings(), std::vector<std::string>());
  if (end != RunEnd::finished) return;
  // The last credits may be on their way.
  if (connector_.in_flight() > 0) sc_core::sc_start(to_sc_time(2 * system_.config().pe.ipcq.hop_latency));
  EXPECT_EQ(connector_.in_flight(), 0U);
  for (Pe* pe : all_pes()) {
    EXPECT_EQ(pe->cpu().command_pool().in_use(), 0U);
    EXPECT_EQ(pe->scheduler().command_pool().in_use(), 0U);
    EXPECT_EQ(pe->dma().read().request_pool().in_use(), 0U);
    EXPECT_EQ(pe->dma().write().request_pool().in_use(), 0U);
    EXPECT_EQ(pe->ipcq().pool().in_use(), 0U);
    EXPECT_EQ(pe->cpu().account().total(), pe->cpu().local_time()) << "PE " << pe->id().count();
    EXPECT_LE(pe->cpu().local_time(), latency());
    EXPECT_LE(pe->scratch().peak(), pe->scratch().capacity());
  }
  check_critical_path();
}

void Simulation::check_critical_path() const {
  const bool replaced = log_.rows().empty();  // a test has set observers of its own
  if (replaced) return;
  const traces::PathSummary path = path_.summary();
  EXPECT_EQ(path.latency, system_.ledger().end());
  Picoseconds by_cause;
  for (const Picoseconds time : path.causes) by_cause += time;
  EXPECT_EQ(by_cause, path.latency);
  Picoseconds by_line;
  for (const traces::PathSummary::Line& line : path.lines) by_line += line.total;
  EXPECT_EQ(by_line, path.latency);
  EXPECT_EQ(path.causes[static_cast<std::size_t>(traces::PathCause::unexplained)], Picoseconds(0));
}

std::string Simulation::log_text() const { return operations_text(log_.rows()); }

std::int64_t Simulation::count(Engine engine) const {
  const auto all = log_.rows();
  return std::count_if(all.begin(), all.end(),
                       [engine](const traces::OperationRow& row) { return row.descriptor.engine == engine; });
}

void Simulation::write(HbmAddress address, DType dtype, const std::vector<float>& values) {
  const auto count = static_cast<std::int64_t>(values.size());
  platform::write(system_, {address, 1, count, count, dtype}, values);
}

std::vector<float> Simulation::read(HbmAddress address, DType dtype, std::int64_t count) {
  return platform::read(system_, {address, 1, count, count, dtype});
}

Picoseconds isolated_transfer(const SystemConfig& config, Bytes bytes) {
  const Picoseconds port = duration(bytes, config.pe.dma.bandwidth);
  const Bytes one_round = config.hbm.interleave * config.hbm.channels;
  const std::int64_t channels = bytes < one_round ? 1 : config.hbm.channels;
  const Bandwidth share(config.hbm.bandwidth.count() / config.hbm.channels * channels);
  return config.pe.dma.setup + config.hbm.latency + std::max(port, duration(bytes, share));
}

}  // namespace kernwave::testing
