// Critical paths through one PE: for each instant that others wait for, the path that led to it.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "models/base/clock.h"
#include "models/base/ring_queue.h"
#include "models/config/system_config.h"
#include "models/pe/pe_observer.h"
#include "traces/critical_path/path.h"

namespace kernwave::traces {

/// Follows each operation of one PE through program, scheduler and engine. Each instant continues the path of its last
/// predecessor. Among predecessors of one instant, an operand goes before an engine, an engine before the program, and
/// the program before a credit or the memory. The choice depends on times and numbers, never on the order of calls in
/// one instant.
class PePaths {
 public:
  PePaths(PathPool& pool, PeId id, const PeConfig& config);

  // ---- the program

  void issued(const PathUse& use, Picoseconds to);
  void submitted(const IssuedOperation& operation, SiteId site);
  /// All waits but those for credits.
  void waited(const ProgramWait& wait, Picoseconds to);
  void waited_for_credit(const ProgramWait& wait, Picoseconds to);
  [[nodiscard]] const Path& program() const noexcept { return program_; }
  /// That will be submitted next.
  [[nodiscard]] const OperationId& next_operation() const noexcept { return next_operation_; }

  /// Nothing of the PE is on its way any more. Returns the path to the end of the reset.
  [[nodiscard]] Path was_reset(Picoseconds at);

  // ---- the scheduler

  void accepted(Picoseconds presented, Picoseconds at);
  void dispatched(const Descriptor& operation, Picoseconds at);
  void presented(const Descriptor& part, Picoseconds issued, Picoseconds at);

  // ---- engines

  void service_begins(const Descriptor& operation, Picoseconds at);
  void computed(const Descriptor& operation, Picoseconds end);
  void transferred(const Descriptor& operation, const TransferPhases& phases);
  void composite_completed(const CompletedOperation& operation);

  // ---- messages

  /// The path of the oldest message on its way in that direction that has not landed, to its landing.
  [[nodiscard]] Path landed(Direction direction, Picoseconds at);
  /// The oldest message on its way has landed.
  [[nodiscard]] bool has_landed(Direction direction) const noexcept { return of(direction).landed > 0; }
  /// Its send is complete.
  void sent(Direction direction);
  /// A message of `path` has landed here.
  void arrives(Direction from, const Path& path);
  [[nodiscard]] bool has_arrival(Direction from) const { return !of(from).landings.empty(); }
  /// The oldest message from there is received; the path of its window's return when it reaches the sender.
  [[nodiscard]] Path received(Direction from, Picoseconds at);
  /// The path of the credit that goes back, when it reaches the sender.
  [[nodiscard]] Path released(Direction from, Picoseconds at, const std::vector<Completion>& users);
  void window_returns(Direction direction, const Path& path);
  void credit_returns(Direction direction, const Path& path);

 private:
  /// An operation or part on its way.
  struct Flight {
    OperationId id;
    SiteId site = 0;
    Completion completion;
    Bytes bytes;
    Path path;
    Picoseconds start;  ///< of its service
  };
  struct Station {
    RingQueue<Flight> flights;
    Path last;               ///< the end of the operation before
    Path requested;          ///< of a DMA channel: the last request of the command before
    RingQueue<Path> ends;    ///< of the last operations: each leaves a place in the engine's queue
    RingQueue<Path> recent;  ///< ends of parts, which later parts wait for
  };
  struct Composite {
    std::int64_t sequence = 0;
    SiteId site = 0;
    Path dispatched;
    Path last_part;
  };
  struct Done {
    std::uint32_t generation = 0;
    Path path;
  };
  struct Ended {
    std::int64_t sequence = 0;
    Path path;
  };
  /// Messages to and from one neighbour.
  struct Side {
    RingQueue<Flight> sends;
    std::size_t departed = 0;  ///< of `sends`
    std::size_t landed = 0;    ///< likewise: their paths reach to their landing
    RingQueue<Flight> receives;
    RingQueue<Path> landings;  ///< received not yet
    Path last_release;
    RingQueue<Path> windows;  ///< returned to this sender
    RingQueue<Path> credits;
  };

  [[nodiscard]] Path extend(Path path, Picoseconds at, PathCause cause, const Flight& flight);
  [[nodiscard]] Station& station_of(const Descriptor& operation) {
    const auto engine = static_cast<std::size_t>(operation.engine);
    if (engine >= stations_.size()) stations_.resize(engine + 1);
    return stations_[engine];
  }
  [[nodiscard]] Side& of(Direction direction) noexcept { return sides_[static_cast<std::size_t>(direction)]; }
  [[nodiscard]] const Side& of(Direction direction) const noexcept {
    return sides_[static_cast<std::size_t>(direction)];
  }
  [[nodiscard]] Composite* composite_of(const Descriptor& part) noexcept;
  [[nodiscard]] Path before_part(const Descriptor& part, const Composite& composite, Picoseconds issued) const;
  [[nodiscard]] static const Path& place_free(const Station& station, Picoseconds at);
  [[nodiscard]] Path set_up(const Station& station, const Flight& flight, const TransferPhases& phases);
  [[nodiscard]] Path transfer(const Station& station, const Flight& flight, const TransferPhases& phases,
                              const Path& set_up, PathCause port);
  static void enter(Station& station, Flight flight);
  void end_flight(Station& station, Path path);
  void note_done(const Flight& flight, Path path);
  [[nodiscard]] std::size_t after(std::size_t place) const noexcept {
    return place + 1 == dispatched_at_.size() ? 0 : place + 1;
  }
  [[nodiscard]] const Path* path_of(Completion completion, Picoseconds at) const;

  PathPool& pool_;
  Picoseconds dispatch_;
  Picoseconds hop_;
  Bandwidth link_;
  std::size_t places_;   ///< in the longest queue of an engine
  std::size_t returns_;  ///< of each kind that may be on their way to one sender

  OperationId next_operation_;
  Path program_;
  Flight pending_;  // submitted, not taken
  Path last_accepted_;
  RingQueue<Flight> queue_;          // accepted, not dispatched
  std::vector<Path> dispatched_at_;  // of the last commands, as many as the queue is deep
  std::size_t next_accepted_ = 0;    // places in dispatched_at_
  std::size_t next_dispatched_ = 0;
  Path last_dispatched_;
  std::vector<Station> stations_ = std::vector<Station>(engine_rows.size());  // by engine
  std::vector<Composite> composites_;                                         // in flight
  std::vector<Done> done_;                                                    // by slot of the completion
  std::vector<Ended> latest_;                                                 // completed at the latest instant
  std::array<Side, direction_count> sides_;
};

}  // namespace kernwave::traces
