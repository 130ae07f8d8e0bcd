// The unavoidable work of an attention task: bytes, multiply-accumulates and scores.
#pragma once

#include <vector>

#include "platform/workload/attention_layout.h"
#include "platform/workload/attention_task.h"
#include "platform/workload/workload.h"

namespace kernwave::platform {

/// By PE: queries, visible keys and values read once, the output written once, visible scores computed once.
[[nodiscard]] std::vector<CompulsoryWork> compulsory_work(const AttentionTask& task, const AttentionLayout& layout,
                                                          const SystemConfig& config);

}  // namespace kernwave::platform
