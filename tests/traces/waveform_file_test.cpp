// The file of a waveform: that others can read it, and which part of a run and of a machine it holds.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <functional>
#include <regex>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "platform/files/whole_file.h"
#include "tests/support/child.h"
#include "tests/support/child_outcome.h"
#include "tests/support/traced.h"
#include "traces/files/output.h"
#include "traces/waveform/waveform.h"

namespace kernwave::traces::waveform_file_test {
namespace {

using kernwave::testing::Changes;
using kernwave::testing::end_of_load_dot_store;
using kernwave::testing::in_child;
using kernwave::testing::load_dot_store;
using kernwave::testing::one_cube;
using kernwave::testing::run_ring;
using kernwave::testing::since;
using kernwave::testing::Traced;
using kernwave::testing::two_cubes;
using kernwave::testing::Vcd;

constexpr Picoseconds nanosecond(1000);

class WaveformFile : public kernwave::testing::TracedTest {};

// ---- the file

TEST_F(WaveformFile, HasAscendingTimesAndUniqueNamesThatAreSafe) {
  in_child([this] {
    Traced traced(two_cubes(), options());
    run_ring(traced);
    const Vcd vcd = traced.close();
    EXPECT_EQ(std::adjacent_find(vcd.stamps.begin(), vcd.stamps.end(), std::greater_equal<>()), vcd.stamps.end());
    // 15 signals of a PE with queues to east and west, 2 for each of 16 channels
    EXPECT_EQ(vcd.names.size(), 2U * (14 + 2) + 2U * 32);
    EXPECT_EQ(vcd.names.size(), traced.waveform().signals().size());
    const std::regex safe("SystemC\\.(pe|cube)[0-9]+\\.[a-z0-9_]+");
    std::set<std::string> unique;
    for (const std::string& name : vcd.names) {
      EXPECT_TRUE(std::regex_match(name, safe)) << name;
      EXPECT_TRUE(unique.insert(name).second) << name << " twice";
    }
  });
}

TEST_F(WaveformFile, IsReadByOthers) {
  if (std::system("command -v vcd2fst >/dev/null") != 0) {
    GTEST_SKIP() << "vcd2fst is not installed (package gtkwave)";
  }
  in_child([this] {
    Traced traced(two_cubes(), options());
    run_ring(traced);
    (void)traced.close();
    const std::string command = "vcd2fst '" + path("run.vcd") + "' '" + path("run.fst") + "' >/dev/null 2>&1";
    EXPECT_EQ(std::system(command.c_str()), 0);
    EXPECT_FALSE(platform::read_file(path("run.fst")).empty());
  });
}

TEST_F(WaveformFile, IsTheSameInEveryRunButForItsDate) {
  std::vector<std::string> texts;
  for (int i = 0; i < 2; ++i) {
    in_child([this] {
      Traced traced(two_cubes(), options());
      run_ring(traced);
      (void)traced.close();
    });
    const std::string text = platform::read_file(path("run.vcd"));
    texts.push_back(text.substr(text.find("$end", text.find("$date"))));
  }
  EXPECT_EQ(texts[0], texts[1]);
}

// ---- a part of a run

TEST_F(WaveformFile, BeginsAndEndsWhereItIsTold) {
  in_child([this] {
    WaveformOptions window = options("pe0.state");
    window.window.from = 100 * nanosecond;
    window.window.to = 300 * nanosecond;
    Traced traced(one_cube(), window);
    traced.simulation().run(load_dot_store);
    const Vcd vcd = traced.close();
    EXPECT_EQ(vcd.signal("pe0.state").changes,
              (Changes{since(100, TimeCause::load), since(258, TimeCause::issue), since(264, TimeCause::compute)}));
    EXPECT_EQ(vcd.stamps.front(), 100 * nanosecond);
    EXPECT_EQ(vcd.stamps.back(), 300 * nanosecond);
  });
}

TEST_F(WaveformFile, DoesNotKeepARunFromItsEnd) {
  in_child([this] {
    WaveformOptions window = options("pe0.state");
    window.window.to = Picoseconds(1'000'000'000'000);
    Traced traced(one_cube(), window);
    traced.simulation().run(load_dot_store);
    EXPECT_EQ(now(), end_of_load_dot_store * nanosecond);
    EXPECT_EQ(traced.close().stamps.back(), end_of_load_dot_store * nanosecond);
  });
}

TEST_F(WaveformFile, OfARunThatEndsBeforeItBeginsHoldsTheEnd) {
  in_child([this] {
    WaveformOptions late = options("pe0.state");
    late.window.from = Picoseconds(1'000'000'000'000);
    Traced traced(one_cube(), late);
    traced.simulation().run(load_dot_store);
    const Vcd vcd = traced.close();
    EXPECT_EQ(vcd.signal("pe0.state").changes, (Changes{since(end_of_load_dot_store, TimeCause::idle)}));
  });
}

// ---- a part of a machine

TEST(WaveformScope, IsAPatternOfTheWholeNameOrOfThePartBeforeTheDot) {
  EXPECT_TRUE(in_scope("*", "pe0.state"));
  EXPECT_TRUE(in_scope("pe3", "pe3.gemm_busy"));
  EXPECT_TRUE(in_scope("pe3.*", "pe3.gemm_busy"));
  EXPECT_TRUE(in_scope("pe?.gemm_*", "pe3.gemm_busy"));
  EXPECT_TRUE(in_scope("*_busy", "cube0.channel5_busy"));
  EXPECT_FALSE(in_scope("pe3", "pe30.gemm_busy"));
  EXPECT_FALSE(in_scope("gemm_busy", "pe3.gemm_busy"));
  EXPECT_FALSE(in_scope("", "pe3.gemm_busy"));
}

TEST_F(WaveformFile, HoldsNothingOutsideItsScope) {
  in_child([this] {
    Traced traced(one_cube(3), options("pe[12].*_busy"));
    traced.simulation().run_grid({3, 1, 1}, load_dot_store);
    const std::vector<std::string> expected = {"pe1.dma_read_busy", "pe1.dma_write_busy", "pe1.gemm_busy",
                                               "pe1.math_busy",     "pe2.dma_read_busy",  "pe2.dma_write_busy",
                                               "pe2.gemm_busy",     "pe2.math_busy"};
    EXPECT_EQ(traced.waveform().signals(), expected);
    EXPECT_EQ(traced.waveform().channel_observer(), nullptr);
    EXPECT_EQ(traced.close().names.size(), expected.size());
  });
}

TEST_F(WaveformFile, OfNothingIsRefused) {
  in_child([this] {
    try {
      const Traced traced(one_cube(2), options("pe7"));
      FAIL() << "no error";
    } catch (const std::invalid_argument& error) {
      EXPECT_EQ(std::string(error.what()),
                "no signal is in the scope \"pe7\"; there are pe0 to pe1 (pe0.state, pe0.gemm_busy, ...) and cube0 to "
                "cube0 (cube0.channel0_busy, ...)");
    }
    EXPECT_EQ(entries(), 0U);
  });
}

// ---- programs that end before it is closed

TEST_F(WaveformFile, OfAProgramThatEndsEarlyIsTheOlderOneOrNone) {
  const std::function<void()> ends[] = {[] { std::abort(); }, [] { std::exit(0); }};
  for (const bool older : {false, true}) {
    if (older) platform::write_file_atomically(path("run.vcd"), "older");
    for (const std::function<void()>& end : ends) {
      const auto outcome = kernwave::testing::run_child_process(
          [&] {
            Traced traced(one_cube(), options());
            traced.simulation().run(load_dot_store);
            end();
            return std::string();
          },
          kernwave::testing::usual_time_limit);
      EXPECT_NE(outcome.problem, "");
      EXPECT_EQ(entries(), older ? 1U : 0U);
      if (older) {
        EXPECT_EQ(platform::read_file(path("run.vcd")), "older");
      }
    }
  }
}

// ---- files that cannot be written

TEST_F(WaveformFile, InAFolderThatDoesNotExistIsRefused) {
  in_child([this] {
    WaveformOptions absent = options();
    absent.path = path("absent/run.vcd");
    EXPECT_THROW(const Traced traced(one_cube(), absent), WriteError);
  });
}

TEST_F(WaveformFile, OnAFullDiskIsAnErrorWhenItIsClosed) {
  in_child([this] {
    Traced traced(two_cubes(), options());
    (void)std::signal(SIGXFSZ, SIG_IGN);
    const rlimit full{4096, RLIM_INFINITY};
    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &full), 0);
    run_ring(traced);
    EXPECT_THROW(traced.waveform().close(), WriteError);
  });
}

}  // namespace
}  // namespace kernwave::traces::waveform_file_test
