#include "tests/property/program_generator.h"

#include <algorithm>
#include <array>

#include "tests/property/step_maker.h"

namespace kernwave::testing {

namespace {

constexpr std::array<Direction, direction_count> all_directions = {Direction::north, Direction::south, Direction::east,
                                                                   Direction::west};

[[nodiscard]] Machine random_machine(RandomNumbers& random) {
  Machine machine;
  for (const Knob& knob : knobs()) machine.*knob.member = random.one_of(knob.choices);
  static const std::vector<std::int64_t> numbers_of_pes = {1, 1, 1, 2, 2, 3, 4};
  const std::int64_t pes = random.one_of(numbers_of_pes);
  const bool several_cubes = random.in_percent(50);
  machine.cubes = several_cubes ? pes : 1;
  if (pes == 4 && random.in_percent(40)) machine.cubes = 2;
  machine.pes_per_cube = pes / machine.cubes;
  // Slots of queues must leave something.
  if (machine.scratch_for_tensors(0) < 8192 || machine.scratch_for_tensors(pes - 1) < 8192) machine.scratch_kib = 64;
  return machine;
}

/// One of each type for each PE, and one for everybody, at addresses that are aligned to their elements alone.
[[nodiscard]] std::vector<Area> random_areas(const Machine& machine, RandomNumbers& random) {
  std::vector<Area> areas;
  std::vector<std::int64_t> ends(static_cast<std::size_t>(machine.cubes));
  for (std::int64_t owner = Area::everybody; owner < machine.pes(); ++owner) {
    for (const DType dtype : {DType::f32, DType::f16, DType::bf16}) {
      Area area;
      area.owner = owner;
      area.dtype = dtype;
      area.elements = random.between(250, 500);
      area.cube = owner == Area::everybody || random.in_percent(20) ? random.below(machine.cubes)
                                                                    : owner / machine.pes_per_cube;
      std::int64_t& end = ends.at(static_cast<std::size_t>(area.cube));
      area.base = end + random.between(0, 16) * size_of(dtype);
      end = ceil_div(area.base + area.elements * size_of(dtype), 4) * 4;
      areas.push_back(area);
    }
  }
  return areas;
}

class Generator {
 public:
  explicit Generator(std::uint64_t seed) : random_(seed), maker_(outline(seed), random_) {}

  [[nodiscard]] Program make();

 private:
  [[nodiscard]] Program outline(std::uint64_t seed) {
    Program program;
    program.machine = random_machine(random_);
    program.areas = random_areas(program.machine, random_);
    program.data_seed = static_cast<std::uint32_t>(seed * 64);
    return program;
  }
  [[nodiscard]] std::int64_t length() const { return static_cast<std::int64_t>(maker_.program().steps.size()); }

  void act(int pe);
  void act_alone(int pe);
  void leave_scope(int pe);
  void prefetch(int pe);
  void recycle(int pe);
  void send_or_receive(int pe);
  void receive(int pe, Direction from);
  void hand_over(int pe);

