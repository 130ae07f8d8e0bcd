#include "models/pe/dma_channel.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "models/pe/burst_rule.h"
#include "models/protocol/command.h"

namespace kernwave {

DmaChannel::DmaChannel(const sc_core::sc_module_name& name, Engine direction, const DmaConfig& config,
                       PeScratch& scratch)
    : sc_module(name),
      direction_(direction),
      config_(config),
      scratch_(scratch),
      commands_("commands", *this),
      memory_("memory", *this),
      places_(config.queue_depth),
      port_(config.bandwidth) {
  KERNWAVE_HAS_PROCESS(DmaChannel);
  SC_METHOD(advance);
  sensitive << wake_;
  dont_initialize();
}

std::optional<Picoseconds> DmaChannel::request(TargetPort& /*port*/, Payload& payload, Picoseconds at) {
  if (!places_.is_next_known()) return std::nullopt;
  const Picoseconds accepted = places_.take(at);
  take(payload, at, accepted);
  return accepted;
}

void DmaChannel::take(Payload& payload, Picoseconds arrival, Picoseconds accepted) {
  Transfer transfer;
  transfer.command = &payload;
  transfer.arrival = arrival;
  transfer.accepted = accepted;
  const auto* report = payload.get_extension<ExecutionReport>();
  transfer.ahead = report != nullptr && report->ahead;
  transfer.intervals = work_of(transfer).region.coalesced();
  transfers_.push_back(transfer);
  if (in_reset_) drop(transfers_[transfers_.size() - 1]);
  if (observer_ != nullptr) observer_->arrived(descriptor_of(payload), accepted);
  if (!set_up_next()) return;
  works_ahead() ? wake_now() : wake_at(transfers_[setting_up_ - 1].setup_done);
}

void DmaChannel::request_accepted(InitiatorPort& /*port*/) { wake_now(); }

void DmaChannel::response(InitiatorPort& /*port*/, Payload& payload) {
  outstanding_.end();
  answered(static_cast<MemoryRequest&>(payload), now());
}

bool DmaChannel::response_ahead(InitiatorPort& /*port*/, Payload& payload, Picoseconds at) {
  auto& request = static_cast<MemoryRequest&>(payload);
  if (!transfers_[request.command - first_number_].ahead) return false;
  outstanding_.end_at(at);
  answered(request, at);
  return true;
}

void DmaChannel::answered(const MemoryRequest& request, Picoseconds at) {
  Transfer& transfer = transfers_[request.command - first_number_];
  const bool has_first_data = request.get_extension<RegionExtension>() != nullptr;
  const Picoseconds first_data = has_first_data ? request.extension().first_data : at;
  if (direction_ == Engine::dma_read && !transfer.answered) fill_padding(work_of(transfer));
  transfer.first_data = transfer.answered ? std::min(transfer.first_data, first_data) : first_data;
  transfer.answered = true;
  transfer.last_response = std::max(transfer.last_response, at);
  if (has_first_data) transfer.contention += request.extension().contention;
  if (transfer.status == tlm::TLM_OK_RESPONSE) transfer.status = request.get_response_status();
  --transfer.requests_outstanding;
  if (scratch_.mode() == DataMode::full && direction_ == Engine::dma_read) copy_out(request, work_of(transfer));
  if (advancing_) return;  // it goes on from here
  stream_answered();
  complete_finished();
  const bool goes_on = requesting_ < setting_up_ || setting_up_ < transfers_.size();
  goes_on ? wake_now() : schedule_next();
}

void DmaChannel::advance() {
  advancing_ = true;
  bool progress = true;
  while (progress) {
    stream_answered();
    complete_finished();
    progress = set_up_next();
    progress = send_requests() || progress;
  }
  advancing_ = false;
  schedule_next();
}

/// Now, or ahead of its end.
void DmaChannel::complete_finished() {
  while (!transfers_.empty() && transfers_.front().streamed) {
    const Transfer done = transfers_.front();
    if (!done.ahead && done.end > now()) return;
    places_.leave(done.end);
    transfers_.pop_front();
    ++first_number_;
    --setting_up_;
    --requesting_;
    --streaming_;
    complete(done);
  }
}

void DmaChannel::complete(const Transfer& transfer) {
  const Descriptor& descriptor = descriptor_of(*transfer.command);
  // In service from the start of its setup, or from the end of the command before it under which that was hidden.
  const Picoseconds start = std::max(transfer.setup_begins, last_end_);
  EngineStatistics one;
  one.operations = 1;
  one.bytes = transfer.dropped ? Bytes(0) : descriptor.dma().region.bytes();
  one.busy = transfer.end - start;
  one.given_port = transfer.port;
  statistics_.add(transfer.end, now(), one);
  last_end_ = transfer.end;
  if (auto* report = transfer.command->get_extension<ExecutionReport>()) {
    report->start = start;
    report->end = transfer.end;
  }
  if (observer_ != nullptr) observe(transfer);
  transfer.command->set_response_status(transfer.status);
  if (Payload* waiting = commands_.withheld()) {
    const Picoseconds accepted = places_.take(commands_.withheld_since());
    take(*waiting, commands_.withheld_since(), accepted);
    commands_.accept_withheld(accepted);
  }
  commands_.respond(*transfer.command, transfer.end);
}

void DmaChannel::observe(const Transfer& transfer) const {
  const Descriptor& descriptor = descriptor_of(*transfer.command);
  const Picoseconds port =
      config_.timing ? transfer.port : duration(descriptor.dma().region.bytes(), config_.bandwidth);
  observer_->transferred(descriptor,
                         {transfer.arrival, transfer.setup_begins, transfer.setup_done, port, transfer.requested,
                          transfer.first_data, transfer.last_response, transfer.contention, transfer.end});
  observer_->service_ends(descriptor, transfer.end);
  if (setting_up_ > 0) observe_front();
}

/// The first command has been set up, or the one before it has ended.
void DmaChannel::observe_front() const {
  const Transfer& front = transfers_.front();
  observer_->service_begins(descriptor_of(*front.command), std::max(front.setup_begins, last_end_));
}

/// Setups are serial: the next one starts when the command before it has sent its requests (without overlap: has
/// ended), or when it has a place in the queue.
bool DmaChannel::set_up_next() {
  if (setting_up_ == transfers_.size()) return false;
  const bool previous_is_ahead = config_.overlap_commands ? requesting_ < setting_up_ : setting_up_ > 0;
  if (previous_is_ahead) return false;
  Transfer& transfer = transfers_[setting_up_];
  const Picoseconds previous = config_.overlap_commands ? last_requested_ : last_end_;
  transfer.setup_begins = std::max(transfer.accepted, previous);
  transfer.setup_done = transfer.setup_begins + setup_of(transfer);
  transfer.requested = transfer.setup_done;
  ++setting_up_;
  if (observer_ != nullptr && setting_up_ == 1) observe_front();
  return true;
}

/// Requests that were sent run out. The rest of the command, or all of it, ends with an error.
void DmaChannel::drop(Transfer& transfer) const {
  transfer.status = tlm::TLM_GENERIC_ERROR_RESPONSE;
  transfer.dropped = true;
  transfer.all_requested = true;
  transfer.setup_done = std::min(transfer.setup_done, now());
  transfer.requested = std::min(transfer.requested, now());
}

void DmaChannel::begin_reset() {
  in_reset_ = true;
  for (std::size_t i = requesting_; i < transfers_.size(); ++i) drop(transfers_[i]);
  wake_now();
}

/// A command of which nobody knows how long it takes ends with an error, and asks the memory for nothing.
Picoseconds DmaChannel::setup_of(Transfer& transfer) const {
  if (transfer.dropped) return Picoseconds(0);
  if (!config_.timing) return config_.setup;
  try {
    const TransferTime time = config_.timing.function(descriptor_of(*transfer.command), transfer.setup_begins);
    if (time.setup >= Picoseconds(0) && time.port >= Picoseconds(0)) {
      transfer.port = time.port;
      return time.setup;
    }
    throw TimingError(fmt::format("{} gives it {} ps of setup and {} ps of the port", config_.timing.name,
                                  time.setup.count(), time.port.count()));
  } catch (const TimingError& error) {
    transfer.status = tlm::TLM_GENERIC_ERROR_RESPONSE;
    if (auto* report = transfer.command->get_extension<ExecutionReport>()) report->problem = error.what();
  }
  return Picoseconds(0);
}

/// Returns whether a command has sent all of its requests.
bool DmaChannel::send_requests() {
  if (requesting_ == setting_up_) return false;
  Transfer& transfer = transfers_[requesting_];
  const bool refused = transfer.status != tlm::TLM_OK_RESPONSE && !transfer.answered;
  if (refused || work_of(transfer).region.bytes() == Bytes(0)) {
    if (!refused && direction_ == Engine::dma_read) fill_padding(work_of(transfer));
    transfer.first_data = transfer.setup_done;
    transfer.last_response = transfer.setup_done;
    transfer.all_requested = true;
  }
  while (!transfer.all_requested) {
    const std::optional<Picoseconds> at = next_request_at(transfer);
    if (!at) return false;
    send_next_request(transfer, *at);
  }
  last_requested_ = transfer.requested;
  ++requesting_;
  return true;
}

/// When the next request may be sent, if that is now or, over a time-transparent path, known. If not, something wakes
/// us.
std::optional<Picoseconds> DmaChannel::next_request_at(const Transfer& transfer) {
  if (memory_.busy() || outstanding_.unanswered() == config_.max_outstanding) return std::nullopt;
  const Picoseconds ready = std::max(transfer.requested, memory_.free_at());
  const Picoseconds at = outstanding_.first_below(config_.max_outstanding, ready, now());
  // Answers that are still to come may leave a place before one that is known.
  const bool decided = works_ahead() && (at == ready || outstanding_.unanswered() == 0);
  if (decided || at <= now()) return std::max(at, now());
  wake_at(at);
  return std::nullopt;
}

void DmaChannel::send_next_request(Transfer& transfer, Picoseconds at) {
  const DmaDescriptor& dma = work_of(transfer);
  const HbmRegion& region = transfer.intervals;
  MemoryRequest& request = requests_.acquire();
  request.command = first_number_ + requesting_;
  request.position = region.row_bytes * transfer.row + transfer.offset;
  const bool whole = config_.burst == Bytes(0);
  const HbmAddress address = region.base + region.stride * transfer.row + transfer.offset;
  const Bytes length = whole ? region.bytes() : next_burst(address, region.row_bytes - transfer.offset, config_.burst);
  whole ? request.describe(dma.region, transfer.ahead) : request.forget_region();

  const bool reading = direction_ == Engine::dma_read;
  prepare(request, reading ? tlm::TLM_READ_COMMAND : tlm::TLM_WRITE_COMMAND, address.value(),
          scratch_.mode() == DataMode::full ? request.buffer(length) : scratch_.idle_bytes(),
          static_cast<std::size_t>(length.count()));
  if (!reading && scratch_.mode() == DataMode::full) copy_in(request, dma);

  transfer.offset += length;
  if (whole || transfer.offset == region.row_bytes) {
    transfer.offset = Bytes(0);
    ++transfer.row;
  }
  transfer.all_requested = whole || transfer.row == region.rows;
  transfer.requested = at;
  ++transfer.requests_outstanding;
  outstanding_.begin();
  memory_.send(request, at - now());
}

void DmaChannel::stream_answered() {
  while (streaming_ < requesting_) {
    Transfer& transfer = transfers_[streaming_];
    if (transfer.requests_outstanding > 0) return;
    const bool has_data = transfer.status == tlm::TLM_OK_RESPONSE;  // an error brings none, and takes none
    if (has_data) occupy_port(transfer);
    port_.hold_until(transfer.last_response);
    transfer.end = port_.free_at();
    transfer.streamed = true;
    ++streaming_;
  }
}

void DmaChannel::occupy_port(const Transfer& transfer) {
  if (config_.timing) return port_.occupy(transfer.first_data, transfer.port);
  port_.stream(transfer.first_data, work_of(transfer).region.bytes());
}

void DmaChannel::schedule_next() {
  if (transfers_.empty()) return;
  if (transfers_.front().streamed) wake_at(transfers_.front().end);
  if (requesting_ < setting_up_) (void)next_request_at(transfers_[requesting_]);
}

void DmaChannel::wake_at(Picoseconds time) { wake_.notify(to_sc_time(std::max(time - now(), Picoseconds(0)))); }

/// In this very evaluation; a notification that was pending is renewed by `schedule_next`.
void DmaChannel::wake_now() {
  if (!advancing_) wake_.notify();
}

const DmaDescriptor& DmaChannel::work_of(const Transfer& transfer) const {
  return descriptor_of(*transfer.command).dma();
}

void DmaChannel::fill_padding(const DmaDescriptor& dma) {
  if (scratch_.mode() == DataMode::none) return;
  const numeric::TensorBytes tile = scratch_.tensor(dma.local);
  for (std::int32_t row = 0; row < tile.view.rows; ++row) {
    const std::int32_t first = row < dma.valid_rows ? dma.valid_cols : 0;
    for (std::int32_t col = first; col < tile.view.cols; ++col) {
      if (dma.padding == Padding::poison) {
        numeric::poison_element(tile, row, col);
      } else {
        numeric::write_element(tile, row, col, dma.padding_value);
      }
    }
  }
}

namespace {

/// Bytes [begin, end) of the region's packed rows, element by element or, where the tile's row is contiguous, at once.
template <typename Move>
void for_each_piece(const MemoryRequest& request, const DmaDescriptor& dma, const numeric::TensorBytes& tile,
                    Move move) {
  const std::int64_t element = size_of(tile.view.dtype);
  std::int64_t row = request.position.count() / dma.region.row_bytes.count();
  std::int64_t offset = request.position.count() % dma.region.row_bytes.count();
  std::int64_t left = request.get_data_length();
  std::int64_t position = 0;
  while (left > 0) {
    const std::int64_t piece = std::min(left, dma.region.row_bytes.count() - offset);
    if (tile.view.col_stride == 1 || tile.view.cols == 1) {
      move(tile.element(row, 0) + offset, position, piece);
    } else {
      for (std::int64_t done = 0; done < piece;) {
        const std::int64_t within = (offset + done) % element;
        const std::int64_t count = std::min(element - within, piece - done);
        move(tile.element(row, (offset + done) / element) + within, position + done, count);
        done += count;
      }
    }
    position += piece;
    left -= piece;
    offset = 0;
    ++row;
  }
}

}  // namespace

void DmaChannel::copy_out(const MemoryRequest& request, const DmaDescriptor& dma) {
  const std::uint8_t* data = request.get_data_ptr();
  for_each_piece(request, dma, scratch_.tensor(dma.local),
                 [data](std::uint8_t* local, std::int64_t position, std::int64_t count) {
                   std::memcpy(local, data + position, static_cast<std::size_t>(count));
                 });
}

void DmaChannel::copy_in(MemoryRequest& request, const DmaDescriptor& dma) {
  std::uint8_t* data = request.get_data_ptr();
  for_each_piece(request, dma, scratch_.tensor(dma.local),
                 [data](const std::uint8_t* local, std::int64_t position, std::int64_t count) {
                   std::memcpy(data + position, local, static_cast<std::size_t>(count));
                 });
}

}  // namespace kernwave
