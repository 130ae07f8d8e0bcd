// The base of the matrix and the vector engine: an in-order queue served one command at a time.
#pragma once

#include "models/base/late_method.h"
#include "models/base/ring_queue.h"
#include "models/base/systemc.h"
#include "models/config/given_timing.h"
#include "models/pe/ahead_account.h"
#include "models/pe/engine_statistics.h"
#include "models/pe/pe_observer.h"
#include "models/protocol/command.h"
#include "models/protocol/descriptor.h"
#include "models/protocol/queue_places.h"
#include "models/protocol/target_port.h"

namespace kernwave {

/// Serves commands in the order of their arrival. A command starts when it arrives or when the command before it ends,
/// whichever is later. The queue holds `queue_depth` commands, the running one included: END_REQ of a further command
/// takes effect when a place falls free.
///
/// Start and end of a command are known when it arrives. If the issuer can be told of ends ahead of time
/// (`ExecutionReport::ahead`), the command is carried out in the call. If the issuer also waits for the command
/// (`awaited`), the return value answers it, with the end annotated (TLM_COMPLETED), which costs no event. If the
/// issuer does not wait, the end is announced with END_REQ where the command allows that (`announce`), and BEGIN_RESP
/// follows in the same evaluation, with the end as annotated delay. All other commands are carried out and answered at
/// their end. Start, end and result are the same in all cases.
class ComputeEngine : public sc_core::sc_module, private TargetPort::Client {
 public:
  [[nodiscard]] TargetSocket& command_socket() noexcept { return commands_.socket(); }
  /// Totals of the commands whose service has ended.
  [[nodiscard]] EngineStatistics statistics() const { return statistics_.at(now()); }
  void set_observer(PeObserver* observer) noexcept { observer_ = observer; }

 protected:
  ComputeEngine(const sc_core::sc_module_name& name, std::int64_t queue_depth);

  /// The time of the command, which starts at `start`. If it throws TimingError, the command is answered with an error.
  [[nodiscard]] virtual Picoseconds duration(const Descriptor& descriptor, ServiceStart start) = 0;
  /// Carries out the command on the bytes in scratch, at its end.
  virtual void execute(const Descriptor& descriptor) = 0;

  /// The time that a given timing returns; throws TimingError if that is no valid time.
  [[nodiscard]] static ServiceTime given_time(const ServiceTiming& timing, const Descriptor& descriptor,
                                              ServiceStart start);

  SimulatedTime now;

 private:
  [[nodiscard]] std::optional<Picoseconds> request(TargetPort& port, Payload& payload, Picoseconds at) final;
  struct Service {
    Payload* payload = nullptr;
    Picoseconds start;
    Picoseconds end;
    bool fails = false;        ///< no timing gives its time
    bool carried_out = false;  ///< ahead of its end
  };

  [[nodiscard]] bool keeps_commands() const noexcept {
    return !unanswered_.empty() && !unanswered_[unanswered_.size() - 1].carried_out;
  }
  void carry_out_ahead(Service service, ExecutionReport& report);
  void keep(const Service& service);
  void begin_service() const;
  void end_service(const Service& service, ExecutionReport* report);
  void answer();

  TargetPort commands_;
  QueuePlaces places_;
  Picoseconds free_at_{-1};        // the end of the last command; none yet
  RingQueue<Service> unanswered_;  // those carried out ahead of their end come first
  LateMethod<ComputeEngine> answer_due_{"answer", *this, &ComputeEngine::answer};
  AheadAccount<EngineStatistics> statistics_;
  PeObserver* observer_ = nullptr;
};

}  // namespace kernwave
