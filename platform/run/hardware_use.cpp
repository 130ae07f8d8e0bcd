#include "platform/run/hardware_use.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "models/config/pe_kinds.h"
#include "platform/config/key_table.h"
#include "platform/config/math_table.h"
#include "platform/config/pe_kind_keys.h"
#include "platform/text/message_text.h"

namespace kernwave::platform {

void HardwareUse::completed(const CompletedOperation& operation) {
  const Descriptor& descriptor = operation.descriptor;
  if (descriptor.id.part == 0) note_issued(descriptor);
  switch (descriptor.engine) {
    case Engine::dma_read:
    case Engine::dma_write:
      if (descriptor.dma().region.base.cube().count() != descriptor.id.pe.count() / pes_per_cube_) {
        reaches_other_cubes = true;
      }
      break;
    case Engine::gemm:
      products_[static_cast<std::size_t>(descriptor.gemm().a.dtype)] = true;
      break;
    case Engine::math:
      math_[static_cast<std::size_t>(descriptor.math().op)] = true;
      break;
    case Engine::ipcq:
      sends = true;  // whatever is received was sent
      if (descriptor.ipcq().peer.count() / pes_per_cube_ != descriptor.id.pe.count() / pes_per_cube_) {
        sends_between_cubes = true;
      }
      break;
    case Engine::composite:
      break;
  }
}

void HardwareUse::note_issued(const Descriptor& descriptor) {
  issues_loads = issues_loads || descriptor.engine == Engine::dma_read;
  issues_stores = issues_stores || descriptor.engine == Engine::dma_write;
  issues_products = issues_products || descriptor.engine == Engine::gemm;
  issues_math = issues_math || descriptor.engine == Engine::math;
  issues_composites = issues_composites || descriptor.engine == Engine::composite;
}

bool HardwareUse::computes_elements() const noexcept {
  return std::any_of(math_.begin(), math_.end(), [](bool used) { return used; });
}

bool HardwareUse::multiplies() const noexcept {
  return std::any_of(products_.begin(), products_.end(), [](bool used) { return used; });
}

namespace {

struct Run {
  const SystemConfig& system;
  const HardwareUse& use;
};

/// What a run must have for keys to matter. The keys are one, or with ".*" those of a table and of the tables in it;
/// a key may need several things.
struct Concern {
  std::string_view keys;
  bool (*met)(const Run&, const Key&);
  std::string_view otherwise;  ///< why not: "no PE sends a message"
};

bool has_loads(const Run& run, const Key& /*key*/) { return run.use.issues_loads; }
bool has_stores(const Run& run, const Key& /*key*/) { return run.use.issues_stores; }
bool has_dots(const Run& run, const Key& /*key*/) { return run.use.issues_products; }
bool has_math(const Run& run, const Key& /*key*/) { return run.use.issues_math; }
bool has_composites(const Run& run, const Key& /*key*/) { return run.use.issues_composites; }
bool multiplies(const Run& run, const Key& /*key*/) { return run.use.multiplies(); }
bool computes(const Run& run, const Key& /*key*/) { return run.use.computes_elements(); }
bool sends(const Run& run, const Key& /*key*/) { return run.use.sends; }

template <DType input>
bool multiplies_type(const Run& run, const Key& /*key*/) {
  return run.use.multiplies(input);
}

bool has_folds_that_cost(const Run& run, const Key& /*key*/) {
  return run.system.pe.gemm.dataflow != GemmDataflow::ideal;
}

/// Whether any of the run's operations takes the cycles that the key sets.
bool computes_of_group(const Run& run, const Key& key) {
  const std::vector<MathOp> costed = operations_costed_by(key);
  return std::any_of(costed.begin(), costed.end(), [&run](MathOp op) { return run.use.computes(op); });
}

/// A mesh has no line through all PEs of a cube, which keeps a decode from splitting its keys.
bool sends_or_is_kept_from_it(const Run& run, const Key& /*key*/) {
  return run.use.sends || run.system.pe.ipcq.topology == IpcqTopology::mesh;
}

bool shares_links(const Run& run, const Key& /*key*/) {
  return run.use.sends_between_cubes && run.system.pes_per_cube > 1;
}

bool has_channels(const Run& run, const Key& /*key*/) { return run.system.hbm.channels > 1; }
bool reaches_other_cubes(const Run& run, const Key& /*key*/) { return run.use.reaches_other_cubes; }
bool has_memory_of_others(const Run& /*run*/, const Key& /*key*/) { return false; }

/// The times of the engine come from its formula, of which the keys are.
template <auto... timing>
bool by_formula(const Run& run, const Key& /*key*/) {
  const auto& given = (run.system.*....*timing);
  return !given || given.uses_formula;
}
constexpr auto gemm_by_formula = &by_formula<&SystemConfig::pe, &PeConfig::gemm, &GemmConfig::timing>;
constexpr auto math_by_formula = &by_formula<&SystemConfig::pe, &PeConfig::math, &MathConfig::timing>;
constexpr auto dma_by_formula = &by_formula<&SystemConfig::pe, &PeConfig::dma, &DmaConfig::timing>;
constexpr auto ipcq_by_formula = &by_formula<&SystemConfig::pe, &PeConfig::ipcq, &IpcqConfig::timing>;
constexpr auto interconnect_by_formula = &by_formula<&SystemConfig::interconnect, &InterconnectConfig::timing>;
constexpr std::string_view gemm_is_given = "pe.gemm.timing says how long products take";
constexpr std::string_view math_is_given = "pe.math.timing says how long operations take";
constexpr std::string_view dma_is_given = "pe.dma.timing says how long transfers take";

constexpr std::string_view no_messages = "no PE sends a message";

/// Keys that are not here concern every run.
const std::vector<Concern>& concerns() {
  static const std::vector<Concern> table{
      {"pe.issue.load", has_loads, "the kernel loads nothing by itself"},
      {"pe.issue.store", has_stores, "the kernel stores nothing"},
      {"pe.issue.dot", has_dots, "the kernel issues no products by themselves"},
      {"pe.issue.math", has_math, "the kernel issues no elementwise operations or reductions"},
      {"pe.issue.composite", has_composites, "the kernel issues no composites"},
      {"pe.issue.send", sends, no_messages},
      {"pe.issue.receive", sends, no_messages},
      {"pe.scheduler.prefetch_depth", has_composites, "the kernel issues no composites"},
      {"pe.gemm.*", multiplies, "no products are computed"},
      {"pe.gemm.f32_cycles", multiplies_type<DType::f32>, "no products of f32 are computed"},
      {"pe.gemm.f16_cycles", multiplies_type<DType::f16>, "no products of f16 are computed"},
      {"pe.gemm.bf16_cycles", multiplies_type<DType::bf16>, "no products of bf16 are computed"},
      {"pe.gemm.folds", has_folds_that_cost, "pe.gemm.dataflow is \"ideal\""},
      {"pe.scratch.bandwidth", multiplies, "no products are computed"},
      {"pe.math.*", computes, "no elementwise operations or reductions are computed"},
      {"pe.math.cycles.*", computes_of_group, "none of their operations are computed"},
      {"pe.gemm.rows", gemm_by_formula, gemm_is_given},
      {"pe.gemm.cols", gemm_by_formula, gemm_is_given},
      {"pe.gemm.dataflow", gemm_by_formula, gemm_is_given},
      {"pe.gemm.folds", gemm_by_formula, gemm_is_given},
      {"pe.gemm.f32_cycles", gemm_by_formula, gemm_is_given},
      {"pe.gemm.f16_cycles", gemm_by_formula, gemm_is_given},
      {"pe.gemm.bf16_cycles", gemm_by_formula, gemm_is_given},
      {"pe.scratch.bandwidth", gemm_by_formula, gemm_is_given},
      {"pe.math.lanes", math_by_formula, math_is_given},
      {"pe.math.cycles.*", math_by_formula, math_is_given},
      {"pe.dma.setup", dma_by_formula, dma_is_given},
      {"pe.dma.bandwidth", dma_by_formula, dma_is_given},
      {"ipcq.bandwidth", ipcq_by_formula, "ipcq.timing says how long messages take"},
      {"interconnect.bandwidth", interconnect_by_formula, "interconnect.timing says how long transfers take"},
      {"pe.dma.zero_writes", has_memory_of_others, "the memory is the model's own"},
      {"ipcq.topology", sends_or_is_kept_from_it, no_messages},
      {"ipcq.depth", sends, no_messages},
      {"ipcq.window", sends, no_messages},
      {"ipcq.bandwidth", sends, no_messages},
      {"ipcq.hop_latency", sends, no_messages},
      {"ipcq.slot_bytes", sends, no_messages},
      {"ipcq.shared_per_cube", shares_links, "no two PEs of a cube send messages to another cube"},
      {"hbm.interleave", has_channels, "hbm.channels is 1"},
      {"interconnect.*", reaches_other_cubes, "no PE reaches the HBM of another cube"},
  };
  return table;
}

[[nodiscard]] bool is_about(const Concern& concern, std::string_view path) noexcept {
  if (concern.keys.back() != '*') return concern.keys == path;
  const std::string_view table = concern.keys.substr(0, concern.keys.size() - 1);
  return path.substr(0, table.size()) == table;
}

/// Empty if the run depends on the key.
[[nodiscard]] std::string_view why_without_effect(const Key& key, const Run& run) {
  for (const Concern& concern : concerns()) {
    if (is_about(concern, key.path) && !concern.met(run, key)) return concern.otherwise;
  }
  return {};
}

/// The machine as each kind of PEs has it that a key may be about.
[[nodiscard]] std::vector<SystemConfig> machines_of(const SystemConfig& system, std::string_view path) {
  const std::optional<KindPath> of_kind = kind_path(path);
  std::vector<SystemConfig> machines;
  if (!of_kind) machines.push_back(system);
  for (const PeKind& kind : system.kinds) {
    if (!of_kind || of_kind->kind == kind.name) machines.push_back(machine_of_kind(system, kind));
  }
  return machines;
}

}  // namespace

std::vector<std::string> keys_without_effect(const Configuration& configuration, const HardwareUse& use) {
  struct Group {
    std::string_view why;
    std::vector<std::string> keys;
  };
  std::vector<Group> groups;
  for (const std::string& path : configuration.given) {
    const std::optional<std::size_t> index = index_of(common_path(path));
    if (!index) continue;  // a kind's choice of PEs
    const Key& key = all_keys()[*index];
    std::string_view why;
    bool has_effect = false;
    for (const SystemConfig& machine : machines_of(configuration.system, path)) {
      why = why_without_effect(key, {machine, use});
      has_effect = has_effect || why.empty();
    }
    if (has_effect) continue;
    auto group = std::find_if(groups.begin(), groups.end(), [why](const Group& other) { return other.why == why; });
    if (group == groups.end()) group = groups.insert(group, Group{why, {}});
    group->keys.push_back(path);
  }
  std::vector<std::string> notes;
  notes.reserve(groups.size());
  for (const Group& group : groups) notes.push_back(without_effect(group.keys, group.why));
  return notes;
}

}  // namespace kernwave::platform
