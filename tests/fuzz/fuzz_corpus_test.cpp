// What the fuzzers start from, and whatever they once found, with every compiler and without a fuzzer.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <ostream>
#include <string>
#include <vector>

#include "platform/files/whole_file.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/support/test_files.h"

namespace kernwave::testing {

/// GoogleTest's name of a parameter, which is part of what `ctest -N` shows.
void PrintTo(const FuzzTarget& target, std::ostream* out) { *out << target.name; }

namespace fuzz_corpus_test {
namespace {

class FuzzCorpus : public ::testing::TestWithParam<FuzzTarget> {
 protected:
  [[nodiscard]] static std::vector<std::filesystem::path> files() {
    const auto folder = test_file("tests/fuzz/corpus") / GetParam().name;
    std::vector<std::filesystem::path> found;
    for (const auto& entry : std::filesystem::directory_iterator(folder)) found.push_back(entry.path());
    std::sort(found.begin(), found.end());
    return found;
  }
};

TEST_P(FuzzCorpus, IsAcceptedOrRefusedInOrder) {
  ASSERT_FALSE(files().empty());
  for (const auto& file : files()) {
    EXPECT_NO_THROW(GetParam().run(platform::read_file(file.string()))) << file;
  }
}

TEST_P(FuzzCorpus, AndSoIsWhatIsLeftWhereItIsCutOff) {
  constexpr std::size_t cuts = 16;
  for (const auto& file : files()) {
    const std::string text = platform::read_file(file.string());
    for (std::size_t i = 0; i < cuts; ++i) {
      const std::size_t length = text.size() * i / cuts;
      EXPECT_NO_THROW(GetParam().run(text.substr(0, length))) << file << ", its first " << length << " bytes";
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Of, FuzzCorpus, ::testing::ValuesIn(fuzz_targets),
                         [](const auto& target) { return std::string(target.param.name); });

}  // namespace
}  // namespace fuzz_corpus_test
}  // namespace kernwave::testing
