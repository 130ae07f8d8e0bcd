// The table of engines, and the list of a machine's.
#include <gtest/gtest.h>

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "models/base/systemc.h"
#include "models/pe/pe_scheduler.h"
#include "models/protocol/engine.h"
#include "tests/support/at_initiator.h"
#include "tests/support/child.h"
#include "tests/support/simulation.h"
#include "tests/support/stub_memory.h"

namespace kernwave::engines_test {
namespace {

using testing::AnswerStyle;
using testing::AtInitiator;
using testing::in_child;
using testing::StubMemory;
using testing::StubTiming;

/// An engine that a list takes.
[[nodiscard]] AddedEngine sorter() { return {0x6000, "sorter", "Sorter", "sorting engine"}; }

/// An engine that takes any command, in 60 ns.
class AnyEngine : public sc_core::sc_module {
 public:
  explicit AnyEngine(const sc_core::sc_module_name& name) : sc_module(name), socket("socket") {
    socket.register_b_transport(this, &AnyEngine::serve);
  }
  tlm_utils::simple_target_socket<AnyEngine> socket;
  std::vector<std::uint64_t> doorbells;

 private:
  void serve(Payload& payload, sc_core::sc_time& delay) {
    doorbells.push_back(payload.get_address());
    delay += to_sc_time(Picoseconds(60'000));
    payload.set_response_status(tlm::TLM_OK_RESPONSE);
  }
};

TEST(Engines, HaveTheirDoorbellsInSteps) {
  EXPECT_EQ(doorbell(Engine::dma_read), 0x0000U);
  EXPECT_EQ(doorbell(Engine::dma_write), 0x1000U);
  EXPECT_EQ(doorbell(Engine::gemm), 0x2000U);
  EXPECT_EQ(doorbell(Engine::math), 0x3000U);
  EXPECT_EQ(doorbell(Engine::ipcq), 0x4000U);
  EXPECT_EQ(doorbell(Engine::composite), 0x5000U);
}

TEST(EngineLists, BeginWithTheEnginesThatEveryPeHas) {
  const EngineList list;
  ASSERT_EQ(list.size(), 6U);
  for (const EngineRow& row : engine_rows) {
    EXPECT_EQ(list[row.engine].name, row.name);
    ASSERT_NE(list.at_doorbell(row.doorbell), nullptr) << row.name;
    EXPECT_EQ(list.at_doorbell(row.doorbell)->name, row.name);
  }
}

TEST(EngineLists, NumberAnAddedEngineBehindTheOthersAndFindItAtItsDoorbellAlone) {
  EngineList list;
  AddedEngine engine = sorter();
  engine.doorbell = 0x9000;
  const Engine added = list.add(engine);
  EXPECT_EQ(static_cast<int>(added), 6);
  EXPECT_EQ(list[added].name, "sorter");
  EXPECT_EQ(list[added].counted, "sorter");
  ASSERT_NE(list.at_doorbell(0x9000), nullptr);
  EXPECT_EQ(list.at_doorbell(0x9000)->engine, added);
  for (const std::uint64_t address : {0x6000U, 0x8000U, 0x9001U, 0xA000U}) {
    EXPECT_EQ(list.at_doorbell(address), nullptr) << address;
  }
}

TEST(EngineLists, RefuseWhatIsNoEngineAndStayAsTheyAre) {
  struct Case {
    const char* what;
    void (*spoil)(AddedEngine&);
    const char* told;
  };
  const std::vector<Case> cases = {
      {"no title", [](AddedEngine& engine) { engine.title = ""; }, "needs a name, a title and words"},
      {"a name that is taken", [](AddedEngine& engine) { engine.name = "gemm"; }, "has the name of another engine"},
      {"a doorbell that is taken", [](AddedEngine& engine) { engine.doorbell = 0x3000; },
       "0x3000, which is that of \"math\""},
      {"a doorbell between two", [](AddedEngine& engine) { engine.doorbell = 0x6004; },
       "0x6004, not at a multiple of 0x1000"},
      {"a doorbell far away", [](AddedEngine& engine) { engine.doorbell = 0x1000000; }, "up to 0xfff000"}};
  EngineList list;
  for (const Case& test : cases) {
    AddedEngine engine = sorter();
    test.spoil(engine);
    try {
      list.add(engine);
      ADD_FAILURE() << test.what << " is taken";
    } catch (const std::invalid_argument& error) {
      EXPECT_NE(std::string(error.what()).find(test.told), std::string::npos) << test.what << ": " << error.what();
    }
    EXPECT_EQ(list.size(), 6U) << test.what;
  }
}

TEST(EngineLists, LeadTheSchedulerToAnAddedEngine) {
  in_child([] {
    EngineList list;
    const Engine added = list.add(sorter());
    PeConfig config;
    config.clock = Frequency(1'000'000'000);
    config.scheduler.dispatch_latency = Cycles(2);
    RunLedger ledger;
    PeScheduler scheduler("scheduler", config, ledger, list);
    AtInitiator program("program");
    StubTiming timing;
    timing.latency = Picoseconds(60'000);
    StubMemory dma("dma", AnswerStyle::completed_annotated, timing);
    StubMemory compute("compute", AnswerStyle::completed_annotated, timing);
    StubMemory queues("queues", AnswerStyle::completed_annotated, timing);
    AnyEngine own("own");
    program.socket().bind(scheduler.command_socket());
    scheduler.engine_socket(Engine::dma_read).bind(dma.read_socket());
    scheduler.engine_socket(Engine::dma_write).bind(dma.write_socket());
    scheduler.engine_socket(Engine::gemm).bind(compute.read_socket());
    scheduler.engine_socket(Engine::math).bind(compute.write_socket());
    scheduler.engine_socket(Engine::ipcq).bind(queues.read_socket());
    scheduler.engine_socket(added).bind(own.socket);  // the stubs have a second socket each
    AtInitiator idle_too("idle_too");
    idle_too.socket().bind(queues.write_socket());

    const std::vector<std::uint8_t> descriptor(sizeof(Descriptor));
    const auto& command = program.write(Picoseconds(0), HbmAddress(0x6000), descriptor);
    const auto& stray = program.write(Picoseconds(500'000), HbmAddress(0x7000), descriptor);
    sc_core::sc_start();

    // By hand: 2 cycles of dispatch, and 60 ns of the engine's own.
    EXPECT_EQ(command.response, Picoseconds(2'000 + 60'000));
    EXPECT_EQ(command.status(), tlm::TLM_OK_RESPONSE);
    EXPECT_EQ(own.doorbells, (std::vector<std::uint64_t>{0x6000}));
    EXPECT_EQ(stray.status(), tlm::TLM_ADDRESS_ERROR_RESPONSE);
  });
}

// A doorbell looks at a payload before it looks at its bytes.
TEST(Doorbells, AnswerWhatIsNoCommandWithAnError) {
  in_child([] {
    AtInitiator program("program");
    PeConfig config;
    RunLedger ledger;
    const EngineList list;
    PeScheduler scheduler("scheduler", config, ledger, list);
    StubMemory dma("dma", AnswerStyle::completed_at_once);
    StubMemory gemm("gemm", AnswerStyle::completed_at_once);
    AnyEngine math("math");
    StubMemory queues("queues", AnswerStyle::completed_at_once);
    AtInitiator idle("idle");
    idle.socket().bind(queues.write_socket());
    program.socket().bind(scheduler.command_socket());
    scheduler.engine_socket(Engine::dma_read).bind(dma.read_socket());
    scheduler.engine_socket(Engine::dma_write).bind(dma.write_socket());
    scheduler.engine_socket(Engine::gemm).bind(gemm.read_socket());
    scheduler.engine_socket(Engine::math).bind(math.socket);
    AtInitiator idle_too("idle_too");
    idle_too.socket().bind(gemm.write_socket());
    scheduler.engine_socket(Engine::ipcq).bind(queues.read_socket());
    const std::vector<std::uint8_t> whole(sizeof(Descriptor));
    const auto& command = program.write(Picoseconds(0), HbmAddress(0x3000), whole);
    const auto& shorter = program.write(Picoseconds(100'000), HbmAddress(0x3000), {1, 2, 3, 4});
    const auto& read = program.read(Picoseconds(200'000), HbmAddress(0x3000), Bytes(sizeof(Descriptor)));
    const auto& between = program.write(Picoseconds(300'000), HbmAddress(0x3008), whole);
    sc_core::sc_start();
    EXPECT_EQ(command.status(), tlm::TLM_OK_RESPONSE);
    EXPECT_EQ(shorter.status(), tlm::TLM_BURST_ERROR_RESPONSE);
    EXPECT_EQ(read.status(), tlm::TLM_COMMAND_ERROR_RESPONSE);
    EXPECT_EQ(between.status(), tlm::TLM_ADDRESS_ERROR_RESPONSE);
  });
}

TEST(EngineLists, LetTheMatrixAndTheVectorEngineBeReplacedAndNoOther) {
  EngineList list;
  list.replace(Engine::gemm, EngineData::model);
  EXPECT_TRUE(list.is_users(Engine::gemm));
  EXPECT_FALSE(list.is_users(Engine::math));
  EXPECT_THROW(list.replace(Engine::dma_read, EngineData::own), std::invalid_argument);
  EXPECT_FALSE(list.is_users(Engine::dma_read));
}

}  // namespace
}  // namespace kernwave::engines_test
