#include "platform/workload/model_config_keys.h"

#include <algorithm>
#include <cctype>
#include <iterator>
#include <string>
#include <vector>

namespace kernwave::platform {

namespace {

struct KnownKey {
  std::string_view name;
  ModelKey meaning;
};

constexpr KnownKey known_keys[] = {
    {"num_attention_heads", ModelKey::query_heads},
    {"num_query_heads", ModelKey::query_heads},
    {"num_heads", ModelKey::query_heads},
    {"attention_heads", ModelKey::query_heads},
    {"n_heads", ModelKey::query_heads},
    {"n_head", ModelKey::query_heads},

    {"num_key_value_heads", ModelKey::kv_heads},
    {"num_kv_heads", ModelKey::kv_heads},
    {"n_kv_heads", ModelKey::kv_heads},
    {"n_kv_head", ModelKey::kv_heads},
    {"n_head_kv", ModelKey::kv_heads},
    {"kv_n_heads", ModelKey::kv_heads},
    {"num_query_groups", ModelKey::kv_heads},
    {"n_query_groups", ModelKey::kv_heads},
    {"num_key_value_groups", ModelKey::suspect},  // of groups, or of query heads in one: families disagree
    {"n_heads_in_group", ModelKey::query_heads_a_kv_head},
    {"multi_query", ModelKey::one_kv_head},
    {"multi_query_attention", ModelKey::modifier},
    {"multi_query_group_num", ModelKey::modifier},
    {"new_decoder_architecture", ModelKey::modifier},
    {"group_query_attention", ModelKey::modifier},
    {"attn_type", ModelKey::modifier},

    {"head_dim", ModelKey::head_dim},
    {"head_size", ModelKey::head_dim},
    {"d_head", ModelKey::head_dim},
    {"d_kv", ModelKey::head_dim},
    {"kv_channels", ModelKey::head_dim},
    {"attention_head_dim", ModelKey::head_dim},
    {"attention_head_size", ModelKey::head_dim},
    {"hidden_size", ModelKey::width},
    {"n_embd", ModelKey::width},
    {"n_embed", ModelKey::width},
    {"d_model", ModelKey::width},
    {"model_dim", ModelKey::width},
    {"dim", ModelKey::width},

    {"sliding_window", ModelKey::span},
    {"sliding_window_size", ModelKey::span},
    {"attention_chunk_size", ModelKey::span},
    {"attention_window", ModelKey::span},
    {"local_attention_window", ModelKey::span},
    {"attention_window_size", ModelKey::span},
    {"window_size", ModelKey::span},
    {"local_window_size", ModelKey::span},
    {"use_sliding_window", ModelKey::modifier},
    {"layer_types", ModelKey::modifier},
    {"attention_types", ModelKey::modifier},
    {"max_window_layers", ModelKey::silent},
    {"sliding_window_pattern", ModelKey::silent},
    {"_sliding_window_pattern", ModelKey::silent},

    {"v_head_dim", ModelKey::value_head_dim},
    {"attention_multiplier", ModelKey::scale},
    {"softmax_scale", ModelKey::scale},
    {"attention_scale", ModelKey::scale},
    {"query_pre_attn_scalar", ModelKey::scale_scalar},
    {"scale_attn_weights", ModelKey::modifier},
    {"scale_attn_by_inverse_layer_idx", ModelKey::changes_the_work},
    {"attn_logit_softcapping", ModelKey::changes_the_work},
    {"attn_logit_softcap", ModelKey::changes_the_work},
    {"attention_logit_cap", ModelKey::changes_the_work},
    {"attention_sink_size", ModelKey::changes_the_work},
    {"num_attention_sinks", ModelKey::changes_the_work},
    {"use_attention_sinks", ModelKey::changes_the_work},
    {"add_full_attention_sink_bias", ModelKey::changes_the_work},
    {"add_swa_attention_sink_bias", ModelKey::changes_the_work},
    {"kv_lora_rank", ModelKey::changes_the_work},
    {"q_lora_rank", ModelKey::changes_the_work},
    {"qk_nope_head_dim", ModelKey::changes_the_work},
    {"qk_rope_head_dim", ModelKey::changes_the_work},
    {"qk_head_dim", ModelKey::changes_the_work},
    {"index_n_heads", ModelKey::changes_the_work},
    {"index_head_dim", ModelKey::changes_the_work},
    {"num_kv_shared_layers", ModelKey::silent},

    // Words of attention, and no change of its work. Positions (rotary, ALiBi) are not part of what is timed.
    {"attention_bias", ModelKey::silent},
    {"attention_dropout", ModelKey::silent},
    {"attn_pdrop", ModelKey::silent},
    {"kv_dropout", ModelKey::silent},
    {"attn_scale", ModelKey::silent},  // of queries, by their position, before attention
    {"attention_softmax_in_fp32", ModelKey::silent},
    {"scale_attention_softmax_in_fp32", ModelKey::silent},
    {"head_dropout", ModelKey::silent},
    {"final_logit_softcapping", ModelKey::silent},
    {"partial_rotary_factor", ModelKey::silent},
    {"pruned_heads", ModelKey::changes_the_work},
    {"lm_head_bias", ModelKey::silent},
    {"tie_lm_head", ModelKey::silent},
    {"kv_cache_dtype", ModelKey::silent},
    {"use_kv_cache", ModelKey::silent},
    {"swa_num_attention_heads", ModelKey::suspect},
};

/// Parts of hybrid models that are no attention, as the beginnings of their keys.
constexpr std::string_view other_layers[] = {"mamba_", "linear_",     "ssm_",      "conv_",   "vision_", "audio_",
                                             "rwkv_",  "classifier_", "kv_cache_", "lm_head", "rope_",   "mtp_"};

constexpr std::string_view other_parts[] = {"vision_config",
                                            "audio_config",
                                            "vision_tower",
                                            "visual",
                                            "quantization_config",
                                            "rope_scaling",
                                            "rope_parameters",
                                            "task_specific_params",
                                            "generation_config",
                                            "auto_map",
                                            "id2label",
                                            "label2id",
                                            "ssm_cfg",
                                            "vq_config",
                                            "projector_config",
                                            "talker_config",
                                            "token2wav_config",
                                            "code2wav_config",
                                            "compression_config",
                                            "moe_config",
                                            "ffn_config",
                                            "image_token_config"};

[[nodiscard]] std::vector<std::string> words_of(std::string_view key) {
  std::vector<std::string> words(1);
  for (const char character : key) {
    const auto code = static_cast<unsigned char>(character);
    if (std::isalnum(code) == 0) {
      words.emplace_back();
    } else {
      words.back().push_back(static_cast<char>(std::tolower(code)));
    }
  }
  return words;
}

[[nodiscard]] bool speaks_of_attention(std::string_view key) {
  constexpr std::string_view telling[] = {"head",   "heads", "kv",    "gqa",     "mqa",         "multiquery", "nheads",
                                          "window", "sink",  "sinks", "softcap", "softcapping", "headdim"};
  const std::vector<std::string> words = words_of(key);
  const auto has = [&words](std::string_view word) {
    return std::find(words.begin(), words.end(), word) != words.end();
  };
  if (std::any_of(std::begin(telling), std::end(telling), has)) return true;
  const bool of_queries = has("query") || has("key") || has("value") || has("attention") || has("attn");
  return of_queries && (has("group") || has("groups") || has("chunk") || has("chunks") || has("scale") || has("cap"));
}

}  // namespace

ModelKey model_key(std::string_view key) {
  const auto found = std::find_if(std::begin(known_keys), std::end(known_keys),
                                  [key](const KnownKey& known) { return known.name == key; });
  if (found != std::end(known_keys)) return found->meaning;
  const bool is_of_other_layers =
      std::any_of(std::begin(other_layers), std::end(other_layers),
                  [key](std::string_view begin) { return key.substr(0, begin.size()) == begin; });
  if (is_of_other_layers) return ModelKey::silent;
  return speaks_of_attention(key) ? ModelKey::suspect : ModelKey::unknown;
}

bool is_other_part(std::string_view key) {
  return std::find(std::begin(other_parts), std::end(other_parts), key) != std::end(other_parts);
}

}  // namespace kernwave::platform
