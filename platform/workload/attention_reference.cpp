#include "platform/workload/attention_reference.h"

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <utility>

#include "models/base/quantity.h"
#include "platform/parallel.h"

namespace kernwave::platform {

namespace {

template <typename Element>
using RowMajor = Eigen::Matrix<Element, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Matrix = RowMajor<double>;
using Floats = RowMajor<float>;

/// Query tokens a block: the products are large enough to run fast, and little beyond the causal diagonal is computed.
constexpr std::int64_t block_queries = 32;

/// Eigen blocks its products by the host's cache sizes, which would let the last bits differ between hosts.
void pin_blocking() {
  static const bool pinned = (Eigen::setCpuCacheSizes(32'768, 262'144, 2'097'152), true);  // once, whatever thread
  (void)pinned;
}

/// Keys whose K is in float64 at a time: they stay in the cache. A multiple of the rows that Eigen takes at once.
constexpr std::int64_t block_keys = 512;

[[nodiscard]] Eigen::Map<const Floats> matrix_of(const std::vector<float>& values, std::int64_t rows,
                                                 std::int64_t cols) {
  if (static_cast<std::int64_t>(values.size()) != rows * cols) {
    throw std::invalid_argument("attention_reference: a tensor's size disagrees with the shape");
  }
  return {values.data(), rows, cols};
}

/// Calls `block(first, count)` for keys 0 ... keys - 1, `block_keys` at a time. The last block has up to twice as many:
/// a product with few keys may round otherwise than a part of one with many.
template <typename Block>
void for_each_block_of_keys(std::int64_t keys, Block block) {
  std::int64_t first = 0;
  for (; keys - first >= 2 * block_keys; first += block_keys) block(first, block_keys);
  if (first < keys) block(first, keys - first);
}

[[nodiscard]] std::int64_t keys_seen_by(const AttentionProblem& problem, std::int64_t query) {
  if (!problem.causal) return problem.s_kv;
  return std::clamp<std::int64_t>(query + 1 + problem.s_kv - problem.s_q, 0, problem.s_kv);
}

/// One KV head with what its blocks of queries share.
class Head {
 public:
  Head(const AttentionProblem& problem, const std::vector<float>& q, const std::vector<float>& k,
       const std::vector<float>& v, const ReferenceEffort& effort)
      : problem_(problem),
        effort_(effort),
        rows_(problem.s_q * problem.group),
        queries_(matrix_of(q, rows_, problem.head_dim)),
        keys_(matrix_of(k, problem.s_kv, problem.head_dim)),
        values_(matrix_of(v, problem.s_kv, problem.head_dim)),
        key_norms_(problem.s_kv),
        bound_(problem.arithmetic, problem.head_dim, problem.scale) {
    const auto elements = static_cast<std::size_t>(rows_ * problem.head_dim);
    const auto rows = static_cast<std::size_t>(rows_);
    Matrix keys;
    for_each_block_of_keys(problem.s_kv, [&](std::int64_t first, std::int64_t count) {
      end_if_cancelled();
      keys = keys_.middleRows(first, count).cast<double>();
      key_norms_.segment(first, count) = keys.rowwise().norm();
    });
    reference_.out.assign(elements, 0.0);
    reference_.out_bounds.assign(elements, 0.0);
    reference_.lse.assign(rows, -std::numeric_limits<double>::infinity());
    reference_.lse_bounds.assign(rows, 0.0);
  }

  [[nodiscard]] AttentionReference attend() {
    const auto attend_to = [this](std::int64_t block) {
      const std::int64_t first = block * block_queries;
      attend_block(first, std::min(block_queries, problem_.s_q - first));
    };
    const std::int64_t blocks = ceil_div(problem_.s_q, block_queries);
    if (effort_.all_cores) {
      for_each_in_parallel(blocks, attend_to);
    } else {
      for (std::int64_t block = 0; block < blocks; ++block) attend_to(block);
    }
    return std::move(reference_);
  }

 private:
  void end_if_cancelled() const {
    if (effort_.cancelled != nullptr && *effort_.cancelled) throw ReferenceCancelled();
  }

  /// Fills in the rows, which are this block's alone, of the queries first ... first + count - 1.
  void attend_block(std::int64_t first, std::int64_t count) {
    const std::int64_t keys = keys_seen_by(problem_, first + count - 1);
    if (keys == 0) return;
    const std::int64_t first_row = first * problem_.group;
    const std::int64_t rows = count * problem_.group;
    const Matrix queries = queries_.middleRows(first_row, rows).cast<double>();
    Matrix p = scores(queries, keys);
    Floats errors = Floats::Zero(rows, keys);
    std::vector<double> denominators(static_cast<std::size_t>(rows));
    for (std::int64_t row = 0; row < rows; ++row) {
      const std::int64_t seen = keys_seen_by(problem_, first + row / problem_.group);
      std::fill(p.data() + row * keys + seen, p.data() + (row + 1) * keys, 0.0);
      if (seen == 0) continue;
      denominators[static_cast<std::size_t>(row)] = softmax(first_row + row, queries.data() + row * problem_.head_dim,
                                                            seen, p.data() + row * keys, errors.data() + row * keys);
    }
    multiply(first_row, p, errors, denominators);
  }

