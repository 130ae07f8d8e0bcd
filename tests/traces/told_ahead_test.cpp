// Files that are written while a run goes on, of programs that work ahead of simulated time: their observers are told
// of ends before these have come. A file is the same to the byte as one whose observer is told of each end at its
// instant, and a run that is cut short leaves nothing in it that lies behind its end.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <functional>
#include <iterator>
#include <memory>
#include <stdexcept>
#include <string>

#include "kernels/tl/launch.h"
#include "models/run/run.h"
#include "models/system/system.h"
#include "tests/property/program_generator.h"
#include "tests/property/program_kernel.h"
#include "tests/support/child.h"
#include "tests/support/policies.h"
#include "tests/support/simulation.h"
#include "tests/support/sqlite_query.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/timeline_run.h"
#include "traces/observer_group.h"
#include "traces/op_log/csv_op_log.h"
#include "traces/op_log/sqlite_op_log.h"
#include "traces/timeline/timeline.h"
#include "traces/waveform/waveform.h"

namespace kernwave::traces::told_ahead_test {
namespace {

using kernwave::testing::all_policies;
using kernwave::testing::from_child;
using kernwave::testing::generate;
using kernwave::testing::in_child;
using kernwave::testing::one_cube;
using kernwave::testing::Program;

/// Whether somebody watches too who must be told of each end at its instant.
enum class Ends : std::uint8_t { ahead, at_their_instant };
constexpr Ends both[] = {Ends::ahead, Ends::at_their_instant};

[[nodiscard]] std::string bytes_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// A waveform without the date in its header.
[[nodiscard]] std::string without_date(const std::string& vcd) { return vcd.substr(vcd.find("$end")); }

/// All files that follow a run.
class Files {
 public:
  Files(System& system, const std::string& prefix, Ends ends)
      : timeline_(prefix + ".pftrace", Compression::none, system.config()),
        waveform_(system, waveform_options(prefix)),
        sqlite_(prefix + ".sqlite"),
        csv_(prefix + ".csv") {
    for (PeObserver* one :
         {static_cast<PeObserver*>(&timeline_), waveform_.pe_observer(), &sqlite_.observer(), &csv_.observer()}) {
      observers_.add(*one);
    }
    if (ends == Ends::at_their_instant) observers_.add(takes_no_end_ahead_);
    channels_.add(timeline_);
    channels_.add(*waveform_.channel_observer());
    system.set_observer(&observers_);
    system.set_channel_observer(&channels_);
  }

  void close(const RunNote& note) {
    timeline_.close(note);
    waveform_.close();
    sqlite_.close(note);
    csv_.close(note);
  }

 private:
  [[nodiscard]] static WaveformOptions waveform_options(const std::string& prefix) {
    WaveformOptions options;
    options.path = prefix + ".vcd";
    return options;
  }

  Timeline timeline_;
  Waveform waveform_;
  SqliteOpLog sqlite_;
  CsvOpLog csv_;
  PeObserver takes_no_end_ahead_;
  PeObserverGroup observers_;
  ChannelObserverGroup channels_;
};

/// A machine, and what to launch on it and to happen to it.
struct Case {
  SystemConfig config;
  std::function<void(System&)> launch;
  DataMode mode = DataMode::none;
};

/// Interrupts a run at an instant.
void interrupt_at(System& system, Picoseconds at) {
  sc_core::sc_spawn(
      [&system, at] {
        sc_core::wait(to_sc_time(at));
        system.ledger().interrupt();
      },
      "interrupt");
}

/// The lines around the first byte in which two files differ; empty if they are equal.
[[nodiscard]] std::string first_difference(const std::string& a, const std::string& b) {
  if (a == b) return "";
  const auto differs = std::mismatch(a.begin(), a.end(), b.begin(), b.end());
  constexpr std::size_t context = 120;
  const auto around = [](const std::string& text, std::size_t at) {
    const std::size_t from = at < context ? 0 : at - context;
    return text.substr(from, 2 * context);
  };
  const auto at = static_cast<std::size_t>(differs.first - a.begin());
  return "told ahead:\n" + around(a, at) + "\nat the instant:\n" + around(b, at);
}

class ToldAhead : public kernwave::testing::TemporaryFolderTest {
 protected:
  /// Returns when the run has ended.
  Picoseconds run(const Case& one, Ends ends) const {
    const std::string text = from_child([&] {
      Connector connector;
      System system("system", one.config, one.mode, connector);
      Files files(system, prefix(ends), ends);
      one.launch(system);
      const bool complete = run_to_end(system.ledger()) == RunEnd::finished;
      files.close({complete, complete ? "" : "cut short", complete ? system.ledger().end() : now()});
      return std::to_string(now().count());
    });
    return text.empty() ? Picoseconds(0) : Picoseconds(std::stoll(text));
  }

