// The float64 reference of attention, with which outputs are compared.
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <vector>

#include "platform/workload/attention_bound.h"

namespace kernwave::platform {

/// One KV head of one sequence, with the query heads that share it.
struct AttentionProblem {
  std::int64_t s_q = 1;
  std::int64_t s_kv = 1;
  std::int64_t group = 1;  ///< query heads
  std::int64_t head_dim = 1;
  bool causal = false;  ///< bottom-right aligned: query i sees keys 0 ... i + s_kv - s_q
  double scale = 1.0;
  AttentionArithmetic arithmetic = {};  ///< of the kernel that the bounds are for
};

struct AttentionReference {
  std::vector<double> out;  ///< [s_q][group][head_dim]; 0 in a row that sees no key
  std::vector<double> lse;  ///< [s_q][group]: ln(sum(exp(scaled scores))); -inf in a row that sees no key
  /// How far a right kernel may be from each, before the last rounding (`AttentionBound`).
  std::vector<double> out_bounds;
  std::vector<double> lse_bounds;
};

/// Options of the computation of a reference, which do not change its values.
struct ReferenceEffort {
  bool all_cores = false;                        ///< blocks of queries in parallel
  const std::atomic<bool>* cancelled = nullptr;  ///< set by another thread: `ReferenceCancelled` is thrown soon
};

class ReferenceCancelled : public std::exception {
 public:
  [[nodiscard]] const char* what() const noexcept override { return "the reference is not needed any more"; }
};

/// softmax(scale Q K^T) V as it is defined: per row the maximum, then the exponentials and their sum, then the product;
/// no running quantities. q is [s_q][group][head_dim], k and v are [s_kv][head_dim], already rounded to the storage
/// type. Only visible keys are computed. Throws std::invalid_argument when a size or the chains of
/// the arithmetic disagree.
[[nodiscard]] AttentionReference attention_reference(const AttentionProblem& problem, const std::vector<float>& q,
                                                     const std::vector<float>& k, const std::vector<float>& v,
                                                     const ReferenceEffort& effort = {});

}  // namespace kernwave::platform
