#include "platform/workload/attention_workload.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

#include "kernels/attention/causality.h"
#include "kernels/attention/gqa_attention_decode_long.h"
#include "kernels/attention/gqa_attention_decode_short.h"
#include "kernels/attention/gqa_attention_prefill_short.h"
#include "platform/workload/hbm_tensor.h"
#include "platform/workload/random_data.h"

namespace kernwave::platform {

namespace {

using kernels::AttentionHead;
using kernels::RingSequence;
using kernels::Sharding;
using kernels::Span;

constexpr std::int64_t longest_sequence = std::int64_t{1} << 28;
constexpr std::int64_t largest_batch = 4096;
constexpr std::int64_t most_programs = std::int64_t{1} << 20;  ///< of all ranks

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

/// Of all sequences, or once where all are the same.
[[nodiscard]] Json list(const std::vector<RingSequence>& sequences, Sharding RingSequence::*tokens) {
  Json array = Json::array();
  const std::int64_t first = (sequences.front().*tokens).tokens();
  bool uniform = true;
  for (const RingSequence& sequence : sequences) {
    array.push_back((sequence.*tokens).tokens());
    uniform = uniform && (sequence.*tokens).tokens() == first;
  }
  return uniform ? Json(first) : array;
}

/// The rows of the chunks that a rank holds, in the order of its shard, out of those of the whole sequence.
[[nodiscard]] std::vector<float> shard_of(const std::vector<float>& all, const Sharding& tokens, std::int64_t rank,
                                          std::int64_t width) {
  std::vector<float> shard;
  for (std::int64_t i = 0; i < tokens.chunks_per_rank(); ++i) {
    const Span chunk = tokens.chunk(rank, i);
    const auto begin = all.begin() + chunk.first * width;
    shard.insert(shard.end(), begin, begin + chunk.count * width);
  }
  return shard;
}

}  // namespace

AttentionWorkload::AttentionWorkload(AttentionKernel kernel, const WorkloadRequest& request, const SystemConfig& config)
    : kernel_(kernel),
      config_(config),
      batch_(request.batch),
      kv_layout_(request.kv_layout.value_or(KvLayout::heads_first)),
      sharding_(request.sharding.value_or(RingSharding::contiguous)),
      reduction_(request.reduction.value_or(kernels::Reduction::chain)),
      bidirectional_(request.bidirectional),
      seed_(request.seed) {
  check(request);
  model_ = *request.model;
  ranks_ = is_long(kernel) ? request.ranks.value_or(config.cubes) : splits_in_cube();
  common_.kv_heads = model_.kv_heads;
  common_.group = model_.query_heads / model_.kv_heads;
  common_.head_dim = model_.head_dim;
  common_.dtype = request.dtype;
  common_.causal = request.causal.value_or(!is_decode(kernel));
  common_.scale = static_cast<float>(1.0 / std::sqrt(static_cast<double>(model_.head_dim)));
  common_.kv = request.kv.value_or(kernels::KvSource::load);
  common_.store_lse = request.lse;
  check_programs();
  take_lengths(request);
  check_window();
  place_heads();
  make_plan(request);
}

void AttentionWorkload::check(const WorkloadRequest& request) const {
  if (!request.model) throw WorkloadError("--model is missing: a name that `kernwave list` shows, or a config.json");
  if (request.m || request.n || request.k) throw WorkloadError("--m, --n and --k are for the gemm kernel");
  if (!is_float(request.dtype)) throw WorkloadError("--dtype: attention runs in f16, bf16 or f32");
  if (batch_ < 1 || batch_ > largest_batch) {
    throw WorkloadError(fmt::format("--batch: 1 to {} sequences, not {}", largest_batch, batch_));
  }
  check_model_shape(*request.model);
  if (request.tile && (*request.tile < 1 || *request.tile > 65536)) {
    throw WorkloadError(fmt::format("--tile: 1 to 65536 keys, not {}", *request.tile));
  }
  if (request.ranks && !is_long(kernel_)) throw WorkloadError("--ranks is for the long attention kernels");
  if (request.ranks && (*request.ranks < 1 || *request.ranks > config_.cubes)) {
    throw WorkloadError(
        fmt::format("--ranks: 1 to {}, one a cube (system.cubes), not {}", config_.cubes, *request.ranks));
  }
  if (request.reduction && kernel_ != AttentionKernel::decode_long) {
    throw WorkloadError("--reduce is for gqa_attention_decode_long");
  }
  if ((request.sharding || request.bidirectional) && kernel_ != AttentionKernel::prefill_long) {
    throw WorkloadError("--sharding and --bidirectional are for gqa_attention_prefill_long");
  }
  const std::int64_t ranks = request.ranks.value_or(config_.cubes);
  const IpcqTopology topology = config_.pe.ipcq.topology;
  if (is_long(kernel_) && ranks > 1 && topology == IpcqTopology::mesh) {
    throw WorkloadError("the long attention kernels need queues between cubes; ipcq.topology is \"mesh\"");
  }
  const std::int64_t hops = bidirectional_ ? ranks / 2 : ranks - 1;
  if (kernel_ == AttentionKernel::prefill_long && hops > 1 && config_.pe.ipcq.depth < 2) {
    throw WorkloadError(
        "a ring that passes tiles on needs two slots, one to send from and one to receive into: ipcq.depth is 1");
  }
  const bool ring = kernel_ == AttentionKernel::prefill_long && ranks > 1;
  if (ring && (topology != IpcqTopology::ring || ranks != config_.cubes)) {
    throw WorkloadError(fmt::format(
        "the ring of gqa_attention_prefill_long closes over all {} cubes (system.cubes) with ipcq.topology = \"ring\"; "
        "--ranks is {}, the topology \"{}\"",
        config_.cubes, ranks, topology == IpcqTopology::ring ? "ring" : "line"));
  }
}

/// A decode of fewer heads than a cube has PEs splits each head's keys among as many PEs as there are for each.
std::int64_t AttentionWorkload::splits_in_cube() const {
  const bool linked = config_.pe.ipcq.topology != IpcqTopology::mesh;  // a mesh has no line through all PEs
  if (kernel_ != AttentionKernel::decode_short || !linked) return 1;
  return std::max<std::int64_t>(1, config_.pes_per_cube / (batch_ * model_.kv_heads));
}

/// Each of them takes some of the host's memory before anything is known to fit.
void AttentionWorkload::check_programs() const {
  if (programs() * ranks_ <= most_programs) return;
  throw WorkloadError(fmt::format("{} KV heads x {} sequences x {} ranks are {} programs (allowed: up to {})",
                                  common_.kv_heads, batch_, ranks_, programs() * ranks_, most_programs));
}

void AttentionWorkload::take_lengths(const WorkloadRequest& request) {
  if (request.s_kv.empty()) throw WorkloadError("--s-kv is missing: how many keys each sequence holds");
  const auto s_kv = lengths(request.s_kv, batch_, "--s-kv");
  const auto s_q = request.s_q.empty() ? (is_decode(kernel_) ? std::vector<std::int64_t>(s_kv.size(), 1) : s_kv)
                                       : lengths(request.s_q, batch_, "--s-q");
  const std::int64_t chunks = sharding_ == RingSharding::zigzag ? 2 : 1;
  const std::int64_t query_ranks = kernel_ == AttentionKernel::prefill_long ? ranks_ : 1;
  for (std::size_t i = 0; i < s_kv.size(); ++i) {
    sequences_.push_back({Sharding(s_q[i], query_ranks, chunks), Sharding(s_kv[i], ranks_, chunks)});
  }
}

/// Kernels read every key that a causal mask shows.
void AttentionWorkload::check_window() const {
  if (!model_.window) return;
  for (const RingSequence& sequence : sequences_) {
    const std::int64_t keys = sequence.keys.tokens();
    if (keys <= model_.window->keys) continue;
    throw WorkloadError(fmt::format(
        "--s-kv: {} keys, but in layers of {} a query sees {} of them ({}), and no kernel leaves the others out "
        "(allowed: "
        "up to {} keys, or a model file without {}, for layers whose queries see all keys)",
        keys, model_.name, model_.window->keys, model_.window->key, model_.window->keys, model_.window->key));
  }
}

std::int64_t AttentionWorkload::longest_queries() const {
  std::int64_t longest = 0;
  for (const RingSequence& sequence : sequences_) longest = std::max(longest, sequence.queries.tokens());
  return longest;
}

void AttentionWorkload::make_plan(const WorkloadRequest& request) {
  const Bytes scratch = config_.pe.scratch.capacity;
  if (kernel_ == AttentionKernel::prefill_long) {
    kernels::RingArgs ring;
    ring.attention = common_;
    ring.sequences = sequences_;
    ring.ranks = ranks_;
    ring.bidirectional = bidirectional_;
    plan_ = plan_ring({request.tile, scratch, config_.pe.ipcq}, ring);
    common_ = ring.attention;
    resident_blocks_ = ring.resident_blocks;
    return;
  }
  std::int64_t longest_shard = 0;
  for (const RingSequence& sequence : sequences_) {
    longest_shard = std::max(longest_shard, sequence.keys.longest_chunk());
  }
  const Bytes queues = ranks_ == 1 ? Bytes(0) : slots_need(config_.pe.ipcq, this->queues().slot_bytes);
  plan_ = plan_attention(
      {kernel_, longest_queries(), longest_shard, request.tile, scratch, queues, config_.pe.scheduler.prefetch_depth},
      common_);
}

// ---- where everything lies

void AttentionWorkload::place_heads() {
  HbmLayout layout(config_);
  ranks_heads_.assign(static_cast<std::size_t>(ranks_),
                      std::vector<AttentionHead>(static_cast<std::size_t>(programs())));
  for (std::int64_t rank = 0; rank < ranks_; ++rank) {
    for (std::int64_t sequence = 0; sequence < batch_; ++sequence) {
      std::map<std::int64_t, std::vector<std::int64_t>> programs_by_cube;
      for (std::int64_t head = 0; head < common_.kv_heads; ++head) {
        const std::int64_t program = head + common_.kv_heads * sequence;
        programs_by_cube[pe_of(rank, program).count() / config_.pes_per_cube].push_back(program);
      }
      for (const auto& [cube, programs] : programs_by_cube) {
        place_sequence_in_cube(layout, rank, CubeId(cube), programs);
      }
    }
  }
}

void AttentionWorkload::place_sequence_in_cube(HbmLayout& layout, std::int64_t rank, CubeId cube,
                                               const std::vector<std::int64_t>& programs) {
  const auto heads = static_cast<std::int64_t>(programs.size());
  const std::int64_t element = size_of(common_.dtype);
  const std::int64_t any = programs.front();
  const Sharding& keys = tokens_of(any).keys;
  const std::int64_t s_kv = keys.shard(rank);
  const std::int64_t q_row = heads * common_.group * common_.head_dim;
  const std::int64_t lse_row = heads * common_.group;
  const Bytes kv_bytes(s_kv * heads * common_.head_dim * element);
  AttentionHead placed;
  placed.q = layout.allocate(cube, Bytes(queries_of(rank, any) * q_row * element), "Q");
  placed.k = layout.allocate(cube, kv_bytes, "K");
  placed.v = layout.allocate(cube, kv_bytes, "V");
  placed.out = layout.allocate(cube, Bytes(outputs_of(rank, any) * q_row * element), "the output");
  if (common_.store_lse) {
    placed.lse = layout.allocate(cube, Bytes(outputs_of(rank, any) * lse_row * size_of(DType::f32)), "the LSE");
  }
  const bool heads_first = kv_layout_ == KvLayout::heads_first;
  const Span shard = keys.chunk(rank, 0);
  std::int64_t local = 0;
  for (const std::int64_t program : programs) {
    AttentionHead& head = ranks_heads_[static_cast<std::size_t>(rank)][static_cast<std::size_t>(program)];
    const Bytes q_offset(local * common_.group * common_.head_dim * element);
    const Bytes kv_offset(local * common_.head_dim * element * (heads_first ? s_kv : 1));
    head.q = placed.q + q_offset;
    head.out = placed.out + q_offset;
    head.k = placed.k + kv_offset;
    head.v = placed.v + kv_offset;
    head.lse = placed.lse + Bytes(local * common_.group * size_of(DType::f32));
    head.q_stride = q_row;
    head.out_stride = q_row;
    head.kv_stride = heads_first ? common_.head_dim : heads * common_.head_dim;
    head.lse_stride = lse_row;
    head.s_q = queries_of(rank, program);
    head.s_kv = s_kv;
    head.later_keys = keys.tokens() - shard.first - shard.count;  // of a split decode; others do not look at it
    if (kernel_ == AttentionKernel::prefill_long) head.later_keys = 0;
    ++local;
  }
}

PeId AttentionWorkload::pe_of(std::int64_t rank, std::int64_t program) const {
  const std::int64_t pes = config_.pes_per_cube;
  if (is_long(kernel_)) return PeId(rank * pes + program % pes);
  return ranks_ > 1 ? PeId(program * ranks_ + rank) : PeId(program % (config_.cubes * pes));
}

std::int64_t AttentionWorkload::queries_of(std::int64_t rank, std::int64_t program) const {
  const Sharding& queries = tokens_of(program).queries;
  return queries.ranks() == ranks_ ? queries.shard(rank) : queries.tokens();
}

std::int64_t AttentionWorkload::outputs_of(std::int64_t rank, std::int64_t program) const {
  const bool elsewhere = is_decode(kernel_) && rank != ranks_ - 1;
  return elsewhere ? 0 : queries_of(rank, program);
}

AttentionWorkload::Rows AttentionWorkload::key_rows(std::int64_t rank, std::int64_t program, HbmAddress base) const {
  return {base, common_.head_dim, head(rank, program).kv_stride, common_.dtype, tokens_of(program).keys, rank};
}

AttentionWorkload::Rows AttentionWorkload::query_rows(std::int64_t rank, std::int64_t program, HbmAddress base,
                                                      std::int64_t stride, std::int64_t width, DType dtype) const {
  const Sharding& queries = tokens_of(program).queries;
  return {base, width, stride, dtype, queries, queries.ranks() == ranks_ ? rank : 0};
}

std::vector<AttentionWorkload::Rows> AttentionWorkload::output_rows(std::int64_t program) const {
  std::vector<Rows> rows;
  for (std::int64_t rank = 0; rank < ranks_; ++rank) {
    const AttentionHead& mine = head(rank, program);
    if (outputs_of(rank, program) == 0) continue;
    rows.push_back(
        query_rows(rank, program, mine.out, mine.out_stride, common_.group * common_.head_dim, common_.dtype));
  }
  return rows;
}

std::vector<AttentionWorkload::Rows> AttentionWorkload::lse_rows(std::int64_t program) const {
  std::vector<Rows> rows;
  for (std::int64_t rank = 0; rank < ranks_ && common_.store_lse; ++rank) {
    const AttentionHead& mine = head(rank, program);
    if (outputs_of(rank, program) == 0) continue;
    rows.push_back(query_rows(rank, program, mine.lse, mine.lse_stride, common_.group, DType::f32));
  }
  return rows;
}

// ---- data

std::vector<float> AttentionWorkload::values(std::int64_t program, Part part) const {
  const RingSequence& tokens = tokens_of(program);
  constexpr std::uint64_t parts = 3;
  const RandomTensor tensor(seed_, static_cast<std::uint64_t>(program) * parts + static_cast<std::uint64_t>(part));
  const std::int64_t count = part == Part::q ? tokens.queries.tokens() * common_.group : tokens.keys.tokens();
  return tensor.values(0, count * common_.head_dim, common_.dtype);
}

namespace {

/// Writes to HBM what a rank holds of `all`.
template <typename Rows>
void write_rows(System& system, const Rows& rows, const std::vector<float>& all) {
  write(system, {rows.base, rows.tokens.shard(rows.rank), rows.width, rows.stride, rows.dtype},
        shard_of(all, rows.tokens, rows.rank, rows.width));
}

template <typename Rows>
void fill_rows(System& system, const Rows& rows, float value) {
  fill(system, {rows.base, rows.tokens.shard(rows.rank), rows.width, rows.stride, rows.dtype}, value);
}

/// The rows of the whole sequence, from all ranks that hold some.
template <typename Rows>
[[nodiscard]] std::vector<float> gather(const System& system, const std::vector<Rows>& ranks) {
  const std::int64_t width = ranks.front().width;
  std::vector<float> all(static_cast<std::size_t>(ranks.front().tokens.tokens() * width));
  for (const Rows& rows : ranks) {
    const auto shard = read(system, {rows.base, rows.tokens.shard(rows.rank), rows.width, rows.stride, rows.dtype});
    for (std::int64_t i = 0; i < rows.tokens.chunks_per_rank(); ++i) {
      const Span chunk = rows.tokens.chunk(rows.rank, i);
      const auto begin = shard.begin() + rows.tokens.offset_in_shard(rows.rank, i) * width;
      std::copy(begin, begin + chunk.count * width, all.begin() + chunk.first * width);
    }
  }
  return all;
}

/// Without the rows that see no key, whose LSE must be -inf in both; one that is not counts as wrong.
[[nodiscard]] NumericError lse_error(std::vector<float> lse, const AttentionReference& reference) {
  ExpectedOutput expected{reference.lse, reference.lse_bounds, DType::f32, {}};
  for (std::size_t i = 0; i < lse.size(); ++i) {
    const bool both = std::isinf(lse[i]) && std::isinf(expected.values[i]) && lse[i] < 0.0F;
    if (both) lse[i] = 0.0F;
    if (both) expected.values[i] = 0.0;
  }
  return numeric_error(lse, expected, 1);
}

}  // namespace

void AttentionWorkload::place_data(System& system) const {
  const std::int64_t q_row = common_.group * common_.head_dim;
  for (std::int64_t program = 0; program < programs(); ++program) {
    const std::vector<float> q = values(program, Part::q);
    const std::vector<float> k = values(program, Part::k);
    const std::vector<float> v = values(program, Part::v);
    for (std::int64_t rank = 0; rank < ranks_; ++rank) {
      const AttentionHead& mine = head(rank, program);
      write_rows(system, query_rows(rank, program, mine.q, mine.q_stride, q_row, common_.dtype), q);
      write_rows(system, key_rows(rank, program, mine.k), k);
      write_rows(system, key_rows(rank, program, mine.v), v);
    }
    constexpr float nothing = std::numeric_limits<float>::quiet_NaN();
    for (const Rows& rows : output_rows(program)) fill_rows(system, rows, nothing);
    for (const Rows& rows : lse_rows(program)) fill_rows(system, rows, nothing);
  }
}

// ---- running

kernels::AttentionArgs AttentionWorkload::args_of(std::int64_t rank) const {
  kernels::AttentionArgs args = common_;
  args.heads = ranks_heads_[static_cast<std::size_t>(rank)];
  return args;
}

tl::Kernel AttentionWorkload::kernel_of(std::int64_t rank) const {
  const kernels::AttentionArgs args = args_of(rank);
  switch (kernel_) {
    case AttentionKernel::decode_short:
      if (ranks_ > 1) return split_decode(args, rank);
      return [args](tl::Context& tl) { kernels::gqa_attention_decode_short(tl, args); };
    case AttentionKernel::prefill_short:
      return [args](tl::Context& tl) { kernels::gqa_attention_prefill_short(tl, args); };
    case AttentionKernel::decode_long:
      return split_decode(args, rank);
    case AttentionKernel::prefill_long:
      break;
  }
  const kernels::RingArgs ring{args, sequences_, rank, ranks_, bidirectional_, resident_blocks_};
  return [ring](tl::Context& tl) { kernels::gqa_attention_prefill_long(tl, ring); };
}

/// Ranks follow one another from cube to cube, or along a cube.
Direction AttentionWorkload::forward() const { return is_long(kernel_) ? Direction::east : Direction::south; }

tl::Kernel AttentionWorkload::split_decode(const kernels::AttentionArgs& args, std::int64_t rank) const {
  const kernels::SplitDecodeArgs split{args, rank, ranks_, forward(), reduction_};
  return [split](tl::Context& tl) { kernels::gqa_attention_decode_long(tl, split); };
}

tl::Queues AttentionWorkload::queues() const {
  if (ranks_ == 1) return {};
  if (is_decode(kernel_)) {
    kernels::SplitDecodeArgs split;
    split.attention = common_;
    return {{opposite(forward())}, split.message_bytes(longest_queries())};
  }
  kernels::RingArgs ring;
  ring.attention = common_;
  ring.sequences = sequences_;
  std::vector<Direction> from{Direction::west};
  if (bidirectional_) from.push_back(Direction::east);
  return {from, ring.message_bytes()};
}

void AttentionWorkload::launch(System& system, tl::Policy policy) const {
  const tl::Grid grid{common_.kv_heads, batch_, 1};
  const std::int64_t pes_of_a_rank = is_long(kernel_) ? config_.pes_per_cube : system.pe_count();
  for (std::int64_t rank = 0; rank < ranks_; ++rank) {
    std::vector<Pe*> pes;
    for (std::int64_t n = 0; n < std::min(programs(), pes_of_a_rank); ++n) pes.push_back(&system.pe(pe_of(rank, n)));
    tl::launch(pes, grid, kernel_of(rank), policy, queues());
  }
}

// ---- what to expect

/// A decode merges the ranks' sums, each over the rank's own keys; in a ring every sum takes up all keys, in an order
/// that differs between ranks.
AttentionArithmetic AttentionWorkload::arithmetic(std::int64_t program) const {
  const Sharding& keys = tokens_of(program).keys;
  const std::int64_t tiles_of_a_chunk = ceil_div(keys.longest_chunk(), common_.tile);
  AttentionArithmetic arithmetic;
  arithmetic.storage = common_.dtype;
  arithmetic.tile = std::min(common_.tile, keys.longest_chunk());
  if (is_decode(kernel_)) {
    arithmetic.chain = keys.longest_chunk();
    arithmetic.rescalings = tiles_of_a_chunk - 1 + ranks_ - 1;
    for (std::int64_t rank = 0; rank < ranks_; ++rank) arithmetic.consecutive.push_back(keys.shard(rank));
  } else {
    arithmetic.chain = keys.tokens();
    if (kernel_ == AttentionKernel::prefill_short) arithmetic.consecutive = {keys.tokens()};
    arithmetic.rescalings = keys.ranks() * keys.chunks_per_rank() * tiles_of_a_chunk - 1;
  }
  return arithmetic;
}

AttentionReference AttentionWorkload::reference(std::int64_t program) const {
  const RingSequence& tokens = tokens_of(program);
  AttentionProblem problem;
  problem.s_q = tokens.queries.tokens();
  problem.s_kv = tokens.keys.tokens();
  problem.group = common_.group;
  problem.head_dim = common_.head_dim;
  problem.causal = common_.causal;
  problem.scale = 1.0 / std::sqrt(static_cast<double>(common_.head_dim));
  problem.arithmetic = arithmetic(program);
  return attention_reference(problem, values(program, Part::q), values(program, Part::k), values(program, Part::v));
}

void AttentionWorkload::prepare_reference() {
  for (auto program = static_cast<std::int64_t>(references_.size()); program < programs(); ++program) {
    references_.push_back(reference(program));
  }
}

NumericError AttentionWorkload::verify(const System& system) const {
  NumericError error;
  for (std::int64_t program = 0; program < programs(); ++program) {
    const auto index = static_cast<std::size_t>(program);
    error.merge(verify(system, program, index < references_.size() ? references_[index] : reference(program)));
  }
  return error;
}

NumericError AttentionWorkload::verify(const System& system, std::int64_t program, AttentionReference expected) const {
  const std::int64_t group = common_.group;
  const std::int64_t head_dim = common_.head_dim;
  const auto place = [&](std::int64_t row) {  // of [s_q][group]
    return fmt::format("sequence {}, query {}, query head {}", program / common_.kv_heads, row / group,
                       program % common_.kv_heads * group + row % group);
  };
  NumericError error =
      numeric_error(gather(system, output_rows(program)),
                    {std::move(expected.out), std::move(expected.out_bounds), common_.dtype, {}}, head_dim);
  if (error.first_wrong) {
    WrongElement& wrong = *error.first_wrong;
    wrong.where = fmt::format("the output of {}, element {}", place(wrong.index / head_dim), wrong.index % head_dim);
  }
  if (!common_.store_lse) return error;
  NumericError lse = lse_error(gather(system, lse_rows(program)), expected);
  if (lse.first_wrong) lse.first_wrong->where = fmt::format("the LSE of {}", place(lse.first_wrong->index));
  error.merge(lse);
  return error;
}

/// Pairs of a query and a key that a rank computes, times the heads of a group: decode_long splits the keys, the others
/// the queries.
std::int64_t AttentionWorkload::visible_scores(std::int64_t rank, std::int64_t program) const {
  const RingSequence& tokens = tokens_of(program);
  std::int64_t pairs = 0;
  if (kernel_ != AttentionKernel::prefill_long) {
    const AttentionHead& mine = head(rank, program);
    for (std::int64_t query = 0; query < mine.s_q; ++query) {
      pairs += kernels::visible_keys(common_.causal, mine.diagonal(), mine.s_kv, query);
    }
    return pairs * common_.group;
  }
  const std::int64_t diagonal = tokens.keys.tokens() - tokens.queries.tokens();
  for (std::int64_t i = 0; i < tokens.queries.chunks_per_rank(); ++i) {
    const Span chunk = tokens.queries.chunk(rank, i);
    for (std::int64_t query = chunk.first; query < chunk.first + chunk.count; ++query) {
      pairs += kernels::visible_keys(common_.causal, diagonal, tokens.keys.tokens(), query);
    }
  }
  return pairs * common_.group;
}

std::vector<CompulsoryWork> AttentionWorkload::compulsory() const {
  const MathConfig& math = config_.pe.math;
  // Of each score that counts: the maximum, scale and shift, the exponential, the sum, the conversion for the product.
  const Cycles per_vector = math.cycles.max + math.cycles.fma + math.cycles.exp + math.cycles.add + math.cycles.cast;
  const std::int64_t element = size_of(common_.dtype);
  std::vector<CompulsoryWork> work(static_cast<std::size_t>(config_.cubes * config_.pes_per_cube));
  for (std::int64_t rank = 0; rank < ranks_; ++rank) {
    for (std::int64_t program = 0; program < programs(); ++program) {
      const AttentionHead& mine = head(rank, program);
      // The last query sees the most; of a ring, whose last query sees every key, each rank's share is needed.
      const std::int64_t keys = kernel_ == AttentionKernel::prefill_long
                                    ? mine.s_kv
                                    : kernels::visible_keys(common_.causal, mine.diagonal(), mine.s_kv, mine.s_q - 1);
      const std::int64_t scores = visible_scores(rank, program);
      const std::int64_t q_row = common_.group * common_.head_dim * element;
      CompulsoryWork& its = work[static_cast<std::size_t>(pe_of(rank, program).count())];
      its.read += Bytes(mine.s_q * q_row) + Bytes(2 * keys * common_.head_dim * element);
      its.written += Bytes(outputs_of(rank, program) * q_row);
      its.multiply_accumulates += 2 * scores * common_.head_dim;
      its.math += per_vector * (scores / math.lanes);
    }
  }
  return work;
}

Json AttentionWorkload::shape() const {
  Json shape = Json::object({{"model", model_.name},
                             {"query_heads", model_.query_heads},
                             {"kv_heads", model_.kv_heads},
                             {"head_dim", model_.head_dim},
                             {"batch", batch_},
                             {"s_q", list(sequences_, &RingSequence::queries)},
                             {"s_kv", list(sequences_, &RingSequence::keys)},
                             {"causal", common_.causal},
                             {"dtype", kernwave::name_of(common_.dtype)},
                             {"kv_layout", name_of(kv_layout_)},
                             {"tile", common_.tile},
                             {"block_queries", common_.block_queries},
                             {"kv", common_.kv == kernels::KvSource::load ? "load" : "composite"},
                             {"kv_buffers", common_.kv_buffers},
                             {"seed", static_cast<std::int64_t>(seed_)}});
  if (!is_long(kernel_)) {
    if (ranks_ > 1) shape["splits"] = ranks_;
    return shape;
  }
  shape["ranks"] = ranks_;
  if (kernel_ == AttentionKernel::decode_long) {
    shape["reduce"] = reduction_ == kernels::Reduction::chain ? "chain" : "tree";
    return shape;
  }
  std::int64_t circulations = 0;
  for (const RingSequence& sequence : sequences_) {
    circulations =
        std::max(circulations, kernels::ring_circulations(sequence, common_.block_queries, resident_blocks_));
  }
  shape["sharding"] = sharding_ == RingSharding::zigzag ? "zigzag" : "contiguous";
  shape["bidirectional"] = bidirectional_;
  shape["resident_blocks"] = resident_blocks_;
  shape["circulations"] = circulations;
  return shape;
}

}  // namespace kernwave::platform
