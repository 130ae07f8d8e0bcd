#include "models/pe/pe.h"

namespace kernwave {

Pe::Pe(const sc_core::sc_module_name& name, PeId id, const PeConfig& config, DataMode mode, RunLedger& ledger,
       Connector& connector, const std::vector<Neighbour>& neighbours)
    : sc_module(name),
      config_(config),
      scratch_("scratch", config.scratch, mode),
      cpu_("cpu", id, config, ledger),
      scheduler_("scheduler", config, ledger),
      dma_("dma", config.dma, scratch_),
      gemm_("gemm", config, scratch_),
      math_("math", config, scratch_),
      ipcq_("ipcq", config.ipcq, scratch_, ledger, cpu_.credit_listener(), neighbours) {
  cpu_.set_queues(ipcq_);
  const std::string prefix = "pe" + std::to_string(id.count()) + ".";
  connector.connect(cpu_.command_socket(), scheduler_.command_socket(), prefix + "cpu_to_scheduler");
  connector.connect(scheduler_.engine_socket(Engine::dma_read), dma_.read().command_socket(),
                    prefix + "scheduler_to_dma_read");
  connector.connect(scheduler_.engine_socket(Engine::dma_write), dma_.write().command_socket(),
                    prefix + "scheduler_to_dma_write");
  connector.connect(scheduler_.engine_socket(Engine::gemm), gemm_.command_socket(), prefix + "scheduler_to_gemm");
  connector.connect(scheduler_.engine_socket(Engine::math), math_.command_socket(), prefix + "scheduler_to_math");
  connector.connect(scheduler_.engine_socket(Engine::ipcq), ipcq_.command_socket(), prefix + "scheduler_to_ipcq");
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
    case Engine::composite:
      break;
  }
  return ipcq_.sends();
}

}  // namespace kernwave
