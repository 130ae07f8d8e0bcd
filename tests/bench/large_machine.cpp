#include "tests/bench/large_machine.h"

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "kernels/tl/launch.h"
#include "models/run/run.h"
#include "models/system/system.h"
#include "platform/host/child_process.h"

namespace kernwave::bench {

namespace {

constexpr std::int64_t pes_in_cube = 16;

/// A load, a product and a store.
void small_kernel(tl::Context& tl) {
  const auto x = tl.load(HbmAddress(0), {16, 16}, DType::f16);
  tl.store(HbmAddress(4096), tl.dot(x, x));
}

[[nodiscard]] std::unique_ptr<System> make_system(std::int64_t pes) {
  SystemConfig config;
  config.cubes = pes / pes_in_cube;
  config.pes_per_cube = pes_in_cube;
  Connector connector;
  return std::make_unique<System>("system", config, DataMode::none, connector);
}

void run(System& system) {
  for (std::int64_t id = 0; id < system.pe_count(); ++id) tl::launch(system.pe(PeId(id)), small_kernel);
  if (run_to_end(system.ledger()) != RunEnd::finished) throw std::runtime_error("the kernels did not finish");
}

[[nodiscard]] double teardown_nanoseconds_per_pe(std::int64_t pes) {
  constexpr int tries = 3;
  double best = std::numeric_limits<double>::infinity();
  for (int round = 0; round < tries; ++round) {
    const std::string text = platform::text_from_child([pes] {
      std::unique_ptr<System> system = make_system(pes);
      run(*system);
      const auto begin = std::chrono::steady_clock::now();
      system.reset();
      const std::chrono::duration<double, std::nano> taken = std::chrono::steady_clock::now() - begin;
      return fmt::format("{}", taken.count() / static_cast<double>(pes));
    });
    best = std::min(best, std::stod(text));
  }
  return best;
}

[[nodiscard]] std::int64_t peak_bytes(std::int64_t pes) {
  return std::stoll(platform::text_from_child([pes] {
    const std::unique_ptr<System> system = make_system(pes);
    run(*system);
    rusage usage{};
    ::getrusage(RUSAGE_SELF, &usage);
    return std::to_string(1024 * std::int64_t{usage.ru_maxrss});
  }));
}

}  // namespace

double teardown_growth() {
  constexpr std::int64_t small = 128;
  constexpr std::int64_t large = 1024;
  return teardown_nanoseconds_per_pe(large) / teardown_nanoseconds_per_pe(small);
}

double memory_bytes_per_pe() {
  constexpr std::int64_t small = 256;
  constexpr std::int64_t large = 2048;
  return static_cast<double>(peak_bytes(large) - peak_bytes(small)) / static_cast<double>(large - small);
}

}  // namespace kernwave::bench
