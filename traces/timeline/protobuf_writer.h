// A writer of protobuf messages into a buffer that is reused.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace kernwave::traces {

/// Appends fields to a buffer. The buffer grows to the largest size it ever had and then never allocates.
class ProtobufWriter {
 public:
  void varint(std::uint32_t field, std::uint64_t value) {
    reserve(2 * longest_varint);
    put_varint(tag(field, 0));
    put_varint(value);
  }
  void fixed64(std::uint32_t field, std::uint64_t value);
  void real(std::uint32_t field, double value);
  void text(std::uint32_t field, std::string_view value);
  /// Fields that are encoded already.
  void encoded(std::string_view fields);

  /// Begins a nested message; the fields that follow are its own, until `end` is given what this returns.
  [[nodiscard]] std::size_t begin(std::uint32_t field) {
    reserve(2 * longest_varint);
    put_varint(tag(field, 2));
    ++size_;  // its length, of one byte unless `end` finds it longer
    return size_;
  }
  void end(std::size_t message) {
    const std::size_t length = size_ - message;
    if (length < 128) {
      buffer_[message - 1] = static_cast<char>(length);
    } else {
      set_long_length(message, length);
    }
  }

  [[nodiscard]] std::string_view data() const noexcept { return {buffer_.data(), size_}; }
  void clear() noexcept { size_ = 0; }

 private:
  static constexpr std::size_t longest_varint = 10;

  [[nodiscard]] static constexpr std::uint64_t tag(std::uint32_t field, std::uint32_t wire_type) noexcept {
    return std::uint64_t{field} << 3U | wire_type;
  }
  void reserve(std::size_t bytes) {
    if (buffer_.size() - size_ < bytes) grow(bytes);
  }
  void grow(std::size_t bytes);
  void put_varint(std::uint64_t value) noexcept {
    for (; value >= 128; value >>= 7U) buffer_[size_++] = static_cast<char>(value | 128U);
    buffer_[size_++] = static_cast<char>(value);
  }
  void put_bytes(std::string_view bytes);
  void set_long_length(std::size_t message, std::size_t length);

  std::vector<char> buffer_;
  std::size_t size_ = 0;
};

}  // namespace kernwave::traces
