// A machine of kernwave in a shared object, as a simulator that owns sc_start loads it.

#include <kernwave/kernels/tl/context.h>
#include <kernwave/kernels/tl/launch.h>
#include <kernwave/models/run/run.h>
#include <kernwave/models/system/system.h>

/// Runs a load on a machine of one PE. Returns its time in picoseconds, or -1.
extern "C" long long kernwave_model_run() {
  using namespace kernwave;
  SystemConfig config;
  config.cubes = 1;
  config.pes_per_cube = 1;
  Connector connector;
  System system("system", config, DataMode::none, connector);
  tl::launch(system.pe(PeId(0)), [](tl::Context& tl) { tl.load(HbmAddress(0), {64, 128}, DType::f16); });
  return run_to_end(system.ledger()) == RunEnd::finished ? system.ledger().end().count() : -1;
}
