#include "models/pe/pe.h"

namespace kernwave {

Pe::Pe(const sc_core::sc_module_name& name, PeId id, const PeConfig& config, DataMode mode, RunLedger& ledger,
       Connector& connector, const std::vector<Neighbour>& neighbours, const EngineList& engines)
    : sc_module(name),
      config_(config),
      engines_(engines),
      scratch_("scratch", config.scratch, mode),
      cpu_("cpu", id, config, ledger),
      scheduler_("scheduler", config, ledger, engines_),
      dma_("dma", config.dma, scratch_),
      gemm_("gemm", config, scratch_),
      math_("math", config, scratch_),
      ipcq_("ipcq", config.ipcq, scratch_, ledger, cpu_.credit_listener(), neighbours) {
  cpu_.set_queues(ipcq_);
  const std::string prefix = "pe" + std::to_string(id.count()) + ".";
  cpu_.declare_time_transparent(
      connector.link(cpu_.command_socket(), scheduler_.command_socket(), prefix + "cpu_to_scheduler"));
  for (const EngineRow& row : engine_rows) {
    TargetSocket* commands = command_socket(row.engine);
    if (commands == nullptr) continue;
    const std::string link = prefix + "scheduler_to_" + std::string(row.name);
    scheduler_.declare_time_transparent(row.engine,
                                        connector.link(scheduler_.engine_socket(row.engine), *commands, link));
  }
}

/// Of the engines that every PE has. The scheduler has no other way in than the program's.
TargetSocket* Pe::command_socket(Engine engine) noexcept {
  switch (engine) {
    case Engine::dma_read:
      return &dma_.read().command_socket();
    case Engine::dma_write:
      return &dma_.write().command_socket();
    case Engine::gemm:
      return &gemm_.command_socket();
    case Engine::math:
      return &math_.command_socket();
    case Engine::ipcq:
      return &ipcq_.command_socket();
    case Engine::composite:
      break;
  }
  return nullptr;
}

void Pe::set_observer(PeObserver* observer) noexcept {
  cpu_.set_observer(observer);
  scheduler_.set_observer(observer);
  dma_.set_observer(observer);
  gemm_.set_observer(observer);
  math_.set_observer(observer);
  ipcq_.set_observer(id(), observer);
}

EngineStatistics Pe::statistics(Engine engine) const {
  switch (engine) {
    case Engine::dma_read:
      return dma_.read().statistics();
    case Engine::dma_write:
      return dma_.write().statistics();
    case Engine::gemm:
      return gemm_.statistics();
    case Engine::math:
      return math_.statistics();
    case Engine::ipcq:
      return ipcq_.sends();
    case Engine::composite:
      break;
  }
  return {};
}

}  // namespace kernwave
