// The attention shapes of transformer models.
#pragma once

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace kernwave::platform {

/// Layers in which a query does not see every key: a sliding window, or chunks that do not see each other.
struct KeyWindow {
  std::string key;        ///< of the file, as messages name it
  std::int64_t keys = 0;  ///< at least 1; with no more keys than these nothing is left out
};

/// The shape of a model's grouped-query attention. Every count is 1 to 65536, and `query_heads` is a multiple of
/// `kv_heads`: query head h reads key/value head h / (query_heads / kv_heads).
struct ModelShape {
  std::string name;
  std::int64_t query_heads = 0;
  std::int64_t kv_heads = 0;
  std::int64_t head_dim = 0;
  std::optional<KeyWindow> window{};  ///< the shortest one; kernels do not model it, so that longer runs are refused
};

/// A shape that attention cannot have, an unknown model, or a file that does not describe one. what() holds one line a
/// problem.
class ModelShapeError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The models whose shapes are built in, in the order in which they are listed.
[[nodiscard]] std::vector<ModelShape> shipped_models();

/// The mistake in a count, which must be 1 to 65536.
[[nodiscard]] std::optional<std::string> count_problem(std::string_view what, std::int64_t count);

/// Every rule of ModelShape that the shape breaks, one text each.
[[nodiscard]] std::vector<std::string> model_shape_problems(const ModelShape& shape);

/// Throws ModelShapeError with model_shape_problems().
void check_model_shape(const ModelShape& shape);

/// The shape of a shipped model (case aside), or of a model whose Hugging Face config.json, or the folder that holds
/// it, is at that path: a path holds a '/', ends in ".json" or names a folder. Throws ModelShapeError with all
/// problems.
[[nodiscard]] ModelShape load_model_shape(const std::string& name_or_path);

}  // namespace kernwave::platform