  /// Returns when both runs have ended.
  Picoseconds expect_same_files(const Case& one, const std::string& what) const {
    const Picoseconds end = run(one, Ends::ahead);
    EXPECT_EQ(end, run(one, Ends::at_their_instant)) << what;
    for (const char* kind : {".pftrace", ".vcd", ".sqlite", ".csv"}) {
      const auto text_of = [&](Ends ends) {
        const std::string bytes = bytes_of(prefix(ends) + kind);
        return std::string(kind) == ".vcd" ? without_date(bytes) : bytes;
      };
      EXPECT_FALSE(text_of(Ends::ahead).empty()) << what << kind;
      EXPECT_EQ(first_difference(text_of(Ends::ahead), text_of(Ends::at_their_instant)), "") << what << kind;
    }
    return end;
  }

  /// The same for runs that are interrupted a quarter, a half and three quarters of the way.
  void expect_same_files_cut_short(const Case& whole, Picoseconds end, const std::string& what) const {
    for (std::int64_t quarter = 1; quarter <= 3; ++quarter) {
      const Picoseconds at = Picoseconds(end.count() / 4 * quarter) + Picoseconds(1);  // no edge of the clock
      Case cut = whole;
      cut.launch = [&whole, at](System& system) {
        whole.launch(system);
        interrupt_at(system, at);
      };
      EXPECT_EQ(expect_same_files(cut, what + ", interrupted"), at) << what;
    }
  }

