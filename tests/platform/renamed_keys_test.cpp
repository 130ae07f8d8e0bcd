// Keys that got another name: the old one works for one version, with a warning, and documents that have it still open.
#include "platform/config/renamed_keys.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "platform/config/configuration.h"
#include "platform/config/key_table.h"
#include "platform/files/whole_file.h"
#include "platform/json/json.h"
#include "platform/results/older_names.h"
#include "tests/support/error_text.h"
#include "tests/support/kernwave_command_test.h"
#include "tests/support/test_files.h"

namespace kernwave::platform::renamed_keys_test {
namespace {

using testing::contains;
using testing::error_of;
using testing::Outcome;

/// A value that is nobody's default.
[[nodiscard]] std::string value_of(const RenamedKey& key) {
  const std::string path(key.path);
  return path == "pe.scheduler.dispatch_latency" || path == "pe.dma.max_outstanding" ? "3" : "\"30 ns\"";
}

[[nodiscard]] std::string assignment(std::string_view path, const std::string& value) {
  return fmt::format("{} = {}", path, value);
}

[[nodiscard]] std::string note_on(const RenamedKey& key) {
  return fmt::format("{} is now called {}; the next version does not know the old name", key.old_path, key.path);
}

class RenamedKeys : public kernwave::testing::KernwaveCommandTest {
 protected:
  [[nodiscard]] Configuration load(const std::string& toml, const std::vector<std::string>& overrides = {}) const {
    write_file_atomically(path("machine.toml"), toml);
    return load_configuration({path("machine.toml"), overrides});
  }
  [[nodiscard]] std::string refusal_of(const std::string& toml, const std::vector<std::string>& overrides = {}) const {
    return error_of<ConfigurationError>([&] { (void)load(toml, overrides); });
  }
};

TEST_F(RenamedKeys, LeadFromNoKeyToOne) {
  for (const RenamedKey& key : renamed_keys) {
    EXPECT_FALSE(index_of(key.old_path)) << key.old_path;
    EXPECT_TRUE(index_of(key.path)) << key.path;
  }
}

TEST_F(RenamedKeys, GiveTheSameMachineByEitherNameAndOneWarningByTheOldOne) {
  for (const RenamedKey& key : renamed_keys) {
    const std::string value = value_of(key);
    const Configuration by_name = load(assignment(key.path, value));
    const std::vector<Configuration> by_old_name = {
        load(assignment(key.old_path, value)),
        load("", {assignment(key.old_path, value)}),
        load("", {assignment(key.old_path, value), assignment(key.old_path, value)}),
    };
    EXPECT_NE(to_toml(by_name), to_toml(load_configuration({})));
    EXPECT_TRUE(by_name.notes.empty());
    EXPECT_EQ(by_name.given, std::vector<std::string>{std::string(key.path)});
    for (const Configuration& configuration : by_old_name) {
      EXPECT_EQ(to_toml(configuration), to_toml(by_name));
      EXPECT_EQ(configuration.given, by_name.given);
      EXPECT_EQ(configuration.notes, std::vector<std::string>{note_on(key)});
      EXPECT_TRUE(configuration.warnings.empty());
    }
  }
}

TEST_F(RenamedKeys, GivenByBothNamesInOnePlaceAreRefused) {
  for (const RenamedKey& key : renamed_keys) {
    const std::string value = value_of(key);
    const std::string both = assignment(key.old_path, value) + "\n" + assignment(key.path, value) + "\n";
    for (const std::string& refusal :
         {refusal_of(both), refusal_of("", {assignment(key.path, value), assignment(key.old_path, value)})}) {
      for (const std::string_view part : {key.old_path, key.path, std::string_view("by another name")}) {
        EXPECT_TRUE(contains(refusal, std::string(part))) << refusal;
      }
    }
    EXPECT_TRUE(contains(refusal_of(both), "machine.toml:")) << refusal_of(both);
  }
}

TEST_F(RenamedKeys, OfAFileAreOverriddenByEitherName) {
  // Given a file that has the old name, when --set has the new one, then that is no contradiction: it comes later.
  const RenamedKey& key = renamed_keys.front();
  for (const std::string_view name : {key.path, key.old_path}) {
    const Configuration configuration = load(assignment(key.old_path, "3"), {assignment(name, "5")});
    EXPECT_EQ(to_toml(configuration), to_toml(load(assignment(key.path, "5"))));
    EXPECT_EQ(configuration.notes, std::vector<std::string>{note_on(key)});
  }
}

TEST_F(RenamedKeys, LeaveMistakesAsTheyWere) {
  // A refused value is told of by the name that was written; what nearly is a name is compared with those of today.
  EXPECT_TRUE(contains(refusal_of("[ipcq]\nhop = \"2 ms\""), "machine.toml:2: ipcq.hop: "));
  EXPECT_TRUE(contains(refusal_of("ipcq.hop_latencies = 1"), "did you mean \"ipcq.hop_latency\"?"));
  EXPECT_TRUE(contains(refusal_of("pe.dma.outstandings = 1"), "unknown key"));
}

TEST_F(RenamedKeys, AreWarnedOfOnceAndNotedInTheDocument) {
  const std::string gemm = "$K run gemm --m 64 --n 64 --k 64 --data none --quiet ";
  const RenamedKey& key = renamed_keys.front();
  const Outcome old_name = shell(gemm + fmt::format("--set {}=3 --json old.json", key.old_path));
  const Outcome new_name = shell(gemm + fmt::format("--set {}=3 --json new.json", key.path));
  EXPECT_EQ(old_name.errors, "kernwave: warning: " + note_on(key) + "\n");
  EXPECT_EQ(new_name.errors, "");
  EXPECT_EQ(document("old.json").at("notes"), Json::array({note_on(key)}));
  EXPECT_EQ(document("old.json").at("latency_ps"), document("new.json").at("latency_ps"));
  EXPECT_EQ(document("old.json").at("config"), document("new.json").at("config"));
}

// ---- documents

// Given a document that the version before these names wrote, when it is compared with itself or with one of today,
// then it opens, and names alone are no difference.
TEST_F(RenamedKeys, OfAnOlderDocumentAreReadByTheirNamesOfToday) {
  const std::string older = testing::test_file("tests/platform/older_result.json");
  const Json document_before = parse_json(read_file(older), older);
  const Json document_now = with_current_names(document_before);
  for (const RenamedKey& key : renamed_keys) {
    ASSERT_NE(document_before.at("config").find(key.old_path), nullptr) << key.old_path;
    EXPECT_EQ(document_now.at("config").at(key.path), document_before.at("config").at(key.old_path));
    EXPECT_EQ(document_now.at("config").find(key.old_path), nullptr);
  }
  EXPECT_EQ(document_now.at("shape").at("ring_passes"), document_before.at("shape").at("circulations"));

  const Outcome run = shell("$K" + document_before.at("command").as_string().substr(std::string("kernwave").size()));
  ASSERT_EQ(run.exit_code, 0) << run.errors;
  const std::string names = "'" + older + "' older.json --report both.html";
  const Outcome compared = shell("$K compare " + names);
  EXPECT_EQ(compared.exit_code, 0) << compared.errors;
  EXPECT_TRUE(contains(compared.output, "what differs")) << compared.output;
  for (const std::string_view word : {"circulations", "ring_passes", "ipcq.hop", "outstanding"}) {
    EXPECT_FALSE(contains(compared.output.substr(compared.output.find("what differs")), std::string(word))) << word;
  }
  EXPECT_FALSE(read_file(path("both.html")).empty());
}

}  // namespace
}  // namespace kernwave::platform::renamed_keys_test
