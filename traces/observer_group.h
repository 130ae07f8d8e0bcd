// An observer that passes each call on to several others.
#pragma once

#include <algorithm>
#include <vector>

#include "models/memory/channel_observer.h"
#include "models/pe/pe_observer.h"

namespace kernwave::traces {

/// Passes each call on to its members, in the order in which they were added. The members must outlive the run.
class PeObserverGroup : public PeObserver {
 public:
  void add(PeObserver& observer) { members_.push_back(&observer); }
  [[nodiscard]] bool empty() const noexcept { return members_.empty(); }
  /// The group, or its member if it has only one, or nullptr if it has none: what to give to `System::set_observer`.
  [[nodiscard]] PeObserver* observer() noexcept {
    if (members_.empty()) return nullptr;
    return members_.size() == 1 ? members_.front() : this;
  }

  /// If all of them do.
  [[nodiscard]] bool takes_ends_ahead() const override {
    return std::all_of(members_.begin(), members_.end(), [](const PeObserver* one) { return one->takes_ends_ahead(); });
  }
  void issuing(PeId pe, SourceLocation where, Picoseconds from, Picoseconds to) override {
    for (PeObserver* member : members_) member->issuing(pe, where, from, to);
  }
  void depends(PeId pe, Completion on) override {
    for (PeObserver* member : members_) member->depends(pe, on);
  }
  void submitted(const IssuedOperation& operation) override {
    for (PeObserver* member : members_) member->submitted(operation);
  }
  void wait_begins(const ProgramWait& wait) override {
    for (PeObserver* member : members_) member->wait_begins(wait);
  }
  void wait_ends(const ProgramWait& wait, Picoseconds to) override {
    for (PeObserver* member : members_) member->wait_ends(wait, to);
  }
  void scratch_used(PeId pe, Bytes bytes, Picoseconds at) override {
    for (PeObserver* member : members_) member->scratch_used(pe, bytes, at);
  }
  void scratch_allocated(PeId pe, const ScratchOperand& tensor) override {
    for (PeObserver* member : members_) member->scratch_allocated(pe, tensor);
  }
  void drained(PeId pe, Picoseconds at) override {
    for (PeObserver* member : members_) member->drained(pe, at);
  }
  void accepted(const Descriptor& operation, Picoseconds presented, Picoseconds at) override {
    for (PeObserver* member : members_) member->accepted(operation, presented, at);
  }
  void dispatched(const Descriptor& operation, Picoseconds at) override {
    for (PeObserver* member : members_) member->dispatched(operation, at);
  }
  void presented(const Descriptor& part, Picoseconds issued, Picoseconds at) override {
    for (PeObserver* member : members_) member->presented(part, issued, at);
  }
  void arrived(const Descriptor& operation, Picoseconds at) override {
    for (PeObserver* member : members_) member->arrived(operation, at);
  }
  void service_begins(const Descriptor& operation, Picoseconds at) override {
    for (PeObserver* member : members_) member->service_begins(operation, at);
  }
  void transferred(const Descriptor& operation, const TransferPhases& phases) override {
    for (PeObserver* member : members_) member->transferred(operation, phases);
  }
  void service_ends(const Descriptor& operation, Picoseconds at) override {
    for (PeObserver* member : members_) member->service_ends(operation, at);
  }
  void slot_filled(PeId pe, Direction from, Picoseconds at) override {
    for (PeObserver* member : members_) member->slot_filled(pe, from, at);
  }
  void slot_released(PeId pe, Direction from, Picoseconds at, const std::vector<Completion>& users) override {
    for (PeObserver* member : members_) member->slot_released(pe, from, at, users);
  }
  void completed(const CompletedOperation& operation) override {
    for (PeObserver* member : members_) member->completed(operation);
  }
  void dropped(const CompletedOperation& operation) override {
    for (PeObserver* member : members_) member->dropped(operation);
  }
  void was_reset(PeId pe, const std::vector<Neighbour>& neighbours, Picoseconds at) override {
    for (PeObserver* member : members_) member->was_reset(pe, neighbours, at);
  }

 private:
  std::vector<PeObserver*> members_;
};

/// The same for channels.
class ChannelObserverGroup : public ChannelObserver {
 public:
  void add(ChannelObserver& observer) { members_.push_back(&observer); }
  [[nodiscard]] ChannelObserver* observer() noexcept { return members_.empty() ? nullptr : this; }

  void served(const ChannelService& service) override {
    for (ChannelObserver* member : members_) member->served(service);
  }

 private:
  std::vector<ChannelObserver*> members_;
};

}  // namespace kernwave::traces
