#include "models/pe/pe.h"

#include <stdexcept>
#include <string>

namespace kernwave {

Pe::Pe(const sc_core::sc_module_name& name, PeId id, const PeConfig& config, DataMode mode, RunLedger& ledger,
       Connector& connector, const std::vector<Neighbour>& neighbours, const EngineList& engines)
    : sc_module(name),
      config_(config),
      engines_(engines),
      scratch_("scratch", config.scratch, mode),
      cpu_("cpu", id, config, ledger, engines_),
      scheduler_("scheduler", config, ledger, engines_),
      dma_("dma", config.dma, scratch_),
      ipcq_("ipcq", config.ipcq, scratch_, ledger, cpu_.credit_listener(), neighbours) {
  if (!engines_.is_users(Engine::gemm)) gemm_ = &modules_.add<PeGemm>("gemm", config, scratch_);
  if (!engines_.is_users(Engine::math)) math_ = &modules_.add<PeMath>("math", config, scratch_);
  for (const EngineRow& row : engines_) {
    users_engines_.push_back(nullptr);
    if (!engines_.is_users(row.engine)) continue;
    const std::string module_name(row.name);
    users_engines_.back() = &modules_.add<UserEngine>(module_name.c_str(), engines_.data_of(row.engine), scratch_);
  }
  cpu_.set_queues(ipcq_);
  const std::string prefix = "pe" + std::to_string(id.count()) + ".";
  cpu_.declare_time_transparent(
      connector.link(cpu_.command_socket(), scheduler_.command_socket(), prefix + "cpu_to_scheduler"));
  for (const EngineRow& row : engines_) {
    if (row.service == EngineService::parts) continue;  // the scheduler has no other way in than the program's
    const std::string link = prefix + "scheduler_to_" + std::string(row.name);
    scheduler_.declare_time_transparent(
        row.engine, connector.link(scheduler_.engine_socket(row.engine), command_socket(row.engine), link));
  }
}

UserEngine& Pe::users_engine(Engine engine) const {
  const auto index = static_cast<std::size_t>(engine);
  if (index < users_engines_.size() && users_engines_[index] != nullptr) return *users_engines_[index];
  throw std::invalid_argument("the PE has no engine of the user's under number " + std::to_string(index));
}

TargetSocket& Pe::command_socket(Engine engine) {
  if (engines_.is_users(engine)) return users_engine(engine).command_socket();
  switch (engine) {
    case Engine::dma_read:
      return dma_.read().command_socket();
    case Engine::dma_write:
      return dma_.write().command_socket();
    case Engine::gemm:
      return gemm_->command_socket();
    case Engine::math:
      return math_->command_socket();
    case Engine::ipcq:
    case Engine::composite:
      break;
  }
  return ipcq_.command_socket();
}

void Pe::allow_reset() noexcept {
  cpu_.allow_reset();
  scheduler_.allow_reset();
  dma_.allow_reset();
}

/// The CPU first: from then on it takes errors as what they are, ends of dropped commands.
void Pe::begin_reset(sc_core::sc_event& progress) {
  cpu_.begin_reset(progress);
  scheduler_.begin_reset();
  dma_.begin_reset();
  ipcq_.begin_reset();
}

bool Pe::is_quiet() const noexcept {
  return cpu_.is_quiet() && scheduler_.is_quiet() && dma_.is_quiet() && ipcq_.is_quiet();
}

void Pe::end_reset() {
  scheduler_.end_reset();
  dma_.end_reset();
  ipcq_.end_reset();
  scratch_.clear();
  cpu_.end_reset();
}

void Pe::set_observer(PeObserver* observer) noexcept {
  cpu_.set_observer(observer);
  scheduler_.set_observer(observer);
  dma_.set_observer(observer);
  if (gemm_ != nullptr) gemm_->set_observer(observer);
  if (math_ != nullptr) math_->set_observer(observer);
  for (UserEngine* engine : users_engines_) {
    if (engine != nullptr) engine->set_observer(observer);
  }
  ipcq_.set_observer(id(), observer);
}

GemmWork Pe::gemm_work() const { return gemm_ != nullptr ? gemm_->work() : users_engine(Engine::gemm).gemm_work(); }

EngineStatistics Pe::statistics(Engine engine) const {
  if (engines_.is_users(engine)) return users_engine(engine).statistics();
  switch (engine) {
    case Engine::dma_read:
      return dma_.read().statistics();
    case Engine::dma_write:
      return dma_.write().statistics();
    case Engine::gemm:
      return gemm_->statistics();
    case Engine::math:
      return math_->statistics();
    case Engine::ipcq:
      return ipcq_.sends();
    case Engine::composite:
      break;
  }
  return {};
}

}  // namespace kernwave
