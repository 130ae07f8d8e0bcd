// The protocol monitor sees what is forbidden: a violation planted for every rule.
#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <string>
#include <vector>

#include "models/protocol/initiator_port.h"
#include "models/protocol/target_port.h"
#include "tests/support/child.h"
#include "traces/protocol_monitor.h"

namespace kernwave::protocol_monitor_test {
namespace {

using testing::in_child;

/// A payload whose references are counted and whose end nobody cares for.
class Carrier : public tlm::tlm_mm_interface {
 public:
  Carrier() : payload(this) {
    payload.set_command(tlm::TLM_READ_COMMAND);
    payload.set_data_ptr(data.data());
    payload.set_data_length(4);
    payload.set_streaming_width(4);
    payload.acquire();
  }

  std::array<unsigned char, 4> data{};
  Payload payload;

 private:
  void free(Payload* /*payload*/) override {}
};

/// What the other side of a call says.
struct Answer {
  tlm::tlm_sync_enum status = tlm::TLM_ACCEPTED;
  tlm::tlm_phase phase = tlm::UNINITIALIZED_PHASE;  // leave it
  Picoseconds delay{0};
  bool serves = false;  ///< sets a response status
};

/// An initiator, a monitor and a target that do as they are told.
class Bench : public sc_core::sc_module {
 public:
  explicit Bench(const sc_core::sc_module_name& name)
      : sc_module(name), monitor("monitor", "link"), from("from"), to("to") {
    from.bind(monitor.from_initiator());
    monitor.to_target().bind(to);
    from.register_nb_transport_bw(this, &Bench::answer);
    to.register_nb_transport_fw(this, &Bench::answer);
    to.register_b_transport(this, &Bench::answer_blocking);
  }

  void forward(Payload& payload, tlm::tlm_phase phase, const Answer& said = {}, Picoseconds delay = Picoseconds(0)) {
    next = said;
    sc_core::sc_time annotated = to_sc_time(delay);
    from->nb_transport_fw(payload, phase, annotated);
  }
  void backward(Payload& payload, tlm::tlm_phase phase, const Answer& said = {}, Picoseconds delay = Picoseconds(0)) {
    next = said;
    sc_core::sc_time annotated = to_sc_time(delay);
    to->nb_transport_bw(payload, phase, annotated);
  }

  // Whole exchanges, legal ones.
  void request(Payload& payload) {
    payload.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
    forward(payload, tlm::BEGIN_REQ);
  }
  void accepted_request(Payload& payload) {
    request(payload);
    backward(payload, tlm::END_REQ);
  }
  void response(Payload& payload, const Answer& said = {}, Picoseconds delay = Picoseconds(0)) {
    payload.set_response_status(tlm::TLM_OK_RESPONSE);
    backward(payload, tlm::BEGIN_RESP, said, delay);
  }

  traces::ProtocolMonitor monitor;
  tlm_utils::simple_initiator_socket<Bench> from;
  tlm_utils::simple_target_socket<Bench> to;
  Answer next;
  tlm::tlm_response_status blocking_status = tlm::TLM_OK_RESPONSE;
  Carrier a;
  Carrier b;

 private:
  tlm::tlm_sync_enum answer(Payload& payload, tlm::tlm_phase& phase, sc_core::sc_time& delay) {
    if (next.serves) payload.set_response_status(tlm::TLM_OK_RESPONSE);
    if (next.phase != tlm::UNINITIALIZED_PHASE) phase = next.phase;
    delay += to_sc_time(next.delay);
    return next.status;
  }
  void answer_blocking(Payload& payload, sc_core::sc_time& /*delay*/) { payload.set_response_status(blocking_status); }
};

/// Runs a script on a bench, in a process of a simulation; returns what the monitor says.
[[nodiscard]] std::vector<std::string> violations_of(const std::function<void(Bench&)>& script) {
  Bench bench("bench");
  sc_core::sc_spawn([&] { script(bench); }, "script");
  sc_core::sc_start();
  return bench.monitor.violations();
}

struct Planted {
  const char* name;
  std::string rule;  ///< part of the sentence that the monitor must say
  std::function<void(Bench&)> script;

