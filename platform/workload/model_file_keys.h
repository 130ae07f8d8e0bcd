// The keys of a model's config.json that concern attention: one table, and a rule for keys that are not in it.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace kernwave::platform {

enum class ModelFileKeyRole : std::uint8_t {
  unrelated,  ///< neither the key nor what lies below it concerns the shape or the work of attention
  unknown,    ///< the key says nothing itself, but an object below it may

  query_heads,
  kv_heads,
  heads_of_a_group,  ///< query heads that share one KV head
  head_dim,
  hidden_size,  ///< divided by the query heads it is the head dimension, unless that is stated

  multi_query,                     ///< true: one KV head
  attention_kind,                  ///< the name of a kind: multi-head, multi-query, grouped-query
  number_of_groups_or_in_a_group,  ///< KV heads in some families, query heads of a group in others
  groups_of_something,             ///< of KV heads, or of experts, states, normalisations, weights

  query_heads_of_some_layers,
  kv_heads_of_some_layers,
  head_dim_of_some_layers,  ///< or of the values alone

  window,            ///< keys that a query sees
  window_both_ways,  ///< the same, half of them before the query and half behind it
  layer_types,       ///< a list of names, one a layer
  switch_of_others,  ///< decides whether other keys count

  scale,                 ///< the factor of the scores
  scale_inverse_square,  ///< x stands for a factor of 1 / sqrt(x)
  standard_scale,        ///< true: 1 / sqrt(head_dim)
  position_embedding,    ///< a name; some are added to scores
  model_type,

  work_not_modelled,     ///< work that no kernel does, unless the value is null, false or 0
  shape_not_understood,  ///< heads, groups or head sizes, unless the value is null, false or 0
};

struct ModelFileKey {
  std::string_view name;  ///< leading underscores left out
  ModelFileKeyRole role = ModelFileKeyRole::unrelated;
  std::string_view reason{};          ///< why a value cannot be run, for messages
  std::string_view counts_only_if{};  ///< the switch which, where it is false, makes the key count for nothing
};

/// The table. Names are unique.
[[nodiscard]] const std::vector<ModelFileKey>& model_file_keys();

/// The row of a key, leading underscores aside. A key without a row gets a role by the words of its name: those of
/// another part of the model (vision, experts, state space, ...) make it `unrelated`; "heads" or "groups" make it
/// `shape_not_understood`, "window", "sink", "softcap" and the like `work_not_modelled`; every other key is `unknown`.
/// The row's name is `key` itself, which must live as long as the row.
[[nodiscard]] ModelFileKey model_file_key(std::string_view key);

/// Why the attention of a family of models, by its "model_type", is not what the kernels compute although its file does
/// not say so; empty if it is.
[[nodiscard]] std::string_view work_of_model_type(std::string_view model_type);

/// Whether files of the family leave it to "multi_query" how many KV heads there are, with one as the default.
[[nodiscard]] bool is_multi_query_by_default(std::string_view model_type);

}  // namespace kernwave::platform
