#include "platform/workload/workload.h"

#include <fmt/format.h>

#include "platform/text/message_text.h"
#include "platform/workload/attention_workload.h"
#include "platform/workload/gemm_workload.h"

namespace kernwave::platform {

namespace {

using Maker = std::unique_ptr<Workload> (*)(const WorkloadRequest&, const SystemConfig&);

struct CatalogueEntry {
  KernelDescription description;
  Maker make;
};

template <AttentionKernel kernel>
[[nodiscard]] std::unique_ptr<Workload> make_attention(const WorkloadRequest& request, const SystemConfig& config) {
  return std::make_unique<AttentionWorkload>(kernel, request, config);
}

[[nodiscard]] std::unique_ptr<Workload> make_gemm(const WorkloadRequest& request, const SystemConfig& config) {
  return std::make_unique<GemmWorkload>(request, config);
}

[[nodiscard]] std::vector<CatalogueEntry> catalogue() {
  return {
      {{"gqa_attention_decode_short", "decode attention, one KV head of one sequence a PE; bound by reading K and V"},
       make_attention<AttentionKernel::decode_short>},
      {{"gqa_attention_decode_long", "decode attention, the keys split over the cubes; bound by reading K and V"},
       make_attention<AttentionKernel::decode_long>},
      {{"gqa_attention_prefill_short", "prefill attention, one KV head of one sequence a PE; bound by the products"},
       make_attention<AttentionKernel::prefill_short>},
      {{"gqa_attention_prefill_long", "prefill attention, a ring of KV tiles over the cubes; bound by the products"},
       make_attention<AttentionKernel::prefill_long>},
      {{"gemm", "blocked matrix product on the PEs of one cube"}, make_gemm},
  };
}

}  // namespace

std::vector<KernelDescription> kernel_catalogue() {
  std::vector<KernelDescription> descriptions;
  for (const CatalogueEntry& entry : catalogue()) descriptions.push_back(entry.description);
  return descriptions;
}

std::unique_ptr<Workload> make_workload(const WorkloadRequest& request, const SystemConfig& config) {
  std::vector<std::string> names;
  for (const CatalogueEntry& entry : catalogue()) {
    if (entry.description.name == request.kernel) return entry.make(request, config);
    names.push_back(entry.description.name);
  }
  throw WorkloadError(fmt::format("there is no kernel {}{} (`kernwave list` shows all)", in_quotes(request.kernel),
                                  did_you_mean(request.kernel, names)));
}

}  // namespace kernwave::platform
