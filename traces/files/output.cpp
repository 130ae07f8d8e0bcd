#include "traces/files/output.h"

#include "traces/files/open_file.h"

namespace kernwave::traces {

WriteError write_error(int error) { return WriteError(reason_of(error)); }

}  // namespace kernwave::traces
