#include "traces/op_log/sqlite_descriptor.h"

#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <new>
#include <string_view>

#include "traces/files/open_file.h"
#include "traces/files/output.h"

namespace kernwave::traces {

namespace {

/// As SQLite lays it out: its own part comes first.
struct DescriptorFile {
  sqlite3_file base;
  int descriptor;
};

[[nodiscard]] int descriptor_of(sqlite3_file* file) noexcept {
  return reinterpret_cast<DescriptorFile*>(file)->descriptor;  // NOLINT: SQLite's inheritance
}

/// It stays open: it is somebody else's.
int close_file(sqlite3_file* /*file*/) noexcept { return SQLITE_OK; }

int read_file(sqlite3_file* file, void* to, int size, sqlite3_int64 at) noexcept {
  auto* bytes = static_cast<char*>(to);
  while (size > 0) {
    const ssize_t count = ::pread(descriptor_of(file), bytes, static_cast<std::size_t>(size), at);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return SQLITE_IOERR_READ;
    if (count == 0) break;
    bytes += count;
    size -= static_cast<int>(count);
    at += count;
  }
  std::memset(bytes, 0, static_cast<std::size_t>(size));  // beyond the end
  return size == 0 ? SQLITE_OK : SQLITE_IOERR_SHORT_READ;
}

int write_file(sqlite3_file* file, const void* from, int size, sqlite3_int64 at) noexcept {
  const std::string_view bytes(static_cast<const char*>(from), static_cast<std::size_t>(size));
  const int error = write_all_at(descriptor_of(file), bytes, at);
  if (error == 0) return SQLITE_OK;
  return error == ENOSPC || error == EDQUOT ? SQLITE_FULL : SQLITE_IOERR_WRITE;
}

int truncate_file(sqlite3_file* file, sqlite3_int64 size) noexcept {
  return ::ftruncate(descriptor_of(file), size) == 0 ? SQLITE_OK : SQLITE_IOERR_TRUNCATE;
}

/// Whoever gives the file its name flushes it.
int sync_file(sqlite3_file* /*file*/, int /*flags*/) noexcept { return SQLITE_OK; }

int size_of_file(sqlite3_file* file, sqlite3_int64* size) noexcept {
  struct stat status {};
  if (::fstat(descriptor_of(file), &status) != 0) return SQLITE_IOERR_FSTAT;
  *size = status.st_size;
  return SQLITE_OK;
}

int lock_file(sqlite3_file* /*file*/, int /*level*/) noexcept { return SQLITE_OK; }

int is_reserved(sqlite3_file* /*file*/, int* reserved) noexcept {
  *reserved = 0;
  return SQLITE_OK;
}

int control_file(sqlite3_file* /*file*/, int /*operation*/, void* /*argument*/) noexcept { return SQLITE_NOTFOUND; }

int sector_size(sqlite3_file* /*file*/) noexcept { return 4096; }

int characteristics(sqlite3_file* /*file*/) noexcept { return 0; }

constexpr sqlite3_io_methods make_methods() {
  sqlite3_io_methods methods{};
  methods.iVersion = 1;
  methods.xClose = close_file;
  methods.xRead = read_file;
  methods.xWrite = write_file;
  methods.xTruncate = truncate_file;
  methods.xSync = sync_file;
  methods.xFileSize = size_of_file;
  methods.xLock = lock_file;
  methods.xUnlock = lock_file;
  methods.xCheckReservedLock = is_reserved;
  methods.xFileControl = control_file;
  methods.xSectorSize = sector_size;
  methods.xDeviceCharacteristics = characteristics;
  return methods;
}

constexpr sqlite3_io_methods methods = make_methods();

int open_descriptor(sqlite3_vfs* access, const char* name, sqlite3_file* file, int flags, int* given) {
  if ((flags & SQLITE_OPEN_MAIN_DB) == 0) {
    auto* const usual = static_cast<sqlite3_vfs*>(access->pAppData);
    return usual->xOpen(usual, name, file, flags, given);
  }
  new (file) DescriptorFile{{&methods}, std::stoi(name)};
  if (given != nullptr) *given = flags;
  return SQLITE_OK;
}

/// A descriptor has no journals beside it.
int find_nothing(sqlite3_vfs* /*access*/, const char* /*name*/, int /*flags*/, int* found) noexcept {
  *found = 0;
  return SQLITE_OK;
}

int keep_name(sqlite3_vfs* /*access*/, const char* name, int size, char* whole) noexcept {
  sqlite3_snprintf(size, whole, "%s", name);
  return SQLITE_OK;
}

/// All but these ways is as usual.
[[nodiscard]] sqlite3_vfs make_access(sqlite3_vfs& usual) {
  sqlite3_vfs access = usual;
  access.iVersion = 1;
  access.szOsFile = std::max(usual.szOsFile, static_cast<int>(sizeof(DescriptorFile)));
  access.pNext = nullptr;
  access.zName = "kernwave-descriptor";
  access.pAppData = &usual;
  access.xOpen = open_descriptor;
  access.xAccess = find_nothing;
  access.xFullPathname = keep_name;
  return access;
}

}  // namespace

const char* sqlite_descriptor_access() {
  sqlite3_vfs* const usual = sqlite3_vfs_find(nullptr);
  if (usual == nullptr) throw WriteError("SQLite cannot be started");
  // SQLite keeps what it is given.
  static sqlite3_vfs access = make_access(*usual);
  static const int registered = sqlite3_vfs_register(&access, 0);
  if (registered != SQLITE_OK) throw WriteError(sqlite3_errstr(registered));
  return access.zName;
}

std::string sqlite_name_of(int descriptor) { return std::to_string(descriptor); }

}  // namespace kernwave::traces
