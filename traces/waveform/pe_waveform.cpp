#include "traces/waveform/pe_waveform.h"

#include <fmt/format.h>

#include <string>

namespace kernwave::traces {

namespace {

// Indices of signals. Engines come in the order of `Engine`, directions in that of `Direction`; those that were added
// to the machine come last.
constexpr std::size_t state = 0;
constexpr std::size_t operation_number = 1;
constexpr std::size_t first_busy = 2;  // of the engines that serve their commands in turn, which come first
constexpr std::size_t sends_in_service = first_busy + engines_in_turn;
constexpr std::size_t outstanding_loads = sends_in_service + 1;
constexpr std::size_t scheduler_queue = outstanding_loads + 1;
constexpr std::size_t first_queue = scheduler_queue + 1;
constexpr std::size_t scratch_bytes = first_queue + engines_in_turn;
constexpr std::size_t first_slots = scratch_bytes + 1;
constexpr std::size_t first_added = first_slots + direction_count;  // busy and queue of each

constexpr int state_bits = 4;
static_assert(time_cause_count <= 1U << state_bits);

[[nodiscard]] constexpr std::uint32_t number_of(TimeCause cause) noexcept { return static_cast<std::uint32_t>(cause); }

[[nodiscard]] constexpr bool in_turn(const Descriptor& operation) noexcept {
  return static_cast<std::size_t>(operation.engine) < engines_in_turn || is_added(operation.engine);
}

[[nodiscard]] constexpr std::size_t busy_of_added(Engine engine) noexcept {
  return first_added + 2 * place_of_added(engine);
}

[[nodiscard]] bool is_send(const Descriptor& operation) {
  return operation.engine == Engine::ipcq && operation.ipcq().action == IpcqAction::send;
}

[[nodiscard]] constexpr bool is_load(const Descriptor& operation) noexcept {
  return operation.engine == Engine::dma_read && operation.id.part == 0;
}

[[nodiscard]] constexpr std::size_t busy_of(const Descriptor& operation) noexcept {
  if (is_added(operation.engine)) return busy_of_added(operation.engine);
  return first_busy + static_cast<std::size_t>(operation.engine);
}

[[nodiscard]] constexpr std::size_t queue_of(const Descriptor& operation) noexcept {
  if (is_added(operation.engine)) return busy_of_added(operation.engine) + 1;
  return first_queue + static_cast<std::size_t>(operation.engine);
}

[[nodiscard]] constexpr std::size_t slots_of(Direction direction) noexcept {
  return first_slots + static_cast<std::size_t>(direction);
}

}  // namespace

std::vector<WaveformSignal> PeWaveform::signals_of(const Pe& pe) {
  const std::string scope = fmt::format("pe{}.", pe.id().count());
  std::vector<WaveformSignal> signals;
  signals.push_back({scope + "state", state_bits, number_of(TimeCause::idle)});
  signals.push_back({scope + "operation"});
  for (std::size_t i = 0; i < engines_in_turn; ++i) {
    signals.push_back({fmt::format("{}{}_busy", scope, engine_rows[i].name), 1});
  }
  signals.push_back({scope + "sends_in_service"});
  signals.push_back({scope + "outstanding_loads"});
  signals.push_back({scope + "scheduler_queue"});
  for (std::size_t i = 0; i < engines_in_turn; ++i) {
    signals.push_back({fmt::format("{}{}_queue", scope, engine_rows[i].name)});
  }
  signals.push_back({scope + "scratch_bytes"});
  for (std::size_t i = 0; i < direction_count; ++i) {
    const auto direction = static_cast<Direction>(i);
    signals.push_back({fmt::format("{}{}_slots", scope, name_of(direction)), 32, 0, pe.ipcq().linked(direction)});
  }
  for (const EngineRow& row : pe.engines()) {
    if (!is_added(row.engine)) continue;
    signals.push_back({fmt::format("{}{}_busy", scope, row.name), 1});
    signals.push_back({fmt::format("{}{}_queue", scope, row.name)});
  }
  return signals;
}

void PeWaveform::issuing(PeId /*pe*/, SourceLocation /*where*/, Picoseconds from, Picoseconds /*to*/) {
  signals_.set(state, from, number_of(TimeCause::issue));
}

void PeWaveform::submitted(const IssuedOperation& operation) {
  last_submitted_ = static_cast<std::uint32_t>(operation.descriptor.id.sequence);
  signals_.set(operation_number, operation.issued, last_submitted_);
  if (is_load(operation.descriptor)) signals_.add(outstanding_loads, operation.issued, 1);
}

void PeWaveform::wait_begins(const ProgramWait& wait) {
  signals_.set(state, wait.from, number_of(wait.cause));
  shows_awaited_ = wait.on.generation != 0;
  if (shows_awaited_) signals_.set(operation_number, wait.from, wait.on.generation - 1);
}

/// Time passes only in an issue or in a wait, and the next of them begins here: the state needs no word.
void PeWaveform::wait_ends(const ProgramWait& /*wait*/, Picoseconds to) {
  if (shows_awaited_) signals_.set(operation_number, to, last_submitted_);
  shows_awaited_ = false;
}

void PeWaveform::scratch_used(PeId /*pe*/, Bytes bytes, Picoseconds at) {
  signals_.set(scratch_bytes, at, static_cast<std::uint32_t>(bytes.count()));
}

void PeWaveform::drained(PeId /*pe*/, Picoseconds at) { signals_.set(state, at, number_of(TimeCause::idle)); }

void PeWaveform::accepted(const Descriptor& /*operation*/, Picoseconds /*presented*/, Picoseconds at) {
  signals_.add(scheduler_queue, at, 1);
}

void PeWaveform::dispatched(const Descriptor& /*operation*/, Picoseconds at) { signals_.add(scheduler_queue, at, -1); }

void PeWaveform::arrived(const Descriptor& operation, Picoseconds at) {
  if (in_turn(operation)) signals_.add(queue_of(operation), at, 1);
}

void PeWaveform::service_begins(const Descriptor& operation, Picoseconds at) {
  if (in_turn(operation)) {
    signals_.set(busy_of(operation), at, 1);
  } else if (is_send(operation)) {
    signals_.add(sends_in_service, at, 1);
  }
}

void PeWaveform::service_ends(const Descriptor& operation, Picoseconds at) {
  if (in_turn(operation)) {
    signals_.set(busy_of(operation), at, 0);
    signals_.add(queue_of(operation), at, -1);
  } else if (is_send(operation)) {
    signals_.add(sends_in_service, at, -1);
  }
}

void PeWaveform::slot_filled(PeId /*pe*/, Direction from, Picoseconds at) { signals_.add(slots_of(from), at, 1); }

void PeWaveform::slot_released(PeId /*pe*/, Direction from, Picoseconds at, const std::vector<Completion>& /*users*/) {
  signals_.add(slots_of(from), at, -1);
}

/// Its queues are empty: slots that were filled are free.
void PeWaveform::was_reset(PeId /*pe*/, const std::vector<Neighbour>& neighbours, Picoseconds at) {
  for (const Neighbour& neighbour : neighbours) signals_.set(slots_of(neighbour.direction), at, 0);
  signals_.set(scratch_bytes, at, 0);
  signals_.set(state, at, number_of(TimeCause::idle));
}

void PeWaveform::completed(const CompletedOperation& operation) {
  if (is_load(operation.descriptor)) signals_.add(outstanding_loads, operation.end, -1);
}

}  // namespace kernwave::traces
