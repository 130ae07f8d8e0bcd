// A bridge between sockets of different widths changes no call and no time.
#include <gtest/gtest.h>

#include <vector>

#include "models/memory/hbm.h"
#include "models/protocol/width_adaptor.h"
#include "tests/support/at_initiator.h"
#include "tests/support/child.h"

namespace kernwave::width_adaptor_test {
namespace {

using testing::AtInitiator;
using testing::EndResponse;
using testing::in_child;

constexpr Bytes capacity(1 << 20);

[[nodiscard]] HbmConfig memory() {
  HbmConfig config;
  config.capacity = capacity;
  config.queue_depth = 2;  // END_REQ is withheld at times
  return config;
}

/// Where and when each phase of some requests took effect.
using Phases = std::vector<std::optional<Picoseconds>>;

[[nodiscard]] Phases phases_of(AtInitiator& initiator) {
  std::vector<AtInitiator::Transaction*> transactions;
  for (std::int64_t i = 0; i < 6; ++i) {
    transactions.push_back(&initiator.write(Picoseconds(1'000 * i), HbmAddress(4096 * static_cast<unsigned>(i)),
                                            std::vector<std::uint8_t>(4096, static_cast<std::uint8_t>(i + 1))));
    transactions.push_back(
        &initiator.read(Picoseconds(1'000 * i), HbmAddress(4096 * static_cast<unsigned>(i)), Bytes(4096)));
  }
  sc_core::sc_start();
  Phases phases;
  for (const AtInitiator::Transaction* transaction : transactions) {
    EXPECT_EQ(transaction->status(), tlm::TLM_OK_RESPONSE);
    phases.push_back(transaction->end_request);
    phases.push_back(transaction->response);
  }
  EXPECT_EQ(transactions.back()->data, std::vector<std::uint8_t>(4096, 6));
  return phases;
}

[[nodiscard]] std::string text_of(const Phases& phases) {
  std::string text;
  for (const auto& phase : phases) text += std::to_string(phase ? phase->count() : -1) + " ";
  return text;
}

TEST(WidthAdaptor, ToFiveHundredBitsAndBackChangesNoTime) {
  const std::string direct = testing::from_child([] {
    Hbm hbm("hbm", CubeId(0), memory(), DataMode::full, 1);
    AtInitiator initiator("initiator", EndResponse::accepted, Picoseconds(300));
    initiator.socket().bind(hbm.socket(0));
    return text_of(phases_of(initiator));
  });
  const std::string bridged = testing::from_child([] {
    Hbm hbm("hbm", CubeId(0), memory(), DataMode::full, 1);
    AtInitiator initiator("initiator", EndResponse::accepted, Picoseconds(300));
    WidthAdaptor<32, 512> widens("widens");
    WidthAdaptor<512, 64> narrows("narrows");
    WidthAdaptor<64, 32> narrows_again("narrows_again");
    initiator.socket().bind(widens.input);
    widens.output.bind(narrows.input);
    narrows.output.bind(narrows_again.input);
    narrows_again.output.bind(hbm.socket(0));
    return text_of(phases_of(initiator));
  });
  EXPECT_FALSE(direct.empty());
  EXPECT_EQ(bridged, direct);
}

/// A port of 64 bits.
struct WidePort : sc_core::sc_module {
  explicit WidePort(const sc_core::sc_module_name& name) : sc_module(name) {}
  tlm_utils::simple_initiator_socket<WidePort, 64> socket{"socket"};
};

TEST(WidthAdaptor, PassesDebugAccessesAndDirectMemoryOn) {
  in_child([] {
    Hbm hbm("hbm", CubeId(0), memory(), DataMode::full, 1);
    hbm.allow_direct_memory();
    WidthAdaptor<64, 32> narrows("narrows");
    WidePort port("port");
    auto& wide = port.socket;
    wide.bind(narrows.input);
    narrows.output.bind(hbm.socket(0));
    std::vector<std::uint8_t> data{1, 2, 3, 4};
    tlm::tlm_generic_payload payload;
    payload.set_command(tlm::TLM_WRITE_COMMAND);
    payload.set_address(64);
    payload.set_data_ptr(data.data());
    payload.set_data_length(4);
    payload.set_streaming_width(4);
    EXPECT_EQ(wide->transport_dbg(payload), 4U);
    tlm::tlm_dmi dmi;
    ASSERT_TRUE(wide->get_direct_mem_ptr(payload, dmi));
    EXPECT_EQ(dmi.get_dmi_ptr()[64 + 2], 3);
  });
}

}  // namespace
}  // namespace kernwave::width_adaptor_test
