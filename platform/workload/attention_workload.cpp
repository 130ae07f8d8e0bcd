#include "platform/workload/attention_workload.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "kernels/attention/causality.h"
#include "kernels/attention/gqa_attention_decode_short.h"
#include "kernels/attention/gqa_attention_prefill_short.h"
#include "kernels/tl/launch.h"
#include "platform/workload/hbm_layout.h"
#include "platform/workload/hbm_tensor.h"
#include "platform/workload/random_data.h"

namespace kernwave::platform {

namespace {

using kernels::AttentionHead;

constexpr std::int64_t longest_sequence = std::int64_t{1} << 28;
constexpr std::int64_t largest_batch = 4096;

/// One length a sequence: the list as it is, or its only member repeated.
[[nodiscard]] std::vector<std::int64_t> lengths(const std::vector<std::int64_t>& given, std::int64_t batch,
                                                const char* option) {
  if (given.size() != 1 && static_cast<std::int64_t>(given.size()) != batch) {
    throw WorkloadError(
        fmt::format("{}: {} lengths for a batch of {}; give one, or one each", option, given.size(), batch));
  }
  for (const std::int64_t length : given) {
    if (length < 1 || length > longest_sequence) {
      throw WorkloadError(fmt::format("{}: a length is 1 to {}, not {}", option, longest_sequence, length));
    }
  }
  return given.size() == 1 ? std::vector<std::int64_t>(static_cast<std::size_t>(batch), given[0]) : given;
}

[[nodiscard]] std::string name_of(KvLayout layout) {
  return layout == KvLayout::heads_first ? "[H, S, D]" : "[S, H, D]";
}

[[nodiscard]] Json list(const std::vector<AttentionHead>& heads, std::int64_t kv_heads,
                        std::int64_t AttentionHead::*length) {
  Json array = Json::array();
  bool uniform = true;
  for (std::size_t i = 0; i < heads.size(); i += static_cast<std::size_t>(kv_heads)) {
    array.push_back(heads[i].*length);
    uniform = uniform && heads[i].*length == heads[0].*length;
  }
  return uniform ? Json(heads[0].*length) : array;
}

}  // namespace

AttentionWorkload::AttentionWorkload(AttentionKernel kernel, const WorkloadRequest& request, const SystemConfig& config)
    : kernel_(kernel),
      config_(config),
      batch_(request.batch),
      kv_layout_(request.kv_layout.value_or(KvLayout::heads_first)),
      seed_(request.seed) {
  if (!request.model) throw WorkloadError("--model is missing: a name that `kernwave list` shows, or a config.json");
  if (request.m || request.n || request.k) throw WorkloadError("--m, --n and --k are for the gemm kernel");
  if (!is_float(request.dtype)) throw WorkloadError("--dtype: attention runs in f16, bf16 or f32");
  if (batch_ < 1 || batch_ > largest_batch) {
    throw WorkloadError(fmt::format("--batch: 1 to {} sequences, not {}", largest_batch, batch_));
  }
  model_ = *request.model;
  check_model_shape(model_);
  const bool decode = kernel == AttentionKernel::decode_short;
  args_.kv_heads = model_.kv_heads;
  args_.group = model_.query_heads / model_.kv_heads;
  args_.head_dim = model_.head_dim;
  args_.dtype = request.dtype;
  args_.causal = request.causal.value_or(!decode);
  args_.scale = static_cast<float>(1.0 / std::sqrt(static_cast<double>(model_.head_dim)));
  place_heads(request);
  const auto longest = [this](std::int64_t AttentionHead::*length) {
    std::int64_t most = 0;
    for (const AttentionHead& head : args_.heads) most = std::max(most, head.*length);
    return most;
  };
  if (request.tile && (*request.tile < 1 || *request.tile > 65536)) {
    throw WorkloadError(fmt::format("--tile: 1 to 65536 keys, not {}", *request.tile));
  }
  plan_ = plan_attention(
      {kernel, longest(&AttentionHead::s_q), longest(&AttentionHead::s_kv), request.tile, config.pe.scratch.capacity},
      args_);
}

void AttentionWorkload::place_heads(const WorkloadRequest& request) {
  if (request.s_kv.empty()) throw WorkloadError("--s-kv is missing: how many keys each sequence holds");
  const auto s_kv = lengths(request.s_kv, batch_, "--s-kv");
  const bool decode = kernel_ == AttentionKernel::decode_short;
  const auto s_q = request.s_q.empty() ? (decode ? std::vector<std::int64_t>(s_kv.size(), 1) : s_kv)
                                       : lengths(request.s_q, batch_, "--s-q");
  HbmLayout layout(config_);
  for (std::int64_t sequence = 0; sequence < batch_; ++sequence) {
    std::map<std::int64_t, std::vector<std::int64_t>> programs_by_cube;
    for (std::int64_t head = 0; head < args_.kv_heads; ++head) {
      AttentionHead entry;
      entry.s_q = s_q[static_cast<std::size_t>(sequence)];
      entry.s_kv = s_kv[static_cast<std::size_t>(sequence)];
      args_.heads.push_back(entry);
      const std::int64_t program = programs() - 1;
      programs_by_cube[pe_of(program).count() / config_.pes_per_cube].push_back(program);
    }
    for (const auto& [cube, programs] : programs_by_cube) {
      place_sequence_in_cube(layout, CubeId(cube), programs);
    }
  }
}

void AttentionWorkload::place_sequence_in_cube(HbmLayout& layout, CubeId cube,
                                               const std::vector<std::int64_t>& programs) {
  const auto heads = static_cast<std::int64_t>(programs.size());
  const std::int64_t element = size_of(args_.dtype);
  const AttentionHead& any = args_.heads[static_cast<std::size_t>(programs.front())];
  const std::int64_t q_row = heads * args_.group * args_.head_dim;
  const Bytes q_bytes(any.s_q * q_row * element);
  const Bytes kv_bytes(any.s_kv * heads * args_.head_dim * element);
  const HbmAddress q = layout.allocate(cube, q_bytes, "Q");
  const HbmAddress k = layout.allocate(cube, kv_bytes, "K");
  const HbmAddress v = layout.allocate(cube, kv_bytes, "V");
  const HbmAddress out = layout.allocate(cube, q_bytes, "the output");
  const bool heads_first = kv_layout_ == KvLayout::heads_first;
  std::int64_t local = 0;
  for (const std::int64_t program : programs) {
    AttentionHead& head = args_.heads[static_cast<std::size_t>(program)];
    const Bytes q_offset(local * args_.group * args_.head_dim * element);
    const Bytes kv_offset(local * args_.head_dim * element * (heads_first ? any.s_kv : 1));
    head.q = q + q_offset;
    head.out = out + q_offset;
    head.k = k + kv_offset;
    head.v = v + kv_offset;
    head.q_stride = q_row;
    head.out_stride = q_row;
    head.kv_stride = heads_first ? args_.head_dim : heads * args_.head_dim;
    ++local;
  }
}

PeId AttentionWorkload::pe_of(std::int64_t program) const {
  return PeId(program % (config_.cubes * config_.pes_per_cube));
}

Json AttentionWorkload::shape() const {
  return Json::object({{"model", model_.name},
                       {"query_heads", model_.query_heads},
                       {"kv_heads", model_.kv_heads},
                       {"head_dim", model_.head_dim},
                       {"batch", batch_},
                       {"s_q", list(args_.heads, args_.kv_heads, &AttentionHead::s_q)},
                       {"s_kv", list(args_.heads, args_.kv_heads, &AttentionHead::s_kv)},
                       {"causal", args_.causal},
                       {"dtype", name_of(args_.dtype)},
                       {"kv_layout", name_of(kv_layout_)},
                       {"tile", args_.tile},
                       {"block_queries", args_.block_queries},
                       {"kv_buffers", args_.kv_buffers},
                       {"seed", static_cast<std::int64_t>(seed_)}});
}

std::vector<float> AttentionWorkload::values(std::int64_t program, Part part) const {
  const AttentionHead& head = args_.heads[static_cast<std::size_t>(program)];
  constexpr std::uint64_t parts = 3;
  const RandomTensor tensor(seed_, static_cast<std::uint64_t>(program) * parts + static_cast<std::uint64_t>(part));
  const std::int64_t count = part == Part::q ? head.s_q * args_.group * args_.head_dim : head.s_kv * args_.head_dim;
  return tensor.values(0, count, args_.dtype);
}

void AttentionWorkload::place_data(System& system) const {
  for (std::int64_t program = 0; program < programs(); ++program) {
    const AttentionHead& head = args_.heads[static_cast<std::size_t>(program)];
    const std::int64_t q_row = args_.group * args_.head_dim;
    write(system, {head.q, head.s_q, q_row, head.q_stride, args_.dtype}, values(program, Part::q));
    write(system, {head.k, head.s_kv, args_.head_dim, head.kv_stride, args_.dtype}, values(program, Part::k));
    write(system, {head.v, head.s_kv, args_.head_dim, head.kv_stride, args_.dtype}, values(program, Part::v));
    fill(system, {head.out, head.s_q, q_row, head.out_stride, args_.dtype}, std::numeric_limits<float>::quiet_NaN());
  }
}

void AttentionWorkload::launch(System& system, tl::Policy policy) const {
  std::vector<Pe*> pes;
  for (std::int64_t id = 0; id < system.pe_count(); ++id) pes.push_back(&system.pe(PeId(id)));
  const tl::Grid grid{args_.kv_heads, batch_, 1};
  const auto kernel = kernel_ == AttentionKernel::decode_short ? kernels::gqa_attention_decode_short
                                                               : kernels::gqa_attention_prefill_short;
  tl::launch(
      pes, grid, [kernel, args = args_](tl::Context& tl) { kernel(tl, args); }, policy);
}

AttentionReference AttentionWorkload::reference(std::int64_t program) const {
  const AttentionHead& head = args_.heads[static_cast<std::size_t>(program)];
  AttentionProblem problem;
  problem.s_q = head.s_q;
  problem.s_kv = head.s_kv;
  problem.group = args_.group;
  problem.head_dim = args_.head_dim;
  problem.causal = args_.causal;
  problem.scale = 1.0 / std::sqrt(static_cast<double>(args_.head_dim));
  return attention_reference(problem, values(program, Part::q), values(program, Part::k), values(program, Part::v));
}

void AttentionWorkload::prepare_reference() {
  for (std::int64_t program = static_cast<std::int64_t>(references_.size()); program < programs(); ++program) {
    references_.push_back(reference(program).out);
  }
}

std::vector<float> AttentionWorkload::output(const System& system, std::int64_t program) const {
  const AttentionHead& head = args_.heads[static_cast<std::size_t>(program)];
  return read(system, {head.out, head.s_q, args_.group * args_.head_dim, head.out_stride, args_.dtype});
}

NumericError AttentionWorkload::verify(const System& system) const {
  NumericError error;
  for (std::int64_t program = 0; program < programs(); ++program) {
    const auto index = static_cast<std::size_t>(program);
    const std::vector<double> expected = index < references_.size() ? references_[index] : reference(program).out;
    error.merge(numeric_error(output(system, program), expected, args_.head_dim));
  }
  return error;
}

double AttentionWorkload::tolerance() const {
  std::int64_t longest = 0;
  for (const AttentionHead& head : args_.heads) longest = std::max(longest, head.s_kv);
  return attention_tolerance(args_.dtype, args_.head_dim, longest);
}

std::int64_t AttentionWorkload::visible_scores(const AttentionHead& head) const {
  std::int64_t keys = 0;
  for (std::int64_t query = 0; query < head.s_q; ++query) {
    keys += kernels::visible_keys(args_.causal, head.s_q, head.s_kv, query);
  }
  return keys * args_.group;
}

std::vector<CompulsoryWork> AttentionWorkload::compulsory() const {
  const MathConfig& math = config_.pe.math;
  // Of each score that counts: the maximum, scale and shift, the exponential, the sum, the conversion for the product.
  const Cycles per_vector = math.cycles.max + math.cycles.fma + math.cycles.exp + math.cycles.add + math.cycles.cast;
  const std::int64_t element = size_of(args_.dtype);
  std::vector<CompulsoryWork> work(static_cast<std::size_t>(config_.cubes * config_.pes_per_cube));
  for (std::int64_t program = 0; program < programs(); ++program) {
    const AttentionHead& head = args_.heads[static_cast<std::size_t>(program)];
    const std::int64_t keys = kernels::visible_keys(args_.causal, head.s_q, head.s_kv, head.s_q - 1);
    const Bytes q(head.s_q * args_.group * args_.head_dim * element);
    const std::int64_t scores = visible_scores(head);
    CompulsoryWork& mine = work[static_cast<std::size_t>(pe_of(program).count())];
    mine.read += q + Bytes(2 * keys * args_.head_dim * element);
    mine.written += q;
    mine.multiply_accumulates += 2 * scores * args_.head_dim;
    mine.math += per_vector * (scores / math.lanes);
  }
  return work;
}

}  // namespace kernwave::platform
