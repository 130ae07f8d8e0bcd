// What attention runs leave, as a few numbers and the names of source files. Builds by different compilers, at
// different optimisation levels and in different folders must print the same.
#include <fmt/format.h>

#include <cmath>
#include <cstdio>
#include <exception>
#include <functional>
#include <limits>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/attention/gqa_attention_decode_short.h"
#include "kernels/attention/gqa_attention_prefill_long.h"
#include "kernels/attention/gqa_attention_prefill_short.h"
#include "kernels/tl/launch.h"
#include "models/numeric/tensor_bytes.h"
#include "models/protocol/connector.h"
#include "models/run/run.h"
#include "models/system/system.h"
#include "platform/host/child_process.h"
#include "platform/workload/random_data.h"
#include "tests/support/contended_machine.h"
#include "tests/support/operation_rows.h"
#include "traces/op_log/op_log.h"

int sc_main(int /*argc*/, char** /*argv*/) { return 0; }  // the library asks for the symbol; nothing calls it

namespace kernwave {
namespace {

using kernels::AttentionArgs;
using kernels::AttentionHead;
using AttentionKernel = void (*)(tl::Context&, const AttentionArgs&);

/// Queries and keys of a sequence.
struct Lengths {
  std::int64_t s_q = 1;
  std::int64_t s_kv = 1;
};

/// Sequences 0 and 1, whose heads lie in cubes 0 and 1, as the two shards of one: a ring of two ranks.
void ring(tl::Context& tl, const AttentionArgs& args) {
  const AttentionHead& head = args.heads.front();
  const kernels::RingSequence whole{kernels::Sharding(2 * head.s_q, 2, 1), kernels::Sharding(2 * head.s_kv, 2, 1)};
  kernels::RingArgs shard;
  shard.attention = args;
  shard.sequences = {whole, whole};
  shard.rank = tl.program_id(1);
  shard.ranks = 2;
  shard.resident_blocks = 3;
  kernels::gqa_attention_prefill_long(tl, shard);
}

/// A kernel with lengths that fit no tile and no block.
struct Case {
  const char* name = "";
  AttentionKernel kernel = nullptr;
  kernels::KvSource kv = kernels::KvSource::load;
  std::vector<Lengths> sequences;
};

[[nodiscard]] std::vector<Case> cases() {
  using kernels::KvSource;
  return {{"decode", kernels::gqa_attention_decode_short, KvSource::load, {{2, 150}, {1, 77}, {3, 64}}},
          {"streamed", kernels::gqa_attention_decode_short, KvSource::composite, {{2, 150}, {1, 77}, {3, 64}}},
          {"prefill", kernels::gqa_attention_prefill_short, KvSource::load, {{21, 70}, {13, 40}, {9, 5}}},
          {"ring", ring, KvSource::load, {{21, 70}, {21, 70}}}};
}

/// FNV-1a, 64 bits: the same on every host, unlike std::hash.
[[nodiscard]] std::uint64_t hash_of(std::string_view bytes) {
  std::uint64_t hash = 0xCBF29CE484222325;
  for (const char byte : bytes) hash = (hash ^ static_cast<unsigned char>(byte)) * 0x00000100000001B3;
  return hash;
}

/// Three heads of three sequences on six PEs: nine programs, so that three PEs run two.
class Run {
 public:
  Run(const Case& which, DType dtype, ConstructionOrder order)
      : kernel_(which.kernel), system_("system", testing::contended_machine(), DataMode::full, connector_, order) {
    args_.kv_heads = 3;
    args_.group = 3;
    args_.head_dim = 80;
    args_.dtype = dtype;
    args_.causal = true;
    args_.scale = 1.0F / std::sqrt(80.0F);
    args_.tile = 32;
    args_.block_queries = 4;
    args_.kv = which.kv;
    for (const Lengths& lengths : which.sequences) {
      for (std::int64_t head = 0; head < args_.kv_heads; ++head) place_head(lengths);
    }
  }

  [[nodiscard]] std::string fingerprint(tl::Policy policy) {
    traces::OpLog log;
    std::vector<Pe*> pes;
    for (std::int64_t id = 0; id < system_.pe_count(); ++id) {
      pes.push_back(&system_.pe(PeId(id)));
      pes.back()->set_observer(&log);
    }
    const tl::Grid grid{args_.kv_heads, static_cast<std::int64_t>(args_.heads.size()) / args_.kv_heads, 1};
    tl::launch(pes, grid, [this](tl::Context& tl) { kernel_(tl, args_); }, policy,
               {{Direction::west}, Bytes(2 * args_.tile * args_.head_dim * size_of(args_.dtype))});
    if (run_to_end(system_.ledger()) != RunEnd::finished) throw std::runtime_error("the run did not finish");
    const std::vector<traces::OperationRow> rows = log.rows();
    const std::string log_text = testing::operations_text(rows);
    return fmt::format("latency {} ps, {} operations, log {:016x}, output {:016x}, of {}",
                       system_.ledger().end().count(), rows.size(), hash_of(log_text), hash_of(outputs()),
                       files_of(rows));
  }

