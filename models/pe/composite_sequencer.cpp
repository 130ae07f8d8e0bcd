#include "models/pe/composite_sequencer.h"

#include <algorithm>

#include "models/pe/composite_parts.h"

namespace kernwave {

CompositeSequencer::CompositeSequencer(Picoseconds dispatch, bool overlap_reads)
    : dispatch_(dispatch), overlap_reads_(overlap_reads) {}

void CompositeSequencer::add(Payload& composite, Picoseconds at) {
  forget_slots_free_for_long(at);
  const CompositeDescriptor& work = descriptor_of(composite).composite();
  const std::int64_t tiles = tiles_of(work);
  InFlight entry;
  entry.payload = &composite;
  entry.at = at;
  entry.reads_per_tile = reads_per_tile(work);
  entry.progress[0].total = tiles * entry.reads_per_tile;
  entry.progress[1].total = tiles;
  entry.progress[2].total = epilogues_of(work) * work.steps;
  for (const Progress& progress : entry.progress) entry.left += progress.total;
  composites_.push_back(entry);
  for (const CompositeStage stage : composite_stages) skip_presented(stage);
}

/// The stage goes on with the first composite of which it has something to present, or with the next one to come.
void CompositeSequencer::skip_presented(CompositeStage stage) noexcept {
  const auto index = static_cast<std::size_t>(stage);
  std::size_t& position = state_of(stage).presenting;
  while (position < composites_.size()) {
    const Progress& progress = composites_[position].progress[index];
    if (progress.presented < progress.total) return;
    ++position;
  }
}

std::optional<Picoseconds> CompositeSequencer::due(CompositeStage stage) const {
  const std::size_t position = state_of(stage).presenting;
  if (position == composites_.size()) return std::nullopt;
  const InFlight& composite = composites_[position];
  switch (stage) {
    case CompositeStage::read:
      return due_read(composite);
    case CompositeStage::product:
      return due_product(composite);
    case CompositeStage::epilogue:
      break;
  }
  return due_step(composite);
}

std::optional<Picoseconds> CompositeSequencer::due_read(const InFlight& composite) const {
  const Stage& stage = state_of(CompositeStage::read);
  Picoseconds due = composite.at;
  if (!overlap_reads_) {
    if (stage.inside > 0) return std::nullopt;
    due = std::max(due, stage.last_end + dispatch_);
  }
  const std::int64_t read = composite.progress[0].presented;
  if (read % composite.reads_per_tile > 0) return due;  // its tile has the slot
  const ScratchAddress address = slot_of(work_of(composite), read / composite.reads_per_tile);
  for (const Slot& slot : slots_) {
    if (slot.address != address) continue;
    if (slot.busy) return std::nullopt;
    due = std::max(due, slot.free_at + dispatch_);
  }
  return due;
}

std::optional<Picoseconds> CompositeSequencer::due_product(const InFlight& composite) const {
  const Stage& stage = state_of(CompositeStage::product);
  if (stage.inside > 0) return std::nullopt;
  const Picoseconds due = std::max(composite.at, stage.last_end + dispatch_);
  if (composite.reads_per_tile == 0) return due;
  if (arrived_.empty()) return std::nullopt;
  return std::max(due, arrived_.front() + dispatch_);
}

std::optional<Picoseconds> CompositeSequencer::due_step(const InFlight& composite) const {
  const Stage& stage = state_of(CompositeStage::epilogue);
  if (stage.inside > 0) return std::nullopt;
  const bool first = composite.progress[2].presented % work_of(composite).steps == 0;
  if (!first) return stage.last_end + dispatch_;
  if (multiplied_.empty()) return std::nullopt;
  return std::max(stage.last_end, multiplied_.front()) + dispatch_;
}

CompositeSequencer::Part CompositeSequencer::present(CompositeStage stage) {
  const Picoseconds issued = *due(stage) - dispatch_;
  InFlight& composite = composites_[state_of(stage).presenting];
  const CompositeDescriptor& work = work_of(composite);
  const std::int64_t number = composite.progress[static_cast<std::size_t>(stage)].presented++;
  Part part;
  part.descriptor.id = descriptor_of(*composite.payload).id;
  part.issued = issued;
  if (const auto* report = composite.payload->get_extension<ExecutionReport>()) part.where = report->where;
  switch (stage) {
    case CompositeStage::read: {
      const std::int64_t tile = number / composite.reads_per_tile;
      const std::int64_t index = number % composite.reads_per_tile;
      if (index == 0) occupy(slot_of(work, tile));
      part.descriptor.engine = Engine::dma_read;
      part.descriptor.id.part = number_of_read(work, tile, index);
      part.descriptor.work = read_of(work, tile, index);
      break;
    }
    case CompositeStage::product:
      if (composite.reads_per_tile > 0) arrived_.pop_front();
      part.descriptor.engine = Engine::gemm;
      part.descriptor.id.part = number_of_product(work, number);
      part.descriptor.work = product_of(work, number);
      break;
    case CompositeStage::epilogue: {
      const std::int64_t step = number % work.steps;
      if (step == 0) multiplied_.pop_front();
      part.descriptor.engine = Engine::math;
      part.descriptor.id.part = number_of_step(work, number / work.steps, step);
      part.descriptor.work = step_of(work, number / work.steps, step);
      break;
    }
  }
  ++state_of(stage).inside;
  skip_presented(stage);
  return part;
}

Payload* CompositeSequencer::ended(CompositeStage stage, const Command& part, Picoseconds at) {
  const auto index = static_cast<std::size_t>(stage);
  Stage& state = state_of(stage);
  while (composites_[state.ending].progress[index].ended == composites_[state.ending].progress[index].total) {
    ++state.ending;
  }
  InFlight& composite = composites_[state.ending];
  const CompositeDescriptor& work = work_of(composite);
  Progress& progress = composite.progress[index];
  const std::int64_t number = progress.ended++;
  --state.inside;
  state.last_end = at;

  if (stage == CompositeStage::read && progress.ended % composite.reads_per_tile == 0) arrived_.push_back(at);
  if (stage == CompositeStage::product) {
    if (composite.reads_per_tile > 0) free(slot_of(work, number), at);
    const bool has_epilogue = work.axis == CompositeAxis::n || progress.ended == progress.total;
    if (has_epilogue && work.steps > 0) multiplied_.push_back(at);
  }

  const std::int32_t part_number = part.descriptor.id.part;
  if (part_number == 1) composite.start = part.report.start;
  if (part.is_response_error() && (composite.failed_part == 0 || part_number < composite.failed_part)) {
    composite.failed_part = part_number;
    composite.status = part.get_response_status();
    composite.problem = part.report.problem;
  }
  return --composite.left == 0 ? complete(composite, at) : nullptr;
}

std::vector<Payload*> CompositeSequencer::drop_parts(Picoseconds at) {
  std::vector<Payload*> answered;
  for (std::size_t i = 0; i < composites_.size(); ++i) {
    InFlight& composite = composites_[i];
    composite.status = tlm::TLM_GENERIC_ERROR_RESPONSE;
    composite.left = 0;
    for (Progress& progress : composite.progress) {
      progress.total = progress.presented;
      composite.left += progress.presented - progress.ended;
    }
  }
  for (Stage& stage : stages_) stage.presenting = composites_.size();
  for (std::size_t i = composites_.size(); i-- > 0;) {  // from the last one: complete ones go from the front
    InFlight& composite = composites_[i];
    if (composite.payload != nullptr && composite.left == 0) answered.push_back(complete(composite, at));
  }
  std::reverse(answered.begin(), answered.end());
  return answered;
}

void CompositeSequencer::forget_all() {
  stages_ = {};
  slots_.clear();
  arrived_ = {};
  multiplied_ = {};
}

Payload* CompositeSequencer::complete(InFlight& composite, Picoseconds at) {
  Payload* payload = composite.payload;
  composite.payload = nullptr;
  payload->set_response_status(composite.status);
  if (auto* report = payload->get_extension<ExecutionReport>()) {
    report->start = composite.start;
    report->end = at;
    report->problem = composite.problem;
  }
  forget_complete();
  return payload;
}

/// A composite may complete before one that was dispatched earlier and has an epilogue: it then waits here.
void CompositeSequencer::forget_complete() noexcept {
  while (!composites_.empty() && composites_.front().payload == nullptr) {
    composites_.pop_front();
    for (Stage& stage : stages_) {
      if (stage.presenting > 0) --stage.presenting;
      if (stage.ending > 0) --stage.ending;
    }
  }
}

void CompositeSequencer::occupy(ScratchAddress address) {
  for (Slot& slot : slots_) {
    if (slot.address != address) continue;
    slot.busy = true;
    return;
  }
  slots_.push_back({address, true, Picoseconds(0)});
}

void CompositeSequencer::free(ScratchAddress address, Picoseconds at) noexcept {
  for (Slot& slot : slots_) {
    if (slot.address != address) continue;
    slot.busy = false;
    slot.free_at = at;
  }
}

/// No read that is still to come waits for them.
void CompositeSequencer::forget_slots_free_for_long(Picoseconds at) {
  if (!composites_.empty()) return;
  const auto free_for_long = [this, at](const Slot& slot) { return !slot.busy && slot.free_at + dispatch_ <= at; };
  slots_.erase(std::remove_if(slots_.begin(), slots_.end(), free_for_long), slots_.end());
}

}  // namespace kernwave
