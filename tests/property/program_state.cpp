#include "tests/property/program_state.h"

#include <algorithm>
#include <cmath>

#include "models/ipcq/topology.h"

namespace kernwave::testing {

namespace {

constexpr std::int64_t alignment = 64;

[[nodiscard]] std::int64_t aligned(std::int64_t bytes) { return ceil_div(bytes, alignment) * alignment; }

}  // namespace

bool View::dense() const noexcept {
  if (shape.rank() == 1) return strides[0] == 1 || shape[0] == 1;
  return (strides[0] == shape[1] || shape[0] == 1) && (strides[1] == 1 || shape[1] == 1);
}

bool View::repeats_elements() const noexcept {
  for (int axis = 0; axis < shape.rank(); ++axis) {
    if (shape[axis] > 1 && strides[static_cast<std::size_t>(axis)] == 0) return true;
  }
  return false;
}

std::optional<View> broadcast(const View& view, const tl::Shape& shape) {
  const int added = shape.rank() - view.shape.rank();
  if (added < 0) return std::nullopt;
  View wide = view;
  wide.shape = shape;
  wide.strides = {0, 0};
  for (int axis = 0; axis < view.shape.rank(); ++axis) {
    const int onto = axis + added;
    const bool stretched = view.shape[axis] == 1 && shape[onto] != 1;
    if (!stretched && view.shape[axis] != shape[onto]) return std::nullopt;
    wide.strides[static_cast<std::size_t>(onto)] = stretched ? 0 : view.strides[static_cast<std::size_t>(axis)];
  }
  return wide;
}

std::int64_t index_in_area(const Place& place, std::int64_t row, std::int64_t col) {
  return place.valid.rank() == 1 ? place.offset + col * place.stride : place.offset + row * place.stride + col;
}

tl::Shape shape_of(const Factor& factor) {
  return factor.transposed ? tl::Shape{factor.stored[1], factor.stored[0]} : factor.stored;
}

ProgramState::ProgramState(const Program& program)
    : machine_(program.machine),
      areas_(program.areas),
      pes_(static_cast<std::size_t>(program.machine.pes())),
      channels_(pes_.size() * direction_count),
      accesses_(program.areas.size()) {
  const SystemConfig config = machine_.config();
  neighbours_.resize(pes_.size());
  for (std::size_t pe = 0; pe < pes_.size(); ++pe) {
    const auto number = static_cast<std::int64_t>(pe);
    for (const Neighbour& other : neighbours(config, PeId(number))) {
      neighbours_[pe].at(static_cast<std::size_t>(other.direction)) = static_cast<int>(other.pe.count());
    }
    pes_[pe].capacity = machine_.scratch_for_tensors(number);
    pes_[pe].knows.resize(pes_.size());
  }
}

void ProgramState::apply(const Step& step) {
  require(step.pe >= 0 && step.pe < static_cast<int>(pes_.size()), "there is no such PE");
  switch (step.kind) {
    case StepKind::enter_scope:
      return pe_of(step).scopes.push_back({pe_of(step).live.size(), pe_of(step).top});
    case StepKind::leave_scope:
      return leave_scope(pe_of(step));
    case StepKind::buffer:
      return define(step, result(step, step.shape, step.dtype));
    case StepKind::load:
      return load(step);
    case StepKind::store:
      return store(step);
    case StepKind::wait:
      return wait(step);
    case StepKind::trans:
    case StepKind::slice:
    case StepKind::broadcast:
    case StepKind::expand_dims:
    case StepKind::reshape:
      return make_view(step);
    case StepKind::dot:
      return dot(step);
    case StepKind::math:
      return math(step);
    case StepKind::reduce:
      return reduce(step);
    case StepKind::staging:
      return staging(step);
    case StepKind::composite:
      return composite(step);
    case StepKind::send:
      return send(step);
    case StepKind::receive:
    case StepKind::receive_async:
      return receive(step);
  }
}

// ---- tensors and scopes

const View& ProgramState::view(ValueId value) const {
  const auto found = values_.find(value);
  require(found != values_.end(), "there is no such tensor");
  return found->second.view;
}

bool ProgramState::alive(ValueId value) const {
  const auto found = values_.find(value);
  return found != values_.end() && buffers_[found->second.view.buffer].alive;
}

std::vector<ValueId> ProgramState::tensors_of(int pe) const {
  std::vector<ValueId> found;
  for (const auto& [id, value] : values_) {
    if (value.pe == pe && buffers_[value.view.buffer].alive) found.push_back(id);
  }
  return found;
}

std::vector<ValueId> ProgramState::stagings_of(int pe) const {
  std::vector<ValueId> found;
  for (const auto& [id, area] : stagings_) {
    if (area.pe == pe && buffers_[area.buffer].alive) found.push_back(id);
  }
  return found;
}

std::int64_t ProgramState::free_scratch(int pe) const {
  const PeState& state = pes_.at(static_cast<std::size_t>(pe));
  return state.capacity - state.top;
}

void ProgramState::leave_scope(PeState& pe) {
  require(!pe.scopes.empty(), "no scope is open");
  const Scope scope = pe.scopes.back();
  pe.scopes.pop_back();
  while (pe.live.size() > scope.live) {
    Buffer& buffer = buffers_[pe.live.back()];
    pe.live.pop_back();
    buffer.alive = false;
    if (buffer.slot_of) channels_[*buffer.slot_of].messages[buffer.message].released = true;
  }
  pe.top = scope.top;
}

std::size_t ProgramState::allocate(int pe, std::int64_t elements, DType dtype) {
  PeState& state = pes_[static_cast<std::size_t>(pe)];
  const std::int64_t bytes = aligned(elements * size_of(dtype));
  require(elements > 0 && state.top + bytes <= state.capacity, "scratch does not suffice");
  state.top += bytes;
  Buffer buffer;
  buffer.elements = elements;
  buffer.dtype = dtype;
  buffers_.push_back(buffer);
  state.live.push_back(buffers_.size() - 1);
  return buffers_.size() - 1;
}

void ProgramState::define(const Step& step, const View& view) {
  require((step.result == no_value) == (step.target != no_value), "a step has a target or a new result");
  if (step.result == no_value) return;
  require(values_.emplace(step.result, Value{step.pe, view}).second, "the name is taken");
}

const View& ProgramState::use(const Step& step, ValueId value) {
  const auto found = values_.find(value);
  require(found != values_.end() && found->second.pe == step.pe, "there is no such tensor");
  Buffer& buffer = buffers_[found->second.view.buffer];
  require(buffer.alive, "the scope of the tensor has ended");
  require(buffer.written, "the tensor has no contents");
  buffer.unread = false;
  if (buffer.brings) {
    std::vector<std::int64_t>& knows = pe_of(step).knows;
    for (std::size_t i = 0; i < knows.size(); ++i) knows[i] = std::max(knows[i], (*buffer.brings)[i]);
    buffer.brings.reset();
  }
  return found->second.view;
}

View ProgramState::result(const Step& step, const tl::Shape& shape, DType dtype) {
  for (int axis = 0; axis < shape.rank(); ++axis) require(shape[axis] > 0, "an extent is at least 1");
  if (step.target == no_value) {
    View fresh;
    fresh.buffer = allocate(step.pe, shape.elements(), dtype);
    fresh.shape = shape;
    fresh.strides = {shape.rank() == 1 ? 1 : shape[1], 1};
    fresh.dtype = dtype;
    return fresh;
  }
  const auto found = values_.find(step.target);
  require(found != values_.end() && found->second.pe == step.pe, "there is no such target");
  const View& target = found->second.view;
  require(buffers_[target.buffer].alive, "the scope of the target has ended");
  require(!buffers_[target.buffer].slot_of, "a received message is not written");
  require(target.shape == shape && target.dtype == dtype, "the target has another shape or type");
  require(!target.repeats_elements(), "the target repeats elements");
  return target;
}

void ProgramState::written(const View& view, double bound, bool adds) {
  require(bound <= largest_in_scratch, "the values become too large");
  Buffer& buffer = buffers_[view.buffer];
  const bool whole = view.shape.elements() == buffer.elements;
  buffer.bound = whole && !adds ? bound : std::max(buffer.bound, bound);
  buffer.written = buffer.written || whole;
  buffer.unread = true;
}

// ---- memory

/// Two PEs may touch the same elements only in an order that messages make, unless both read.
void ProgramState::access(const Step& step, const Place& place, const tl::Shape& shape, DType dtype, bool writes) {
  require(place.area >= 0 && static_cast<std::size_t>(place.area) < areas_.size(), "there is no such area");
  const Area& area = areas_[static_cast<std::size_t>(place.area)];
  const tl::Shape& valid = place.valid;
  require(area.dtype == dtype, "the area has another type");
  require(valid.rank() == shape.rank() && valid.rows() >= 0 && valid.cols() >= 0 && valid.rows() <= shape.rows() &&
              valid.cols() <= shape.cols(),
          "the valid part does not lie inside");
  require(place.offset >= 0 && place.stride >= 0, "an offset or stride is negative");
  if (valid.rows() * valid.cols() == 0) return;
  require(!writes || place.stride >= (valid.rank() == 1 ? 1 : valid.cols()), "rows that are stored overlap");
  const std::int64_t last = index_in_area(place, valid.rows() - 1, valid.cols() - 1);
  require(last < area.elements, "the area ends before");
  PeState& pe = pe_of(step);
  auto& accesses = accesses_[static_cast<std::size_t>(place.area)];
  for (const Access& other : accesses) {
    if (other.pe == step.pe || (!writes && !other.writes) || other.last < place.offset || last < other.first) continue;
    require(other.number <= pe.knows[static_cast<std::size_t>(other.pe)], "another PE may touch it at the same time");
  }
  accesses.push_back({step.pe, ++pe.accesses, place.offset, last, writes});
}

void ProgramState::load(const Step& step) {
  const View target = result(step, step.shape, step.dtype);
  require(step.target == no_value || target.dense(), "a load goes into a dense tensor");
  require(step.other.has_value() || step.place.valid == step.shape, "what is not valid has no contents");
  access(step, step.place, step.shape, step.dtype, false);
  written(target, largest_in_hbm);
  define(step, target);
}

void ProgramState::store(const Step& step) {
  const View& source = use(step, step.operands.at(0).value);
  require(buffers_[source.buffer].bound <= largest_in_hbm, "the values are too large for HBM");
  access(step, step.place, source.shape, source.dtype, true);
  if (step.result != no_value) pendings_[step.result] = step.pe;
}

void ProgramState::wait(const Step& step) {
  const ValueId value = step.operands.at(0).value;
  const auto pending = pendings_.find(value);
  if (pending != pendings_.end()) return require(pending->second == step.pe, "another PE's operation");
  static_cast<void>(use(step, value));
}

// ---- views

void ProgramState::make_view(const Step& step) {
  const auto found = values_.find(step.operands.at(0).value);
  require(found != values_.end() && found->second.pe == step.pe, "there is no such tensor");
  View made = found->second.view;
  require(buffers_[made.buffer].alive, "the scope of the tensor has ended");
  const tl::Shape& shape = made.shape;
  switch (step.kind) {
    case StepKind::trans:
      require(shape.rank() == 2, "trans needs a matrix");
      made.shape = tl::Shape{shape[1], shape[0]};
      std::swap(made.strides[0], made.strides[1]);
      break;
    case StepKind::slice:
      require(step.begin >= 0 && step.begin < step.end && step.end <= shape[0], "the slice does not lie inside");
      made.offset += step.begin * made.strides[0];
      made.shape = shape.rank() == 1 ? tl::Shape{step.end - step.begin} : tl::Shape{step.end - step.begin, shape[1]};
      break;
    case StepKind::broadcast: {
      const auto wide = broadcast(made, step.shape);
      require(wide.has_value(), "the shape does not broadcast");
      made = *wide;
      break;
    }
    case StepKind::expand_dims:
      require(shape.rank() == 1 && (step.axis == 0 || step.axis == 1), "expand_dims needs a vector");
      made.strides = step.axis == 0 ? std::array<std::int64_t, 2>{0, made.strides[0]}
                                    : std::array<std::int64_t, 2>{made.strides[0], 0};
      made.shape = step.axis == 0 ? tl::Shape{1, shape[0]} : tl::Shape{shape[0], 1};
      break;
    default:
      require(made.dense() && step.shape.elements() == shape.elements() && step.shape[0] > 0, "cannot be reshaped");
      made.shape = step.shape;
      made.strides = {step.shape.rank() == 1 ? 1 : step.shape[1], 1};
      break;
  }
  define(step, made);
}

// ---- messages

std::optional<int> ProgramState::neighbour_of(int pe, Direction direction) const {
  return neighbours_.at(static_cast<std::size_t>(pe)).at(static_cast<std::size_t>(direction));
}

std::size_t ProgramState::link_to(int pe, Direction from) const {
  const auto sender = neighbour_of(pe, from);
  require(sender.has_value(), "there is no neighbour");
  return static_cast<std::size_t>(*sender) * direction_count + static_cast<std::size_t>(opposite(from));
}

std::int64_t ProgramState::waiting_messages(int pe, Direction from) const {
  const Channel& channel = channels_[link_to(pe, from)];
  return static_cast<std::int64_t>(channel.messages.size() - channel.received);
}

std::pair<std::int64_t, DType> ProgramState::next_message(int pe, Direction from) const {
  const Channel& channel = channels_[link_to(pe, from)];
  require(channel.received < channel.messages.size(), "no message has been sent");
  const Message& message = channel.messages[channel.received];
  return {message.elements, message.dtype};
}

/// Carried out one after another, no step may wait: then the PEs, which run at once, do not wait for ever.
void ProgramState::send(const Step& step) {
  require(!step.operands.empty() && step.operands.size() <= 4, "a message has 1 to 4 tensors");
  require(neighbour_of(step.pe, step.direction).has_value(), "there is no neighbour");
  Message message;
  for (const Argument& operand : step.operands) {
    const View& view = use(step, operand.value);
    require(view.dense(), "a message is made of dense tensors");
    require(message.elements == 0 || message.dtype == view.dtype, "a message has one type");
    message.dtype = view.dtype;
    message.elements += view.shape.elements();
    message.bound = std::max(message.bound, buffers_[view.buffer].bound);
  }
  require(message.elements * size_of(message.dtype) <= machine_.slot_bytes, "the message does not fit into a slot");
  Channel& channel =
      channels_[static_cast<std::size_t>(step.pe) * direction_count + static_cast<std::size_t>(step.direction)];
  // Slots fall free in order.
  const auto oldest = std::find_if(channel.messages.begin(), channel.messages.end(),
                                   [](const Message& sent) { return !sent.released; });
  const std::int64_t held = channel.messages.end() - oldest;
  require(held < machine_.queue_slots, "no slot is free");
  require(static_cast<std::int64_t>(channel.messages.size() - channel.received) < machine_.window,
          "the window is shut");
  message.knows = pe_of(step).knows;
  message.knows[static_cast<std::size_t>(step.pe)] = pe_of(step).accesses;
  channel.messages.push_back(message);
  if (step.result != no_value) pendings_[step.result] = step.pe;
}

void ProgramState::receive(const Step& step) {
  const std::size_t link = link_to(step.pe, step.direction);
  const auto [elements, dtype] = next_message(step.pe, step.direction);
  require(elements == step.shape.elements() && dtype == step.dtype, "the message is another");
  require(step.result != no_value && step.target == no_value, "a receive makes a tensor");
  const Message& message = channels_[link].messages[channels_[link].received];
  Buffer slot;
  slot.elements = elements;
  slot.dtype = dtype;
  slot.written = true;
  slot.bound = message.bound;
  slot.slot_of = link;
  slot.message = channels_[link].received++;
  slot.brings = message.knows;
  buffers_.push_back(slot);
  pe_of(step).live.push_back(buffers_.size() - 1);
  View view;
  view.buffer = buffers_.size() - 1;
  view.shape = step.shape;
  view.strides = {step.shape.rank() == 1 ? 1 : step.shape[1], 1};
  view.dtype = dtype;
  define(step, view);
  if (step.kind == StepKind::receive) static_cast<void>(use(step, step.result));
}

bool is_valid(const Program& program) {
  try {
    ProgramState state(program);
    for (const Step& step : program.steps) state.apply(step);
    return true;
  } catch (const InvalidStep&) {
    return false;
  }
}

}  // namespace kernwave::testing
