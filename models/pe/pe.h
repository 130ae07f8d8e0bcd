// A processing element (PE): CPU, scheduler, DMA, engines, queues and scratch, bound to one another.
#pragma once

#include <vector>

#include "models/base/in_reverse.h"
#include "models/base/systemc.h"
#include "models/pe/pe_cpu.h"
#include "models/pe/pe_dma.h"
#include "models/pe/pe_gemm.h"
#include "models/pe/pe_ipcq.h"
#include "models/pe/pe_math.h"
#include "models/pe/pe_scheduler.h"
#include "models/pe/pe_scratch.h"
#include "models/pe/user_engine.h"
#include "models/protocol/connector.h"

namespace kernwave {

/// CPU, scheduler, DMA, matrix engine, vector engine, queues and scratch, bound to one another.
///
/// The user of a PE binds two initiator sockets, `read_socket()` and `write_socket()`, to any TLM-2.0 memory. A memory
/// other than kernwave's needs a DMA burst rule other than "whole" (`DmaConfig::burst`). If the PE has neighbours, the
/// sockets of `ipcq()` have to be bound too, one out and one in for each of their directions.
class Pe : public sc_core::sc_module {
 public:
  Pe(const sc_core::sc_module_name& name, PeId id, const PeConfig& config, DataMode mode, RunLedger& ledger,
     Connector& connector, const std::vector<Neighbour>& neighbours = {}, const EngineList& engines = {});

  [[nodiscard]] PeId id() const noexcept { return cpu_.id(); }
  [[nodiscard]] const PeConfig& config() const noexcept { return config_; }
  [[nodiscard]] InitiatorSocket& read_socket() noexcept { return dma_.read().memory_socket(); }
  [[nodiscard]] InitiatorSocket& write_socket() noexcept { return dma_.write().memory_socket(); }

  [[nodiscard]] const EngineList& engines() const noexcept { return engines_; }
  /// The socket through which commands go to a user's engine (`EngineList::is_users`); to be bound to that engine.
  [[nodiscard]] InitiatorSocket& engine_socket(Engine engine) { return users_engine(engine).engine_socket(); }

  /// Declares, during elaboration, that the memory behind both sockets is the model's own, which ignores writes of data
  /// mode `none`. Without this declaration such writes are an error, unless `DmaConfig::zero_writes` is set.
  void declare_memory_own() noexcept { memory_is_own_ = true; }
  [[nodiscard]] bool memory_is_own() const noexcept { return memory_is_own_; }

  /// Adds a link between `read_socket()`, or `write_socket()`, and a memory (`DmaChannel::add_memory_link`).
  void add_read_link(bool time_transparent) noexcept { dma_.read().add_memory_link(time_transparent); }
  void add_write_link(bool time_transparent) noexcept { dma_.write().add_memory_link(time_transparent); }

  // A reset (`PeResets`).
  /// Keeps all that the PE does in simulated time, during elaboration.
  void allow_reset() noexcept;
  void begin_reset(sc_core::sc_event& progress);
  /// Whether no program runs, and nothing of the PE is on its way.
  [[nodiscard]] bool is_quiet() const noexcept;
  void end_reset();

  /// Sets the observer of all events of the PE, before the run; nullptr for none.
  void set_observer(PeObserver* observer) noexcept;

  [[nodiscard]] PeCpu& cpu() noexcept { return cpu_; }
  [[nodiscard]] const PeCpu& cpu() const noexcept { return cpu_; }
  [[nodiscard]] PeScratch& scratch() noexcept { return scratch_; }
  [[nodiscard]] const PeScratch& scratch() const noexcept { return scratch_; }
  [[nodiscard]] PeIpcq& ipcq() noexcept { return ipcq_; }
  [[nodiscard]] const PeIpcq& ipcq() const noexcept { return ipcq_; }
  [[nodiscard]] const PeScheduler& scheduler() const noexcept { return scheduler_; }
  [[nodiscard]] const PeDma& dma() const noexcept { return dma_; }
  [[nodiscard]] GemmWork gemm_work() const;
  [[nodiscard]] EngineStatistics statistics(Engine engine) const;

 private:
  [[nodiscard]] TargetSocket& command_socket(Engine engine);
  [[nodiscard]] UserEngine& users_engine(Engine engine) const;

  PeConfig config_;
  EngineList engines_;
  bool memory_is_own_ = false;
  PeScratch scratch_;
  PeCpu cpu_;
  PeScheduler scheduler_;
  PeDma dma_;
  PeIpcq ipcq_;
  ModulesInReverse modules_;
  PeGemm* gemm_ = nullptr;                  // none where an engine of the user's is in its place
  PeMath* math_ = nullptr;                  // likewise
  std::vector<UserEngine*> users_engines_;  // by engine
};

}  // namespace kernwave
