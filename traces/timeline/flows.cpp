#include "traces/timeline/flows.h"

#include <utility>

namespace kernwave::traces {

OperationFlows LoadFlows::submitted(const OperationId& operation, Completion completion, bool is_load) {
  OperationFlows flows;
  if (is_load) {
    if (unused_.empty()) unused_.resize(remembered);
    unused_[completion.generation % remembered] = completion.generation;
    flows.ids[flows.count++] = id(operation.pe, operation.sequence);
    flows.starts = true;
  } else if (used_.count > 0) {
    flows = std::exchange(used_, OperationFlows{});
  }
  return flows;
}

}  // namespace kernwave::traces
