// Taking a machine down. SystemC looks an object that is destroyed up from the end of its registries: in the reverse
// order of construction each is found at once, in any other the time grows with the square of the machine.
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "kernels/tl/launch.h"
#include "models/base/in_reverse.h"
#include "models/run/run.h"
#include "models/system/system.h"
#include "tests/support/child.h"

namespace kernwave::teardown_test {
namespace {

using testing::in_child;

/// Says when it is destroyed.
class Note {
 public:
  explicit Note(std::function<void()> tell) : tell_(std::move(tell)) {}
  Note(const Note&) = delete;
  Note& operator=(const Note&) = delete;
  ~Note() { tell_(); }

 private:
  std::function<void()> tell_;
};

TEST(Teardown, WhatIsOwnedInReverseGoesFromTheBack) {
  std::vector<int> gone;
  {
    InReverse<Note> notes;
    for (int i = 0; i < 4; ++i) notes.add([&gone, i] { gone.push_back(i); });
  }
  EXPECT_EQ(gone, (std::vector<int>{3, 2, 1, 0}));
}

/// The names of modules, ports and exports below an object, in the order of their construction.
void list_objects(const sc_core::sc_object& object, std::vector<std::string>& names) {
  names.emplace_back(object.name());
  for (const sc_core::sc_object* child : object.get_child_objects()) {
    const bool in_a_registry = dynamic_cast<const sc_core::sc_module*>(child) != nullptr ||
                               dynamic_cast<const sc_core::sc_port_base*>(child) != nullptr ||
                               dynamic_cast<const sc_core::sc_export_base*>(child) != nullptr;
    if (in_a_registry) list_objects(*child, names);
  }
}

/// How many of the names, from the first on, stand for an object; -1 if one behind them does too.
[[nodiscard]] std::int64_t standing(const std::vector<std::string>& names) {
  std::size_t first_gone = 0;
  while (first_gone < names.size() && sc_core::sc_find_object(names[first_gone].c_str()) != nullptr) ++first_gone;
  for (std::size_t i = first_gone; i < names.size(); ++i) {
    if (sc_core::sc_find_object(names[i].c_str()) != nullptr) return -1;
  }
  return static_cast<std::int64_t>(first_gone);
}

/// Takes a machine of six PEs down, and looks at what is left of it whenever a PE goes, which is when a program does
/// that it has not run.
void expect_reverse_order(ConstructionOrder order, bool simulated) {
  SystemConfig config;
  config.cubes = 3;
  config.pes_per_cube = 2;
  Connector connector;
  auto system = std::make_unique<System>("system", config, DataMode::none, connector, order);
  std::vector<std::string> names;
  list_objects(*system, names);
  const auto kernel = [](tl::Context& tl) { tl.full({16}, 1.0, DType::f32); };
  if (simulated) {
    for (std::int64_t id = 0; id < system->pe_count(); ++id) tl::launch(system->pe(PeId(id)), kernel);
    EXPECT_EQ(run_to_end(system->ledger()), RunEnd::finished);
  }
  std::vector<std::int64_t> left;
  for (std::int64_t id = 0; id < system->pe_count(); ++id) {
    const auto note = std::make_shared<Note>([&] { left.push_back(standing(names)); });
    tl::launch(system->pe(PeId(id)), [note, kernel](tl::Context& tl) { kernel(tl); });
  }
  EXPECT_EQ(standing(names), static_cast<std::int64_t>(names.size()));
  system.reset();
  // Each time all that was constructed later is gone, and all that was constructed earlier still there.
  ASSERT_EQ(left.size(), 6U);
  EXPECT_LT(left.front(), static_cast<std::int64_t>(names.size()));
  for (std::size_t i = 1; i < left.size(); ++i) EXPECT_LT(left[i], left[i - 1]);
  EXPECT_GT(left.back(), 0);
}

TEST(Teardown, AMachineGoesInTheReverseOrderOfItsConstruction) {
  for (const ConstructionOrder order :
       {ConstructionOrder::ascending, ConstructionOrder::descending, ConstructionOrder::interleaved}) {
    for (const bool simulated : {false, true}) {
      in_child([order, simulated] { expect_reverse_order(order, simulated); });
    }
  }
}

}  // namespace
}  // namespace kernwave::teardown_test
