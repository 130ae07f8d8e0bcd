// A machine with a waveform, and programs to see in one.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "platform/files/whole_file.h"
#include "tests/support/simulation.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/vcd_reader.h"
#include "traces/observer_group.h"
#include "traces/op_log/op_log.h"
#include "traces/waveform/waveform.h"

namespace kernwave::testing {

/// Construct inside `in_child`.
class Traced {
 public:
  Traced(const SystemConfig& config, const traces::WaveformOptions& options)
      : path_(options.path), simulation_(config), waveform_(simulation_.system(), options) {
    pes_.add(log_);
    if (waveform_.pe_observer() != nullptr) pes_.add(*waveform_.pe_observer());
    simulation_.system().set_observer(pes_.observer());
    if (waveform_.channel_observer() != nullptr) channels_.add(*waveform_.channel_observer());
    simulation_.system().set_channel_observer(channels_.observer());
  }

  /// Before the run.
  void observe(PeObserver& observer) {
    pes_.add(observer);
    simulation_.system().set_observer(pes_.observer());
  }
  void observe(ChannelObserver& observer) {
    channels_.add(observer);
    simulation_.system().set_channel_observer(channels_.observer());
  }

  [[nodiscard]] Simulation& simulation() noexcept { return simulation_; }
  [[nodiscard]] traces::Waveform& waveform() noexcept { return waveform_; }
  [[nodiscard]] const traces::OpLog& log() const noexcept { return log_; }

  /// After the run, once: what the file holds.
  [[nodiscard]] Vcd close() {
    waveform_.close();
    return parse_vcd(platform::read_file(path_));
  }

 private:
  std::string path_;
  Simulation simulation_;
  traces::OpLog log_;
  traces::Waveform waveform_;
  traces::PeObserverGroup pes_;
  traces::ChannelObserverGroup channels_;
};

/// A waveform goes to "run.vcd" in the test's folder.
class TracedTest : public TemporaryFolderTest {
 protected:
  [[nodiscard]] traces::WaveformOptions options(std::string scope = "*") const {
    traces::WaveformOptions options;
    options.path = path("run.vcd");
    options.scope = std::move(scope);
    return options;
  }
};

using Changes = std::vector<VcdChange>;

/// A value from so many nanoseconds on.
[[nodiscard]] inline VcdChange since(std::int64_t nanoseconds, std::uint64_t value) {
  return {Picoseconds(1000 * nanoseconds), value};
}

[[nodiscard]] inline VcdChange since(std::int64_t nanoseconds, TimeCause state) {
  return since(nanoseconds, static_cast<std::uint64_t>(state));
}

/// A load of 16 KiB, 128 x 64 times 64 x 128 on 64 x 64, and a store of 64 KiB. In ns, one cycle each:
///   load    issue 0 to 8, dispatch to 10, 20 setup + 100 latency + 128 data: 10 to 258
///   dot     waits for the load, issue 258 to 264, dispatch to 266, 2 x 128: 266 to 522
///   store   waits for the dot, issue 522 to 530, dispatch to 532, 20 + 100 + 512: 532 to 1164
void load_dot_store(tl::Context& tl);
inline constexpr std::int64_t end_of_load_dot_store = 1164;

/// Two cubes of one PE.
[[nodiscard]] SystemConfig two_cubes();

/// On PE 0 of two cubes loads, a composite in several tiles, products, sums, stores, and messages to PE 1.
void run_ring(Traced& traced, tl::Policy policy = tl::Policy::lazy);

}  // namespace kernwave::testing