  RandomNumbers random_;
  StepMaker maker_;
};

void Generator::act_alone(int pe) {
  const std::int64_t choice = random_.below(100);
  if (choice < 18) {
    maker_.load(pe);
  } else if (choice < 32) {
    maker_.store(pe);
  } else if (choice < 44) {
    maker_.dot(pe);
  } else if (choice < 64) {
    maker_.math(pe);
  } else if (choice < 69) {
    maker_.reduce(pe);
  } else if (choice < 79) {
    maker_.view(pe);
  } else if (choice < 88) {
    maker_.composite(pe);
  } else if (choice < 91) {
    maker_.wait(pe);
  } else if (choice < 94) {
    const tl::Shape shape = maker_.shape();
    maker_.buffer(pe, shape, maker_.float_type());
  } else if (choice < 97 || maker_.state().open_scopes(pe) == 0) {
    maker_.enter_scope(pe);
  } else {
    leave_scope(pe);
  }
}

/// What has been made in the scope must show, or nobody would miss it.
void Generator::leave_scope(int pe) {
  for (std::int64_t stores = random_.below(3); stores > 0; --stores) maker_.store(pe);
  maker_.leave_scope(pe);
}

/// Tiles requested ahead into buffers in turn.
void Generator::prefetch(int pe) {
  const tl::Shape shape = maker_.shape();
  const DType dtype = maker_.float_type();
  const std::int64_t ahead = random_.between(1, 2);
  std::vector<ValueId> ring;
  for (std::int64_t i = 0; i <= ahead; ++i) {
    const auto buffer = maker_.buffer(pe, shape, dtype);
    if (!buffer) return;
    ring.push_back(*buffer);
  }
  const auto at = [&ring](std::int64_t step) { return ring[static_cast<std::size_t>(step) % ring.size()]; };
  for (std::int64_t step = 0; step < ahead; ++step) maker_.load(pe, shape, dtype, at(step));
  for (std::int64_t step = 0, steps = random_.between(2, 4); step < steps; ++step) {
    maker_.enter_scope(pe);
    maker_.load(pe, shape, dtype, at(step + ahead));
    if (random_.in_percent(70)) maker_.store(pe, at(step));
    act_alone(pe);
    if (maker_.state().open_scopes(pe) > 0) leave_scope(pe);
  }
}

/// Scopes that end with operations in flight, and whose bytes go to the next ones.
void Generator::recycle(int pe) {
  for (std::int64_t i = random_.between(2, 3); i > 0; --i) {
    maker_.enter_scope(pe);
    maker_.load(pe);
    act_alone(pe);
    maker_.store(pe);
    if (maker_.state().open_scopes(pe) > 0) maker_.leave_scope(pe);
  }
}

void Generator::receive(int pe, Direction from) {
  const bool scoped = random_.in_percent(80);
  if (scoped) maker_.enter_scope(pe);
  const auto message = maker_.receive(pe, from);
  if (message && random_.in_percent(50)) maker_.store(pe, *message);
  if (message && random_.in_percent(30)) {
    maker_.send(pe, random_.one_of(std::vector(all_directions.begin(), all_directions.end())));
  }
  act_alone(pe);
  if (scoped && maker_.state().open_scopes(pe) > 0) leave_scope(pe);
}

void Generator::send_or_receive(int pe) {
  for (const Direction direction : all_directions) {
    if (!maker_.state().neighbour_of(pe, direction) || random_.in_percent(40)) continue;
    if (maker_.state().waiting_messages(pe, direction) > 0) return receive(pe, direction);
    if (!maker_.send(pe, direction)) continue;
    const int peer = *maker_.state().neighbour_of(pe, direction);
    if (random_.in_percent(60)) receive(peer, opposite(direction));
    return;
  }
}

/// What a PE has stored before it sends is there for whoever has received the message.
void Generator::hand_over(int pe) {
  for (const Direction direction : all_directions) {
    const auto peer = maker_.state().neighbour_of(pe, direction);
    if (!peer || random_.in_percent(30)) continue;
    const auto value = maker_.pick(pe, [](const View& view) { return is_float(view.dtype); });
    if (!value || maker_.state().waiting_messages(*peer, opposite(direction)) > 0) return;
    const View view = maker_.state().view(*value);
    const Place place = maker_.place(pe, view.shape, view.dtype, true);
    if (!maker_.store_at(pe, *value, place) || !maker_.send(pe, direction)) return;
    receive(*peer, opposite(direction));
    Step load;
    load.kind = StepKind::load;
    load.pe = *peer;
    load.place = place;
    load.shape = view.shape;
    load.dtype = view.dtype;
    load.other = 1.5;
    if (const auto handed = maker_.add(load)) maker_.store(*peer, *handed);
    return;
  }
}

void Generator::act(int pe) {
  const std::int64_t choice = random_.below(100);
  const bool has_neighbours = maker_.program().machine.pes() > 1;
  if (has_neighbours && choice < 20) return send_or_receive(pe);
  if (has_neighbours && choice < 26) return hand_over(pe);
  if (choice >= 97) return prefetch(pe);
  if (choice >= 93) return recycle(pe);
  act_alone(pe);
}

Program Generator::make() {
  const auto pes = static_cast<int>(maker_.program().machine.pes());
  const std::int64_t wanted = random_.between(8, 28) + 6 * pes;
  for (int pe = 0; pe < pes; ++pe) maker_.load(pe);
  int pe = 0;
  for (int tries = 0; tries < 200 && length() < wanted; ++tries) {
    if (random_.in_percent(30)) pe = static_cast<int>(random_.below(pes));
    act(pe);
  }
  for (pe = 0; pe < pes; ++pe) {
    while (maker_.state().open_scopes(pe) > 0) leave_scope(pe);
    for (int stores = 0; stores < 3; ++stores) maker_.store(pe);
  }
  return maker_.program();
}

}  // namespace

Program generate(std::uint64_t seed) { return Generator(seed).make(); }

}  // namespace kernwave::testing
