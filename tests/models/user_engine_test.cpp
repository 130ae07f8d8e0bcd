// Engines of the user's, added to a machine or in the place of one of the model's: they serve a kernel's commands, and
// everything that watches a run shows them.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "kernels/tl/context.h"
#include "models/pe/shared_engine.h"
#include "platform/host/child_process.h"
#include "tests/support/child.h"
#include "tests/support/simulation.h"

namespace kernwave::user_engine_test {
namespace {

using testing::in_child;
using testing::one_cube;
using testing::Simulation;

constexpr Picoseconds cycle(1000);
constexpr Picoseconds dispatch = 2 * cycle;

/// What an engine does with a command: its result, if it computes one, and its time.
using Work = std::function<Picoseconds(tlm::tlm_generic_payload&)>;

/// Serves one command at a time, by `b_transport`; the socket turns the other style into it.
class BlockingEngine : public sc_core::sc_module {
 public:
  BlockingEngine(const sc_core::sc_module_name& name, Work work)
      : sc_module(name), socket("socket"), work_(std::move(work)) {
    socket.register_b_transport(this, &BlockingEngine::serve);
  }
  tlm_utils::simple_target_socket<BlockingEngine> socket;

 private:
  void serve(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
    sc_core::wait(delay);
    delay = sc_core::SC_ZERO_TIME;
    payload.set_response_status(tlm::TLM_OK_RESPONSE);
    sc_core::wait(to_sc_time(work_(payload)));
  }

  Work work_;
};

/// In which of the legal ways an engine of the non-blocking style answers.
enum class Style : std::uint8_t { accepts_late, answers_annotated, completes_annotated, by_phases };

/// Serves one command at a time, by `nb_transport_fw`.
class AtEngine : public sc_core::sc_module {
 public:
  AtEngine(const sc_core::sc_module_name& name, Style style, Picoseconds time)
      : sc_module(name), socket("socket"), style_(style), time_(time) {
    socket.register_nb_transport_fw(this, &AtEngine::forward);
    KERNWAVE_HAS_PROCESS(AtEngine);
    SC_METHOD(accept);
    sensitive << accept_;
    dont_initialize();
    SC_METHOD(answer);
    sensitive << answer_;
    dont_initialize();
  }
  tlm_utils::simple_target_socket<AtEngine> socket;

 private:
  tlm::tlm_sync_enum forward(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase, sc_core::sc_time& delay) {
    if (phase != tlm::BEGIN_REQ) return tlm::TLM_COMPLETED;  // END_RESP
    payload.set_response_status(tlm::TLM_OK_RESPONSE);
    const Picoseconds begins = std::max(now() + to_picoseconds(delay), free_);
    free_ = begins + time_;
    const sc_core::sc_time end = to_sc_time(free_ - now());
    switch (style_) {
      case Style::completes_annotated:
        delay = end;
        return tlm::TLM_COMPLETED;
      case Style::answers_annotated:
        phase = tlm::BEGIN_RESP;
        delay = end;
        return tlm::TLM_UPDATED;
      case Style::by_phases:
        payload.acquire();
        waiting_.push_back({&payload, free_});
        if (waiting_.size() == 1) answer_.notify(end);
        phase = tlm::END_REQ;
        return tlm::TLM_UPDATED;
      case Style::accepts_late:
        break;
    }
    payload.acquire();
    waiting_.push_back({&payload, free_});
    accept_.notify(end);  // the queue has one place
    return tlm::TLM_ACCEPTED;
  }
  void accept() {
    tlm::tlm_phase phase = tlm::END_REQ;
    sc_core::sc_time none = sc_core::SC_ZERO_TIME;
    socket->nb_transport_bw(*waiting_.front().payload, phase, none);
    answer_.notify(sc_core::SC_ZERO_TIME);
  }
  void answer() {
    tlm::tlm_phase phase = tlm::BEGIN_RESP;
    sc_core::sc_time none = sc_core::SC_ZERO_TIME;
    tlm::tlm_generic_payload* payload = waiting_.front().payload;
    waiting_.erase(waiting_.begin());
    socket->nb_transport_bw(*payload, phase, none);
    payload->release();
    const bool follows = style_ == Style::by_phases && !waiting_.empty();
    if (follows) answer_.notify(to_sc_time(waiting_.front().end - now()));
  }