 private:
  /// The source files of the operations. Lines are left out: compilers may count those of a long call in two ways.
  [[nodiscard]] static std::string files_of(const std::vector<traces::OperationRow>& rows) {
    std::set<std::string> files;
    for (const traces::OperationRow& row : rows) files.insert(row.where.file);
    return fmt::format("{}", fmt::join(files, " "));
  }

  void place_head(const Lengths& lengths) {
    const auto program = static_cast<std::int64_t>(args_.heads.size());
    const std::int64_t width = args_.group * args_.head_dim;
    cube_ = CubeId(program % system_.pe_count() / system_.config().pes_per_cube);
    AttentionHead head;
    head.s_q = lengths.s_q;
    head.s_kv = lengths.s_kv;
    head.q_stride = width;
    head.out_stride = width;
    head.kv_stride = args_.head_dim;
    head.q = place_random(lengths.s_q * width);
    head.k = place_random(lengths.s_kv * args_.head_dim);
    head.v = place_random(lengths.s_kv * args_.head_dim);
    head.out = place(std::vector<float>(static_cast<std::size_t>(lengths.s_q * width), not_written));
    args_.heads.push_back(head);
  }

  [[nodiscard]] HbmAddress place_random(std::int64_t elements) {
    return place(platform::RandomTensor(1, tensors_++).values(0, elements, args_.dtype));
  }

  [[nodiscard]] HbmAddress place(std::vector<float> values) {
    ScratchOperand view;
    view.rows = 1;
    view.cols = static_cast<std::int32_t>(values.size());
    view.row_stride = view.cols;
    view.col_stride = 1;
    view.dtype = args_.dtype;
    std::vector<std::uint8_t> bytes(static_cast<std::size_t>(view.bytes().count()));
    numeric::write_row({bytes.data(), view}, 0, values.data());
    const HbmAddress address(cube_, used_);
    system_.cube(cube_).hbm().write(used_, bytes.data(), view.bytes());
    used_ += view.bytes();
    return address;
  }

  [[nodiscard]] std::string outputs() const {
    std::string all;
    for (const AttentionHead& head : args_.heads) {
      const Bytes size(head.s_q * head.out_stride * size_of(args_.dtype));
      std::vector<std::uint8_t> bytes(static_cast<std::size_t>(size.count()));
      system_.cube(head.out.cube()).hbm().read(head.out.offset(), bytes.data(), size);
      all.append(bytes.begin(), bytes.end());
    }
    return all;
  }

  static constexpr float not_written = std::numeric_limits<float>::quiet_NaN();

  AttentionKernel kernel_;
  Connector connector_;
  System system_;
  AttentionArgs args_;
  CubeId cube_;
  Bytes used_;  // one count for both cubes: no two tensors share an offset
  std::uint64_t tensors_ = 0;
};

/// Prints a line for each policy; throws when the order of construction changes it.
void print_fingerprints(const Case& which, DType dtype) {
  for (const tl::Policy policy : {tl::Policy::blocking, tl::Policy::lazy, tl::Policy::stall_on_use}) {
    const auto run = [&](ConstructionOrder order) {
      return platform::text_from_child([&] { return Run(which, dtype, order).fingerprint(policy); });
    };
    const std::string expected = run(ConstructionOrder::ascending);
    fmt::print("{} {} {}: {}\n", which.name, name_of(dtype), tl::name_of(policy), expected);
    for (const ConstructionOrder order : {ConstructionOrder::descending, ConstructionOrder::interleaved}) {
      const std::string other = run(order);
      if (other != expected) throw std::runtime_error("in another order of construction: " + other);
    }
  }
}

}  // namespace
}  // namespace kernwave

int main() {
  try {
    for (const kernwave::Case& which : kernwave::cases()) {
      for (const kernwave::DType dtype : {kernwave::DType::f16, kernwave::DType::bf16}) {
        kernwave::print_fingerprints(which, dtype);
      }
    }
  } catch (const std::exception& error) {
    fmt::print(stderr, "fingerprint: {}\n", error.what());
    return 1;
  }
  return 0;
}
