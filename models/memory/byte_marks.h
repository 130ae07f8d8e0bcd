// A bit for each byte of a memory: which bytes have been written.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace kernwave {

/// Marks for bytes 0 ... size - 1; at first, no byte is marked. Ranges must lie inside.
class ByteMarks {
 public:
  explicit ByteMarks(std::int64_t size) : words_(static_cast<std::size_t>((size + word_bits - 1) / word_bits), 0) {}

  void mark(std::int64_t begin, std::int64_t count) {
    for_each_word(begin, count, [this](std::size_t word, std::uint64_t bits) { words_[word] |= bits; });
  }
  void unmark(std::int64_t begin, std::int64_t count) {
    for_each_word(begin, count, [this](std::size_t word, std::uint64_t bits) { words_[word] &= ~bits; });
  }
  /// The first byte of the range that is not marked; begin + count if all are.
  [[nodiscard]] std::int64_t first_unmarked(std::int64_t begin, std::int64_t count) const {
    const std::int64_t end = begin + count;
    for (std::int64_t at = begin; at < end;) {
      const std::uint64_t unmarked = ~words_[index(at)] >> (at % word_bits);
      const std::int64_t in_word = std::min(word_bits - at % word_bits, end - at);
      const std::int64_t skipped = unmarked == 0 ? word_bits : __builtin_ctzll(unmarked);
      if (skipped < in_word) return at + skipped;
      at += in_word;
    }
    return end;
  }

 private:
  static constexpr std::int64_t word_bits = 64;

  [[nodiscard]] static std::size_t index(std::int64_t byte) noexcept {
    return static_cast<std::size_t>(byte / word_bits);
  }

  template <typename Action>
  static void for_each_word(std::int64_t begin, std::int64_t count, Action action) {
    const std::int64_t end = begin + count;
    for (std::int64_t at = begin; at < end;) {
      const std::int64_t in_word = std::min(word_bits - at % word_bits, end - at);
      const std::uint64_t ones = ~std::uint64_t{0} >> (word_bits - in_word);
      action(index(at), ones << (at % word_bits));
      at += in_word;
    }
  }

  std::vector<std::uint64_t> words_;
};

}  // namespace kernwave
