// The figures of runs, to the picosecond, against those that were reviewed and recorded in tests/golden.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "platform/files/whole_file.h"
#include "platform/json/json.h"
#include "tests/golden_support/golden_comparison.h"
#include "tests/golden_support/golden_document.h"
#include "tests/golden_support/golden_folder.h"
#include "tests/golden_support/golden_runs.h"
#include "tests/support/child.h"
#include "tests/support/error_text.h"
#include "tests/support/policies.h"
#include "tests/support/process.h"
#include "tests/support/temporary_folder.h"

namespace kernwave::testing::goldens_test {
namespace {

namespace fs = std::filesystem;

// ---- the runs -----------------------------------------------------------------------------------------------------

struct KernelAndPolicy {
  std::string kernel;
  tl::Policy policy;
};

[[nodiscard]] std::string name_of(const KernelAndPolicy& runs) {
  return runs.kernel + "_" + std::string(tl::name_of(runs.policy));
}

void PrintTo(const KernelAndPolicy& runs, std::ostream* out) { *out << name_of(runs); }

[[nodiscard]] std::vector<KernelAndPolicy> all_kernels_and_policies() {
  std::vector<KernelAndPolicy> all;
  for (const std::string& kernel : golden_kernels()) {
    for (const tl::Policy policy : all_policies) all.push_back({kernel, policy});
  }
  return all;
}

class Goldens : public ::testing::TestWithParam<KernelAndPolicy> {};

[[nodiscard]] GoldenDocument only_of(const GoldenDocument& document, const std::string& policy) {
  GoldenDocument part{document.kernel, {}};
  for (const GoldenEntry& entry : document.entries) {
    if (entry.policy == policy) part.entries.push_back(entry);
  }
  return part;
}

/// In a process of its own.
[[nodiscard]] GoldenFigures figures_from_child(const GoldenRun& run) {
  const std::string text = from_child([&run] { return platform::to_text(to_json(simulate(run)), 0); });
  if (text.empty()) return {};  // that has failed the test
  return figures_from_json(platform::parse_json(text, "the simulation's process"));
}

TEST_P(Goldens, AreWhatTheRunsGive) {
  const auto& [kernel, policy] = GetParam();
  const std::string policy_name(tl::name_of(policy));
  const GoldenDocument golden = only_of(read_golden(golden_folder(), kernel), policy_name);
  GoldenDocument now{kernel, {}};
  for (const GoldenRun& run : golden_runs(kernel, policy)) {
    now.entries.push_back({policy_name, run.options, figures_from_child(run)});
    if (HasFailure()) return;
  }
  std::string text;
  for (const GoldenDifference& difference : differences(golden, now)) {
    text += long_text(difference) + "    " + command_of({kernel, policy, difference.options}) + "\n";
  }
  if (text.empty()) return;
  ADD_FAILURE() << golden_path(golden_folder(), kernel).string() << " is not what the runs give:\n"
                << text << "If that is meant: kernwave_regression --update-goldens, and review the difference.";
}

INSTANTIATE_TEST_SUITE_P(Of, Goldens, ::testing::ValuesIn(all_kernels_and_policies()),
                         [](const ::testing::TestParamInfo<KernelAndPolicy>& runs) { return name_of(runs.param); });

TEST(GoldenFolder, HoldsAFileOfEachKernelAndNoOther) {
  std::vector<std::string> expected;
  for (const std::string& kernel : golden_kernels()) expected.push_back(kernel + ".json");
  std::vector<std::string> found;
  for (const fs::directory_entry& file : fs::directory_iterator(golden_folder())) {
    found.push_back(file.path().filename().string());
  }
  std::sort(expected.begin(), expected.end());
  std::sort(found.begin(), found.end());
  EXPECT_EQ(found, expected);
}

// ---- the comparison -------------------------------------------------------------------------------------------------

TEST(GoldenComparison, TellsWhatMovedFromWhatToWhatByHowMuchAndWhy) {
  const GoldenFigures golden{{"latency_ps", "", 1'234'000},
                             {"counts", "gemm", 8},
                             {"issued_bounds_ps", "hbm_read", 900'000},
                             {"issued_bounds_ps", "math", 500},
                             {"stall_ps", "issue", 70'000},
                             {"stall_ps", "load", 1'000'000},
                             {"stall_ps", "idle", 3'000'000},
                             {"critical_path_ps", "dma_read", 1'000'000}};
  const GoldenFigures now{{"latency_ps", "", 1'240'000},
                          {"counts", "gemm", 8},
                          {"issued_bounds_ps", "hbm_read", 902'000},
                          {"issued_bounds_ps", "math", 400},
                          {"stall_ps", "issue", 69'000},
                          {"stall_ps", "load", 1'048'000},
                          {"stall_ps", "store", 24},
                          {"stall_ps", "idle", 3'100'000},  // of PEs that do nothing, which explains nothing
                          {"critical_path_ps", "dma_read", 1'006'000}};
  // 6,000 of 1,234,000 are 0.486 %.
  EXPECT_EQ(headline_of(golden, now),
            "latency 1,234,000 -> 1,240,000 ps (+6,000, +0.49 %): waiting for load +48,000 ps over all PEs, dma_read "
            "+6,000 ps on the critical path, the bound hbm_read +2,000 ps");

  const GoldenDifference difference{GoldenDifference::Kind::changed, "lazy", "--m 1", golden, now};
  const std::string text = long_text(difference);
  EXPECT_TRUE(contains(text, "  lazy --m 1\n    latency 1,234,000 -> 1,240,000 ps")) << text;
  // 2 of 900 are 0.22 %, 100 of 500 a fifth, 1 of 70 is 1.43 %; of nothing there is no share.
  std::string spaced;  // without the columns
  for (const std::string& word : words(text)) spaced += word + " ";
  for (const char* const row :
       {"latency_ps 1,234,000 -> 1,240,000 +6,000 +0.49 %",
        "issued_bounds_ps hbm_read 900,000 -> 902,000 +2,000 +0.22 %", "issued_bounds_ps math 500 -> 400 -100 -20.00 %",
        "stall_ps issue 70,000 -> 69,000 -1,000 -1.43 %", "stall_ps store 0 -> 24 +24 was 0"}) {
    EXPECT_TRUE(contains(spaced, row)) << row << "\n" << text;
  }
  EXPECT_FALSE(contains(text, "counts")) << text;
}

TEST(GoldenComparison, TellsIssuingAndDrainingFromWaiting) {
  const GoldenFigures golden{{"latency_ps", "", 5'000}, {"stall_ps", "issue", 900}, {"stall_ps", "drain", 10}};
  EXPECT_EQ(headline_of(golden, {{"latency_ps", "", 5'000}, {"stall_ps", "issue", 800}, {"stall_ps", "drain", 10}}),
            "latency 5,000 ps as before: issuing -100 ps over all PEs");
  EXPECT_EQ(headline_of(golden, {{"latency_ps", "", 5'000}, {"stall_ps", "issue", 900}}),
            "latency 5,000 ps as before: draining -10 ps over all PEs");
}

TEST(GoldenComparison, OfEqualFiguresIsEmpty) {
  const GoldenFigures figures{{"latency_ps", "", 5}, {"stall_ps", "load", 3}};
  EXPECT_TRUE(changes(figures, figures).empty());
  const GoldenDocument document{"gemm", {{"lazy", "--m 1", figures}}};
  EXPECT_TRUE(differences(document, document).empty());
}

TEST(GoldenComparison, TellsRunsThatAreNewAndThatAreNotRunAnyMore) {
  const GoldenDocument golden{"gemm", {{"lazy", "--m 1", {{"latency_ps", "", 5}}}}};
  const GoldenDocument now{"gemm", {{"lazy", "--m 2", {{"latency_ps", "", 6'000}}}}};
  const std::vector<GoldenDifference> found = differences(golden, now);
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(long_text(found[0]), "  lazy --m 2\n    new: latency 6,000 ps\n");
  EXPECT_EQ(long_text(found[1]), "  lazy --m 1\n    is not run any more\n");
}

// ---- the executable, given goldens of a folder that may be spoilt ---------------------------------------------------

/// Has every process that starts meanwhile look there.
class ChosenGoldenFolder {
 public:
  explicit ChosenGoldenFolder(const fs::path& folder) {
    if (const char* const before = std::getenv(variable); before != nullptr) before_ = before;
    ::setenv(variable, folder.c_str(), 1);
  }
  ChosenGoldenFolder(const ChosenGoldenFolder&) = delete;
  ChosenGoldenFolder& operator=(const ChosenGoldenFolder&) = delete;
  ~ChosenGoldenFolder() {
    if (before_) {
      ::setenv(variable, before_->c_str(), 1);
    } else {
      ::unsetenv(variable);
    }
  }

 private:
  static constexpr const char* variable = "KERNWAVE_GOLDEN_DIR";
  std::optional<std::string> before_;
};

class GoldenUpdate : public TemporaryFolderTest {
 protected:
  void SetUp() override {
    TemporaryFolderTest::SetUp();
    source_ = golden_folder();
    fs::copy_file(golden_path(source_, "gemm"), golden_path(folder_, "gemm"));
  }

  [[nodiscard]] Outcome regression(const std::string& arguments) const {
    const ChosenGoldenFolder chosen(folder_);
    return start_regression(words(arguments));
  }

  [[nodiscard]] std::string text_of(const fs::path& folder) const {
    return platform::read_file(golden_path(folder, "gemm").string());
  }

  /// Adds to a figure of the first run of `lazy`.
  void add(const std::string& group, const std::string& name, std::int64_t picoseconds) {
    GoldenDocument document = read_golden(folder_, "gemm");
    for (GoldenEntry& entry : document.entries) {
      if (entry.policy != "lazy") continue;
      for (GoldenFigure& figure : entry.figures) {
        if (figure.group == group && figure.name == name) figure.value += picoseconds;
      }
      break;
    }
    write_golden(folder_, document);
  }

  fs::path source_;
};

TEST_F(GoldenUpdate, OfGoldensThatAreAPicosecondOffTellsItAndRestoresThem) {
  // Given goldens of which two numbers were edited by 1 ps.
  add("latency_ps", "", -1);
  add("stall_ps", "load", 1);
  // When they are compared, then the test fails and names both.
  const Outcome compared = regression("--gtest_filter=*Goldens.*/gemm_lazy");
  EXPECT_EQ(compared.exit_code, 1) << compared.output;
  for (const char* const part : {" ps (+1, +0.00 %): waiting for load -1 ps over all PEs\n", "\n    latency_ps ",
                                 "\n    stall_ps load ", "\n    kernwave run gemm --policy lazy "}) {
    EXPECT_TRUE(contains(compared.output, part)) << part << "\n" << compared.output;
  }
  // When they are updated, then the update says so and the file is what it was.
  const Outcome updated = regression("--update-goldens=gemm");
  EXPECT_EQ(updated.exit_code, 0) << updated.errors;
  EXPECT_TRUE(contains(updated.output, "gemm: 1 of ")) << updated.output;
  EXPECT_TRUE(contains(updated.output, " ps (+1, +0.00 %): waiting for load -1 ps over all PEs\n")) << updated.output;
  EXPECT_EQ(text_of(folder_), text_of(source_));
  EXPECT_EQ(entries(), 1U);
  // And now nothing is different.
  EXPECT_EQ(regression("--gtest_filter=*Goldens.*/gemm_lazy").exit_code, 0);
  EXPECT_EQ(regression("--update-goldens=gemm").output, "nothing changed\n");
}

TEST_F(GoldenUpdate, WritesAFileThatIsMissingOrSpoilt) {
  const std::string file = golden_path(folder_, "gemm").string();
  for (const bool missing : {false, true}) {
    if (missing) {
      fs::remove(file);
    } else {
      platform::write_file_atomically(file, "<<<<<<< ours\n");
    }
    const Outcome updated = regression("--update-goldens=gemm");
    EXPECT_EQ(updated.exit_code, 0) << updated.errors;
    EXPECT_TRUE(contains(updated.output, "written anew: ")) << updated.output;
    EXPECT_TRUE(contains(updated.output, file)) << updated.output;
    EXPECT_EQ(text_of(folder_), text_of(source_));
  }
}

TEST_F(GoldenUpdate, RefusesWhatItDoesNotKnowAndChangesNothing) {
  for (const char* const arguments :
       {"--update-goldens=gemn", "--update-goldens=", "--update-goldens now", "--update-goldenset"}) {
    const Outcome refused = regression(arguments);
    EXPECT_EQ(refused.exit_code, 2) << arguments << refused.output;
    EXPECT_TRUE(contains(refused.errors, "kernwave_regression: ")) << refused.errors;
  }
  EXPECT_EQ(text_of(folder_), text_of(source_));
}

TEST_F(GoldenUpdate, OfAFolderThatIsNotThereSaysSo) {
  const ChosenGoldenFolder chosen(folder_ / "nowhere");
  const Outcome failed = start_regression({"--update-goldens=gemm"});
  EXPECT_EQ(failed.exit_code, 1);
  EXPECT_TRUE(contains(failed.errors, "KERNWAVE_GOLDEN_DIR is " + path("nowhere"))) << failed.errors;
}

}  // namespace
}  // namespace kernwave::testing::goldens_test
