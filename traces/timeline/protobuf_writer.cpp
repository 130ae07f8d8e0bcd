#include "traces/timeline/protobuf_writer.h"

#include <algorithm>
#include <cstring>

namespace kernwave::traces {

void ProtobufWriter::fixed64(std::uint32_t field, std::uint64_t value) {
  reserve(longest_varint + sizeof(value));
  put_varint(tag(field, 1));
  for (std::size_t i = 0; i < sizeof(value); ++i) buffer_[size_++] = static_cast<char>(value >> (8U * i));
}

void ProtobufWriter::real(std::uint32_t field, double value) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof(bits));
  fixed64(field, bits);
}

void ProtobufWriter::text(std::uint32_t field, std::string_view value) {
  reserve(2 * longest_varint);
  put_varint(tag(field, 2));
  put_varint(value.size());
  put_bytes(value);
}

void ProtobufWriter::encoded(std::string_view fields) { put_bytes(fields); }

void ProtobufWriter::put_bytes(std::string_view bytes) {
  reserve(bytes.size());
  std::copy(bytes.begin(), bytes.end(), buffer_.data() + size_);
  size_ += bytes.size();
}

void ProtobufWriter::grow(std::size_t bytes) {
  buffer_.resize(std::max<std::size_t>(2 * buffer_.size(), size_ + bytes));
}

/// Moves the message to make room for the rest of its length.
void ProtobufWriter::set_long_length(std::size_t message, std::size_t length) {
  std::size_t more = 0;
  for (std::size_t rest = length >> 7U; rest > 0; rest >>= 7U) ++more;
  reserve(more);
  char* const first = buffer_.data() + message;
  std::memmove(first + more, first, length);
  size_ = message - 1;
  put_varint(length);
  size_ += length;
}

}  // namespace kernwave::traces
