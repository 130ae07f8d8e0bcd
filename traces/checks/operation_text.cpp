#include "traces/checks/operation_text.h"

#include <fmt/format.h>

#include "traces/op_log/work_record.h"

namespace kernwave::traces {

std::string operation_text(const Descriptor& descriptor, SourceLocation where) {
  return fmt::format("PE {}, {} at {}:{}", descriptor.id.pe.count(), work_record(descriptor, where).label, where.file,
                     where.line);
}

}  // namespace kernwave::traces
