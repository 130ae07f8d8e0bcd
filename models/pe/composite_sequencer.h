// The order of the parts of all composites in flight: which part may be presented next, and when.
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "models/base/ring_queue.h"
#include "models/base/systemc.h"
#include "models/protocol/command.h"
#include "models/protocol/descriptor.h"

namespace kernwave {

/// The stages of a composite, in the order in which a tile passes them.
enum class CompositeStage : std::uint8_t { read, product, epilogue };
inline constexpr std::array<CompositeStage, 3> composite_stages = {CompositeStage::read, CompositeStage::product,
                                                                   CompositeStage::epilogue};

/// Logic without processes: the scheduler reports events to it, and it decides which part may be presented next.
///
/// Each stage works through the tiles of all composites in flight, in the order in which they were dispatched. Dispatch
/// takes `dispatch` from the instant at which all conditions of a part hold:
/// - a read: its slot of the staging area is free, which it is when the product of the tile before it in that slot has
///   ended; without `overlap_reads` also the read before it has ended;
/// - a product: all reads of its tile have ended, and so has the product before it;
/// - a step of an epilogue: the product has ended, and so has the step before it.
/// The dispatch of a composite is that of its first part. Engines end parts of a stage in the order in which they were
/// presented.
class CompositeSequencer {
 public:
  CompositeSequencer(Picoseconds dispatch, bool overlap_reads);

  /// A part about to be presented.
  struct Part {
    Descriptor descriptor;
    SourceLocation where;  ///< its composite's
    Picoseconds issued;    ///< its dispatch began
  };

  [[nodiscard]] bool empty() const noexcept { return composites_.empty(); }
  /// Adds a composite that the scheduler has dispatched at `at`. The payload is not released before its last part has
  /// ended.
  void add(Payload& composite, Picoseconds at);
  /// Whether parts of the stage are still to be presented.
  [[nodiscard]] bool has_parts(CompositeStage stage) const noexcept {
    return state_of(stage).presenting < composites_.size();
  }
  /// The instant at which the next part of the stage may be presented; nothing if one of its conditions does not hold
  /// yet.
  [[nodiscard]] std::optional<Picoseconds> due(CompositeStage stage) const;
  /// Takes the next part of the stage, which the caller presents now.
  [[nodiscard]] Part present(CompositeStage stage);
  /// The oldest part of the stage has ended. Returns its composite, answered, if that was its last part.
  [[nodiscard]] Payload* ended(CompositeStage stage, const Command& part, Picoseconds at);
  /// No part is presented any more. Returns the composites, answered with an error, of which none is on its way; the
  /// others are answered so when their last one has ended.
  [[nodiscard]] std::vector<Payload*> drop_parts(Picoseconds at);
  /// As at the start; no composite may be in flight.
  void forget_all();

 private:
  /// How far one stage is with one composite, in parts.
  struct Progress {
    std::int64_t total = 0;
    std::int64_t presented = 0;
    std::int64_t ended = 0;
  };
  struct InFlight {
    Payload* payload = nullptr;  ///< nullptr: complete
    Picoseconds at;
    std::int64_t reads_per_tile = 0;
    std::array<Progress, composite_stages.size()> progress;
    std::int64_t left = 0;  ///< parts that have not ended
    Picoseconds start;
    std::int32_t failed_part = 0;
    tlm::tlm_response_status status = tlm::TLM_OK_RESPONSE;  ///< or the error of the failed part of least number
    std::string problem;                                     ///< of that part
  };
  struct Stage {
    std::size_t presenting = 0;  ///< position of the composite of the next part to present
    std::size_t ending = 0;      ///< of the next part to end
    std::int64_t inside = 0;     ///< parts presented and not ended
    Picoseconds last_end;
  };
  struct Slot {
    ScratchAddress address;
    bool busy = false;
    Picoseconds free_at;
  };

  [[nodiscard]] Stage& state_of(CompositeStage stage) noexcept { return stages_[static_cast<std::size_t>(stage)]; }
  [[nodiscard]] const Stage& state_of(CompositeStage stage) const noexcept {
    return stages_[static_cast<std::size_t>(stage)];
  }
  [[nodiscard]] static const CompositeDescriptor& work_of(const InFlight& composite) {
    return descriptor_of(*composite.payload).composite();
  }
  [[nodiscard]] std::optional<Picoseconds> due_read(const InFlight& composite) const;
  [[nodiscard]] std::optional<Picoseconds> due_product(const InFlight& composite) const;
  [[nodiscard]] std::optional<Picoseconds> due_step(const InFlight& composite) const;
  void skip_presented(CompositeStage stage) noexcept;
  void occupy(ScratchAddress slot);
  void forget_slots_free_for_long(Picoseconds at);
  void free(ScratchAddress slot, Picoseconds at) noexcept;
  [[nodiscard]] Payload* complete(InFlight& composite, Picoseconds at);
  void forget_complete() noexcept;

  Picoseconds dispatch_;
  bool overlap_reads_;
  RingQueue<InFlight> composites_;  // in order; the first one is not complete
  std::array<Stage, composite_stages.size()> stages_;
  std::vector<Slot> slots_;            // busy or used lately
  RingQueue<Picoseconds> arrived_;     // when the last read of a tile ended, of tiles whose product is to be presented
  RingQueue<Picoseconds> multiplied_;  // when the product ended, of those whose epilogue has not begun
};

}  // namespace kernwave
