// Ends that are told ahead of time: announced with END_REQ where every link is time-transparent, and with BEGIN_RESP as
// annotated delay everywhere. Times are those of a machine that tells each at its instant.
#include <gtest/gtest.h>
#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>

#include <memory>
#include <string>
#include <vector>

#include "kernels/tl/launch.h"
#include "models/memory/hbm.h"
#include "models/pe/memory_request.h"
#include "models/run/run.h"
#include "models/system/system.h"
#include "tests/support/child.h"
#include "tests/support/quantities.h"
#include "traces/protocol_monitor.h"

namespace kernwave::announced_ends_test {
namespace {

using testing::in_child;

constexpr Picoseconds cycle(1'000);

/// Passes calls on, and makes responses take effect later.
class Interposer : public sc_core::sc_module {
 public:
  Interposer(const sc_core::sc_module_name& name, Picoseconds delay)
      : sc_module(name), from_initiator("from_initiator"), to_target("to_target"), delay_(delay) {
    from_initiator.register_nb_transport_fw(this, &Interposer::forward);
    to_target.register_nb_transport_bw(this, &Interposer::backward);
  }

  tlm_utils::simple_target_socket<Interposer> from_initiator;
  tlm_utils::simple_initiator_socket<Interposer> to_target;

 private:
  tlm::tlm_sync_enum forward(Payload& payload, tlm::tlm_phase& phase, sc_core::sc_time& delay) {
    const tlm::tlm_phase sent = phase;
    const tlm::tlm_sync_enum status = to_target->nb_transport_fw(payload, phase, delay);
    const bool responds = status == tlm::TLM_COMPLETED || (status == tlm::TLM_UPDATED && phase == tlm::BEGIN_RESP);
    if (sent == tlm::BEGIN_REQ && responds) delay += to_sc_time(delay_);
    return status;
  }
  tlm::tlm_sync_enum backward(Payload& payload, tlm::tlm_phase& phase, sc_core::sc_time& delay) {
    if (phase == tlm::BEGIN_RESP) delay += to_sc_time(delay_);
    return from_initiator->nb_transport_bw(payload, phase, delay);
  }

  Picoseconds delay_;
};

enum class Declared : std::uint8_t { no, time_transparent };

/// Puts an interposer into the link from the scheduler to the vector engine.
class Interposing : public Connector {
 public:
  Interposing(Picoseconds delay, Declared declared) : delay_(delay), declared_(declared) {}

  void connect(InitiatorSocket& initiator, TargetSocket& target, const std::string& name) override {
    if (name != "pe0.scheduler_to_math") return Connector::connect(initiator, target, name);
    interposer_ = std::make_unique<Interposer>("interposer", delay_);
    Connector::connect(initiator, interposer_->from_initiator, name);
    interposer_->to_target.bind(target);
    if (declared_ == Declared::time_transparent) declare_time_transparent(initiator, target);
  }

 private:
  Picoseconds delay_;
  Declared declared_;
  std::unique_ptr<Interposer> interposer_;
};

/// One PE; an operation takes 2 cycles of issue, 2 of dispatch and 1 of the vector engine.
[[nodiscard]] SystemConfig machine() {
  SystemConfig config;
  config.cubes = 1;
  config.pes_per_cube = 1;
  config.pe.math.cycles.copy = Cycles(1);
  return config;
}

void compute(tl::Context& tl, int operations) {
  for (int i = 0; i < operations; ++i) {
    const auto scope = tl.scratch_scope();
    tl.full({256}, 1.0, DType::f32);
  }
}

constexpr int operations = 1'000;

/// The end of that many operations; `connector` and `system` stay for the caller to look at.
[[nodiscard]] Picoseconds end_of(System& system, tl::Policy policy) {
  tl::launch(
      system.pe(PeId(0)), [](tl::Context& tl) { compute(tl, operations); }, policy);
  EXPECT_EQ(run_to_end(system.ledger()), RunEnd::finished);
  EXPECT_EQ(system.pe(PeId(0)).cpu().command_pool().in_use(), 0U);
  return system.ledger().end();
}

// By hand: each operation waits until the one before it has left the scratch that both use, so they take 5 cycles each.
constexpr Picoseconds end_by_hand = operations * 5 * cycle;

TEST(AnnouncedEnds, AProgramThatStallsOnUseMakesHardlyAnEventForWhatItComputes) {
  in_child([] {
    traces::MonitoringConnector connector;
    System system("system", machine(), DataMode::none, connector);
    EXPECT_EQ(end_of(system, tl::Policy::stall_on_use), end_by_hand);
    EXPECT_LT(sc_core::sc_delta_count(), operations / 50);
    EXPECT_EQ(connector.violations(), std::vector<std::string>());
    EXPECT_EQ(connector.in_flight(), 0U);
  });
}

TEST(AnnouncedEnds, AnObserverThatIsToldAtTheInstantsSeesTheSameEnd) {
  in_child([] {
    Connector connector;
    PeObserver observer;
    System system("system", machine(), DataMode::none, connector);
    system.set_observer(&observer);
    EXPECT_EQ(end_of(system, tl::Policy::stall_on_use), end_by_hand);
    EXPECT_GT(sc_core::sc_delta_count(), operations);
  });
}

TEST(AnnouncedEnds, NoLinkOfTheUsersIsReliedOnUnlessItSaysSo) {
  for (const Declared declared : {Declared::no, Declared::time_transparent}) {
    in_child([declared] {
      Interposing connector(Picoseconds(0), declared);
      System system("system", machine(), DataMode::none, connector);
      EXPECT_EQ(end_of(system, tl::Policy::stall_on_use), end_by_hand);
    });
  }
}

TEST(AnnouncedEnds, ALinkThatDelaysResponsesIsWaitedFor) {
  for (const tl::Policy policy : {tl::Policy::lazy, tl::Policy::stall_on_use}) {
    in_child([policy] {
      Interposing connector(7 * cycle, Declared::no);
      System system("system", machine(), DataMode::none, connector);
      EXPECT_EQ(end_of(system, policy), end_by_hand + operations * 7 * cycle);
    });
  }
}

TEST(AnnouncedEnds, ALinkThatIsDeclaredTimeTransparentAndDelaysResponsesIsAnErrorThatNamesIt) {
  in_child([] {
    Interposing connector(7 * cycle, Declared::time_transparent);
    System system("system", machine(), DataMode::none, connector);
    tl::launch(
        system.pe(PeId(0)), [](tl::Context& tl) { compute(tl, 1); }, tl::Policy::stall_on_use);
    try {
      (void)run_to_end(system.ledger());
      FAIL() << "the response came for another instant than announced";
    } catch (const sc_core::sc_report& report) {
      const std::string text = report.what();
      EXPECT_NE(text.find("system.cube0.pe0.cpu.commands"), std::string::npos) << text;
      // 2 cycles of issue, 2 of dispatch and 1 of the engine; 7 of the link.
      EXPECT_NE(text.find("was announced to end at 5000 ps and is answered for 12000 ps"), std::string::npos) << text;
    }
  });
}

// ---- memory

/// Sends reads of a region and notes what comes back, when it is said and for when.
class Reader : public sc_core::sc_module, private InitiatorPort::Client {
 public:
  struct Answer {
    Picoseconds said;
    Picoseconds at;
    friend bool operator==(const Answer& a, const Answer& b) { return a.said == b.said && a.at == b.at; }
    friend void PrintTo(const Answer& answer, std::ostream* out) {
      *out << answer.at.count() << " ps, said at " << answer.said.count() << " ps";
    }
  };

  Reader(const sc_core::sc_module_name& name, bool ahead) : sc_module(name), port_("port", *this), ahead_(ahead) {
    KERNWAVE_HAS_PROCESS(Reader);
    SC_METHOD(send);
    sensitive << send_;
  }

  void post(Bytes bytes) { to_send_.push_back(bytes); }
  [[nodiscard]] InitiatorSocket& socket() noexcept { return port_.socket(); }
  [[nodiscard]] const std::vector<Answer>& answers() const noexcept { return answers_; }
  [[nodiscard]] const std::vector<Picoseconds>& accepted() const noexcept { return accepted_; }

 private:
  void send() {
    while (!to_send_.empty() && !port_.busy()) {
      if (port_.free_at() > now()) return send_.notify(to_sc_time(port_.free_at() - now()));
      const Bytes bytes = to_send_.front();
      to_send_.erase(to_send_.begin());
      MemoryRequest& request = requests_.acquire();
      request.describe({HbmAddress(0), 1, bytes, bytes}, ahead_);
      prepare(request, tlm::TLM_READ_COMMAND, 0, request.buffer(bytes), static_cast<std::size_t>(bytes.count()));
      port_.send(request);
      if (!port_.busy()) accepted_.push_back(port_.free_at());
    }
  }
  void request_accepted(InitiatorPort& /*port*/) override {
    accepted_.push_back(now());
    send_.notify(sc_core::SC_ZERO_TIME);
  }
  void response(InitiatorPort& /*port*/, Payload& /*payload*/) override { answers_.push_back({now(), now()}); }
  [[nodiscard]] bool response_ahead(InitiatorPort& /*port*/, Payload& /*payload*/, Picoseconds at) override {
    answers_.push_back({now(), at});
    return true;
  }

  InitiatorPort port_;
  bool ahead_;
  MemoryRequestPool requests_;
  std::vector<Bytes> to_send_;
  std::vector<Answer> answers_;
  std::vector<Picoseconds> accepted_;
  sc_core::sc_event send_;
};

/// One channel of 10 GB/s: 100 ps a byte; the first data after 1 ns.
[[nodiscard]] HbmConfig slow_memory(std::int64_t queue_depth) {
  HbmConfig config;
  config.channels = 1;
  config.bandwidth = Bandwidth(10'000'000'000);
  config.latency = Picoseconds(1'000);
  config.queue_depth = queue_depth;
  return config;
}

TEST(AnnouncedEnds, AMemoryAnswersAsSoonAsItHasDecidedWhereTheRequestSaysSo) {
  for (const bool ahead : {false, true}) {
    in_child([ahead] {
      traces::MonitoringConnector connector;
      Hbm hbm("hbm", CubeId(0), slow_memory(8), DataMode::none, 1);
      Reader reader("reader", ahead);
      connector.connect(reader.socket(), hbm.socket(0), "reader_to_hbm");
      reader.post(Bytes(100));
      reader.post(Bytes(50));
      sc_core::sc_start();
      // By hand: both are eligible at 1 ns; the first one has its data after 10 ns, the second one 5 ns later.
      const Picoseconds first(11'000);
      const Picoseconds second(16'000);
      const Picoseconds decided(1'000);
      const std::vector<Reader::Answer> expected = {{ahead ? decided : first, first},
                                                    {ahead ? decided : second, second}};
      EXPECT_EQ(reader.answers(), expected);
      EXPECT_EQ(connector.violations(), std::vector<std::string>());
      EXPECT_EQ(connector.in_flight(), 0U);
    });
  }
}

TEST(AnnouncedEnds, ARequestThatIsAnsweredAheadKeepsItsPlaceInTheMemoryUntilItsEnd) {
  for (const bool ahead : {false, true}) {
    in_child([ahead] {
      traces::MonitoringConnector connector;
      Hbm hbm("hbm", CubeId(0), slow_memory(2), DataMode::none, 1);
      Reader reader("reader", ahead);
      connector.connect(reader.socket(), hbm.socket(0), "reader_to_hbm");
      for (int n = 0; n < 4; ++n) reader.post(Bytes(100));
      sc_core::sc_start();
      // Two places. The third request finds one when the first has ended, at 11 ns, and the fourth at 21 ns.
      const std::vector<Picoseconds> expected = {Picoseconds(0), Picoseconds(0), Picoseconds(11'000),
                                                 Picoseconds(21'000)};
      EXPECT_EQ(reader.accepted(), expected);
      EXPECT_EQ(reader.answers().back().at, Picoseconds(41'000));
      EXPECT_EQ(connector.violations(), std::vector<std::string>());
    });
  }
}

}  // namespace
}  // namespace kernwave::announced_ends_test
