// The scheduler of a PE: accepts commands from the CPU, dispatches each to its engine, and carries out composites part
// by part.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "models/base/late_method.h"
#include "models/base/ring_queue.h"
#include "models/base/systemc.h"
#include "models/config/system_config.h"
#include "models/pe/ahead_account.h"
#include "models/pe/composite_sequencer.h"
#include "models/pe/pe_observer.h"
#include "models/protocol/command.h"
#include "models/protocol/descriptor.h"
#include "models/protocol/initiator_port.h"
#include "models/protocol/queue_places.h"
#include "models/protocol/target_port.h"
#include "models/run/run_ledger.h"

namespace kernwave {

/// Counts of the composites that a scheduler has carried out, and of their reads.
struct CompositeStatistics {
  std::int64_t composites = 0;
  std::int64_t reads = 0;  ///< of tiles, by the DMA

  CompositeStatistics& operator+=(const CompositeStatistics& more) noexcept {
    composites += more.composites;
    reads += more.reads;
    return *this;
  }
};

/// Forwards each command, in the same payload, to the engine that its address names, `dispatch` cycles after it was
/// accepted. Commands leave in order: a command whose engine withholds END_REQ holds up the commands behind it.
/// Dispatch is pipelined (a latency, not an occupancy). At most `queue_depth` commands are accepted and not yet
/// dispatched: the n-th is accepted when it is presented or when the (n - queue_depth)-th is dispatched, whichever is
/// later. Responses go back without delay.
///
/// The scheduler does not choose between commands, so it works ahead of simulated time: a dispatched command carries
/// its instant as annotated delay.
///
/// The scheduler keeps a composite, and presents its parts to the engines (`CompositeSequencer`). From the dispatch of
/// a composite to its completion, commands and parts share the engines' sockets. For a shared socket the scheduler
/// works in simulated time: in one instant the commands go first, then the parts in order of composite and stage. A
/// shared socket takes the next command or part at least 1 ps after END_REQ of the one before, so that all inputs of an
/// instant are known before it is decided. Engines are in-order queues, so this delays the start of no operation. A
/// command for an engine that has no parts left goes ahead of simulated time as usual.
class PeScheduler : public sc_core::sc_module, private TargetPort::Client, private InitiatorPort::Client {
 public:
  /// `engines` must outlive the scheduler.
  PeScheduler(const sc_core::sc_module_name& name, const PeConfig& config, RunLedger& ledger,
              const EngineList& engines);

  [[nodiscard]] TargetSocket& command_socket() noexcept { return commands_.socket(); }
  [[nodiscard]] InitiatorSocket& engine_socket(Engine engine) noexcept { return port_of(engine).socket(); }

  /// Declares, during elaboration, whether the link to that engine is time-transparent.
  void declare_time_transparent(Engine engine, bool is) noexcept { port_of(engine).declare_time_transparent(is); }

  void set_observer(PeObserver* observer) noexcept { observer_ = observer; }

  // A reset (`PeResets`).
  /// Keeps the dispatch in simulated time, during elaboration.
  void allow_reset() noexcept { in_step_ = true; }
  /// Drops the commands that are not dispatched, and the parts of composites that are not presented.
  void begin_reset();
  void end_reset() { composites_.forget_all(); }
  [[nodiscard]] bool is_quiet() const noexcept { return composites_.empty() && parts_.in_use() == 0; }

  // After the run.
  [[nodiscard]] CompositeStatistics composite_statistics() const { return composite_statistics_.at(now()); }
  [[nodiscard]] const CommandPool& command_pool() const noexcept { return parts_; }

 private:
  struct Entry {
    Payload* payload = nullptr;
    Picoseconds accepted;
  };

  [[nodiscard]] std::optional<Picoseconds> request(TargetPort& port, Payload& payload, Picoseconds at) override;
  void request_accepted(InitiatorPort& port) override;
  void response(InitiatorPort& port, Payload& payload) override;
  [[nodiscard]] bool response_ahead(InitiatorPort& port, Payload& payload, Picoseconds at) override;

  [[nodiscard]] Picoseconds accept(Payload& payload, Picoseconds presented);
  void dispatch();
  [[nodiscard]] bool hand_on_next();
  [[nodiscard]] bool hand_on(Payload& payload, Engine engine, Picoseconds& at);
  [[nodiscard]] bool has_parts_for(Engine engine) const;
  [[nodiscard]] bool keep_composite(Payload& payload, Picoseconds at);
  void present_parts();
  void present_part(CompositeStage stage, InitiatorPort& port);
  void part_ended(const Command& part, Picoseconds at);
  void reject(Payload& payload);
  void drop_composites();
  void take_withheld();
  void wake_at(Picoseconds time);
  [[nodiscard]] InitiatorPort& port_of(Engine engine) noexcept { return *engines_[static_cast<std::size_t>(engine)]; }
  /// Whether commands and parts share the sockets: a composite is in flight, or was in flight in this instant.
  [[nodiscard]] bool sharing() const noexcept { return now() <= shared_until_; }
  [[nodiscard]] bool is_part(const Payload& payload) const noexcept {
    return sharing() && descriptor_of(payload).id.part != 0;
  }

  SimulatedTime now;
  RunLedger& ledger_;
  Picoseconds dispatch_time_;
  TargetPort commands_;
  const EngineList& engine_list_;
  std::vector<std::unique_ptr<InitiatorPort>> engines_;  // by Engine; none of the scheduler itself
  RingQueue<Entry> queue_;                               // accepted, not yet dispatched
  QueuePlaces places_;
  bool in_step_ = false;  // dispatches in simulated time alone
  Picoseconds last_dispatched_;
  Picoseconds shared_until_{-1};  // the end of the last composite; none is known while one is in flight
  Picoseconds last_complete_;     // the latest end of a composite that is known
  LateMethod<PeScheduler> wake_{"dispatch", *this, &PeScheduler::dispatch};

  CompositeSequencer composites_;
  CommandPool parts_;
  PeObserver* observer_ = nullptr;
  AheadAccount<CompositeStatistics> composite_statistics_;
};

}  // namespace kernwave