  /// Scaled, of some queries with the first keys.
  [[nodiscard]] Matrix scores(const Matrix& queries, std::int64_t keys) const {
    Matrix scores(queries.rows(), keys);
    Matrix block;
    for_each_block_of_keys(keys, [&](std::int64_t first, std::int64_t count) {
      end_if_cancelled();
      block = keys_.middleRows(first, count).cast<double>();
      scores.middleCols(first, count).noalias() = problem_.scale * (queries * block.transpose());
    });
    return scores;
  }

  /// The scores of a row to probabilities, in place, and to the errors of their products with V; returns the error of
  /// the row's sum, relative to it.
  double softmax(std::int64_t row, const double* query, std::int64_t seen, double* scores, float* errors) {
    AttentionBound::Row context;
    const auto [least, most] = std::minmax_element(scores, scores + seen);
    context.max = *most;
    context.max_abs = std::max(std::abs(*least), std::abs(*most));
    context.query = bound_.weighted_norm(query);
    double sum = 0.0;
    for (std::int64_t key = 0; key < seen; ++key) {
      errors[key] = static_cast<float>(bound_.weight_error(context, scores[key], key_norms_[key]));
      scores[key] = std::exp(scores[key] - context.max);
      sum += scores[key];
    }
    const double underflow = bound_.underflow(sum);
    double denominator = 0.0;
    for (std::int64_t key = 0; key < seen; ++key) {
      scores[key] /= sum;
      const auto weight_error = static_cast<double>(errors[key]);
      errors[key] = static_cast<float>(underflow);
      if (scores[key] == 0.0) continue;  // its error may be infinitely many times that
      denominator += scores[key] * bound_.denominator_error(weight_error);
      errors[key] += static_cast<float>(scores[key] * bound_.numerator_error(weight_error));
    }
    const auto index = static_cast<std::size_t>(row);
    reference_.lse[index] = context.max + std::log(sum);
    reference_.lse_bounds[index] = bound_.of_log_sum_exp(context, denominator, sum);
    return denominator;
  }

  /// P V, and errors |V| in f32, whose own error is at most one unit roundoff a key and one for each conversion.
  void multiply(std::int64_t first_row, const Matrix& p, const Floats& errors,
                const std::vector<double>& denominators) {
    const std::int64_t d = problem_.head_dim;
    Eigen::Map<Matrix> out(reference_.out.data() + first_row * d, p.rows(), d);
    Floats numerators = Floats::Zero(p.rows(), d);
    Matrix partial_sums = Matrix::Zero(p.rows(), d);
    Matrix values;
    Floats magnitudes;
    std::int64_t key = 0;
    for (const std::int64_t length : chains()) {
      const std::int64_t end = std::min(key + length, p.cols());
      Matrix sum = Matrix::Zero(p.rows(), d);
      for (; key < end; key += AttentionBound::interval) {
        end_if_cancelled();
        const std::int64_t count = std::min(AttentionBound::interval, end - key);
        values = values_.middleRows(key, count).cast<double>();
        magnitudes = values_.middleRows(key, count).cwiseAbs();
        numerators.noalias() += errors.middleCols(key, count) * magnitudes;
        if (bound_.knows_partial_sums()) add_magnitudes(count, sum, partial_sums);
        sum.noalias() += p.middleCols(key, count) * values;
        if (bound_.knows_partial_sums()) add_magnitudes(count, sum, partial_sums);
      }
      key = end;
      out += sum;
    }
    const double own_error = 0x1p-24 * static_cast<double>(errors.cols() + 3);
    for (std::int64_t row = 0; row < p.rows(); ++row) {
      if (keys_seen_by(problem_, (first_row + row) / problem_.group) == 0) continue;
      for (std::int64_t col = 0; col < d; ++col) {
        const auto i = static_cast<std::size_t>((first_row + row) * d + col);
        const double numerator = static_cast<double>(numerators(row, col)) / (1.0 - own_error) + partial_sums(row, col);
        reference_.out_bounds[i] =
            bound_.of_output(numerator, denominators[static_cast<std::size_t>(row)], std::abs(reference_.out[i]));
      }
    }
  }

  [[nodiscard]] std::vector<std::int64_t> chains() const {
    return bound_.knows_partial_sums() ? problem_.arithmetic.consecutive : std::vector<std::int64_t>{problem_.s_kv};
  }

  /// At one end of `count` keys.
  static void add_magnitudes(std::int64_t count, const Matrix& sum, Matrix& partial_sums) {
    partial_sums += AttentionBound::of_partial_sum(count) * sum.cwiseAbs();
  }

  const AttentionProblem& problem_;
  const ReferenceEffort& effort_;
  std::int64_t rows_;
  Eigen::Map<const Floats> queries_;
  Eigen::Map<const Floats> keys_;
  Eigen::Map<const Floats> values_;
  Eigen::VectorXd key_norms_;
  AttentionBound bound_;
  AttentionReference reference_;
};

}  // namespace

AttentionReference attention_reference(const AttentionProblem& problem, const std::vector<float>& q,
                                       const std::vector<float>& k, const std::vector<float>& v,
                                       const ReferenceEffort& effort) {
  pin_blocking();
  const std::vector<std::int64_t>& chains = problem.arithmetic.consecutive;
  if (!chains.empty() && std::accumulate(chains.begin(), chains.end(), std::int64_t{0}) != problem.s_kv) {
    throw std::invalid_argument("attention_reference: the chains do not make up the keys");
  }
  return Head(problem, q, k, v, effort).attend();
}

}  // namespace kernwave::platform
