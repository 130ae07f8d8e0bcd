// The table that gives operations of the same work one shared record, without making texts.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <unordered_map>
#include <vector>

#include "models/base/address.h"
#include "models/protocol/descriptor.h"
#include "traces/op_log/work_record.h"

namespace kernwave::traces {

class WorkTable {
 public:
  /// The index of an operation's record, from 0 on; operations with equal records have the same.
  [[nodiscard]] std::uint32_t index_of(const Descriptor& descriptor, SourceLocation where);
  [[nodiscard]] const WorkRecord& record(std::uint32_t index) const { return *records_[index]; }

 private:
  /// Different keys may mean equal records (a file's name may stand in several places), equal keys always do.
  struct Key {
    const char* file = nullptr;
    std::int32_t line = 0;
    std::uint32_t kind = 0;
    std::array<std::uint64_t, 6> numbers{};

    [[nodiscard]] bool operator==(const Key& other) const noexcept {
      return file == other.file && line == other.line && kind == other.kind && numbers == other.numbers;
    }
  };
  struct Hash {
    [[nodiscard]] std::size_t operator()(const Key& key) const noexcept;
  };

  static void fill(Key& key, const DmaDescriptor& dma) noexcept;
  static void fill(Key& key, const GemmDescriptor& gemm) noexcept;
  static void fill(Key& key, const MathDescriptor& math) noexcept;
  static void fill(Key& key, const IpcqDescriptor& ipcq) noexcept;
  static void fill(Key& key, const CompositeDescriptor& composite) noexcept;
  static void fill(Key& key, const CallDescriptor& call) noexcept;

  std::unordered_map<Key, std::uint32_t, Hash> by_key_;
  std::map<WorkRecord, std::uint32_t> by_record_;
  std::vector<const WorkRecord*> records_;  // of by_record_, by index
};

}  // namespace kernwave::traces
