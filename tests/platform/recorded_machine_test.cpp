// The machine of a result document, from the texts in which its numbers are recorded.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "platform/config/configuration.h"
#include "platform/results/recorded_machine.h"

namespace kernwave::platform::recorded_machine_test {
namespace {

[[nodiscard]] Json document_of(const SystemConfig& machine) {
  Json config = Json::object({{"preset", "ahbm"}});
  for (const ConfigurationValue& value : configuration_values(machine)) config[value.path] = value.value;
  return Json::object({{"config", config}});
}

TEST(RecordedMachines, AreThoseOfTheRunInEveryKey) {
  const std::vector<ConfigurationRequest> requests = {
      {"ahbm", {}},
      {"ahbm-ws",
       {"pe.dma.burst=64 B", "pe.dma.max_outstanding=4096", "ipcq.topology=mesh", "ipcq.slot_bytes=4 KiB",
        "hbm.efficiency=0.333333", "hbm.bandwidth=1234567.891 KB/s", "run.no_progress_limit=never",
        "pe.dma.overlap_commands=false"}}};
  for (const ConfigurationRequest& request : requests) {
    const SystemConfig machine = load_configuration(request).system;
    const Json recorded = document_of(recorded_machine(document_of(machine)));
    EXPECT_EQ(recorded, document_of(machine)) << request.source;
  }
}

TEST(RecordedMachines, HaveTheDefaultsOfKeysThatTheDocumentLacks) {
  const SystemConfig machine = recorded_machine(Json::object({{"config", Json::object({{"hbm.channels", "4"}})}}));
  EXPECT_EQ(machine.hbm.channels, 4);
  EXPECT_EQ(machine.hbm.bandwidth, SystemConfig().hbm.bandwidth);
  EXPECT_DOUBLE_EQ(channel_bandwidth(machine), 819.2e9 / 4);
}

TEST(RecordedMachines, NameTheKeyWhoseValueIsNone) {
  try {
    static_cast<void>(recorded_machine(Json::object({{"config", Json::object({{"hbm.bandwidth", "819.2 GB"}})}})));
    ADD_FAILURE() << "a size is taken for a bandwidth";
  } catch (const JsonError& error) {
    EXPECT_EQ(std::string(error.what()).rfind("config: hbm.bandwidth: ", 0), 0U) << error.what();
  }
}

}  // namespace
}  // namespace kernwave::platform::recorded_machine_test
