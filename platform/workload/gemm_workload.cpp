#include "platform/workload/gemm_workload.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "platform/parallel.h"
#include "platform/text/units.h"
#include "platform/workload/hbm_layout.h"
#include "platform/workload/hbm_tensor.h"
#include "platform/workload/matrix_reference.h"
#include "platform/workload/random_data.h"

namespace kernwave::platform {

namespace {

constexpr std::int64_t largest_extent = std::int64_t{1} << 24;

[[nodiscard]] std::int64_t extent(const std::optional<std::int64_t>& given, const char* option) {
  if (!given) throw WorkloadError(fmt::format("{} is missing: gemm multiplies M x K by K x N", option));
  if (*given < 1 || *given > largest_extent) {
    throw WorkloadError(fmt::format("{}: an extent is 1 to {}, not {}", option, largest_extent, *given));
  }
  return *given;
}

/// Blocks of A and B, the accumulator, and C in the storage type.
[[nodiscard]] Bytes scratch_need(const kernels::GemmArgs& args) {
  const std::int64_t storage = size_of(args.dtype);
  const std::int64_t inputs = args.buffers * (args.block_m * args.block_k + args.block_k * args.block_n) * storage;
  constexpr std::int64_t alignment_and_small = 4096;
  return Bytes(inputs + args.block_m * args.block_n * (size_of(DType::f32) + storage) + alignment_and_small);
}

}  // namespace

GemmWorkload::GemmWorkload(const WorkloadRequest& request, const SystemConfig& config)
    : config_(config), pe_kind_(request.pe_kind), pes_(config, request.pe_kind), seed_(request.seed) {
  const bool attention_options = request.model || !request.s_q.empty() || !request.s_kv.empty() || request.causal ||
                                 request.batch != 1 || request.tile || request.kv_layout || request.lse || request.kv ||
                                 request.ranks || request.reduction || request.sharding || request.bidirectional;
  if (attention_options) {
    throw WorkloadError(
        "--model, --batch, --s-q, --s-kv, --causal, --kv-layout, --tile, --kv, --lse, --ranks, --reduce, --sharding "
        "and --bidirectional are for the attention kernels");
  }
  if (!is_float(request.dtype)) throw WorkloadError("--dtype: gemm runs in f16, bf16 or f32");
  args_.m = extent(request.m, "--m");
  args_.n = extent(request.n, "--n");
  args_.k = extent(request.k, "--k");
  args_.dtype = request.dtype;
  args_.a_stride = args_.k;
  args_.b_stride = args_.n;
  args_.c_stride = args_.n;
  args_.block_m = std::min(args_.block_m, args_.m);
  args_.block_n = std::min(args_.block_n, args_.n);
  args_.block_k = std::min(args_.block_k, args_.k);
  if (pes_.of_cube(CubeId(0)).empty()) {
    throw WorkloadError(
        fmt::format("--pe-kind {}: gemm runs on PEs of cube 0, none of which is of that kind", *pe_kind_));
  }
  constexpr std::int64_t smallest_block = 16;
  const Bytes smallest = pes_.smallest().capacity;
  while (scratch_need(args_) > smallest && args_.block_k > smallest_block) args_.block_k /= 2;
  if (scratch_need(args_) > smallest) {
    throw WorkloadError(fmt::format("blocks of {} x {} need {} of scratch; pe.scratch.capacity is {}", args_.block_m,
                                    args_.block_n, format_quantity(scratch_need(args_)), format_quantity(smallest)));
  }
  HbmLayout layout(config);
  const std::int64_t element = size_of(args_.dtype);
  args_.a = layout.allocate(CubeId(0), Bytes(args_.m * args_.k * element), "A");
  args_.b = layout.allocate(CubeId(0), Bytes(args_.k * args_.n * element), "B");
  args_.c = layout.allocate(CubeId(0), Bytes(args_.m * args_.n * element), "C");
}

Json GemmWorkload::shape() const {
  Json shape = Json::object({{"m", args_.m},
                             {"n", args_.n},
                             {"k", args_.k},
                             {"dtype", name_of(args_.dtype)},
                             {"block_m", args_.block_m},
                             {"block_n", args_.block_n},
                             {"block_k", args_.block_k},
                             {"seed", static_cast<std::int64_t>(seed_)}});
  if (pe_kind_) shape["pe_kind"] = *pe_kind_;
  return shape;
}

std::vector<std::string> GemmWorkload::plan() const {
  return {fmt::format("blocks of {} x {} x {} on the {} PEs of cube 0, {} buffers each of A and B: {} of {} scratch",
                      args_.block_m, args_.block_n, args_.block_k, pes_.of_cube(CubeId(0)).size(), args_.buffers,
                      format_quantity(scratch_need(args_)), format_quantity(pes_.smallest().capacity))};
}

namespace {

/// Writing rounds.
[[nodiscard]] MakeNumbers numbers(std::uint64_t seed, std::uint64_t tensor) {
  return [numbers = RandomTensor(seed, tensor)](std::int64_t first, std::int64_t count, float* out) {
    numbers.write(first, count, DType::f32, out);
  };
}

[[nodiscard]] std::vector<float> matrix(std::uint64_t seed, std::uint64_t tensor, std::int64_t elements, DType dtype) {
  return RandomTensor(seed, tensor).values(0, elements, dtype);
}

}  // namespace

void GemmWorkload::place_data(System& system) const {
  write(system, {args_.a, args_.m, args_.k, args_.k, args_.dtype}, numbers(seed_, 0));
  write(system, {args_.b, args_.k, args_.n, args_.n, args_.dtype}, numbers(seed_, 1));
  fill(system, {args_.c, args_.m, args_.n, args_.n, args_.dtype}, std::numeric_limits<float>::quiet_NaN());
}

void GemmWorkload::launch(System& system, tl::Policy policy) const {
  std::vector<Pe*> pes;
  for (const PeId id : pes_.of_cube(CubeId(0))) pes.push_back(&system.pe(id));
  tl::launch(
      pes, kernels::gemm_grid(args_), [args = args_](tl::Context& tl) { kernels::gemm(tl, args); }, policy);
}

ExpectedOutput GemmWorkload::product() const {
  const MatrixProblem problem{args_.m, args_.n, args_.k, args_.dtype};
  const std::vector<float> a = matrix(seed_, 0, args_.m * args_.k, args_.dtype);
  const std::vector<float> b = matrix(seed_, 1, args_.k * args_.n, args_.dtype);
  ExpectedOutput expected;
  std::vector<float> bits;
  for_each_in_parallel(2, [&](std::int64_t which) {
    which == 0 ? void(expected = matrix_reference(problem, a, b)) : void(bits = pinned_product(problem, a, b));
  });
  expected.bits = std::move(bits);
  return expected;
}

void GemmWorkload::prepare_reference() {
  if (!reference_) reference_ = product();
}

NumericError GemmWorkload::verify(const System& system) const {
  const std::vector<float> output = read(system, {args_.c, args_.m, args_.n, args_.n, args_.dtype});
  NumericError error = numeric_error(output, reference_ ? *reference_ : product(), args_.n);
  if (error.first_wrong) {
    WrongElement& wrong = *error.first_wrong;
    wrong.where = fmt::format("C[{}, {}]", wrong.index / args_.n, wrong.index % args_.n);
  }
  return error;
}

/// The inputs are read once by the cube; some PE's share of that and of the products is at least an equal one.
std::vector<CompulsoryWork> GemmWorkload::compulsory() const {
  const std::int64_t element = size_of(args_.dtype);
  const std::vector<PeId>& pes = pes_.of_cube(CubeId(0));
  const auto count = static_cast<std::int64_t>(pes.size());
  std::vector<CompulsoryWork> work(static_cast<std::size_t>(config_.cubes * config_.pes_per_cube));
  for (const PeId id : pes) {
    CompulsoryWork& mine = work[static_cast<std::size_t>(id.count())];
    mine.read = Bytes((args_.m * args_.k + args_.k * args_.n) * element / count);
    mine.written = Bytes(args_.m * args_.n * element / count);
    mine.multiply_accumulates = args_.m * args_.n * args_.k / count;
  }
  return work;
}

}  // namespace kernwave::platform
