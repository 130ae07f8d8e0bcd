#include "tests/golden_support/golden_runs.h"

#include <exception>
#include <map>
#include <stdexcept>
#include <utility>
#include <variant>

#include "platform/cli/command_line.h"
#include "platform/run/simulate.h"
#include "platform/workload/model_shape.h"
#include "platform/workload/workload.h"
#include "tests/support/policies.h"
#include "tests/support/process.h"

namespace kernwave::testing {

namespace {

using OptionsByKernel = std::map<std::string, std::vector<std::string>>;

/// A machine of 8 cubes on which what `ahbm` gives away has a price: a banked memory read in short bursts, an array
/// that drains, links that PEs share, short queues.
constexpr const char* frugal =
    "--config ahbm --set hbm.efficiency=0.86 --set hbm.channels=12 --set pe.dma.burst=1024B "
    "--set pe.dma.zero_writes=true --set pe.dma.overlap_commands=false --set pe.gemm.dataflow=output_stationary "
    "--set pe.gemm.folds=serial --set ipcq.shared_per_cube=true --set pe.scheduler.queue_depth=4 ";

/// Each kernel on `ahbm`, on `ahbm-ws` and on the frugal machine; full tiles and tails, each way that a kernel has of
/// doing its work.
[[nodiscard]] const OptionsByKernel& options_by_kernel() {
  static const OptionsByKernel options = {
      {"gemm",
       {"--config ahbm --m 512 --n 512 --k 512",              //
        "--config ahbm --m 1 --n 4096 --k 1024 --dtype f32",  // a vector by a matrix
        "--config ahbm --m 300 --n 200 --k 1000 --dtype bf16",
        "--config ahbm-ws --m 512 --n 512 --k 512",  //
        "--config ahbm-ws --m 300 --n 200 --k 1000 --set pe.gemm.folds=serial",
        std::string(frugal) + "--m 512 --n 256 --k 512"}},
      {"gqa_attention_decode_short",
       {"--config ahbm --model llama-3.1-8b --s-kv 2K",
        "--config ahbm --model llama-3.1-70b --batch 4 --s-kv 1000,300,2000,1 --kv-layout shd",
        "--config ahbm --model llama-3.1-8b --s-kv 2K --kv composite",  //
        "--config ahbm-ws --model llama-3.1-8b --s-kv 2K",
        "--config ahbm-ws --model qwen2.5-7b --s-q 3 --s-kv 700 --causal --dtype bf16",
        std::string(frugal) + "--model llama-3.1-8b --s-kv 1K"}},
      {"gqa_attention_decode_long",
       {"--config ahbm --model llama-3.1-8b --s-kv 16K",
        "--config ahbm --model llama-3.1-70b --s-kv 5000 --reduce tree --ranks 5 --lse",
        "--config ahbm --model llama-3.1-8b --s-kv 16K --kv composite",  //
        "--config ahbm-ws --model llama-3.1-8b --s-kv 16K",
        "--config ahbm-ws --model qwen2.5-7b --s-kv 3000 --set system.cubes=4 --dtype f32",
        std::string(frugal) + "--model llama-3.1-8b --s-kv 4K --reduce tree"}},
      {"gqa_attention_prefill_short",
       {"--config ahbm --model llama-3.1-8b --s-kv 512",
        "--config ahbm --model qwen2.5-7b --batch 2 --s-q 100 --s-kv 300,150 --kv-layout shd --no-causal",
        "--config ahbm --model llama-3.1-8b --s-kv 512 --kv composite",  //
        "--config ahbm-ws --model llama-3.1-8b --s-kv 512",
        "--config ahbm-ws --model llama-3.1-8b --s-q 200 --s-kv 450 --dtype bf16 --lse",
        std::string(frugal) + "--model llama-3.1-8b --s-kv 256"}},
      {"gqa_attention_prefill_long",
       {"--config ahbm --model llama-3.1-8b --s-kv 1K",
        "--config ahbm --model llama-3.1-8b --s-kv 1K --sharding zigzag",
        "--config ahbm --model llama-3.1-8b --s-q 256 --s-kv 2K --bidirectional --no-causal",
        "--config ahbm --model llama-3.1-8b --s-kv 1K --kv composite",  //
        "--config ahbm-ws --model llama-3.1-8b --s-kv 1K",
        "--config ahbm-ws --model qwen2.5-7b --s-kv 700 --set system.cubes=3 --dtype bf16",
        std::string(frugal) + "--model llama-3.1-8b --s-kv 512 --sharding zigzag"}}};
  return options;
}

[[nodiscard]] Arguments arguments_of(const GoldenRun& run) {
  return words("run " + run.kernel + " --policy " + std::string(tl::name_of(run.policy)) + " --data none " +
               run.options + " --critical-path --quiet");
}

[[nodiscard]] platform::RunCommand parsed(const GoldenRun& run) {
  platform::ParsedCommandLine line = platform::parse_command_line(arguments_of(run));
  if (!line.command) throw std::runtime_error(line.text);
  return std::get<platform::RunCommand>(*line.command);
}

[[nodiscard]] platform::Json result_of(const GoldenRun& run) {
  platform::RunCommand command = parsed(run);
  const platform::Configuration configuration = platform::load_configuration(command.configuration);
  if (!command.model.empty()) command.workload.model = platform::load_model_shape(command.model);
  const auto workload = platform::make_workload(command.workload, configuration.system);
  const platform::RunRequest request{configuration, run.kernel, command.policy, command.data, ""};
  platform::RunOptions options;
  options.outputs = command.outputs;
  return platform::simulate(request, *workload, options).document;
}

}  // namespace

std::vector<std::string> golden_kernels() {
  std::vector<std::string> kernels;
  for (const platform::KernelDescription& kernel : platform::kernel_catalogue()) kernels.push_back(kernel.name);
  return kernels;
}

std::vector<GoldenRun> golden_runs(const std::string& kernel, tl::Policy policy) {
  std::vector<GoldenRun> runs;
  const auto found = options_by_kernel().find(kernel);
  if (found == options_by_kernel().end()) throw std::runtime_error("no golden runs of the kernel " + kernel);
  for (const std::string& options : found->second) runs.push_back({kernel, policy, options});
  return runs;
}

std::vector<GoldenRun> golden_runs(const std::string& kernel) {
  std::vector<GoldenRun> runs;
  for (const tl::Policy policy : all_policies) {
    for (GoldenRun& run : golden_runs(kernel, policy)) runs.push_back(std::move(run));
  }
  return runs;
}

std::string command_of(const GoldenRun& run) {
  std::string command = "kernwave";
  for (const std::string& argument : arguments_of(run)) {
    if (argument != "--quiet") command += " " + argument;
  }
  return command;
}

GoldenFigures simulate(const GoldenRun& run) {
  try {
    return figures_of(result_of(run));
  } catch (const std::exception& error) {
    throw std::runtime_error(command_of(run) + "\n" + error.what());
  }
}

}  // namespace kernwave::testing
