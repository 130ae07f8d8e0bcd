// The read or write half of a PE's DMA engine: takes commands in order and turns each into memory requests.
#pragma once

#include <optional>

#include "models/base/bandwidth_server.h"
#include "models/base/ring_queue.h"
#include "models/base/systemc.h"
#include "models/pe/ahead_account.h"
#include "models/pe/engine_statistics.h"
#include "models/pe/memory_request.h"
#include "models/pe/pe_observer.h"
#include "models/pe/pe_scratch.h"
#include "models/protocol/descriptor.h"
#include "models/protocol/initiator_port.h"
#include "models/protocol/outstanding_requests.h"
#include "models/protocol/queue_places.h"
#include "models/protocol/target_port.h"

namespace kernwave {

/// One channel of a PE's DMA: takes commands from the scheduler, sends requests to memory, and moves bytes to or from
/// scratch.
///
/// A command passes three stations: `setup` (one command at a time), its requests (in order, with at most
/// `max_outstanding` requests of the channel in the memory at once; with a burst rule each interval of bytes without a
/// gap is cut separately), and its data phase, which occupies the port for ceil(bytes / bandwidth) from the first data
/// on, or until the last response, whichever is later. Data phases follow one another in command order, without a gap
/// where the data are there. With `overlap_commands` a command is set up while earlier commands stream; without it,
/// when the command before it is done. An isolated command takes setup + memory latency + ceil(bytes / slowest rate). A
/// given timing replaces the setup time and the time on the port.
///
/// The channel waits in simulated time only for answers of the memory that it needs. Over a time-transparent path a
/// request is sent as soon as its instant is known, with that instant as annotated delay; memories order requests by
/// arrival. If the issuer can be told of ends ahead of time (`ExecutionReport::ahead`), the channel asks the memory to
/// answer ahead of time, and answers the command ahead of time.
class DmaChannel : public sc_core::sc_module, private TargetPort::Client, private InitiatorPort::Client {
 public:
  DmaChannel(const sc_core::sc_module_name& name, Engine direction, const DmaConfig& config, PeScratch& scratch);

  [[nodiscard]] TargetSocket& command_socket() noexcept { return commands_.socket(); }
  [[nodiscard]] InitiatorSocket& memory_socket() noexcept { return memory_.socket(); }
  /// Adds a link between the channel and a memory, during elaboration. Requests are sent ahead of time if all links are
  /// time-transparent.
  void add_memory_link(bool time_transparent) noexcept {
    memory_.declare_time_transparent(time_transparent && (memory_links_ == 0 || memory_.is_time_transparent()));
    ++memory_links_;
  }
  /// Totals of the commands that have ended.
  [[nodiscard]] EngineStatistics statistics() const { return statistics_.at(now()); }
  [[nodiscard]] const MemoryRequestPool& request_pool() const noexcept { return requests_; }
  void set_observer(PeObserver* observer) noexcept { observer_ = observer; }

  // A reset (`PeResets`).
  /// Keeps the channel in simulated time, during elaboration.
  void allow_reset() noexcept { in_step_ = true; }
  /// Sends no further requests: commands end with an error when the requests that were sent are answered.
  void begin_reset();
  void end_reset() noexcept { in_reset_ = false; }
  [[nodiscard]] bool is_quiet() const noexcept { return transfers_.empty(); }

 private:
  struct Transfer {
    Payload* command = nullptr;
    Picoseconds arrival;
    Picoseconds accepted;  ///< it has a place in the queue
    bool ahead = false;    ///< its issuer can be told of its end ahead of time
    bool dropped = false;  ///< a reset has ended it
    Picoseconds setup_begins;
    Picoseconds setup_done;
    Picoseconds port;      ///< how long it occupies the port, where that is given
    HbmRegion intervals;   ///< what it moves
    std::int64_t row = 0;  ///< of the next request, among the intervals
    Bytes offset;          ///< within that row
    std::int64_t requests_outstanding = 0;
    bool all_requested = false;
    bool answered = false;                                   ///< at least one response has come
    bool streamed = false;                                   ///< `end` is known
    tlm::tlm_response_status status = tlm::TLM_OK_RESPONSE;  ///< or the first error that the memory answered
    Picoseconds first_data;
    Picoseconds last_response;
    Picoseconds end;
    Picoseconds requested;  ///< its last request was sent
    Picoseconds contention;
  };

  // TargetPort::Client and InitiatorPort::Client
  [[nodiscard]] std::optional<Picoseconds> request(TargetPort& port, Payload& payload, Picoseconds at) override;
  void request_accepted(InitiatorPort& port) override;
  void response(InitiatorPort& port, Payload& payload) override;
  [[nodiscard]] bool response_ahead(InitiatorPort& port, Payload& payload, Picoseconds at) override;

  void take(Payload& payload, Picoseconds arrival, Picoseconds accepted);
  void answered(const MemoryRequest& request, Picoseconds at);
  void advance();
  void drop(Transfer& transfer) const;
  [[nodiscard]] bool works_ahead() const noexcept { return !in_step_ && memory_.is_time_transparent(); }
  [[nodiscard]] bool set_up_next();
  [[nodiscard]] Picoseconds setup_of(Transfer& transfer) const;
  [[nodiscard]] bool send_requests();
  [[nodiscard]] std::optional<Picoseconds> next_request_at(const Transfer& transfer);
  void send_next_request(Transfer& transfer, Picoseconds at);
  void stream_answered();
  void occupy_port(const Transfer& transfer);
  void complete_finished();
  void complete(const Transfer& transfer);
  void observe_front() const;
  void observe(const Transfer& transfer) const;
  void schedule_next();
  void wake_at(Picoseconds time);
  void wake_now();

  [[nodiscard]] const DmaDescriptor& work_of(const Transfer& transfer) const;
  void fill_padding(const DmaDescriptor& dma);
  void copy_out(const MemoryRequest& request, const DmaDescriptor& dma);
  void copy_in(MemoryRequest& request, const DmaDescriptor& dma);

  SimulatedTime now;
  Engine direction_;
  DmaConfig config_;
  PeScratch& scratch_;
  TargetPort commands_;
  InitiatorPort memory_;
  int memory_links_ = 0;
  bool in_step_ = false;  // sends requests in simulated time alone
  bool in_reset_ = false;
  MemoryRequestPool requests_;

  RingQueue<Transfer> transfers_;  // in command order
  std::size_t first_number_ = 0;   // the number of transfers_.front()
  std::size_t setting_up_ = 0;     // index of the first transfer that is not set up
  std::size_t requesting_ = 0;     // index of the first transfer with requests to send
  std::size_t streaming_ = 0;      // index of the first transfer whose end is unknown
  QueuePlaces places_;
  Picoseconds last_requested_;  // when the last command to do so had sent its requests
  OutstandingRequests outstanding_;
  BandwidthServer port_;
  Picoseconds last_end_;
  bool advancing_ = false;  // inside advance(): a target that answers at once needs no wake-up
  sc_core::sc_event wake_;
  AheadAccount<EngineStatistics> statistics_;
  PeObserver* observer_ = nullptr;
};

}  // namespace kernwave