  struct Waiting {
    tlm::tlm_generic_payload* payload;
    Picoseconds end;
  };
  Style style_;
  Picoseconds time_;
  Picoseconds free_;
  std::vector<Waiting> waiting_;
  sc_core::sc_event accept_;
  sc_core::sc_event answer_;
};

[[nodiscard]] Engine add_sorter(EngineList& list) {
  return list.add({0x6000, "sorter", "Sorter", "sorting engine", EngineColour::grey});
}

struct Order {
  bool descending = false;
};

/// Sorts the first tensor into the second, in 10 ns an element.
[[nodiscard]] Work sorting(Pe& pe) {
  return [&pe](tlm::tlm_generic_payload& payload) {
    const CallDescriptor& call = descriptor_of(payload).call();
    const auto count = static_cast<std::size_t>(call.tensors[0].elements());
    if (pe.scratch().mode() == DataMode::full) {
      std::vector<float> values(count);
      std::memcpy(values.data(), pe.scratch().tensor(call.tensors[0]).data, 4 * count);
      std::sort(values.begin(), values.end());
      if (call.parameters_as<Order>().descending) std::reverse(values.begin(), values.end());
      std::memcpy(pe.scratch().tensor(call.tensors[1]).data, values.data(), 4 * count);
    }
    return Picoseconds(10'000) * static_cast<std::int64_t>(count);
  };
}

const std::vector<float> unsorted{3, 1, 2, -4};

TEST(UserEngines, ServeCallsOfAKernelWithTheirHazards) {
  for (const tl::Policy policy : {tl::Policy::blocking, tl::Policy::lazy, tl::Policy::stall_on_use}) {
    in_child([policy] {
      EngineList list;
      const Engine sorter = add_sorter(list);
      Simulation simulation(one_cube(), DataMode::full, ConstructionOrder::ascending, list);
      BlockingEngine engine("sorting", sorting(simulation.pe()));
      simulation.monitor().connect(simulation.pe().engine_socket(sorter), engine.socket, "sorter_to_sorting");
      simulation.write(HbmAddress(0), DType::f32, unsorted);
      simulation.run(
          [sorter](tl::Context& tl) {
            const auto x = tl.load(HbmAddress(0), {4}, DType::f32);
            const auto sorted = tl.buffer({4}, DType::f32);
            tl.call(sorter, tl::Call().reads(x).writes(sorted).parameters(Order{true}).issue_cost(Cycles(5)));
            tl.store(HbmAddress(0x1000), sorted + 1.0);
          },
          policy);
      EXPECT_EQ(simulation.read(HbmAddress(0x1000), DType::f32, 4), (std::vector<float>{4, 3, 2, -3}));
      EXPECT_EQ(simulation.pe().statistics(sorter).operations, 1);
      EXPECT_EQ(simulation.pe().statistics(sorter).busy, Picoseconds(40'000));
      const std::vector<traces::OperationRow> rows = simulation.rows();
      const auto row = std::find_if(rows.begin(), rows.end(), [sorter](const traces::OperationRow& one) {
        return one.descriptor.engine == sorter;
      });
      ASSERT_NE(row, rows.end());
      EXPECT_EQ(describe(row->descriptor), "custom/sorter of 1x4 f32 to 1x4 f32");
      // By hand: issued for 5 cycles when the load is there, dispatched, served for 40 ns.
      const Picoseconds loaded = rows.front().end;
      EXPECT_EQ(row->issued, loaded + 5 * cycle);
      EXPECT_EQ(row->start, row->issued + dispatch);
      EXPECT_EQ(row->end, row->start + Picoseconds(40'000));
      EXPECT_EQ(simulation.critical_path().causes[static_cast<std::size_t>(traces::PathCause::added)],
                Picoseconds(40'000));
    });
  }
}

/// Three calls, one behind the other; every operation with its times.
[[nodiscard]] std::string run_of(Style style, tl::Policy policy) {
  return platform::text_from_child([style, policy] {
    EngineList list;
    const Engine sorter = add_sorter(list);
    Simulation simulation(one_cube(), DataMode::none, ConstructionOrder::ascending, list);
    AtEngine engine("sorting", style, Picoseconds(70'000));
    simulation.monitor().connect(simulation.pe().engine_socket(sorter), engine.socket, "sorter_to_sorting");
    simulation.run(
        [sorter](tl::Context& tl) {
          const auto x = tl.zeros({4}, DType::f32);
          for (int i = 0; i < 3; ++i) tl.call(sorter, tl::Call().reads(x).writes(tl.buffer({4}, DType::f32)));
          tl.call(sorter, tl::Call().reads(x).writes(x));
        },
        policy);
    return fmt::format("busy {}\n{}", simulation.pe().statistics(sorter).busy.count(), simulation.log_text());
  });
}

TEST(UserEngines, TakeTheSameTimeInWhateverLegalWayTheyAnswer) {
  for (const tl::Policy policy : {tl::Policy::lazy, tl::Policy::stall_on_use}) {
    const std::string expected = run_of(Style::completes_annotated, policy);
    EXPECT_EQ(expected.substr(0, expected.find('\n')), "busy 280000");
    EXPECT_EQ(run_of(Style::by_phases, policy), expected);
    EXPECT_EQ(run_of(Style::accepts_late, policy), expected);
    // With BEGIN_RESP in the return value, before its time, no other response may begin: one command at a time.
    if (policy != tl::Policy::lazy) continue;
    EXPECT_EQ(run_of(Style::answers_annotated, policy), expected);
  }
}

void products(tl::Context& tl) {
  const auto a = tl.load(HbmAddress(0), {16, 16}, DType::f16);
  const auto c = tl.dot(a, a);
  tl.dot(a, a, c);
  tl.store(HbmAddress(0x1000), c);
  const auto out = tl.buffer({16, 16}, DType::f32);
  const auto b = tl.ref(HbmAddress(0), {16, 16}, DType::f16);
  tl.composite(a, b, tl::CompositeOptions().out(out).tile(8).along(CompositeAxis::n));
  tl.store(HbmAddress(0x2000), out);
}

[[nodiscard]] std::vector<float> sixteenths() {
  std::vector<float> values(256);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i % 17) / 16.0F;
  return values;
}

TEST(UserEngines, InTheMatrixEnginesPlaceServeItsProductsAndThoseOfComposites) {
  for (const tl::Policy policy : {tl::Policy::lazy, tl::Policy::stall_on_use}) {
    in_child([policy] {
      EngineList list;
      list.replace(Engine::gemm, EngineData::model);
      Simulation simulation(one_cube(), DataMode::full, ConstructionOrder::ascending, list);
      AtEngine engine("array", Style::by_phases, Picoseconds(33'000));
      simulation.monitor().connect(simulation.pe().engine_socket(Engine::gemm), engine.socket, "gemm_to_array");
      simulation.write(HbmAddress(0), DType::f16, sixteenths());
      simulation.run(products, policy);
      EXPECT_EQ(simulation.pe().statistics(Engine::gemm).operations, 4);
      EXPECT_EQ(simulation.pe().statistics(Engine::gemm).busy, Picoseconds(4 * 33'000));
      EXPECT_EQ(simulation.pe().gemm_work().multiply_accumulates, 3 * 16 * 16 * 16);
      // The composite's product once, the kernel's own twice: computed by the model.
      const std::vector<float> once = simulation.read(HbmAddress(0x2000), DType::f32, 256);
      std::vector<float> twice = simulation.read(HbmAddress(0x1000), DType::f32, 256);
      for (float& value : twice) value /= 2;
      EXPECT_EQ(once, twice);  // sums of multiples of 1/256 below 32: exact
      EXPECT_GT(*std::max_element(once.begin(), once.end()), 1.0F);
    });
  }
}

TEST(UserEngines, ThatFailEndTheProgramWithTheirReason) {
  in_child([] {
    EngineList list;
    const Engine sorter = add_sorter(list);
    Simulation simulation(one_cube(), DataMode::full, ConstructionOrder::ascending, list);
    BlockingEngine engine("sorting", [](tlm::tlm_generic_payload& payload) {
      payload.set_response_status(tlm::TLM_GENERIC_ERROR_RESPONSE);
      payload.get_extension<ExecutionReport>()->problem = "sorts at most 2 elements";
      return Picoseconds(1'000);
    });
    simulation.monitor().connect(simulation.pe().engine_socket(sorter), engine.socket, "sorter_to_sorting");
    const std::string message = simulation.run_failing([sorter](tl::Context& tl) {
      const auto x = tl.zeros({4}, DType::f32);
      tl.wait(tl.call(sorter, tl::Call().reads(x).writes(x)));
    });
    EXPECT_NE(message.find("custom/sorter of 1x4 f32 to 1x4 f32, issued at "), std::string::npos) << message;
    EXPECT_NE(message.find(", sorts at most 2 elements"), std::string::npos) << message;
  });
}

/// Ends of a call of each PE of four, all issued in one instant, on one engine of 70 ns.
[[nodiscard]] std::string shared_run(ConstructionOrder order, Style style) {
  return platform::text_from_child([order, style] {
    EngineList list;
    const Engine sorter = add_sorter(list);
    Simulation simulation(one_cube(4), DataMode::none, order, list);
    SharedEngine shared("shared", 4);
    AtEngine engine("sorting", style, Picoseconds(70'000));
    for (const std::int64_t id : {2, 0, 3, 1}) {
      simulation.monitor().connect(simulation.pe(id).engine_socket(sorter), shared.socket(id), "to_shared");
    }
    simulation.monitor().connect(shared.engine_socket(), engine.socket, "to_sorting");
    simulation.run_grid({4, 1, 1}, [sorter](tl::Context& tl) {
      const auto x = tl.buffer({4}, DType::f32);
      tl.call(sorter, tl::Call().writes(x));
    });
    std::string text;
    for (const traces::OperationRow& row : simulation.rows()) {
      text += fmt::format("{} {}\n", row.descriptor.id.pe.count(), row.end.count());
    }
    return text;
  });
}

TEST(UserEngines, OfSeveralPesServeThemInTheOrderOfTimeAndNumber) {
  // By hand: issued for 2 cycles, dispatched in 2, chosen 1 ps later, then 70 ns each.
  const std::string expected = "0 74001\n1 144001\n2 214001\n3 284001\n";
  for (const ConstructionOrder order :
       {ConstructionOrder::ascending, ConstructionOrder::descending, ConstructionOrder::interleaved}) {
    EXPECT_EQ(shared_run(order, Style::by_phases), expected);
    EXPECT_EQ(shared_run(order, Style::completes_annotated), expected);
  }
}

TEST(UserEngines, AreCalledOnlyIfTheyWereAdded) {
  in_child([] {
    Simulation simulation;
    const std::string message = simulation.run_failing([](tl::Context& tl) {
      const auto x = tl.zeros({4}, DType::f32);
      tl.call(Engine::gemm, tl::Call().reads(x));
    });
    EXPECT_NE(message.find("engine 2 is none that was added to this PE"), std::string::npos) << message;
  });
}

}  // namespace
}  // namespace kernwave::user_engine_test
