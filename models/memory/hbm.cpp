#include "models/memory/hbm.h"

#include <algorithm>
#include <string>

namespace kernwave {

namespace {

[[nodiscard]] HbmRegion region_of(const Payload& payload) {
  if (const auto* extension = payload.get_extension<RegionExtension>()) return extension->region;
  const Bytes length(static_cast<std::int64_t>(payload.get_data_length()));
  return HbmRegion{HbmAddress(payload.get_address()), 1, length, length};
}

/// Before anything is made of it.
[[nodiscard]] const HbmConfig& checked(const HbmConfig& config, const std::string& instance) {
  const auto require = [&instance](bool condition, const char* rule) {
    if (!condition) report_error(report_type::configuration, instance, rule);
  };
  require(config.channels >= 1, "there must be at least one channel");
  require(config.bandwidth > Bandwidth(0) && config.efficiency > PartsPerMillion(0), "the bandwidth must be above 0");
  require(config.interleave > Bytes(0), "the interleave must be at least one byte");
  require(config.capacity <= Bytes(HbmAddress::cube_bytes),
          "the capacity must be at most 1 TiB: an address has 40 bits for it");
  require(config.latency >= Picoseconds(1), "the latency must be at least 1 ps");
  return config;
}

}  // namespace

Hbm::Hbm(const sc_core::sc_module_name& name, CubeId cube, const HbmConfig& config, DataMode mode, std::int64_t ports)
    : sc_module(name),
      cube_(cube),
      config_(checked(config, this->name())),
      mode_(mode),
      map_(config.channels, config.interleave),
      idle_channel_(ByteTime(config.bandwidth, config.efficiency, config.channels)),
      channels_(static_cast<std::size_t>(config.channels), idle_channel_),
      statistics_(static_cast<std::size_t>(config.channels)),
      requests_(static_cast<std::size_t>(ports)),
      bytes_per_channel_(static_cast<std::size_t>(config.channels)) {
  TargetPort::Client& client = *this;
  for (std::int64_t id = 0; id < ports; ++id) {
    const std::string port_name = "port" + std::to_string(id);
    ports_.add(port_name.c_str(), client, id);
  }
  KERNWAVE_HAS_PROCESS(Hbm);
  SC_METHOD(serve);
  sensitive << wake_;
  dont_initialize();
}

std::optional<Picoseconds> Hbm::request(TargetPort& port, Payload& payload, Picoseconds at) {
  if (!finds_place(port, at)) return std::nullopt;
  enter(port, payload, at);
  return at;
}

/// Whether the port has a place for a request at that instant. If it will have one when answers that were sent ahead
/// take effect, which makes no event, it looks again then.
bool Hbm::finds_place(TargetPort& port, Picoseconds at) {
  OutstandingRequests& requests = requests_of(port);
  if (requests.unanswered() == config_.queue_depth) return false;
  const Picoseconds free = requests.first_below(config_.queue_depth, at, now());
  if (free == at) return true;
  answers_.push({free, &port, nullptr});
  wake_.notify(to_sc_time(answers_.next() - now()));
  return false;
}

void Hbm::enter(TargetPort& port, Payload& payload, Picoseconds at) {
  requests_of(port).begin();
  arrivals_.push({at + config_.latency, &port, &payload});
  wake_.notify(to_sc_time(at + config_.latency - now()));
}

void Hbm::serve() {
  while (arrivals_.due(now())) reserve(arrivals_.pop());
  while (answers_.due(now())) answer(answers_.pop());
  if (!arrivals_.empty()) wake_.notify(to_sc_time(arrivals_.next() - now()));
  if (!answers_.empty()) wake_.notify(to_sc_time(answers_.next() - now()));
}

void Hbm::reserve(const Pending& pending) {
  Payload& payload = *pending.payload;
  const HbmRegion region = region_of(payload);
  payload.set_response_status(check(payload, region));
  auto* extension = payload.get_extension<RegionExtension>();
  if (extension != nullptr) {
    extension->first_data = now();
    extension->contention = Picoseconds(0);
  }
  if (payload.is_response_error()) {
    answers_.push({now(), pending.port, pending.payload});
    return;
  }
  std::fill(bytes_per_channel_.begin(), bytes_per_channel_.end(), 0);
  map_.add_bytes(region, bytes_per_channel_);
  const ScaledTime eligible = idle_channel_.scaled(now());
  ScaledTime last = 0;
  Bytes most;
  for (std::size_t channel = 0; channel < channels_.size(); ++channel) {
    const Bytes bytes(bytes_per_channel_[channel]);
    if (bytes == Bytes(0)) continue;
    if (observer_ != nullptr) observe(payload, channel, bytes);
    last = std::max(last, channels_[channel].stream_from(eligible, bytes));
    most = std::max(most, bytes);
    (payload.is_read() ? statistics_[channel].read : statistics_[channel].written) += bytes;
  }
  const bool selects = payload.get_byte_enable_ptr() != nullptr;
  selects ? move_enabled_bytes(payload, region.base.offset()) : move_data(payload, region);
  const Picoseconds end = std::max(channels_.front().round_up(last), now());
  if (extension != nullptr) {
    BandwidthServer alone = idle_channel_;
    const ScaledTime undisturbed = alone.stream_from(eligible, most);
    if (last != undisturbed) extension->contention = end - alone.round_up(undisturbed);
  }
  if (extension != nullptr && extension->ahead) return answer_ahead(pending, end);
  answers_.push({end, pending.port, pending.payload});
}

void Hbm::observe(const Payload& payload, std::size_t channel, Bytes bytes) {
  BandwidthServer served = channels_[channel];
  const Picoseconds start = std::max(served.free_at(), now());
  served.stream(now(), bytes);
  const auto number = static_cast<std::int64_t>(channel);
  observer_->served({cube_, number, payload.is_read(), bytes, now(), start, served.free_at()});
}

void Hbm::answer(const Pending& pending) {
  if (pending.payload == nullptr) return take_withheld(*pending.port);
  requests_of(*pending.port).end();
  take_withheld(*pending.port);
  pending.port->respond(*pending.payload);
}

void Hbm::answer_ahead(const Pending& pending, Picoseconds at) {
  requests_of(*pending.port).end_at(at);
  take_withheld(*pending.port);
  pending.port->respond(*pending.payload, at);
}

void Hbm::take_withheld(TargetPort& port) {
  Payload* waiting = port.withheld();
  if (waiting == nullptr) return;
  const Picoseconds at = std::max(port.withheld_since(), now());
  if (!finds_place(port, at)) return;
  enter(port, *waiting, at);
  port.accept_withheld();
}

tlm::tlm_response_status Hbm::check(const Payload& payload, const HbmRegion& region) const {
  if (!payload.is_read() && !payload.is_write()) return tlm::TLM_COMMAND_ERROR_RESPONSE;
  const bool selects = payload.get_byte_enable_ptr() != nullptr;
  if (selects && (region.rows > 1 || payload.get_byte_enable_length() == 0)) return tlm::TLM_BYTE_ENABLE_ERROR_RESPONSE;
  if (payload.get_streaming_width() < payload.get_data_length()) return tlm::TLM_BURST_ERROR_RESPONSE;
  return check_range(region);
}

tlm::tlm_response_status Hbm::check_range(const HbmRegion& region) const {
  const std::optional<Bytes> extent = region.extent();
  const Bytes behind = config_.capacity - region.base.offset();
  const bool outside = region.base.cube() != cube_ || !extent || *extent > behind;
  return outside ? tlm::TLM_ADDRESS_ERROR_RESPONSE : tlm::TLM_OK_RESPONSE;
}

void Hbm::move_data(Payload& payload, const HbmRegion& region) {
  if (mode_ == DataMode::none) return;
  std::uint8_t* data = payload.get_data_ptr();
  for (std::int64_t row = 0; row < region.rows; ++row, data += region.row_bytes.count()) {
    move_row(payload, region.base.offset() + region.stride * row, data, region.row_bytes);
  }
}

void Hbm::move_row(const Payload& payload, Bytes offset, std::uint8_t* data, Bytes count) {
  payload.is_read() ? read(offset, data, count) : write(offset, data, count);
}

/// Interval by interval of enabled bytes. The enables are repeated over the data (IEEE 1666-2011, 14.14).
void Hbm::move_enabled_bytes(Payload& payload, Bytes offset) {
  if (mode_ == DataMode::none) return;
  const std::uint8_t* enables = payload.get_byte_enable_ptr();
  const unsigned repeats = payload.get_byte_enable_length();
  const unsigned length = payload.get_data_length();
  const auto enabled = [&](unsigned byte) { return enables[byte % repeats] == TLM_BYTE_ENABLED; };
  for (unsigned begin = 0; begin < length;) {
    unsigned end = begin;
    while (end < length && enabled(end)) ++end;
    if (end > begin) move_row(payload, offset + Bytes(begin), payload.get_data_ptr() + begin, Bytes(end - begin));
    begin = end + 1;
  }
}

/// Byte enables are no attribute of it (IEEE 1666-2011, 11.3.4).
unsigned Hbm::debug_access(TargetPort& /*port*/, Payload& payload) {
  const HbmRegion region = region_of(payload);
  const bool moves = payload.is_read() || payload.is_write();
  if (!moves || check_range(region) != tlm::TLM_OK_RESPONSE) return 0;
  move_data(payload, region);
  return payload.get_data_length();
}

bool Hbm::direct_memory(TargetPort& /*port*/, Payload& payload, tlm::tlm_dmi& dmi) {
  const HbmAddress address(payload.get_address());
  const bool granted = grants_direct_memory_ && mode_ == DataMode::full &&
                       check_range({address, 1, Bytes(1), Bytes(1)}) == tlm::TLM_OK_RESPONSE;
  if (!granted) return false;
  const PagedStore::DirectRange range = store_.direct(address.offset());
  const std::uint64_t first = address.value() - static_cast<std::uint64_t>((address.offset() - range.first).count());
  const Bytes count = std::min(range.count, config_.capacity - range.first);
  dmi.set_dmi_ptr(range.bytes);
  dmi.set_start_address(first);
  dmi.set_end_address(first + static_cast<std::uint64_t>(count.count()) - 1);
  dmi.allow_read_write();
  dmi.set_read_latency(to_sc_time(config_.latency));
  dmi.set_write_latency(to_sc_time(config_.latency));
  return true;
}

void Hbm::read(Bytes offset, std::uint8_t* out, Bytes count) const {
  if (mode_ == DataMode::full) {
    store_.read(offset, out, count);
  } else {
    std::fill(out, out + count.count(), std::uint8_t{0});
  }
}

void Hbm::write(Bytes offset, const std::uint8_t* from, Bytes count) {
  if (mode_ == DataMode::full) store_.write(offset, from, count);
}

void Hbm::reserve(Bytes offset, Bytes count) {
  if (mode_ == DataMode::full) store_.reserve(offset, count);
}

void Hbm::write_reserved(Bytes offset, const std::uint8_t* from, Bytes count) const {
  if (mode_ == DataMode::full) store_.write_reserved(offset, from, count);
}

Bytes Hbm::first_unwritten(Bytes offset, Bytes count) const {
  return mode_ == DataMode::full ? store_.first_unwritten(offset, count) : offset + count;
}

}  // namespace kernwave
