// What each key of a model's config.json means: used, silent, or refused by name. Keys and shapes are those of public
// models.
#include "platform/workload/model_config.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "platform/workload/model_config_keys.h"
#include "tests/support/error_text.h"

namespace kernwave::platform::model_config_test {
namespace {

using testing::contains;

[[nodiscard]] ConfigShape read(const std::string& text) {
  return shape_of_config(parse_json_of_python(text, "config.json"), "a model");
}

[[nodiscard]] std::string problems_in(const ConfigShape& found) {
  std::string text;
  for (const std::string& problem : found.problems) text += problem + "\n";
  return text;
}

/// A model of 32 query heads of 128 elements, one more key, and nothing on KV heads.
[[nodiscard]] ConfigShape with_key(const std::string& member) {
  return read(R"({"num_attention_heads": 32, "hidden_size": 4096, )" + member + "}");
}

/// A model whose heads are all stated, and one more key.
[[nodiscard]] ConfigShape beside_all(const std::string& member) {
  return read(R"({"num_attention_heads": 32, "num_key_value_heads": 8, "hidden_size": 4096, )" + member + "}");
}

void expect_shape(const ConfigShape& found, std::int64_t query_heads, std::int64_t kv_heads, std::int64_t head_dim,
                  const std::string& what) {
  EXPECT_EQ(problems_in(found), "") << what;
  EXPECT_EQ(found.shape.query_heads, query_heads) << what;
  EXPECT_EQ(found.shape.kv_heads, kv_heads) << what;
  EXPECT_EQ(found.shape.head_dim, head_dim) << what;
}

struct KvCase {
  std::string member;
  std::int64_t kv_heads;
};

// N2: a number of KV heads under any of its names counts; a missing or null one says nothing.
TEST(ModelConfig, StatesKvHeadsInManyWays) {
  const std::vector<KvCase> cases{
      {R"("num_key_value_heads": 8)", 8},
      {R"("num_kv_heads": 8)", 8},
      {R"("num_key_value_heads": null, "num_kv_heads": 8)", 8},
      {R"("n_kv_heads": 8)", 8},
      {R"("n_kv_head": 8)", 8},
      {R"("n_head_kv": 8)", 8},
      {R"("num_query_groups": 8)", 8},
      {R"("num_query_groups": 8, "group_query_attention": true)", 8},
      {R"("num_query_groups": 1, "group_query_attention": false)", 32},
      {R"("n_query_groups": 4)", 4},
      {R"("attn_config": {"kv_n_heads": 8, "clip_qkv": 8})", 8},
      {R"("attn_config": {"attn_type": "multiquery_attention"})", 1},
      {R"("attn_config": {"attn_type": "multihead_attention"})", 32},
      {R"("attn_config": {"attn_type": "grouped_query_attention", "kv_n_heads": 2})", 2},
      {R"("multi_query": true)", 1},
      {R"("multi_query": false)", 32},
      {R"("multi_query": true, "num_kv_heads": 32, "new_decoder_architecture": false)", 1},
      {R"("multi_query": true, "num_kv_heads": 8, "new_decoder_architecture": true)", 8},
      {R"("model_type": "falcon")", 1},
      {R"("model_type": "gpt_bigcode")", 1},
      {R"("model_type": "falcon", "multi_query": false)", 32},
      {R"("multi_query_attention": true, "multi_query_group_num": 2)", 2},
      {R"("multi_query_attention": false, "multi_query_group_num": 2)", 32},
      {R"("num_kv_heads": [8, 8, 8])", 8},
      {R"("num_kv_heads": [8, 0, null, 8])", 8},
      {R"("num_key_value_heads": 8, "num_kv_heads": 8)", 8},
      {R"("block_configs": [{"attention": {"n_heads_in_group": 4, "no_op": false}}, {"attention": {"n_heads_in_group": null, "no_op": true}}])",
       8},
      {R"("vocab_size": 32000)", 32},
  };
  for (const KvCase& each : cases) expect_shape(with_key(each.member), 32, each.kv_heads, 128, each.member);
}

// N4, N9: layers that differ, and statements that contradict each other, are refused with both numbers.
TEST(ModelConfig, IsRefusedWhereItsStatementsDiffer) {
  struct Case {
    std::string member;
    std::string part;
  };
  const std::vector<Case> cases{
      {R"("num_key_value_heads": 8, "num_kv_heads": 4)", "num_kv_heads: says 4, and num_key_value_heads says 8"},
      {R"("num_kv_heads": [3, 3, 4])", "num_kv_heads: layers differ, 3 to 4"},
      {R"("block_configs": [{"attention": {"n_heads_in_group": 4}}, {"attention": {"n_heads_in_group": 8}}])",
       "block_configs[1].attention.n_heads_in_group: says 4, and block_configs[0].attention.n_heads_in_group says 8"},
      {R"("block_configs": [{"attention": {"n_heads_in_group": 5}}])", "32 query heads cannot be in groups of 5"},
      {R"("head_dim": [128, 256])", "head_dim: layers differ, 128 to 256"},
      {R"("head_dim": 128, "kv_channels": 64)", "kv_channels: says 64, and head_dim says 128"},
      {R"("multi_query": true, "num_key_value_heads": 4)", "multi_query: says 1, and num_key_value_heads says 4"},
      {R"("multi_query_group_num": 2)", "multi_query_group_num: there is no multi_query_attention"},
      {R"("group_query_attention": true)", "group_query_attention: there is no num_query_groups"},
      {R"("attn_type": "grouped_query_attention")", "attn_type: there is no kv_n_heads"},
  };
  for (const Case& each : cases) {
    const std::string text = problems_in(with_key(each.member));
    EXPECT_TRUE(contains(text, each.part)) << each.member << "\n" << text;
    EXPECT_TRUE(contains(text, "in a file of your own")) << text;
  }
}

TEST(ModelConfig, StatesHeadsAndTheirSizeInManyWays) {
  struct Case {
    std::string text;
    std::int64_t query_heads, kv_heads, head_dim;
  };
  const std::vector<Case> cases{
      {R"({"n_head": 12, "n_embd": 768})", 12, 12, 64},
      {R"({"n_head": 71, "hidden_size": 4544, "multi_query": true})", 71, 1, 64},
      {R"({"n_heads": 32, "d_model": 4096})", 32, 32, 128},
      {R"({"n_heads": 32, "n_kv_heads": 8, "dim": 4096})", 32, 8, 128},
      {R"({"num_heads": 12, "d_kv": 64, "d_model": 768})", 12, 12, 64},
      {R"({"n_head": 32, "n_query_groups": 4, "head_size": 64, "n_embd": 2048})", 32, 4, 64},
      {R"({"num_attention_heads": 16, "kv_channels": 128, "hidden_size": 2048})", 16, 16, 128},
      {R"({"num_attention_heads": 16, "attention_head_size": 96, "hidden_size": 2048})", 16, 16, 96},
      {R"({"num_query_heads": [16, 16], "num_kv_heads": [4, 4], "head_dim": 64, "model_dim": 2048})", 16, 4, 64},
      {R"({"n_head": 8, "n_embed": 1024})", 8, 8, 128},
      {R"({"num_attention_heads": 8, "head_dim": 256, "num_key_value_heads": 1, "hidden_size": NaN})", 8, 1, 256},
      {R"({"text_config": {"num_attention_heads": 40, "num_key_value_heads": 8, "hidden_size": 5120}})", 40, 8, 128},
      {R"({"llm_config": {"num_attention_heads": 28, "num_key_value_heads": 4, "hidden_size": 3584}})", 28, 4, 128},
      {R"({"thinker_config": {"text_config": {"num_attention_heads": 28, "num_key_value_heads": 4,
          "hidden_size": 3584}}})",
       28, 4, 128},
  };
  for (const Case& each : cases) {
    expect_shape(read(each.text), each.query_heads, each.kv_heads, each.head_dim, each.text);
  }
}

