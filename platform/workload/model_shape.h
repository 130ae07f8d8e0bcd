// The attention shapes of transformer models.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

namespace kernwave::platform {

/// What grouped-query attention needs to know of a model. Every count is 1 to 65536, and `query_heads` is a multiple of
/// `kv_heads`: query head h reads key/value head h / (query_heads / kv_heads).
struct ModelShape {
  std::string name;
  std::int64_t query_heads = 0;
  std::int64_t kv_heads = 0;
  std::int64_t head_dim = 0;
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

/// The shape of a shipped model (case aside), or of a model whose Hugging Face config.json is at that path: a path
/// holds a '/' or ends in ".json". In the file an explicit head_dim wins over hidden_size / num_attention_heads, absent
/// or null num_key_value_heads means num_attention_heads, and the language part of a multimodal model ("text_config")
/// is found. Throws ModelShapeError with all problems.
[[nodiscard]] ModelShape load_model_shape(const std::string& name_or_path);

}  // namespace kernwave::platform
