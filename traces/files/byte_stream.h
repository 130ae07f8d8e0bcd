// A stream of bytes into a file, plain or compressed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

struct gzFile_s;  // zlib's file

namespace kernwave::traces {

enum class Compression : std::uint8_t { none, gzip };

/// The same bytes make the same file, compressed or not. An error of writing is kept until `close`.
class ByteStream {
 public:
  /// Writes to an open file, which must outlive it, from where that stands.
  ByteStream(int file, Compression compression);
  ByteStream(const ByteStream&) = delete;
  ByteStream& operator=(const ByteStream&) = delete;
  ~ByteStream();

  void write(std::string_view bytes);
  /// A place for up to `most` bytes, no more than 4 KiB, of which those before `end` count once `put` is called.
  [[nodiscard]] char* room(std::size_t most) {
    if (buffer_.size() - size_ < most) flush();
    return buffer_.data() + size_;
  }
  void put(const char* end) noexcept { size_ = static_cast<std::size_t>(end - buffer_.data()); }
  /// Whether a write has failed; later writes do nothing.
  [[nodiscard]] bool failed() const noexcept { return error_ != 0; }
  /// Throws WriteError if a write has failed.
  void check() const;
  /// The last call. Throws WriteError if not all has been written.
  void close();

 private:
  void flush();
  void write_plain();
  void write_compressed();
  void release();
  void fail() noexcept;

  std::vector<char> buffer_;
  std::size_t size_ = 0;
  gzFile_s* compressed_ = nullptr;
  int file_;
  int error_ = 0;  // of the system: that of the first write that failed
};

}  // namespace kernwave::traces
