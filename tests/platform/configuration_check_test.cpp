// A configuration that was made in code is checked as one that was read.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "models/memory/hbm.h"
#include "platform/config/configuration.h"
#include "platform/config/parameter_attributes.h"
#include "tests/support/child.h"
#include "tests/support/error_text.h"
#include "tests/support/simulation.h"

namespace kernwave::platform::configuration_check_test {
namespace {

[[nodiscard]] std::vector<std::string> problems_of(const SystemConfig& system) {
  std::vector<std::string> texts;
  for (const Problem& problem : check(system).problems) texts.push_back(problem.to_string());
  return texts;
}

using Texts = std::vector<std::string>;

TEST(ConfigurationCheck, FindsNothingInAnyPreset) {
  for (const PresetDescription& preset : presets()) {
    const ConfigurationCheck found = check(load_configuration({preset.name, {}}).system);
    EXPECT_TRUE(found.problems.empty()) << preset.name;
    EXPECT_TRUE(found.warnings.empty()) << preset.name;
  }
}

TEST(ConfigurationCheck, SaysOfEachValueWhatTheCommandLineWouldSay) {
  SystemConfig system;
  system.hbm.channels = 0;
  system.pe.dma.burst = Bytes(48);
  system.pe.scheduler.dispatch_latency = Cycles(0);
  EXPECT_EQ(problems_of(system),
            (Texts{"pe.scheduler.dispatch_latency: 0 is out of range (allowed: 1 to 1000000)",
                   "pe.dma.burst: \"48 B\" is no power of two (allowed: whole, or powers of two from "
                   "4 B to 4 KiB)",
                   "hbm.channels: 0 is out of range (allowed: 1 to 1024)"}));
}

TEST(ConfigurationCheck, KnowsCombinationsAndWarnings) {
  SystemConfig system;
  system.cubes = 1'024;
  system.pes_per_cube = 256;
  EXPECT_EQ(problems_of(system), Texts{"system.cubes x system.pes_per_cube is 262144 PEs (allowed: up to 16384)"});
  system = SystemConfig();
  system.pe.dma.burst = Bytes(64);
  EXPECT_TRUE(problems_of(system).empty());
  EXPECT_EQ(check(system).warnings.size(), 1U);
}

[[nodiscard]] std::string attribute_of(const char* object, const std::string& name) {
  sc_core::sc_object* found = sc_core::sc_find_object(object);
  const sc_core::sc_attr_base* attribute = found == nullptr ? nullptr : found->get_attribute(name);
  const auto* text = dynamic_cast<const sc_core::sc_attribute<std::string>*>(attribute);
  return text == nullptr ? "none" : text->value;
}

TEST(ParameterAttributes, AreReadableThroughSystemCUntilTheyGo) {
  testing::in_child([] {
    SystemConfig config = load_configuration({"ahbm", {"pe.gemm.rows=32", "system.cubes=2"}}).system;
    Connector connector;
    System system("system", config, DataMode::none, connector);
    {
      const ParameterAttributes attributes(system);
      EXPECT_EQ(attribute_of("system", "system.cubes"), "2");
      EXPECT_EQ(attribute_of("system", "pe.gemm.rows"), "32");
      EXPECT_EQ(attribute_of("system.cube1", "hbm.bandwidth"), "819.2 GB/s");
      EXPECT_EQ(attribute_of("system.cube1", "pe.gemm.rows"), "none");
      EXPECT_EQ(attribute_of("system.cube1.pe9", "pe.gemm.rows"), "32");
      EXPECT_EQ(attribute_of("system.cube1.pe9", "ipcq.depth"), "2");
    }
    EXPECT_EQ(attribute_of("system", "system.cubes"), "none");
  });
}

// A machine of no channels was a division by zero.
TEST(ConfigurationCheck, WhatIsNotCheckedIsRefusedByTheMemory) {
  testing::in_child([] {
    SystemConfig system;
    system.hbm.channels = 0;
    Connector connector;
    const std::string message = testing::error_of<sc_core::sc_report>(
        [&] { const System machine("system", system, DataMode::none, connector); });
    EXPECT_NE(message.find("kernwave/configuration: system.cube0.hbm: there must be at least one channel"),
              std::string::npos)
        << message;
  });
}

}  // namespace
}  // namespace kernwave::platform::configuration_check_test
