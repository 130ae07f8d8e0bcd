// Kinds of slices of a timeline: slices of one kind differ in their times and numbers alone.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "models/pe/stall_account.h"
#include "models/protocol/descriptor.h"

namespace kernwave::traces {

/// Names a kind. Numbers follow the order in which kinds are met and must not show in a file.
using KindNumber = std::uint32_t;
inline constexpr KindNumber no_kind = ~KindNumber{0};

/// Texts for people.
struct SliceKind {
  std::string name;    ///< "dot 4x128 . 128x512 f16", "wait load"
  std::string issue;   ///< "issue dot"; empty of a wait
  std::string source;  ///< "file.cpp:33"; empty of a wait
  std::int64_t bytes = 0;
  std::int64_t flops = 0;
  std::int64_t peer = -1;  ///< PE at the other end of a queue; -1: none
};

/// Finds the kind of an operation without building a text, unless it is the first of its kind.
class SliceKinds {
 public:
  SliceKinds();

  [[nodiscard]] KindNumber of_operation(const Descriptor& descriptor, SourceLocation where);
  /// Of a program that waits.
  [[nodiscard]] static KindNumber of_wait(TimeCause cause) noexcept { return static_cast<KindNumber>(cause); }
  [[nodiscard]] const SliceKind& operator[](KindNumber kind) const noexcept { return kinds_[kind]; }
  [[nodiscard]] std::size_t size() const noexcept { return kinds_.size(); }

 private:
  /// All that a kind depends on.
  using Key = std::array<std::uint64_t, 8>;

  [[nodiscard]] static Key key_of(const Descriptor& descriptor, SourceLocation where);
  [[nodiscard]] static std::size_t hash(const Key& key) noexcept;
  [[nodiscard]] KindNumber add(const Key& key, const Descriptor& descriptor, SourceLocation where);
  void rehash();

  std::vector<SliceKind> kinds_;
  std::vector<Key> keys_;
  std::vector<KindNumber> table_;  // by hash, open addressing; a power of two
};

/// The name of its file without folders, and the line.
[[nodiscard]] std::string source_text(SourceLocation where);

}  // namespace kernwave::traces
