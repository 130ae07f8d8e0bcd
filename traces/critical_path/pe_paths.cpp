#include "traces/critical_path/pe_paths.h"

#include <algorithm>
#include <utility>

#include "models/base/exact_time.h"

namespace kernwave::traces {

namespace {

/// Ends of parts that a later part may have waited for: slots of a staging area are at most 255.
constexpr std::size_t recent_parts = 256;

template <typename T>
[[nodiscard]] T take_front(RingQueue<T>& queue) {
  T first = std::move(queue.front());
  queue.pop_front();
  return first;
}

void remember(RingQueue<Path>& queue, const Path& path, std::size_t most) {
  queue.push_back(path);
  if (queue.size() > most) static_cast<void>(take_front(queue));
}

/// The newest of `ends` at that instant, if there is one.
[[nodiscard]] const Path* find_at(const RingQueue<Path>& ends, Picoseconds at) {
  for (std::size_t i = ends.size(); i-- > 0;) {
    if (ends[i].at() == at) return &ends[i];
    if (ends[i].at() < at) return nullptr;
  }
  return nullptr;
}

/// The last of the candidates that is not later than `at`; of several in one instant the first.
[[nodiscard]] const Path& latest(std::initializer_list<const Path*> candidates, Picoseconds at) {
  const Path* found = nullptr;
  for (const Path* candidate : candidates) {
    if (candidate->at() > at) continue;
    if (found == nullptr || candidate->at() > found->at()) found = candidate;
  }
  return found != nullptr ? *found : **candidates.begin();
}

/// A wait for an operand, which comes before the program's own time where they are equal.
[[nodiscard]] bool is_operand(TimeCause cause) noexcept {
  return cause != TimeCause::scratch && cause != TimeCause::memory_order;
}

}  // namespace

PePaths::PePaths(PathPool& pool, PeId id, const PeConfig& config)
    : pool_(pool),
      dispatch_(Clock(config.clock)(config.scheduler.dispatch_latency)),
      hop_(config.ipcq.hop_latency),
      link_(config.ipcq.bandwidth),
      places_(static_cast<std::size_t>(
          std::max({config.gemm.queue_depth, config.math.queue_depth, config.dma.queue_depth}))),
      returns_(static_cast<std::size_t>(std::max(config.ipcq.depth, config.ipcq.window)) + 1),
      next_operation_{id},
      dispatched_at_(static_cast<std::size_t>(config.scheduler.queue_depth)) {}

Path PePaths::extend(Path path, Picoseconds at, PathCause cause, const Flight& flight) {
  return pool_.extend(std::move(path), at, {cause, flight.site, flight.id});
}

// ---- the program

void PePaths::issued(const PathUse& use, Picoseconds to) { program_ = pool_.extend(std::move(program_), to, use); }

void PePaths::submitted(const IssuedOperation& operation, SiteId site) {
  next_operation_.sequence = operation.descriptor.id.sequence + 1;
  pending_ =
      Flight{operation.descriptor.id, site, operation.completion, transferred_bytes(operation.descriptor), program_,
             Picoseconds(0)};
}

void PePaths::waited(const ProgramWait& wait, Picoseconds to) {
  const bool waited = to > wait.from;
  if (wait.ended_by_reset) {
    program_ = extend(std::move(program_), to, PathCause::reset, pending_);
  } else if (wait.cause == TimeCause::queue) {
    if (waited && last_accepted_.at() == to) program_ = last_accepted_;
  } else if (wait.cause == TimeCause::drain) {
    const Ended* first = nullptr;
    for (const Ended& ended : latest_) {
      if (ended.path.at() == to && (first == nullptr || ended.sequence < first->sequence)) first = &ended;
    }
    if (waited && first != nullptr) program_ = first->path;
  } else if (wait.cause == TimeCause::idle) {
    program_ = extend(std::move(program_), to, PathCause::launch, pending_);
  } else if (const Path* path = path_of(wait.on, to)) {
    if (waited || is_operand(wait.cause)) program_ = *path;
  }
  program_ = extend(std::move(program_), to, PathCause::unexplained, pending_);
}

void PePaths::waited_for_credit(const ProgramWait& wait, Picoseconds to) {
  if (to == wait.from) return;
  if (wait.ended_by_reset) return waited(wait, to);
  Side& side = of(wait.direction);
  Path last = program_;
  for (RingQueue<Path>* returned : {&side.credits, &side.windows}) {
    while (!returned->empty() && returned->front().at() <= to) {
      const Path path = take_front(*returned);
      if (path.at() > last.at()) last = path;
    }
  }
  program_ = extend(std::move(last), to, PathCause::hop, pending_);
}

const Path* PePaths::path_of(Completion completion, Picoseconds at) const {
  if (completion.slot >= done_.size()) return nullptr;
  const Done& done = done_[completion.slot];
  return done.generation == completion.generation && done.path.at() == at ? &done.path : nullptr;
}

Path PePaths::was_reset(Picoseconds at) {
  for (Station& station : stations_) station.flights = {};
  composites_.clear();
  for (Side& side : sides_) side = Side{};
  return extend(program_, at, PathCause::reset, pending_);
}

// ---- the scheduler

void PePaths::accepted(Picoseconds presented, Picoseconds at) {
  if (at > presented) {
    const Path& freed = dispatched_at_[next_accepted_];
    pending_.path = extend(latest({&freed, &pending_.path}, at), at, PathCause::dispatch, pending_);
  }
  next_accepted_ = after(next_accepted_);
  last_accepted_ = pending_.path;
  queue_.push_back(pending_);
}

void PePaths::dispatched(const Descriptor& operation, Picoseconds at) {
  Flight flight = take_front(queue_);
  if (flight.path.at() + dispatch_ >= at) {
    flight.path = extend(std::move(flight.path), at, PathCause::dispatch, flight);
  } else if (last_dispatched_.at() == at || operation.engine == Engine::composite) {
    flight.path = extend(latest({&last_dispatched_, &flight.path}, at), at, PathCause::dispatch, flight);
  } else {  // its engine had no place
    const Path& engine = place_free(station_of(operation), at);
    flight.path = extend(latest({&engine, &last_dispatched_, &flight.path}, at), at, PathCause::dispatch, flight);
  }
  dispatched_at_[next_dispatched_] = flight.path;
  next_dispatched_ = after(next_dispatched_);
  last_dispatched_ = flight.path;
  if (operation.engine == Engine::composite) {
    composites_.push_back({flight.id.sequence, flight.site, flight.path, flight.path});
    return;
  }
  if (operation.engine != Engine::ipcq) return enter(station_of(operation), std::move(flight));
  const IpcqDescriptor& message = operation.ipcq();
  Side& side = of(message.direction);
  (message.action == IpcqAction::send ? side.sends : side.receives).push_back(std::move(flight));
}

PePaths::Composite* PePaths::composite_of(const Descriptor& part) noexcept {
  const auto found = std::find_if(composites_.begin(), composites_.end(), [&part](const Composite& composite) {
    return composite.sequence == part.id.sequence;
  });
  return found == composites_.end() ? nullptr : &*found;
}

void PePaths::presented(const Descriptor& part, Picoseconds issued, Picoseconds at) {
  const Composite& composite = *composite_of(part);
  Flight flight{part.id, composite.site, Completion{}, transferred_bytes(part), Path(), Picoseconds(0)};
  flight.path = extend(before_part(part, composite, issued), issued + dispatch_, PathCause::dispatch, flight);
  const Path& engine = place_free(station_of(part), at);
  if (at > flight.path.at()) flight.path = latest({&engine, &flight.path}, at);  // it had no place
  flight.path = extend(std::move(flight.path), at, PathCause::dispatch, flight);
  enter(station_of(part), std::move(flight));
}

void PePaths::enter(Station& station, Flight flight) {
  // Nobody who comes later waits for a place that was left before the engine was idle.
  const bool is_idle = station.flights.empty() && station.last.at() <= flight.path.at();
  while (is_idle && !station.ends.empty()) static_cast<void>(take_front(station.ends));
  station.flights.push_back(std::move(flight));
}

/// The end that left a place by then. Later ones may be known.
const Path& PePaths::place_free(const Station& station, Picoseconds at) {
  for (std::size_t i = station.ends.size(); i-- > 0;) {
    if (station.ends[i].at() <= at) return station.ends[i];
  }
  return station.last;
}

/// What the part waited for last: for a read the product that freed its slot, for a product its reads or the product
/// before, for a step the product or the step before; or the composite's own dispatch.
Path PePaths::before_part(const Descriptor& part, const Composite& composite, Picoseconds issued) const {
  const Station& reads = stations_[static_cast<std::size_t>(Engine::dma_read)];
  const Station& products = stations_[static_cast<std::size_t>(Engine::gemm)];
  const Station& steps = stations_[static_cast<std::size_t>(Engine::math)];
  std::array<const Station*, 2> order = {&products, &reads};
  if (part.engine == Engine::gemm) order = {&reads, &products};
  if (part.engine == Engine::math) order = {&products, &steps};
  for (const Station* station : order) {
    if (const Path* end = find_at(station->recent, issued)) return *end;
  }
  return composite.dispatched;
}

// ---- engines

void PePaths::service_begins(const Descriptor& operation, Picoseconds at) {
  if (operation.engine != Engine::ipcq) {
    station_of(operation).flights.front().start = at;
  } else if (operation.ipcq().action == IpcqAction::send) {
    Side& side = of(operation.ipcq().direction);
    side.sends[side.departed++].start = at;
  }
}

void PePaths::computed(const Descriptor& operation, Picoseconds end) {
  Station& station = station_of(operation);
  const Flight& flight = station.flights.front();
  PathCause cause = operation.engine == Engine::gemm ? PathCause::gemm : PathCause::math;
  if (is_added(operation.engine)) cause = PathCause::added;
  const Path& before = latest({&station.last, &flight.path}, flight.start);
  Path ready = extend(before, flight.start, PathCause::dispatch, flight);
  end_flight(station, extend(std::move(ready), end, cause, flight));
}

void PePaths::transferred(const Descriptor& operation, const TransferPhases& phases) {
  Station& station = station_of(operation);
  const Flight& flight = station.flights.front();
  const PathCause port = operation.engine == Engine::dma_read ? PathCause::dma_read : PathCause::dma_write;
  Path ready = set_up(station, flight, phases);
  Path end = transfer(station, flight, phases, ready, port);
  station.requested = extend(std::move(ready), phases.requested, PathCause::memory, flight);
  end_flight(station, std::move(end));
}

Path PePaths::set_up(const Station& station, const Flight& flight, const TransferPhases& phases) {
  const Path& before = latest({&station.requested, &station.last, &flight.path}, phases.setup_start);
  Path begun = extend(before, phases.setup_start, PathCause::dma_setup, flight);
  return extend(std::move(begun), phases.setup_done, PathCause::dma_setup, flight);
}

Path PePaths::transfer(const Station& station, const Flight& flight, const TransferPhases& phases, const Path& set_up,
                       PathCause port) {
  const Picoseconds port_begins = std::max(station.last.at(), phases.first_data);
  if (phases.end > port_begins + phases.port_time) {  // the memory was slower than the port
    const Picoseconds contention = std::min(phases.contention, phases.end - set_up.at());
    const Picoseconds service = std::max(phases.end - phases.first_data - contention, Picoseconds(0));
    Path eligible = extend(set_up, phases.end - service - contention, PathCause::memory, flight);
    Path served = extend(std::move(eligible), phases.end - service, PathCause::contention, flight);
    return extend(std::move(served), phases.end, PathCause::hbm, flight);
  }
  if (station.last.at() >= phases.first_data) return extend(station.last, phases.end, port, flight);
  return extend(extend(set_up, phases.first_data, PathCause::memory, flight), phases.end, port, flight);
}

void PePaths::end_flight(Station& station, Path path) {
  const Flight flight = take_front(station.flights);
  station.last = path;
  remember(station.ends, path, places_);
  if (flight.id.part == 0) return note_done(flight, std::move(path));
  remember(station.recent, path, recent_parts);
  for (Composite& composite : composites_) {
    if (composite.sequence == flight.id.sequence) composite.last_part = path;
  }
}

void PePaths::note_done(const Flight& flight, Path path) {
  if (flight.completion.slot >= done_.size()) done_.resize(flight.completion.slot + 1);
  if (!latest_.empty() && latest_.front().path.at() < path.at()) latest_.clear();
  if (latest_.empty() || latest_.front().path.at() == path.at()) latest_.push_back({flight.id.sequence, path});
  done_[flight.completion.slot] = {flight.completion.generation, std::move(path)};
}

void PePaths::composite_completed(const CompletedOperation& operation) {
  const auto composite = std::find_if(composites_.begin(), composites_.end(), [&operation](const Composite& each) {
    return each.sequence == operation.descriptor.id.sequence;
  });
  const Flight flight{operation.descriptor.id, composite->site, operation.completion, Bytes(0), Path(), Picoseconds(0)};
  note_done(flight, composite->last_part);
  composites_.erase(composite);
}

// ---- messages

Path PePaths::landed(Direction direction, Picoseconds at) {
  Side& side = of(direction);
  Flight& flight = side.sends[side.landed++];
  const Picoseconds moving = std::min(duration(flight.bytes, link_), at - flight.start);
  const Picoseconds hop = std::min(hop_, at - flight.start - moving);
  const Path left = extend(flight.path, flight.start, PathCause::link_queue, flight);
  const Path eligible = extend(left, flight.start + hop, PathCause::hop, flight);
  const Path moved = extend(eligible, at - moving, PathCause::link_queue, flight);
  flight.path = extend(moved, at, PathCause::link, flight);
  return flight.path;
}

void PePaths::sent(Direction direction) {
  Side& side = of(direction);
  const Flight flight = take_front(side.sends);
  --side.landed;
  --side.departed;
  note_done(flight, flight.path);
}

void PePaths::arrives(Direction from, const Path& path) { of(from).landings.push_back(path); }

Path PePaths::received(Direction from, Picoseconds at) {
  Side& side = of(from);
  const Path landing = take_front(side.landings);
  const Flight flight = take_front(side.receives);
  const Path path = extend(latest({&landing, &flight.path}, at), at, PathCause::unexplained, flight);
  note_done(flight, path);
  return extend(path, at + hop_, PathCause::hop, flight);
}

Path PePaths::released(Direction from, Picoseconds at, const std::vector<Completion>& users) {
  Side& side = of(from);
  const Path* last = nullptr;
  std::uint32_t first = 0;
  for (const Completion user : users) {
    const Path* path = path_of(user, at);
    if (path == nullptr || (last != nullptr && user.generation > first)) continue;
    last = path;
    first = user.generation;
  }
  side.last_release = last != nullptr ? *last : latest({&program_, &side.last_release}, at);
  side.last_release = extend(side.last_release, at, PathCause::unexplained, pending_);
  return extend(side.last_release, at + hop_, PathCause::hop, pending_);
}

void PePaths::window_returns(Direction direction, const Path& path) { remember(of(direction).windows, path, returns_); }

void PePaths::credit_returns(Direction direction, const Path& path) { remember(of(direction).credits, path, returns_); }

}  // namespace kernwave::traces
