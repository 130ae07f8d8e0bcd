#include "models/pe/dma_channel.h"

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
      port_(config.bandwidth) {
  KERNWAVE_HAS_PROCESS(DmaChannel);
  SC_METHOD(advance);
  sensitive << wake_;
  dont_initialize();
}

std::optional<Picoseconds> DmaChannel::request(TargetPort& /*port*/, Payload& payload, Picoseconds at) {
  if (transfers_.size() == static_cast<std::size_t>(config_.queue_depth)) return std::nullopt;
  take(payload, at);
  return at;
}

void DmaChannel::take(Payload& payload, Picoseconds arrival) {
  Transfer transfer;
  transfer.command = &payload;
  transfer.arrival = arrival;
  transfer.intervals = work_of(transfer).region.coalesced();
  transfers_.push_back(transfer);
  if (observer_ != nullptr) observer_->arrived(descriptor_of(payload), arrival);
  if (set_up_next()) wake_at(transfers_[setting_up_ - 1].setup_done);
}

void DmaChannel::request_accepted(InitiatorPort& /*port*/) { wake_now(); }

void DmaChannel::response(InitiatorPort& /*port*/, Payload& payload) {
  auto& request = static_cast<MemoryRequest&>(payload);
  Transfer& transfer = transfers_[request.command - first_number_];
  const bool has_first_data = request.get_extension<RegionExtension>() != nullptr;
  const Picoseconds first_data = has_first_data ? request.extension().first_data : now();
  transfer.first_data = transfer.answered ? std::min(transfer.first_data, first_data) : first_data;
  transfer.answered = true;
  transfer.last_response = now();
  if (has_first_data) transfer.contention += request.extension().contention;
  if (transfer.status == tlm::TLM_OK_RESPONSE) transfer.status = request.get_response_status();
  --transfer.requests_outstanding;
  --outstanding_;
  if (scratch_.mode() == DataMode::full && direction_ == Engine::dma_read) copy_out(request, work_of(transfer));
  if (advancing_) return;  // it goes on from here
  stream_answered();
  requesting_ < setting_up_ ? wake_now() : schedule_next();
}

void DmaChannel::advance() {
  advancing_ = true;
  complete_finished();
  bool progress = true;
  while (progress) {
    progress = set_up_next();
    progress = send_requests() || progress;
  }
  stream_answered();
  advancing_ = false;
  schedule_next();
}

void DmaChannel::complete_finished() {
  while (!transfers_.empty() && transfers_.front().streamed && transfers_.front().end <= now()) {
    const Transfer done = transfers_.front();
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
  const Picoseconds start = std::max(transfer.setup_done - config_.setup, last_end_);
  ++statistics_.operations;
  statistics_.bytes += descriptor.dma().region.bytes();
  statistics_.busy += transfer.end - start;
  last_end_ = transfer.end;
  if (auto* report = transfer.command->get_extension<ExecutionReport>()) {
    report->start = start;
    report->end = transfer.end;
  }
  if (observer_ != nullptr) observe(transfer);
  transfer.command->set_response_status(transfer.status);
  if (Payload* waiting = commands_.withheld()) {
    take(*waiting, commands_.withheld_since());
    commands_.accept_withheld();
  }
  commands_.respond(*transfer.command);
}

void DmaChannel::observe(const Transfer& transfer) const {
  const Descriptor& descriptor = descriptor_of(*transfer.command);
  observer_->transferred(descriptor, {transfer.arrival, transfer.setup_done - config_.setup, transfer.requested,
                                      transfer.first_data, transfer.last_response, transfer.contention, transfer.end});
  observer_->service_ends(descriptor, transfer.end);
  if (setting_up_ > 0) observe_front();
}

/// The first command has been set up, or the one before it has ended.
void DmaChannel::observe_front() const {
  const Transfer& front = transfers_.front();
  observer_->service_begins(descriptor_of(*front.command), std::max(front.setup_done - config_.setup, last_end_));
}

/// Setups are serial: the next one starts when the command before it has sent its requests (without overlap: has
/// ended), the instant in which this runs, or when it arrives.
bool DmaChannel::set_up_next() {
  if (setting_up_ == transfers_.size()) return false;
  const bool previous_is_ahead = config_.overlap_commands ? requesting_ < setting_up_ : setting_up_ > 0;
  if (previous_is_ahead) return false;
  Transfer& transfer = transfers_[setting_up_];
  transfer.setup_done = std::max(transfer.arrival, now()) + config_.setup;
  ++setting_up_;
  if (observer_ != nullptr && setting_up_ == 1) observe_front();
  return true;
}

/// Returns whether a command has sent all of its requests.
bool DmaChannel::send_requests() {
  if (requesting_ == setting_up_) return false;
  Transfer& transfer = transfers_[requesting_];
  if (transfer.setup_done > now()) return false;
  if (direction_ == Engine::dma_read && transfer.row == 0 && transfer.offset == Bytes(0)) {
    fill_padding(work_of(transfer));
  }
  if (work_of(transfer).region.bytes() == Bytes(0)) {
    transfer.first_data = now();
    transfer.last_response = now();
    transfer.all_requested = true;
  }
  while (!transfer.all_requested) {
    if (memory_.busy() || memory_.free_at() > now() || outstanding_ == config_.max_outstanding) return false;
    send_next_request(transfer);
  }
  transfer.requested = now();
  ++requesting_;
  return true;
}

void DmaChannel::send_next_request(Transfer& transfer) {
  const DmaDescriptor& dma = work_of(transfer);
  const HbmRegion& region = transfer.intervals;
  MemoryRequest& request = requests_.acquire();
  request.command = first_number_ + requesting_;
  request.position = region.row_bytes * transfer.row + transfer.offset;
  const bool whole = config_.burst == Bytes(0);
  const HbmAddress address = region.base + region.stride * transfer.row + transfer.offset;
  const Bytes length = whole ? region.bytes() : next_burst(address, region.row_bytes - transfer.offset, config_.burst);
  whole ? request.describe(dma.region) : request.forget_region();

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
  ++transfer.requests_outstanding;
  ++outstanding_;
  memory_.send(request);
}

void DmaChannel::stream_answered() {
  while (streaming_ < requesting_) {
    Transfer& transfer = transfers_[streaming_];
    if (transfer.requests_outstanding > 0) return;
    const bool has_data = transfer.status == tlm::TLM_OK_RESPONSE;  // an error brings none, and takes none
    if (has_data) port_.stream(transfer.first_data, work_of(transfer).region.bytes());
    port_.hold_until(transfer.last_response);
    transfer.end = port_.free_at();
    transfer.streamed = true;
    ++streaming_;
  }
}

void DmaChannel::schedule_next() {
  if (transfers_.empty()) return;
  if (transfers_.front().streamed) wake_at(transfers_.front().end);
  if (requesting_ < setting_up_) {
    const Transfer& next = transfers_[requesting_];
    if (next.setup_done > now()) {
      wake_at(next.setup_done);
    } else if (!memory_.busy() && memory_.free_at() > now()) {
      wake_at(memory_.free_at());
    }
  }
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
