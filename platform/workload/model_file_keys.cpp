#include "platform/workload/model_file_keys.h"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <initializer_list>
#include <string>

namespace kernwave::platform {
namespace {

using Role = ModelFileKeyRole;

constexpr std::string_view latent = "multi-head latent attention has no grouped-query shape";
constexpr std::string_view capped = "no kernel caps scores";
constexpr std::string_view sinks = "no kernel has attention sinks";
constexpr std::string_view biased = "no kernel adds a bias to scores";
constexpr std::string_view sparse = "no kernel leaves out keys that a causal mask shows";
constexpr std::string_view unscaled = "its scores are not scaled by 1 / sqrt(head_dim), as those of the kernels are";
constexpr std::string_view no_attention = "it has no attention layers that the kernels could run";
constexpr std::string_view unknown_shape = "it may state heads, groups or head sizes, but is not understood";
constexpr std::string_view unknown_work = "it may change the work of attention, but is not understood";

[[nodiscard]] std::vector<ModelFileKey> make_keys() {
  return {
      {"num_attention_heads", Role::query_heads},
      {"num_heads", Role::query_heads},
      {"num_query_heads", Role::query_heads},
      {"num_q_heads", Role::query_heads},
      {"n_head", Role::query_heads},
      {"n_heads", Role::query_heads},
      {"decoder_attention_heads", Role::query_heads},
      {"encoder_attention_heads", Role::query_heads},

      {"num_key_value_heads", Role::kv_heads},
      {"num_key_value_heads_per_layer", Role::kv_heads},
      {"num_kv_heads", Role::kv_heads},
      {"num_kv_head", Role::kv_heads},
      {"n_head_kv", Role::kv_heads},
      {"n_heads_kv", Role::kv_heads},
      {"n_kv_head", Role::kv_heads},
      {"n_kv_heads", Role::kv_heads},
      {"kv_n_heads", Role::kv_heads},
      {"num_query_groups", Role::kv_heads, {}, "group_query_attention"},
      {"n_query_groups", Role::kv_heads},
      {"num_attention_groups", Role::kv_heads},
      {"multi_query_group_num", Role::kv_heads, {}, "multi_query_attention"},
      {"n_heads_in_group", Role::heads_of_a_group},

      {"multi_query", Role::multi_query},
      {"multi_query_attention", Role::multi_query},
      {"attn_type", Role::attention_kind},
      {"attention_head_type", Role::attention_kind},
      {"num_key_value_groups", Role::number_of_groups_or_in_a_group},
      {"num_gqa_groups", Role::number_of_groups_or_in_a_group},
      {"n_group", Role::groups_of_something},
      {"n_groups", Role::groups_of_something},
      {"num_groups", Role::groups_of_something},
      {"group_size", Role::groups_of_something},

      {"head_dim", Role::head_dim},
      {"head_size", Role::head_dim},
      {"d_head", Role::head_dim},
      {"d_kv", Role::head_dim},
      {"dim_head", Role::head_dim},
      {"kv_channels", Role::head_dim},
      {"attention_head_dim", Role::head_dim},
      {"attention_head_size", Role::head_dim},
      {"hidden_size_per_head", Role::head_dim},
      {"hidden_size_per_attention_head", Role::head_dim},
      {"size_per_head", Role::head_dim},

      {"hidden_size", Role::hidden_size},
      {"n_embd", Role::hidden_size},
      {"n_embed", Role::hidden_size},
      {"d_model", Role::hidden_size},
      {"model_dim", Role::hidden_size},
      {"embed_dim", Role::hidden_size},
      {"emb_dim", Role::hidden_size},
      {"dim", Role::hidden_size},

      {"swa_num_attention_heads", Role::query_heads_of_some_layers},
      {"num_global_key_value_heads", Role::kv_heads_of_some_layers},
      {"swa_num_key_value_heads", Role::kv_heads_of_some_layers},
      {"global_head_dim", Role::head_dim_of_some_layers},
      {"swa_head_dim", Role::head_dim_of_some_layers},
      {"swa_v_head_dim", Role::head_dim_of_some_layers},
      {"v_head_dim", Role::head_dim_of_some_layers},

      {"kv_lora_rank", Role::work_not_modelled, latent},
      {"q_lora_rank", Role::work_not_modelled, latent},
      {"qk_nope_head_dim", Role::work_not_modelled, latent},
      {"qk_rope_head_dim", Role::work_not_modelled, latent},
      {"qk_head_dim", Role::head_dim_of_some_layers},

      {"sliding_window", Role::window, {}, "use_sliding_window"},
      {"sliding_window_size", Role::window, {}, "use_sliding_window"},
      {"attention_window_size", Role::window},
      {"window_length", Role::window},
      {"attention_chunk_size", Role::window},
      {"local_attention", Role::window_both_ways},
      {"layer_types", Role::layer_types},
      {"use_sliding_window", Role::switch_of_others},
      {"max_window_layers", Role::switch_of_others},
      {"num_hidden_layers", Role::switch_of_others},
      {"new_decoder_architecture", Role::switch_of_others},
      {"group_query_attention", Role::switch_of_others},
      {"attn_temperature_tuning", Role::switch_of_others},
      {"floor_scale", Role::switch_of_others},

      {"attention_multiplier", Role::scale},
      {"attention_scale", Role::scale},
      {"attn_output_multiplier", Role::scale},
      {"softmax_scale", Role::scale},
      {"attn_scale", Role::scale},
      {"query_pre_attn_scalar", Role::scale_inverse_square},
      {"scale_attn_weights", Role::standard_scale},
      {"scale_attn", Role::standard_scale},
      {"scale_attn_by_inverse_layer_idx", Role::work_not_modelled, "no kernel scales scores by the layer's number"},
      {"scale_qk_dot_by_d", Role::work_not_modelled, unscaled},
      {"mup_scale_qk_dot_by_d", Role::work_not_modelled, unscaled},
      {"mup_attn_multiplier", Role::work_not_modelled, unscaled},

      {"attn_logit_softcapping", Role::work_not_modelled, capped},
      {"attn_logit_softcap", Role::work_not_modelled, capped},
      {"attn_logit_cap", Role::work_not_modelled, capped},
      {"attention_logit_cap", Role::work_not_modelled, capped},
      {"logits_soft_cap", Role::work_not_modelled, capped},
      {"max_attn_value", Role::work_not_modelled, capped},
      {"num_sink_tokens", Role::work_not_modelled, sinks},
      {"sink_token_length", Role::work_not_modelled, sinks},
      {"add_full_attention_sink_bias", Role::work_not_modelled, sinks},
      {"add_swa_attention_sink_bias", Role::work_not_modelled, sinks},
      {"alibi", Role::work_not_modelled, biased},
      {"use_alibi", Role::work_not_modelled, biased},
      {"relative_attention", Role::work_not_modelled, biased},
      {"relative_attention_num_buckets", Role::work_not_modelled, biased},
      {"position_embedding_type", Role::position_embedding, biased},
      {"sparsify", Role::work_not_modelled, sparse},
      {"sparse_config", Role::work_not_modelled, sparse},
      {"index_topk", Role::work_not_modelled, sparse},
      {"index_n_heads", Role::work_not_modelled, sparse},
      {"index_head_dim", Role::work_not_modelled, sparse},
      {"dense_attention_every_n_layers", Role::work_not_modelled, sparse},
      {"compress_ratios", Role::work_not_modelled, sparse},
      {"pruned_heads", Role::shape_not_understood, "pruned heads leave layers with different numbers of heads"},
      {"model_type", Role::model_type},

      // Names whose words would say more than the keys do.
      {"alibi_bias_max", Role::unrelated},
      {"apply_query_key_layer_scaling", Role::unrelated},
      {"attention_in_multiplier", Role::unrelated},
      {"attention_out_multiplier", Role::unrelated},
      {"attention_output_multiplier", Role::unrelated},
      {"attention_types", Role::unrelated},
      {"attention_value_scale", Role::unrelated},
      {"final_logit_softcapping", Role::unrelated},
      {"head_init_scale", Role::unrelated},
      {"interleave_sliding_window", Role::unrelated},
      {"scale_attention_softmax_in_fp32", Role::unrelated},
      {"sliding_window_layers", Role::unrelated},
      {"sliding_window_pattern", Role::unrelated},
      {"swa_rope_theta", Role::unrelated},
      {"topk_group", Role::unrelated},

      // Objects that describe something else, whatever they hold.
      {"auto_map", Role::unrelated},
      {"generation_config", Role::unrelated},
      {"id2label", Role::unrelated},
      {"label2id", Role::unrelated},
      {"quantization_config", Role::unrelated},
      {"rope_parameters", Role::unrelated},
      {"rope_scaling", Role::unrelated},
      {"task_specific_params", Role::unrelated},
  };
}

/// The words of a name like "num_kv_heads" or "numKvHeads", in lower case.
[[nodiscard]] std::vector<std::string> words_of(std::string_view name) {
  std::vector<std::string> words(1);
  bool after_lower = false;
  for (const char c : name) {
    const auto code = static_cast<unsigned char>(c);
    const bool is_upper = std::isupper(code) != 0;
    if (std::isalnum(code) == 0 || (is_upper && after_lower)) words.emplace_back();
    if (std::isalnum(code) != 0) words.back() += static_cast<char>(std::tolower(code));
    after_lower = std::islower(code) != 0;
  }
  return words;
}

[[nodiscard]] bool has_any(const std::vector<std::string>& words, std::initializer_list<std::string_view> wanted) {
  return std::any_of(words.begin(), words.end(), [&](const std::string& word) {
    return std::find(wanted.begin(), wanted.end(), word) != wanted.end();
  });
}

[[nodiscard]] bool is_of_another_part(const std::vector<std::string>& words) {
  return has_any(
      words, {"adapter",   "audio",        "classifier", "cls",       "codec",   "conv",       "ctc",       "depth",
              "diffusion", "draft",        "expert",     "experts",   "ffn",     "generation", "image",     "linear",
              "lm",        "lora",         "mamba",      "medusa",    "mlp",     "mm",         "moe",       "mtp",
              "nextn",     "norm",         "perceiver",  "pooler",    "pooling", "predictor",  "projector", "qformer",
              "quant",     "quantization", "resampler",  "rope",      "rotary",  "routed",     "router",    "speech",
              "ssm",       "summary",      "talker",     "tokenizer", "video",   "vision",     "visual",    "vocab"});
}

[[nodiscard]] ModelFileKey by_words(std::string_view key) {
  const std::vector<std::string> words = words_of(key);
  if (is_of_another_part(words)) return {key, Role::unrelated};
  if (has_any(words, {"alibi", "blocksparse", "sink", "sinks", "sliding", "softcap", "softcapping", "swa", "window",
                      "windows"})) {
    return {key, Role::work_not_modelled, unknown_work};
  }
  const bool is_of_attention = has_any(words, {"attention", "attn", "qk", "score", "scores", "softmax"});
  const bool changes_it = has_any(words, {"block", "blocks", "cap", "chunk", "chunks", "local", "multiplier", "scalar",
                                          "scale", "scaling", "sparse", "sparsity"});
  if (is_of_attention && changes_it) return {key, Role::work_not_modelled, unknown_work};
  if (has_any(words, {"gqa", "group", "groups", "head", "headdim", "heads", "mqa", "nhead", "nheads"})) {
    return {key, Role::shape_not_understood, unknown_shape};
  }
  const bool is_of_kv = has_any(words, {"kv"}) || (has_any(words, {"key"}) && has_any(words, {"value"})) ||
                        (has_any(words, {"multi"}) && has_any(words, {"query"}));
  const bool is_of_something_else = has_any(words, {"bias", "cache", "dropout", "layers"});
  const bool is_number = has_any(words, {"channels", "count", "dim", "factor", "multi", "n", "num", "number", "ratio",
                                         "rep", "repeat", "repeats", "size", "width"});
  if (is_of_kv && is_number && !is_of_something_else) return {key, Role::shape_not_understood, unknown_shape};
  return {key, Role::unknown};
}

struct ModelType {
  std::string_view name;
  std::string_view reason;
};

constexpr ModelType types_with_work_of_their_own[] = {
    {"bloom", biased},
    {"deberta", biased},
    {"deberta-v2", biased},
    {"longt5", biased},
    {"mt5", biased},
    {"switch_transformers", biased},
    {"t5", biased},
    {"umt5", biased},
    {"xlnet", biased},
    {"transfo-xl", biased},
    {"gemma3n", unscaled},
    {"gemma3n_text", unscaled},
    {"gemma4", unscaled},
    {"gemma4_text", unscaled},
    {"gpt_neo", unscaled},
    {"phi3small", sparse},
    {"big_bird", sparse},
    {"bigbird_pegasus", sparse},
    {"led", sparse},
    {"longformer", sparse},
    {"reformer", sparse},
    {"gpt_oss", sinks},
    {"falcon_mamba", no_attention},
    {"mamba", no_attention},
    {"mamba2", no_attention},
    {"retnet", no_attention},
    {"rwkv", no_attention},
    {"rwkv5", no_attention},
    {"rwkv6", no_attention},
    {"rwkv7", no_attention},
    {"xlstm", no_attention},
};

}  // namespace

const std::vector<ModelFileKey>& model_file_keys() {
  static const std::vector<ModelFileKey> keys = make_keys();
  return keys;
}

ModelFileKey model_file_key(std::string_view key) {
  const std::string_view name = key.substr(std::min(key.find_first_not_of('_'), key.size()));
  const std::vector<ModelFileKey>& keys = model_file_keys();
  const auto row =
      std::find_if(keys.begin(), keys.end(), [name](const ModelFileKey& known) { return known.name == name; });
  return row != keys.end() ? *row : by_words(name);
}

std::string_view work_of_model_type(std::string_view model_type) {
  for (const ModelType& type : types_with_work_of_their_own) {
    if (type.name == model_type) return type.reason;
  }
  return {};
}

bool is_multi_query_by_default(std::string_view model_type) {
  return model_type == "falcon" || model_type == "RefinedWeb" || model_type == "RefinedWebModel" ||
         model_type == "gpt_bigcode";
}

}  // namespace kernwave::platform