// N7: what is switched off, and what has nothing to do with attention, is passed over.
TEST(ModelConfig, PassesOverWhatChangesNothing) {
  for (const std::string member : {R"("sliding_window": null)",
                                   R"("use_sliding_window": false, "sliding_window": 4096)",
                                   R"("sliding_window": 0)",
                                   R"("sliding_window": -1)",
                                   R"("attention_bias": true)",
                                   R"("attention_dropout": 0.1)",
                                   R"("max_window_layers": 28)",
                                   R"("attn_pdrop": 0.1)",
                                   R"("final_logit_softcapping": 30.0)",
                                   R"("attn_logit_softcapping": null)",
                                   R"("attention_chunk_size": null)",
                                   R"("layer_types": ["full_attention"], "sliding_window": 128)",
                                   R"("attention_types": [[["global"], 12]], "window_size": 256)",
                                   R"("kv_lora_rank": null)",
                                   R"("q_lora_rank": null)",
                                   R"("v_head_dim": 128)",
                                   R"("query_pre_attn_scalar": 128)",
                                   R"("attention_multiplier": 0.08838834764)",
                                   R"("softmax_scale": null)",
                                   R"("scale_attn_weights": true)",
                                   R"("scale_attn_by_inverse_layer_idx": false)",
                                   R"("pruned_heads": {})",
                                   R"("rope_theta": 500000.0)",
                                   R"("rope_scaling": {"factor": 8.0, "head_scale": 2})",
                                   R"("rms_norm_eps": 1e-05)",
                                   R"("max_position_embeddings": Infinity)",
                                   R"("initializer_range": NaN)",
                                   R"("vocab_size": 128256)",
                                   R"("tie_word_embeddings": false)",
                                   R"("torch_dtype": "bfloat16")",
                                   R"("n_group": 8)",
                                   R"("topk_group": 4)",
                                   R"("num_experts_per_tok": 8)",
                                   R"("moe_intermediate_size": 1408)",
                                   R"("num_hidden_layers": 32)",
                                   R"("mamba_n_heads": 128)",
                                   R"("mamba_d_head": 64)",
                                   R"("linear_num_value_heads": 32)",
                                   R"("linear_key_head_dim": 128)",
                                   R"("vision_config": {"num_heads": 16, "num_key_value_heads": 2})",
                                   R"("vision_n_heads": 16)",
                                   R"("quantization_config": {"group_size": 128, "kv_cache_scheme": 8})",
                                   R"("kv_cache_dtype": "fp8")",
                                   R"("alibi": true)",
                                   R"("partial_rotary_factor": 0.5)",
                                   R"("use_cache": true)",
                                   R"("attention_sink_size": 0)",
                                   R"("architectures": ["LlamaForCausalLM"])"}) {
    const ConfigShape found = beside_all(member);
    expect_shape(found, 32, 8, 128, member);
    EXPECT_FALSE(found.shape.span) << member;
  }
}

