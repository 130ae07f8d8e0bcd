// The attention shapes of transformer models.
#pragma once

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace kernwave::platform {

/// The most keys that a query of a model sees, in some of its layers at least: a sliding window, a chunk.
struct AttentionSpan {
  std::string key;  ///< of the model's file, which says so
  std::int64_t keys = 0;
};

/// What grouped-query attention needs to know of a model. Every count is 1 to 65536, and `query_heads` is a multiple of
/// `kv_heads`: query head h reads key/value head h / (query_heads / kv_heads).
struct ModelShape {
  std::string name;
  std::int64_t query_heads = 0;
  std::int64_t kv_heads = 0;
  std::int64_t head_dim = 0;
  std::optional<AttentionSpan> span = std::nullopt;  ///< no sequence may be longer: the kernels' queries see every key
};

/// A shape that attention cannot have, an unknown model, or a file that does not describe one. what() holds one line a
/// problem.
class ModelShapeError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The models whose shapes are built in, in the order in which they are listed.
[[nodiscard]] std::vector<ModelShape> shipped_models();

/// Throws ModelShapeError with every rule of ModelShape that the shape breaks.
void check_model_shape(const ModelShape& shape);

/// The shape of a shipped model (case aside), or of a model whose Hugging Face config.json is at that path or in that
/// folder: a path holds a '/' or ends in ".json". `shape_of_config` says how the file is read. Throws ModelShapeError
/// with all problems.
[[nodiscard]] ModelShape load_model_shape(const std::string& name_or_path);

}  // namespace kernwave::platform
