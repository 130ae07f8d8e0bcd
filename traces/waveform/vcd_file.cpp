#include "traces/waveform/vcd_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string_view>

#include "traces/output.h"

namespace kernwave::traces {

namespace {

constexpr const char* incomplete = "it is not complete; the disk may be full";

[[noreturn]] void fail_with_errno() { throw WriteError(std::strerror(errno)); }

/// An open file, by its descriptor.
class OpenFile {
 public:
  OpenFile(const std::string& path, int flags) : descriptor_(::open(path.c_str(), flags | O_CLOEXEC, 0666)) {
    if (descriptor_ < 0) fail_with_errno();
  }
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;
  ~OpenFile() { ::close(descriptor_); }

  [[nodiscard]] off_t size() const {
    struct stat status {};
    if (::fstat(descriptor_, &status) != 0) fail_with_errno();
    return status.st_size;
  }

  /// Fewer bytes at the file's end.
  [[nodiscard]] std::string read(off_t offset, std::size_t count) const {
    std::string bytes(count, '\0');
    std::size_t done = 0;
    while (done < count) {
      const ssize_t got = ::pread(descriptor_, &bytes[done], count - done, offset + static_cast<off_t>(done));
      if (got < 0) fail_with_errno();
      if (got == 0) break;
      done += static_cast<std::size_t>(got);
    }
    bytes.resize(done);
    return bytes;
  }

  void write(off_t offset, std::string_view bytes) const {
    if (::pwrite(descriptor_, bytes.data(), bytes.size(), offset) != static_cast<ssize_t>(bytes.size())) {
      fail_with_errno();
    }
  }

  void cut_to(off_t size) const {
    if (::ftruncate(descriptor_, size) != 0) fail_with_errno();
  }

  void flush() const {
    if (::fsync(descriptor_) != 0) fail_with_errno();
  }

 private:
  int descriptor_;
};

/// SystemC tells the time of the initial values in a comment. A time stamp, filled up to its length, takes its place.
void stamp_initial_values(const OpenFile& file, Picoseconds begin) {
  constexpr std::string_view comment = "$comment\nAll initial values";
  constexpr std::string_view end_of_comment = "$end\n";
  constexpr std::size_t piece = 1 << 16;
  std::string header;
  std::size_t from = std::string::npos;
  std::size_t to = std::string::npos;
  while (to == std::string::npos) {
    const std::string more = file.read(static_cast<off_t>(header.size()), piece);
    if (more.empty()) throw WriteError(incomplete);
    header += more;
    from = header.find(comment);
    if (from != std::string::npos) to = header.find(end_of_comment, from);
  }
  std::string stamp = fmt::format("#{}", begin.count());
  stamp.resize(to + end_of_comment.size() - 1 - from, ' ');
  file.write(static_cast<off_t>(from), stamp);
}

/// A file of one instant has the initial values and nothing else.
void check_end_of_values(const OpenFile& file) {
  constexpr std::string_view last = "$end\n\n";
  const off_t size = file.size();
  const auto length = static_cast<off_t>(last.size());
  if (size < length || file.read(size - length, last.size()) != last) throw WriteError(incomplete);
}

/// The last line is the stamp of the end. If the values of that instant precede it, so does a stamp.
void check_last_stamp(const OpenFile& file, Picoseconds end) {
  const std::string stamp = fmt::format("\n#{}\n", end.count());
  const off_t size = file.size();
  const auto length = static_cast<off_t>(stamp.size());
  if (size < length || file.read(size - length, stamp.size()) != stamp) throw WriteError(incomplete);
  // All that follows the last stamp but one, and that one.
  std::string tail;
  std::size_t before = std::string::npos;
  while (before == std::string::npos && static_cast<off_t>(tail.size()) < size - length) {
    const off_t wanted = std::min<off_t>(size - length, static_cast<off_t>(2 * tail.size()) + 4096);
    tail = file.read(size - length - wanted, static_cast<std::size_t>(wanted));
    before = tail.rfind("\n#");
  }
  const std::string_view bare = std::string_view(stamp);
  if (before != std::string::npos && tail.compare(before, bare.size(), bare) == 0) file.cut_to(size - length + 1);
}

}  // namespace

void check_vcd_creatable(const std::string& path) { const OpenFile file(path, O_WRONLY | O_CREAT | O_TRUNC); }

void finish_vcd(const std::string& path, Picoseconds begin, Picoseconds end) {
  const OpenFile file(path, O_RDWR);
  begin == end ? check_end_of_values(file) : check_last_stamp(file, end);
  stamp_initial_values(file, begin);
  file.flush();
}

}  // namespace kernwave::traces