// N10, and what else changes the work or may: refused by name, with what can be done.
TEST(ModelConfig, IsRefusedByNameWhereNoKernelModelsIt) {
  struct Case {
    std::string member;
    std::string part;
  };
  const std::vector<Case> cases{
      {R"("attn_logit_softcapping": 50.0)", "attn_logit_softcapping: softcapping of scores is not modelled"},
      {R"("attn_logit_softcap": 30)", "attn_logit_softcap: softcapping"},
      {R"("query_pre_attn_scalar": 256)", "query_pre_attn_scalar: scores are scaled by 1 / sqrt(head size)"},
      {R"("attention_multiplier": 0.015625)", "attention_multiplier: scores are scaled"},
      {R"("attn_config": {"softmax_scale": 0.5})", "attn_config.softmax_scale: scores are scaled"},
      {R"("scale_attn_weights": false)", "scale_attn_weights: scores are scaled"},
      {R"("scale_attn_by_inverse_layer_idx": true)", "scale_attn_by_inverse_layer_idx: scores are scaled"},
      {R"("v_head_dim": 64)", "v_head_dim: values of 64 elements beside keys of 128"},
      {R"("v_head_dim": "large")", "v_head_dim: must be a number, found the text \"large\""},
      {R"("kv_lora_rank": 512)", "kv_lora_rank: multi-head latent attention"},
      {R"("qk_rope_head_dim": 64)", "qk_rope_head_dim: multi-head latent attention"},
      {R"("index_n_heads": 64)", "index_n_heads"},
      {R"("num_attention_sinks": 4)", "num_attention_sinks: attention sinks are not modelled"},
      {R"("add_swa_attention_sink_bias": true)", "add_swa_attention_sink_bias: attention sinks"},
      {R"("model_type": "gpt_oss")", "model_type gpt_oss: attention sinks"},
      {R"("pruned_heads": {"3": [1, 2]})", "pruned_heads: this changes the work"},
      {R"("num_key_value_groups": 4)", "num_key_value_groups: this key is not known"},
      {R"("gqa_ratio": 4)", "gqa_ratio: this key is not known"},
      {R"("attention": {"kv_count": 8})", "attention.kv_count: this key is not known"},
      {R"("swa_num_attention_heads": 64)", "swa_num_attention_heads: this key is not known"},
      {R"("global_head_dim": 512)", "global_head_dim: this key is not known"},
      {R"("decoder_attention_heads": 16)", "decoder_attention_heads: this key is not known"},
      {R"("attention_group_count": 8)", "attention_group_count: this key is not known"},
      {R"("sliding_window": "all")", "sliding_window: must be an integer"},
  };
  for (const Case& each : cases) {
    const std::string text = problems_in(beside_all(each.member));
    EXPECT_TRUE(contains(text, each.part)) << each.member << "\n" << text;
    EXPECT_TRUE(contains(text, "in a file of your own")) << each.member << "\n" << text;
  }
}

