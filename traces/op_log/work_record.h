// The work of operations of one source line: everything but times, addresses and dependencies.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "models/base/address.h"
#include "models/base/quantity.h"
#include "models/protocol/descriptor.h"

namespace kernwave::traces {

struct WorkRecord {
  std::string_view engine;    ///< its name
  std::string_view category;  ///< as category_of
  std::string_view kind;      ///< as name_of(descriptor)
  std::string label;          ///< for people: "gemm/dot of 4x128 f16 . 128x512 f16"; without addresses
  std::string shape;          ///< "64x128", of a product "4x128 . 128x512", of a reduction "4x512 -> 4x1"
  std::string dtype;          ///< of the tensors in `shape`: "f16"; if they differ, each: "bool -> int32"
  Bytes bytes;                ///< as transferred_bytes
  std::int64_t flops = 0;     ///< as flops_of
  std::string file;
  int line = 0;
};

[[nodiscard]] bool operator<(const WorkRecord& a, const WorkRecord& b) noexcept;

[[nodiscard]] WorkRecord work_record(const Descriptor& descriptor, SourceLocation where);

}  // namespace kernwave::traces
