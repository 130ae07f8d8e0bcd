// A workload: a kernel with its inputs in memory, its launches, its expected result and its unavoidable work.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "kernels/attention/gqa_attention_decode_long.h"
#include "kernels/tl/policy.h"
#include "models/system/system.h"
#include "platform/json/json.h"
#include "platform/workload/model_shape.h"
#include "platform/workload/numeric_error.h"

namespace kernwave::platform {

/// A request that cannot be carried out: an option that is missing, out of range or contradicts another.
class WorkloadError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The layout of the keys and values of one sequence in HBM.
enum class KvLayout : std::uint8_t {
  heads_first,   ///< [H, S, D]
  tokens_first,  ///< [S, H, D]
};

/// The way in which prefill_long deals tokens to ranks (`kernels::Sharding`).
enum class RingSharding : std::uint8_t { contiguous, zigzag };

/// The run that a user requests. An unset value is the kernel's default.
struct WorkloadRequest {
  std::string kernel;
  std::optional<ModelShape> model;  ///< attention kernels
  std::int64_t batch = 1;           ///< sequences
  std::vector<std::int64_t> s_q;    ///< one for all sequences, or one each
  std::vector<std::int64_t> s_kv;   ///< likewise
  std::optional<bool> causal;
  std::optional<KvLayout> kv_layout;
  DType dtype = DType::f16;
  std::optional<std::int64_t> tile;             ///< keys a step
  std::optional<kernels::KvSource> kv;          ///< attention kernels
  bool lse = false;                             ///< attention kernels also store the LSE
  std::optional<std::int64_t> ranks;            ///< long kernels: cubes that share a sequence
  std::optional<kernels::Reduction> reduction;  ///< decode_long
  std::optional<RingSharding> sharding;         ///< prefill_long
  bool bidirectional = false;                   ///< prefill_long
  std::optional<std::int64_t> m, n, k;          ///< gemm
  std::optional<std::string> pe_kind;           ///< on the PEs of that kind alone
  std::uint64_t seed = 1;                       ///< of the random inputs
};

/// The unavoidable work of one PE, for every kernel: every input read once, every output written once, every product
/// that counts computed once.
struct CompulsoryWork {
  Bytes read;
  Bytes written;
  std::int64_t multiply_accumulates = 0;
  Cycles math;
};

class Workload {
 public:
  Workload() = default;
  Workload(const Workload&) = delete;
  Workload& operator=(const Workload&) = delete;
  virtual ~Workload() = default;

  /// The shape that runs, every default resolved.
  [[nodiscard]] virtual Json shape() const = 0;
  /// The plan and its need of scratch as text for users, one line each.
  [[nodiscard]] virtual std::vector<std::string> plan() const = 0;
  /// The type of the inputs, which sets the rate of the matrix engine.
  [[nodiscard]] virtual DType dtype() const = 0;
  /// Writes the inputs, and NaN where the output will be. Data mode `full` only.
  virtual void place_data(System& system) const = 0;
  virtual void launch(System& system, tl::Policy policy) const = 0;
  /// Computes the float64 reference ahead of `verify`: once for all runs whose processes are forked from this one.
  virtual void prepare_reference() = 0;
  /// Computes the part of the reference that takes little memory, during a simulation: called on a separate thread,
  /// before `verify`. Returns soon after `cancelled` is set. `verify` computes the rest.
  virtual void prepare_reference_beside_run(const std::atomic<bool>& cancelled) const { (void)cancelled; }
  /// Compares the output with a float64 reference, and with its bits where they are pinned. Data mode `full` only.
  [[nodiscard]] virtual NumericError verify(const System& system) const = 0;
  /// By PE.
  [[nodiscard]] virtual std::vector<CompulsoryWork> compulsory() const = 0;
};

struct KernelDescription {
  std::string name;
  std::string description;
};

/// The kernels that can be run, in the order in which they are listed.
[[nodiscard]] std::vector<KernelDescription> kernel_catalogue();

/// Checks the request against the machine. Throws WorkloadError.
[[nodiscard]] std::unique_ptr<Workload> make_workload(const WorkloadRequest& request, const SystemConfig& config);

}  // namespace kernwave::platform
