// The HBM of a cube: a bandwidth model with latency and channels, without banks.
#pragma once

#include <vector>

#include "models/base/bandwidth_server.h"
#include "models/base/in_reverse.h"
#include "models/base/systemc.h"
#include "models/config/system_config.h"
#include "models/memory/channel_map.h"
#include "models/memory/channel_observer.h"
#include "models/memory/paged_store.h"
#include "models/protocol/arbitration_queue.h"
#include "models/protocol/outstanding_requests.h"
#include "models/protocol/region_extension.h"
#include "models/protocol/target_port.h"

namespace kernwave {

/// The traffic of one channel.
struct ChannelStatistics {
  Bytes read;
  Bytes written;
};

/// A memory with one target socket for each initiator.
///
/// A request that arrives at t becomes eligible at t + latency. Eligible requests are served in the order of (eligible
/// time, port id): each request reserves its bytes on its channels, one stream behind another, and is answered when its
/// last stream ends. Latency is at least 1 ps, so that every request of an instant is known before that instant is
/// decided. If the RegionExtension of a request allows it (`ahead`), the request is answered ahead of time, as soon as
/// its end is known. A payload is one contiguous range, or, with a RegionExtension, a strided region. An address of
/// another cube or outside the capacity is answered with TLM_ADDRESS_ERROR_RESPONSE.
///
/// END_REQ comes at once while fewer than `queue_depth` requests of the port await their response; otherwise it is
/// withheld. Byte enables select the bytes of a range that are moved; a strided region has none. The time is that of
/// all bytes. Refresh, banks and row misses are not modelled: `efficiency` stands for them.
class Hbm : public sc_core::sc_module, private TargetPort::Client {
 public:
  Hbm(const sc_core::sc_module_name& name, CubeId cube, const HbmConfig& config, DataMode mode, std::int64_t ports);

  /// The socket of port `id` in [0, ports). In one instant, the request of the smaller port id is served first.
  [[nodiscard]] TargetSocket& socket(std::int64_t id) { return ports_.at(static_cast<std::size_t>(id)).socket(); }

  [[nodiscard]] const std::vector<ChannelStatistics>& statistics() const noexcept { return statistics_; }

  void set_observer(ChannelObserver* observer) noexcept { observer_ = observer; }
  /// From now on grants direct memory pointers (DMI), each for the page of an address, in mode `full`. They are never
  /// invalidated, as pages do not move. The bytes of the page count as written from then on, and accesses through the
  /// pointer are seen by no channel and no observer. The model's own initiators ask for none.
  void allow_direct_memory() noexcept { grants_direct_memory_ = true; }

  /// Time-free access. Mode `none`: reads give zeroes, writes are dropped. The range must lie inside the capacity.
  void read(Bytes offset, std::uint8_t* out, Bytes count) const;
  void write(Bytes offset, const std::uint8_t* from, Bytes count);
  /// A write of much data in two steps. First the range gets its place and counts as written; then its bytes are
  /// written, disjoint parts by several threads at once.
  void reserve(Bytes offset, Bytes count);
  void write_reserved(Bytes offset, const std::uint8_t* from, Bytes count) const;
  /// The first byte of the range that was never written, with or without simulated time; offset + count if all were
  /// written. In mode `none`, which does not track writes, always offset + count.
  [[nodiscard]] Bytes first_unwritten(Bytes offset, Bytes count) const;

 private:
  struct Pending {
    Picoseconds at;  ///< eligible, or due to be answered; without a payload: the port has a place
    TargetPort* port = nullptr;
    Payload* payload = nullptr;
  };

  [[nodiscard]] std::optional<Picoseconds> request(TargetPort& port, Payload& payload, Picoseconds at) override;
  [[nodiscard]] unsigned debug_access(TargetPort& port, Payload& payload) override;
  [[nodiscard]] bool direct_memory(TargetPort& port, Payload& payload, tlm::tlm_dmi& dmi) override;
  void enter(TargetPort& port, Payload& payload, Picoseconds at);
  void serve();
  void reserve(const Pending& pending);
  void observe(const Payload& payload, std::size_t channel, Bytes bytes);
  void answer(const Pending& pending);
  void answer_ahead(const Pending& pending, Picoseconds at);
  [[nodiscard]] bool finds_place(TargetPort& port, Picoseconds at);
  void take_withheld(TargetPort& port);
  [[nodiscard]] OutstandingRequests& requests_of(const TargetPort& port) {
    return requests_[static_cast<std::size_t>(port.id())];
  }
  [[nodiscard]] tlm::tlm_response_status check(const Payload& payload, const HbmRegion& region) const;
  [[nodiscard]] tlm::tlm_response_status check_range(const HbmRegion& region) const;
  void move_data(Payload& payload, const HbmRegion& region);
  void move_row(const Payload& payload, Bytes offset, std::uint8_t* data, Bytes count);
  void move_enabled_bytes(Payload& payload, Bytes offset);

  SimulatedTime now;
  CubeId cube_;
  HbmConfig config_;
  DataMode mode_;
  ChannelMap map_;
  BandwidthServer idle_channel_;
  std::vector<BandwidthServer> channels_;
  std::vector<ChannelStatistics> statistics_;
  InReverse<TargetPort> ports_;
  std::vector<OutstandingRequests> requests_;  // of each port
  ArbitrationQueue<Pending> arrivals_;
  ArbitrationQueue<Pending> answers_;
  sc_core::sc_event wake_;
  std::vector<std::int64_t> bytes_per_channel_;  // work space of `reserve`
  PagedStore store_;
  bool grants_direct_memory_ = false;
  ChannelObserver* observer_ = nullptr;
};

}  // namespace kernwave