  [[nodiscard]] std::string prefix(Ends ends) const { return path(ends == Ends::ahead ? "ahead" : "at_their_instant"); }
};

// ---- files of whole runs, and of runs that are interrupted

TEST_F(ToldAhead, FilesOfRandomProgramsAreTheSameUnderEveryPolicy) {
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    const Program program = generate(seed);
    for (const tl::Policy policy : all_policies) {
      const DataMode mode = seed % 2 == 0 ? DataMode::full : DataMode::none;
      const Case whole{program.machine.config(), [&](System& system) { launch(program, system, policy); }, mode};
      const std::string what = "seed " + std::to_string(seed) + ", " + std::string(name_of(policy));
      const Picoseconds end = expect_same_files(whole, what);
      expect_same_files_cut_short(whole, end, what);
      if (HasFailure()) return;
    }
  }
}

/// Long enough for every track to go into the file in many blocks.
void computes_between_loads(tl::Context& tl) {
  for (std::int64_t round = 0; round < 200; ++round) {
    const auto scope = tl.scratch_scope();
    const auto x = tl.load(HbmAddress(static_cast<std::uint64_t>(round % 16) * 8192), {32, 64}, DType::f16);
    const auto y = tl.dot(x, tl.trans(x));
    const auto z = tl.exp(y - 1.0F);
    if (round % 4 == 0) tl.store(HbmAddress(0x100000), tl.sum(z, 1));
  }
}

TEST_F(ToldAhead, FilesOfLongRunsAreTheSameWhateverTheyHaveWrittenByTheEnd) {
  for (const tl::Policy policy : all_policies) {
    const Case whole{one_cube(3), [policy](System& system) {
                       for (std::int64_t id = 0; id < 3; ++id) {
                         tl::launch(system.pe(PeId(id)), computes_between_loads, policy);
                       }
                     }};
    const std::string what(name_of(policy));
    expect_same_files_cut_short(whole, expect_same_files(whole, what), what);
  }
}

// ---- runs that fail or wait for ever while others are ahead

void computes(tl::Context& tl, std::int64_t operations) {
  for (std::int64_t i = 0; i < operations; ++i) {
    const auto scope = tl.scratch_scope();
    tl.full({256}, 1.0, DType::f32);
  }
}

/// PE 1 computes: 5 cycles an operation (issue 2, dispatch 2, service 1). It is some hundred operations ahead when PE 0
/// ends.
[[nodiscard]] Case beside_one_that_computes(const tl::Kernel& kernel_of_pe_0) {
  return {one_cube(2), [kernel_of_pe_0](System& system) {
            tl::launch(system.pe(PeId(0)), kernel_of_pe_0);
            tl::launch(system.pe(PeId(1)), [](tl::Context& tl) { computes(tl, 5'000); });
          }};
}

TEST_F(ToldAhead, AFailureElsewhereLeavesInTheFilesWhatHadEndedByThen) {
  // Given a load of 258 ns, after which the program fails while another one has ended 51 operations.
  const Case failing = beside_one_that_computes([](tl::Context& tl) {
    tl.wait(tl.load(HbmAddress(0), {64, 128}, DType::f16));
    throw std::runtime_error("the kernel's own complaint");
  });
  EXPECT_EQ(expect_same_files(failing, "failure"), Picoseconds(258'000));
  for (const Ends ends : both) {
    EXPECT_EQ(kernwave::testing::query_text(prefix(ends) + ".sqlite",
                                            "SELECT pe, COUNT(*), MAX(end_ps) FROM operations GROUP BY pe"),
              "0,1,258000\n1,51,255000\n");
  }
}

TEST_F(ToldAhead, AnErrorThatAProgramAheadMakesTakesEffectAtItsInstant) {
  // Given a program that fails after 20 operations of 5 cycles, and one that would compute for long.
  const Case failing = beside_one_that_computes([](tl::Context& tl) {
    computes(tl, 20);
    throw std::runtime_error("the kernel's own complaint");
  });
  EXPECT_EQ(expect_same_files(failing, "failure"), Picoseconds(100'000));
}

TEST_F(ToldAhead, ADeadlockLeavesWhatHasHappened) {
  SystemConfig config = one_cube();
  config.cubes = 2;
  const Case stuck{config, [](System& system) {
                     const tl::Queues from_west{{Direction::west}, Bytes(4096)};
                     const auto waits_for_ever = [](tl::Context& tl) {
                       computes(tl, 20);
                       tl.recv(Direction::west, {16, 128}, DType::f16);
                     };
                     for (std::int64_t id = 0; id < 2; ++id) {
                       tl::launch(system.pe(PeId(id)), waits_for_ever, tl::Policy::lazy, from_west);
                     }
                   }};
  expect_same_files(stuck, "deadlock");
}

// ---- what it is for

/// How many delta cycles a program of 10,000 operations takes that is watched.
[[nodiscard]] std::int64_t deltas_with(const std::function<std::shared_ptr<void>(System&)>& watch) {
  const std::string text = from_child([&watch] {
    Connector connector;
    System system("system", one_cube(), DataMode::none, connector);
    const std::shared_ptr<void> observer = watch(system);
    tl::launch(system.pe(PeId(0)), [](tl::Context& tl) { computes(tl, 10'000); });
    EXPECT_EQ(run_to_end(system.ledger()), RunEnd::finished);
    EXPECT_EQ(system.ledger().end(), Picoseconds(50'000'000));
    return std::to_string(sc_core::sc_delta_count());
  });
  return text.empty() ? 0 : std::stoll(text);
}

TEST_F(ToldAhead, AProgramThatIsWatchedRunsAheadAsOneThatIsNot) {
  const std::int64_t unobserved = deltas_with([](System&) { return std::shared_ptr<void>(); });
  EXPECT_EQ(deltas_with([this](System& system) {
              auto timeline = std::make_shared<Timeline>(path("t"), Compression::none, system.config());
              system.set_observer(timeline.get());
              return timeline;
            }),
            unobserved);
  EXPECT_EQ(deltas_with([this](System& system) {
              WaveformOptions options;
              options.path = path("w.vcd");
              auto waveform = std::make_shared<Waveform>(system, options);
              system.set_observer(waveform->pe_observer());
              return waveform;
            }),
            unobserved);
  EXPECT_EQ(deltas_with([this](System& system) {
              auto log = std::make_shared<SqliteOpLog>(path("log.sqlite"));
              system.set_observer(&log->observer());
              return log;
            }),
            unobserved);
  EXPECT_EQ(deltas_with([this](System& system) {
              auto log = std::make_shared<CsvOpLog>(path("log.csv"));
              system.set_observer(&log->observer());
              return log;
            }),
            unobserved);
}

}  // namespace
}  // namespace kernwave::traces::told_ahead_test