  friend void PrintTo(const Planted& planted, std::ostream* out) { *out << planted.name; }
};

const Picoseconds later(5'000);

[[nodiscard]] Answer updated(tlm::tlm_phase phase, Picoseconds delay = Picoseconds(0)) {
  return Answer{tlm::TLM_UPDATED, phase, delay, false};
}
[[nodiscard]] Answer completed() { return Answer{tlm::TLM_COMPLETED, tlm::UNINITIALIZED_PHASE, Picoseconds(0), false}; }

[[nodiscard]] std::vector<Planted> planted_violations() {
  return {
      {"SecondRequest", "BEGIN_REQ before END_REQ",
       [](Bench& bench) {
         bench.request(bench.a.payload);
         bench.request(bench.b.payload);
       }},
      {"PayloadInFlight", "still in flight",
       [](Bench& bench) {
         bench.accepted_request(bench.a.payload);
         bench.request(bench.a.payload);
       }},
      {"StaleStatus", "other than TLM_INCOMPLETE_RESPONSE",
       [](Bench& bench) {
         bench.a.payload.set_response_status(tlm::TLM_OK_RESPONSE);
         bench.forward(bench.a.payload, tlm::BEGIN_REQ);
       }},
      {"NoMemoryManager", "nobody holds",
       [](Bench& bench) {
         Payload payload;
         payload.set_data_ptr(bench.a.data.data());
         payload.set_data_length(4);
         bench.request(payload);
       }},
      {"NotAcquired", "nobody holds",
       [](Bench& bench) {
         bench.a.payload.release();
         bench.request(bench.a.payload);
       }},
      {"NoData", "without data",
       [](Bench& bench) {
         bench.a.payload.set_data_length(0);
         bench.request(bench.a.payload);
       }},
      {"RequestBackInTime", "BEGIN_REQ earlier than a phase of the request before it",
       [](Bench& bench) {
         bench.a.payload.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
         bench.forward(bench.a.payload, tlm::BEGIN_REQ, updated(tlm::END_REQ, later));
         bench.request(bench.b.payload);
       }},
      {"WrongPhaseForward", "a phase on the forward path",
       [](Bench& bench) { bench.forward(bench.a.payload, tlm::END_REQ); }},
      {"WrongPhaseBackward", "a phase on the backward path",
       [](Bench& bench) {
         bench.accepted_request(bench.a.payload);
         bench.backward(bench.a.payload, tlm::END_RESP);
       }},
      {"WrongAnswerToRequest", "BEGIN_REQ answered with a phase that is not the target's",
       [](Bench& bench) {
         bench.a.payload.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
         bench.forward(bench.a.payload, tlm::BEGIN_REQ, updated(tlm::END_RESP));
       }},
      {"EndReqTwice", "END_REQ out of order",
       [](Bench& bench) {
         bench.accepted_request(bench.a.payload);
         bench.request(bench.b.payload);
         bench.backward(bench.a.payload, tlm::END_REQ);
       }},
      {"EndReqForAnother", "END_REQ for a request that is not in its request phase",
       [](Bench& bench) {
         bench.accepted_request(bench.a.payload);
         bench.backward(bench.a.payload, tlm::END_REQ);
       }},
      {"EndReqBeforeBeginReq", "END_REQ earlier than its BEGIN_REQ",
       [](Bench& bench) {
         bench.a.payload.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
         bench.forward(bench.a.payload, tlm::BEGIN_REQ, {}, later);
         bench.backward(bench.a.payload, tlm::END_REQ);
       }},
      {"EndReqAnswered", "END_REQ answered with something other than TLM_ACCEPTED",
       [](Bench& bench) {
         bench.request(bench.a.payload);
         bench.backward(bench.a.payload, tlm::END_REQ, completed());
       }},
      {"ResponseWithoutRequest", "BEGIN_RESP out of order", [](Bench& bench) { bench.response(bench.a.payload); }},
      {"ResponseTwice", "BEGIN_RESP out of order",
       [](Bench& bench) {
         bench.accepted_request(bench.a.payload);
         bench.response(bench.a.payload);
         bench.response(bench.a.payload);
       }},
      {"SecondResponse", "BEGIN_RESP before END_RESP",
       [](Bench& bench) {
         bench.accepted_request(bench.a.payload);
         bench.accepted_request(bench.b.payload);
         bench.response(bench.a.payload);
         bench.response(bench.b.payload);
       }},
      {"ResponseWithoutStatus", "BEGIN_RESP without a response status",
       [](Bench& bench) {
         bench.accepted_request(bench.a.payload);
         bench.backward(bench.a.payload, tlm::BEGIN_RESP);
       }},
      {"ResponseBackInTime", "BEGIN_RESP earlier than END_RESP of the response before it",
       [](Bench& bench) {
         bench.accepted_request(bench.a.payload);
         bench.accepted_request(bench.b.payload);
         bench.response(bench.a.payload, updated(tlm::END_RESP, later));
         bench.response(bench.b.payload);
       }},
      {"ChangedLength", "changed in flight",
       [](Bench& bench) {
         bench.accepted_request(bench.a.payload);
         bench.a.payload.set_data_length(2);
         bench.response(bench.a.payload);
       }},
      {"WrongAnswerToResponse", "BEGIN_RESP answered with a phase that is not the initiator's",
       [](Bench& bench) {
         bench.accepted_request(bench.a.payload);
         bench.response(bench.a.payload, updated(tlm::END_REQ));
       }},
      {"EndRespWithoutResponse", "END_RESP for a response that was not begun",
       [](Bench& bench) {
         bench.accepted_request(bench.a.payload);
         bench.forward(bench.a.payload, tlm::END_RESP);
       }},
      {"EndRespBeforeBeginResp", "END_RESP earlier than its BEGIN_RESP",
       [](Bench& bench) {
         bench.accepted_request(bench.a.payload);
         bench.response(bench.a.payload, {}, later);
         bench.forward(bench.a.payload, tlm::END_RESP, completed());
       }},
      {"EndRespUpdated", "END_RESP answered with TLM_UPDATED",
       [](Bench& bench) {
         bench.accepted_request(bench.a.payload);
         bench.response(bench.a.payload);
         bench.forward(bench.a.payload, tlm::END_RESP, updated(tlm::END_RESP));
       }},
      {"CompletedWithoutStatus", "TLM_COMPLETED without a response status",
       [](Bench& bench) {
         bench.a.payload.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
         bench.forward(bench.a.payload, tlm::BEGIN_REQ, completed());
       }},
      {"BlockingStaleStatus", "b_transport with a response status",
       [](Bench& bench) {
         sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
         bench.a.payload.set_response_status(tlm::TLM_OK_RESPONSE);
         bench.from->b_transport(bench.a.payload, delay);
       }},
      {"BlockingWithoutStatus", "b_transport returned without a response",
       [](Bench& bench) {
         sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
         bench.blocking_status = tlm::TLM_INCOMPLETE_RESPONSE;
         bench.from->b_transport(bench.a.payload, delay);
       }},
  };
}

class PlantedViolation : public ::testing::TestWithParam<Planted> {};

TEST_P(PlantedViolation, IsReportedWithLinkAndTime) {
  const Planted& planted = GetParam();
  in_child([&planted] {
    const auto violations = violations_of([&planted](Bench& bench) {
      sc_core::wait(to_sc_time(Picoseconds(1'234)));
      planted.script(bench);
    });
    ASSERT_FALSE(violations.empty());
    bool said = false;
    for (const std::string& violation : violations) {
      EXPECT_EQ(violation.find("link at 1234 ps: "), 0U) << violation;
      said = said || violation.find(planted.rule) != std::string::npos;
    }
    EXPECT_TRUE(said) << violations.front();
  });
}

INSTANTIATE_TEST_SUITE_P(ProtocolMonitor, PlantedViolation, ::testing::ValuesIn(planted_violations()),
                         [](const ::testing::TestParamInfo<Planted>& instance) {
                           return std::string(instance.param.name);
                         });

TEST(ProtocolMonitor, LegalExchangesBreakNoRule) {
  in_child([] {
    const auto violations = violations_of([](Bench& bench) {
      Payload& a = bench.a.payload;
      Payload& b = bench.b.payload;
      // Four phases, each by its own call; the next request overlaps the response.
      bench.accepted_request(a);
      bench.accepted_request(b);
      bench.response(b);
      bench.forward(b, tlm::END_RESP, completed());
      bench.response(a, completed());
      // END_REQ in the return value, END_RESP in the return value, both in the future.
      a.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
      bench.forward(a, tlm::BEGIN_REQ, updated(tlm::END_REQ, later));
      sc_core::wait(to_sc_time(later));
      bench.response(a, updated(tlm::END_RESP, later));
      sc_core::wait(to_sc_time(later));
      // A response that implies the end of its request.
      bench.request(a);
      bench.response(a, completed());
      // A response in the return value, later, and its END_RESP then; an early completion.
      a.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
      bench.forward(a, tlm::BEGIN_REQ, Answer{tlm::TLM_UPDATED, tlm::BEGIN_RESP, later, true});
      sc_core::wait(to_sc_time(later));
      bench.forward(a, tlm::END_RESP, completed());
      a.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
      bench.forward(a, tlm::BEGIN_REQ, Answer{tlm::TLM_COMPLETED, tlm::UNINITIALIZED_PHASE, later, true});
      // b_transport
      a.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
      sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
      bench.from->b_transport(a, delay);
    });
    EXPECT_EQ(violations, std::vector<std::string>());
  });
}

DECLARE_EXTENDED_PHASE(data_chunk);  // an ignorable one

TEST(ProtocolMonitor, AllowsWhatAnInterconnectAndAnExtensionMayDo) {
  in_child([] {
    const auto violations = violations_of([](Bench& bench) {
      Payload& a = bench.a.payload;
      // The address changes on its way, and phases that the base protocol does not know pass between the others.
      bench.accepted_request(a);
      a.set_address(64);
      bench.forward(a, data_chunk);
      bench.backward(a, data_chunk);
      bench.response(a, completed());
      tlm::tlm_dmi dmi;
      EXPECT_FALSE(bench.from->get_direct_mem_ptr(a, dmi));
      bench.to->invalidate_direct_mem_ptr(0, 64);
    });
    EXPECT_EQ(violations, std::vector<std::string>());
  });
}

/// An initiator and a target of the model, whose clients note what they are told.
class Ports : public sc_core::sc_module, private InitiatorPort::Client, private TargetPort::Client {
 public:
  explicit Ports(const sc_core::sc_module_name& name)
      : sc_module(name),
        initiator("initiator", static_cast<InitiatorPort::Client&>(*this)),
        target("target", static_cast<TargetPort::Client&>(*this)) {
    initiator.socket().bind(target.socket());
  }
  InitiatorPort initiator;
  TargetPort target;
  int requests = 0;
  int responses = 0;

 private:
  std::optional<Picoseconds> request(TargetPort& /*port*/, Payload& /*payload*/, Picoseconds at) override {
    ++requests;
    return at;
  }
  void request_accepted(InitiatorPort& /*port*/) override {}
  void response(InitiatorPort& /*port*/, Payload& /*payload*/) override { ++responses; }
};

TEST(Ports, IgnorePhasesThatExtendTheProtocol) {
  in_child([] {
    Ports ports("ports");
    Carrier carrier;
    sc_core::sc_spawn([&] {
      tlm::tlm_phase phase = data_chunk;
      sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
      ports.initiator.send(carrier.payload);
      EXPECT_EQ(ports.initiator.socket()->nb_transport_fw(carrier.payload, phase, delay), tlm::TLM_ACCEPTED);
      EXPECT_EQ(ports.target.socket()->nb_transport_bw(carrier.payload, phase, delay), tlm::TLM_ACCEPTED);
      carrier.payload.set_response_status(tlm::TLM_OK_RESPONSE);
      ports.target.respond(carrier.payload);
    });
    sc_core::sc_start();
    EXPECT_EQ(ports.requests, 1);
    EXPECT_EQ(ports.responses, 1);
  });
}

}  // namespace
}  // namespace kernwave::protocol_monitor_test
