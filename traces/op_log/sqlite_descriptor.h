// SQLite's access to a file that is open already and has no name.
#pragma once

#include <string>

namespace kernwave::traces {

/// The name under which SQLite knows a way to files (a VFS) of which the main one is an open descriptor, read and
/// written where it is told, without locks and journals. Others, for sorting, are SQLite's usual ones. Throws
/// WriteError if SQLite cannot be started.
[[nodiscard]] const char* sqlite_descriptor_access();

/// What such a database is called.
[[nodiscard]] std::string sqlite_name_of(int descriptor);

}  // namespace kernwave::traces
