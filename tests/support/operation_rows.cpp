#include "tests/support/operation_rows.h"

#include <fmt/format.h>

namespace kernwave::testing {

std::string operations_text(const std::vector<traces::OperationRow>& rows) {
  std::string text;
  for (const traces::OperationRow& row : rows) {
    const OperationId& id = row.descriptor.id;
    text += fmt::format("pe{}.{}.{} {} {} B {} flops {} {} {}\n", id.pe.count(), id.sequence, id.part,
                        describe(row.descriptor), transferred_bytes(row.descriptor).count(), flops_of(row.descriptor),
                        row.issued.count(), row.start.count(), row.end.count());
  }
  return text;
}

}  // namespace kernwave::testing
