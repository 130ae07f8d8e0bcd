#include "platform/workload/attention_reference.h"

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

namespace kernwave::platform {

namespace {

template <typename Element>
using RowMajor = Eigen::Matrix<Element, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Matrix = RowMajor<double>;

/// Query tokens a block: the products are large enough to run fast, and little beyond the causal diagonal is computed.
constexpr std::int64_t block_queries = 32;

/// Eigen blocks its products by the host's cache sizes, which would let the last bits differ between hosts.
void pin_blocking() { Eigen::setCpuCacheSizes(32'768, 262'144, 2'097'152); }

[[nodiscard]] Matrix to_matrix(const std::vector<float>& values, std::int64_t rows, std::int64_t cols) {
  if (static_cast<std::int64_t>(values.size()) != rows * cols) {
    throw std::invalid_argument("attention_reference: a tensor's size disagrees with the shape");
  }
  return Eigen::Map<const RowMajor<float>>(values.data(), rows, cols).cast<double>();
}

[[nodiscard]] std::int64_t keys_seen_by(const AttentionProblem& problem, std::int64_t query) {
  if (!problem.causal) return problem.s_kv;
  return std::clamp<std::int64_t>(query + 1 + problem.s_kv - problem.s_q, 0, problem.s_kv);
}

/// Scores to probabilities in place, 0 from `seen` on; returns the log-sum-exp.
double softmax(double* scores, std::int64_t seen, std::int64_t count) {
  std::fill(scores + seen, scores + count, 0.0);
  if (seen == 0) return -std::numeric_limits<double>::infinity();
  const double maximum = *std::max_element(scores, scores + seen);
  double sum = 0.0;
  for (std::int64_t key = 0; key < seen; ++key) {
    scores[key] = std::exp(scores[key] - maximum);
    sum += scores[key];
  }
  for (std::int64_t key = 0; key < seen; ++key) scores[key] /= sum;
  return maximum + std::log(sum);
}

/// Fills in the rows of the queries first ... first + count - 1.
void attend_block(const AttentionProblem& problem, const Matrix& q, const Matrix& k, const Matrix& v,
                  std::int64_t first, std::int64_t count, AttentionReference& reference) {
  const std::int64_t keys = keys_seen_by(problem, first + count - 1);
  if (keys == 0) return;
  const std::int64_t rows = count * problem.group;
  Matrix p = problem.scale * (q.middleRows(first * problem.group, rows) * k.topRows(keys).transpose());
  for (std::int64_t row = 0; row < rows; ++row) {
    const std::int64_t seen = keys_seen_by(problem, first + row / problem.group);
    reference.lse[static_cast<std::size_t>(first * problem.group + row)] = softmax(p.data() + row * keys, seen, keys);
  }
  double* out = reference.out.data() + first * problem.group * problem.head_dim;
  Eigen::Map<Matrix>(out, rows, problem.head_dim).noalias() = p * v.topRows(keys);
}

}  // namespace

AttentionReference attention_reference(const AttentionProblem& problem, const std::vector<float>& q,
                                       const std::vector<float>& k, const std::vector<float>& v) {
  pin_blocking();
  const std::int64_t rows = problem.s_q * problem.group;
  const Matrix queries = to_matrix(q, rows, problem.head_dim);
  const Matrix keys = to_matrix(k, problem.s_kv, problem.head_dim);
  const Matrix values = to_matrix(v, problem.s_kv, problem.head_dim);

  AttentionReference reference;
  reference.out.assign(static_cast<std::size_t>(rows * problem.head_dim), 0.0);
  reference.lse.assign(static_cast<std::size_t>(rows), -std::numeric_limits<double>::infinity());
  for (std::int64_t first = 0; first < problem.s_q; first += block_queries) {
    attend_block(problem, queries, keys, values, first, std::min(block_queries, problem.s_q - first), reference);
  }
  return reference;
}

}  // namespace kernwave::platform