// N7: a window is a limit on the keys of a run, not a fault of the model.
TEST(ModelConfig, KeepsTheShortestSpanOfKeysThatAQuerySees) {
  struct Case {
    std::string member;
    std::string key;
    std::int64_t keys;
  };
  const std::vector<Case> cases{
      {R"("sliding_window": 4096)", "sliding_window", 4096},
      {R"("use_sliding_window": true, "sliding_window": 4096)", "sliding_window", 4096},
      {R"("attention_chunk_size": 8192)", "attention_chunk_size", 8192},
      {R"("sliding_window": 1024, "layer_types": ["sliding_attention", "full_attention"])", "sliding_window", 1024},
      {R"("attention_types": [[["global", "local"], 12]], "window_size": 256)", "window_size", 256},
      {R"("attn_config": {"sliding_window_size": 2048})", "attn_config.sliding_window_size", 2048},
      {R"("attention_window": [512, 256, 512])", "attention_window", 256},
      {R"("attention_chunk_size": 8192, "sliding_window": 512)", "sliding_window", 512},
  };
  for (const Case& each : cases) {
    const ConfigShape found = beside_all(each.member);
    EXPECT_EQ(problems_in(found), "") << each.member;
    ASSERT_TRUE(found.shape.span) << each.member;
    EXPECT_EQ(found.shape.span->key, each.key);
    EXPECT_EQ(found.shape.span->keys, each.keys);
  }
}

