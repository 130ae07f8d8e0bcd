#include "traces/output.h"

#include <cerrno>
#include <system_error>

namespace kernwave::traces {

WriteError write_error(int error) {
  const bool full = error == ENOSPC || error == EDQUOT;
  return WriteError(full ? "the disk is full" : std::generic_category().message(error));
}

}  // namespace kernwave::traces
