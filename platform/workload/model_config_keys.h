// What is known of the keys of models' config.json files.
#pragma once

#include <cstdint>
#include <string_view>

namespace kernwave::platform {

/// What a key means to attention.
enum class ModelKey : std::uint8_t {
  query_heads,
  kv_heads,
  query_heads_a_kv_head,  ///< n_heads_in_group
  one_kv_head,            ///< a flag: all query heads share one KV head
  head_dim,
  width,             ///< of the residual stream: query heads x head size, where no head size is stated
  span,              ///< the most keys that a query sees: a window, a chunk
  value_head_dim,    ///< must be the head size
  scale,             ///< must be 1 / sqrt(head size)
  scale_scalar,      ///< 1 / sqrt of it is the scale: must be the head size
  changes_the_work,  ///< no kernel models it; null, false and 0 switch it off
  modifier,          ///< read together with another key
  silent,            ///< nothing to do with the attention that runs
  unknown,           ///< not in the table, and speaks of nothing that attention needs
  suspect,           ///< not in the table, but its words are those of heads, groups, windows
};

/// What is known of a key; of one that is not in the table, what its words let fear.
[[nodiscard]] ModelKey model_key(std::string_view key);

/// An object in which nothing speaks of the language model's attention: a vision tower, quantization, sampling.
[[nodiscard]] bool is_other_part(std::string_view key);

}  // namespace kernwave::platform