// Shapes of public models as their files state them; they must stay accepted.
TEST(ModelConfig, AcceptsPublicModels) {
  struct Model {
    std::string name;
    std::string text;
    std::int64_t query_heads, kv_heads, head_dim;
  };
  const std::vector<Model> models{
      {"Llama 3.1 405B", R"({"model_type": "llama", "attention_bias": false, "attention_dropout": 0.0,
        "hidden_size": 16384, "mlp_bias": false, "num_attention_heads": 128, "num_hidden_layers": 126,
        "num_key_value_heads": 8, "pretraining_tp": 1, "rope_scaling": {"factor": 8.0, "rope_type": "llama3"}})",
       128, 8, 128},
      {"Llama 2 7B", R"({"model_type": "llama", "hidden_size": 4096, "num_attention_heads": 32, "rope_scaling": null,
        "num_key_value_heads": 32, "pretraining_tp": 1})",
       32, 32, 128},
      {"Mixtral 8x7B", R"({"model_type": "mixtral", "hidden_size": 4096, "num_attention_heads": 32,
        "num_key_value_heads": 8, "num_local_experts": 8, "sliding_window": null, "router_aux_loss_coef": 0.02})",
       32, 8, 128},
      {"Qwen2.5 72B", R"({"model_type": "qwen2", "hidden_size": 8192, "max_window_layers": 80,
        "num_attention_heads": 64, "num_key_value_heads": 8, "sliding_window": 131072, "use_sliding_window": false})",
       64, 8, 128},
      {"Qwen3 235B", R"({"model_type": "qwen3_moe", "head_dim": 128, "hidden_size": 4096, "decoder_sparse_step": 1,
        "num_attention_heads": 64, "num_key_value_heads": 4, "norm_topk_prob": true, "sliding_window": null})",
       64, 4, 128},
      {"Gemma 7B", R"({"model_type": "gemma", "head_dim": 256, "hidden_size": 3072, "num_attention_heads": 16,
        "num_key_value_heads": 16})",
       16, 16, 256},
      {"Falcon 7B", R"({"model_type": "falcon", "alibi": false, "bias": false, "hidden_size": 4544, "multi_query": true,
        "new_decoder_architecture": false, "num_attention_heads": 71, "parallel_attn": true, "num_kv_heads": 71})",
       71, 1, 64},
      {"Falcon 40B", R"({"model_type": "falcon", "hidden_size": 8192, "new_decoder_architecture": true,
        "num_attention_heads": 128, "num_kv_heads": 8, "parallel_attn": true, "multi_query": true})",
       128, 8, 64},
      {"StarCoder", R"({"model_type": "gpt_bigcode", "attention_softmax_in_fp32": true, "multi_query": true,
        "n_embd": 6144, "n_head": 48, "n_inner": 24576, "n_positions": 8192, "scale_attention_softmax_in_fp32": true,
        "scale_attn_weights": true})",
       48, 1, 128},
      {"GPT-2", R"({"model_type": "gpt2", "n_ctx": 1024, "n_embd": 768, "n_head": 12, "n_layer": 12,
        "attn_pdrop": 0.1})",
       12, 12, 64},
      {"MPT 7B", R"({"model_type": "mpt", "d_model": 4096, "n_heads": 32, "expansion_ratio": 4, "attn_config":
        {"alibi": true, "alibi_bias_max": 8, "attn_impl": "torch", "attn_pdrop": 0, "attn_type": "multihead_attention",
        "attn_uses_sequence_id": false, "clip_qkv": null, "prefix_lm": false, "qk_ln": false, "softmax_scale": null}})",
       32, 32, 128},
      {"DBRX", R"({"model_type": "dbrx", "attn_config": {"clip_qkv": 8, "kv_n_heads": 8, "model_type": "",
        "rope_theta": 500000}, "d_model": 6144, "n_heads": 48})",
       48, 8, 128},
      {"ChatGLM3 6B",
       R"({"model_type": "chatglm", "apply_query_key_layer_scaling": true, "attention_softmax_in_fp32": true,
        "hidden_size": 4096, "kv_channels": 128, "multi_query_attention": true, "multi_query_group_num": 2,
        "num_attention_heads": 32})",
       32, 2, 128},
      {"BLOOM", R"({"model_type": "bloom", "n_embed": 14336, "num_attention_heads": 112, "n_layer": 70,
        "apply_residual_connection_post_layernorm": false})",
       112, 112, 128},
      {"OPT 6.7B", R"({"model_type": "opt", "hidden_size": 4096, "num_attention_heads": 32, "ffn_dim": 16384,
        "word_embed_proj_dim": 4096})",
       32, 32, 128},
      {"Phi-3 mini", R"({"model_type": "phi3", "hidden_size": 3072, "num_attention_heads": 32,
        "num_key_value_heads": 32, "sliding_window": 2047})",
       32, 32, 96},
      {"GPT-NeoX 20B",
       R"({"model_type": "gpt_neox", "hidden_size": 6144, "num_attention_heads": 64, "rotary_pct": 0.25})", 64, 64, 96},
      {"Llama 4 Scout", R"({"model_type": "llama4", "text_config": {"attention_chunk_size": 8192, "attn_scale": 0.1,
        "head_dim": 128, "hidden_size": 5120, "num_attention_heads": 40, "num_key_value_heads": 8,
        "no_rope_layers": [], "use_qk_norm": true}, "vision_config": {"num_attention_heads": 16}})",
       40, 8, 128},
      {"Command R+", R"({"model_type": "cohere", "hidden_size": 12288, "logit_scale": 0.8333333333333334,
        "num_attention_heads": 96, "num_key_value_heads": 8, "use_qk_norm": true})",
       96, 8, 128},
      {"Llama 7B, params.json", R"({"dim": 4096, "n_layers": 32, "n_heads": 32, "n_kv_heads": 8, "vocab_size": 128256,
        "multiple_of": 1024, "ffn_dim_multiplier": 1.3, "norm_eps": 1e-05})",
       32, 8, 128},
      {"a test model", R"({"model_type": "llama", "hidden_size": 16, "num_attention_heads": 4,
        "num_key_value_heads": 2})",
       4, 2, 4},
  };
  for (const Model& model : models) {
    expect_shape(read(model.text), model.query_heads, model.kv_heads, model.head_dim, model.name);
  }
}

TEST(ModelConfig, HasANameInOneLine) {
  EXPECT_EQ(read(R"({"_name_or_path": "evil\nname", "num_attention_heads": 4, "head_dim": 8})").shape.name,
            "evil\\nname");
  EXPECT_EQ(read(R"({"num_attention_heads": 4, "head_dim": 8})").shape.name, "a model");
}

TEST(PythonsJson, HasNamesForWhatIsNoNumber) {
  const Json document =
      parse_json_of_python(R"({"a": NaN, "b": [-Infinity, Infinity], "c": "NaN \" NaN", "d": 1})", "x");
  EXPECT_EQ(document.at("a").as_string(), "NaN");
  EXPECT_EQ(document.at("b").at(0).as_string(), "-Infinity");
  EXPECT_EQ(document.at("b").at(1).as_string(), "Infinity");
  EXPECT_EQ(document.at("c").as_string(), "NaN \" NaN");
  EXPECT_EQ(document.at("d").as_int(), 1);
  EXPECT_THROW((void)parse_json_of_python(R"({"a": Nan})", "x"), JsonError);
}

}  // namespace
}  // namespace kernwave::platform::model_config_test
