// What is read of a model's config.json, key by key, with the values that public files have.
#include <gtest/gtest.h>

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "models/config/system_config.h"
#include "platform/files/whole_file.h"
#include "platform/workload/model_file_keys.h"
#include "platform/workload/model_shape.h"
#include "platform/workload/workload.h"
#include "tests/support/error_text.h"
#include "tests/support/temporary_folder.h"

namespace kernwave::platform::model_file_test {
namespace {

using testing::contains;

class ModelFiles : public kernwave::testing::TemporaryFolderTest {
 protected:
  [[nodiscard]] ModelShape load(const std::string& members) const {
    write_file_atomically(path("config.json"), "{" + members + "}");
    return load_model_shape(path("config.json"));
  }

  [[nodiscard]] std::string error_of(const std::string& members) const {
    return testing::error_of<ModelShapeError>([&] { (void)load(members); });
  }

  /// "32/8/128" or "32/8/128 of 4096 keys", or the error.
  [[nodiscard]] std::string read(const std::string& members) const {
    try {
      const ModelShape shape = load(members);
      std::string text = std::to_string(shape.query_heads) + "/" + std::to_string(shape.kv_heads) + "/" +
                         std::to_string(shape.head_dim);
      if (shape.window) text += " of " + std::to_string(shape.window->keys) + " keys";
      return text;
    } catch (const ModelShapeError& error) {
      return error.what();
    }
  }
};

// 64 query heads of 64, and nothing about KV heads.
const std::string heads = R"("num_attention_heads": 64, "hidden_size": 4096, )";
// The same with 8 KV heads.
const std::string grouped = heads + R"("num_key_value_heads": 8, )";

// ---- the keys, one by one

struct KeyThatIsRead {
  std::string members;
  std::string shape;
};

TEST_F(ModelFiles, AreReadForHeadsGroupsAndSizesUnderEveryNameThatFamiliesGiveThem) {
  const std::vector<KeyThatIsRead> cases{
      // query heads
      {R"("num_attention_heads": 48, "head_dim": 64)", "48/48/64"},
      {R"("num_heads": 48, "head_dim": 64)", "48/48/64"},
      {R"("num_query_heads": 48, "head_dim": 64)", "48/48/64"},
      {R"("n_head": 48, "head_dim": 64)", "48/48/64"},
      {R"("n_heads": 48, "head_dim": 64)", "48/48/64"},
      {R"("encoder_attention_heads": 16, "decoder_attention_heads": 16, "d_model": 1024)", "16/16/64"},
      // N2: KV heads
      {heads + R"("num_kv_heads": 8)", "64/8/64"},
      {heads + R"("num_key_value_heads": null, "num_kv_heads": 8)", "64/8/64"},
      {heads + R"("n_head_kv": 8)", "64/8/64"},
      {heads + R"("n_kv_heads": 8)", "64/8/64"},
      {heads + R"("n_kv_head": 8)", "64/8/64"},
      {heads + R"("num_query_groups": 8)", "64/8/64"},
      {heads + R"("num_query_groups": 8, "group_query_attention": true)", "64/8/64"},
      {heads + R"("num_query_groups": 1, "group_query_attention": false)", "64/64/64"},
      {heads + R"("n_query_groups": 8)", "64/8/64"},
      {heads + R"("num_attention_groups": 8)", "64/8/64"},
      {heads + R"("multi_query_group_num": 2)", "64/2/64"},
      {heads + R"("multi_query_attention": true, "multi_query_group_num": 2)", "64/2/64"},
      {heads + R"("multi_query_attention": false, "multi_query_group_num": 1)", "64/64/64"},
      {heads + R"("multi_query_attention": true)", "64/1/64"},
      {heads + R"("attn_config": {"kv_n_heads": 8})", "64/8/64"},
      {heads + R"("attn_config": {"attn_type": "multiquery_attention"})", "64/1/64"},
      {heads + R"("attn_config": {"attn_type": "multihead_attention"})", "64/64/64"},
      {heads + R"("attention_head_type": "mqa")", "64/1/64"},
      {grouped + R"("attention_head_type": "gqa")", "64/8/64"},
      {heads + R"("multi_query": true)", "64/1/64"},
      {heads + R"("multi_query": false)", "64/64/64"},
      {heads + R"("model_type": "falcon", "multi_query": true, "num_kv_heads": 64)", "64/1/64"},
      {heads + R"("model_type": "falcon", "multi_query": true, "new_decoder_architecture": true, "num_kv_heads": 8)",
       "64/8/64"},
      // a number a layer
      {heads + R"("num_key_value_heads_per_layer": [8, 8, 8])", "64/8/64"},
      {heads + R"("num_key_value_heads": [0, 8, 0, 8, null])", "64/8/64"},
      {R"("num_query_heads": [20, 20], "num_kv_heads": [5, 5], "head_dim": 128)", "20/5/128"},
      // N4: a list of blocks, some of them without attention
      {heads + R"("block_configs": [{"attention": {"n_heads_in_group": 8, "no_op": false, "window_length": null}},
                                    {"attention": {"n_heads_in_group": null, "no_op": true}},
                                    {"attention": {"replace_with_linear": true}, "ffn": {"no_op": false}},
                                    {"attention": {"n_heads_in_group": 8}}])",
       "64/8/64"},
      // keys that mean KV heads in one family and query heads a group in another, where both readings agree with others
      {grouped + R"("num_key_value_groups": 8)", "64/8/64"},
      {R"("num_attention_heads": 32, "num_key_value_heads": 8, "head_dim": 128, "num_gqa_groups": 4)", "32/8/128"},
      // head sizes
      {R"("num_attention_heads": 16, "hidden_size": 1024, "head_dim": 128)", "16/16/128"},
      {R"("num_attention_heads": 16, "hidden_size": 1024, "kv_channels": 128)", "16/16/128"},
      {R"("num_attention_heads": 16, "hidden_size": 1024, "attention_head_size": 128)", "16/16/128"},
      {R"("num_attention_heads": 16, "hidden_size": 1024, "attention_head_dim": 128)", "16/16/128"},
      {R"("num_attention_heads": 16, "hidden_size": 1024, "hidden_size_per_head": 128)", "16/16/128"},
      {R"("num_attention_heads": 16, "hidden_size": 1024, "head_size": 128)", "16/16/128"},
      {R"("num_attention_heads": 16, "d_model": 1024, "d_head": 128)", "16/16/128"},
      {R"("n_head": 12, "n_embd": 768)", "12/12/64"},
      {R"("n_head": 16, "n_embed": 1024)", "16/16/64"},
      {R"("n_heads": 12, "dim": 768)", "12/12/64"},
      {R"("n_heads": 12, "d_model": 768)", "12/12/64"},
      {R"("n_heads": 16, "emb_dim": 2048)", "16/16/128"},
      // scales that are those of the kernels
      {grouped + R"("query_pre_attn_scalar": 64)", "64/8/64"},
      {grouped + R"("attention_multiplier": 0.125)", "64/8/64"},
      {R"("num_attention_heads": 48, "num_key_value_heads": 8, "hidden_size": 6144,
           "attn_output_multiplier": 0.08838834764831845)",
       "48/8/128"},
      {grouped + R"("scale_attn_weights": true)", "64/8/64"},
      // head sizes that are said twice
      {grouped + R"("v_head_dim": 64, "global_head_dim": 64, "swa_head_dim": 64, "qk_head_dim": 64)", "64/8/64"},
      {grouped + R"("swa_num_attention_heads": 64, "swa_num_key_value_heads": 8, "num_global_key_value_heads": 8)",
       "64/8/64"},
  };
  for (const KeyThatIsRead& that : cases) EXPECT_EQ(read(that.members), that.shape) << that.members;
}

// N7: which keys a query sees.
TEST_F(ModelFiles, AreReadForWindowsThatAreInUse) {
  const std::string qwen = grouped + R"("sliding_window": 4096, "num_hidden_layers": 28, )";
  const std::vector<KeyThatIsRead> cases{
      {grouped + R"("sliding_window": 4096)", "64/8/64 of 4096 keys"},
      {grouped + R"("sliding_window_size": 512)", "64/8/64 of 512 keys"},
      {grouped + R"("attention_window_size": 2048)", "64/8/64 of 2048 keys"},
      {grouped + R"("attention_chunk_size": 8192)", "64/8/64 of 8192 keys"},
      {grouped + R"("attention_chunk_size": 8192, "sliding_window": 4096)", "64/8/64 of 4096 keys"},
      {grouped + R"("local_attention": 128)", "64/8/64 of 64 keys"},  // half before the query, half behind
      {qwen + R"("use_sliding_window": true)", "64/8/64 of 4096 keys"},
      {qwen + R"("use_sliding_window": true, "max_window_layers": 14)", "64/8/64 of 4096 keys"},
      {grouped + R"("sliding_window": 128, "layer_types": ["full_attention", "sliding_attention"])",
       "64/8/64 of 128 keys"},
      {grouped + R"("block_configs": [{"attention": {"n_heads_in_group": 8, "window_length": 8192}}])",
       "64/8/64 of 8192 keys"},
      // not in use
      {qwen + R"("use_sliding_window": false)", "64/8/64"},
      {qwen + R"("use_sliding_window": true, "max_window_layers": 28)", "64/8/64"},
      {grouped + R"("sliding_window": null)", "64/8/64"},
      {grouped + R"("sliding_window": false)", "64/8/64"},
      {grouped + R"("attn_config": {"sliding_window_size": -1})", "64/8/64"},
      {grouped + R"("sliding_window": 128, "layer_types": ["full_attention", "linear_attention"])", "64/8/64"},
      {grouped + R"("attention_chunk_size": 128, "layer_types": ["full_attention"])", "64/8/64"},
  };
  for (const KeyThatIsRead& that : cases) EXPECT_EQ(read(that.members), that.shape) << that.members;
}

TEST_F(ModelFiles, HaveKeysThatSayNothingOfTheShapeAndTheWorkOfAttention) {
  const std::vector<std::string> cases{
      R"("_attn_implementation_autoset": true)",
      R"("_sliding_window_pattern": 6)",
      R"("alibi": false, "alibi_bias_max": 8)",
      R"("apply_query_key_layer_scaling": true)",
      R"("architectures": ["LlamaForCausalLM"])",
      R"("attention_bias": true)",
      R"("attention_dropout": 0.1)",
      R"("attention_in_multiplier": 0.5)",
      R"("attention_probs_dropout_prob": 0.1)",
      R"("attention_softmax_in_fp32": true)",
      R"("attn_impl": "flash")",
      R"("attn_logit_softcapping": null)",
      R"("attn_output_gate": true)",
      R"("attn_temperature_tuning": true, "attn_scale": 0.1, "floor_scale": 8192)",
      R"("auto_map": {"AutoConfig": "configuration_x.XConfig"})",
      R"("bos_token_id": 1)",
      R"("chunk_size_feed_forward": 0)",
      R"("clip_qkv": 8)",
      R"("cross_attention_layers": [3, 8])",
      R"("final_logit_softcapping": 30.0)",
      R"("full_attention_interval": 4)",
      R"("hidden_act": "silu")",
      R"("id2label": {"0": "LABEL_0"})",
      R"("initializer_range": 0.02)",
      R"("intermediate_size": 14336)",
      R"("kv_cache_dtype": "fp8", "use_kv_cache": true, "num_kv_cache_blocks": 4)",
      R"("kv_lora_rank": null, "q_lora_rank": null, "qk_rope_head_dim": 0, "v_head_dim": 0)",
      R"("linear_num_key_heads": 16, "linear_key_head_dim": 128)",
      R"("mamba_n_heads": 128, "mamba_n_groups": 1, "mamba_d_head": 64, "mamba_num_heads": 64)",
      R"("max_position_embeddings": 131072)",
      R"("max_window_layers": 28)",
      R"("moe_num_heads": 4, "num_experts": 8, "num_experts_per_tok": 2)",
      R"("n_group": 8, "topk_group": 4)",
      R"("n_groups": 8)",
      R"("num_hidden_layers": 32)",
      R"("num_kv_shared_layers": 15)",
      R"("num_local_experts": 8)",
      R"("num_nextn_predict_layers": 1)",
      R"("output_attentions": false)",
      R"("partial_rotary_factor": 0.5)",
      R"("position_embedding_type": "absolute")",
      R"("pruned_heads": {})",
      R"("quantization_config": {"group_size": 128, "modules_to_not_convert": ["lm_head"]})",
      R"("rms_norm_eps": 1e-05)",
      R"("rope_local_base_freq": 10000)",
      R"("rope_parameters": {"full_attention": {"rope_type": "default"}})",
      R"("rope_scaling": {"attention_factor": 1.0, "factor": 8.0, "rope_type": "llama3"})",
      R"("rope_theta": 500000.0)",
      R"("scale_attn_by_inverse_layer_idx": false)",
      R"("sliding_window": null)",
      R"("softmax_scale": null)",
      R"("summary_use_proj": true)",
      R"("swa_rope_theta": 10000.0)",
      R"("tie_word_embeddings": false)",
      R"("torch_dtype": "bfloat16")",
      R"("transformers_version": "4.51.0")",
      R"("use_cache": true)",
      R"("use_qk_norm": true)",
      R"("use_sliding_window": false)",
      R"("vision_config": {"num_heads": 16, "num_attention_heads": 12, "window_size": 112})",
      R"("vision_feature_heads": 3)",
      R"("vocab_size": 128256)",
      // Python writes these where a number is not finite.
      R"("some_limit": Infinity, "another": -Infinity, "time_step_limit": [0.0, Infinity], "third": NaN)",
  };
  for (const std::string& members : cases) EXPECT_EQ(read(grouped + members), "64/8/64") << members;
}

struct RefusedKey {
  std::string members;
  std::vector<std::string> parts;  ///< of the message
};

TEST_F(ModelFiles, AreRefusedByTheNameOfAKeyThatStatesWhatIsNotUnderstoodOrNotModelled) {
  const std::vector<RefusedKey> cases{
      // statements that contradict each other
      {grouped + R"("num_kv_heads": 4)", {"num_key_value_heads says 8, num_kv_heads 4"}},
      {grouped + R"("multi_query": true)", {"num_key_value_heads says 8, multi_query 1"}},
      {heads + R"("n_head": 32)", {"num_attention_heads says 64, n_head 32"}},
      {R"("n_head": 8, "head_dim": 64, "kv_channels": 128)", {"head_dim says 64, kv_channels 128"}},
      {R"("n_head": 8, "n_embd": 64, "d_model": 128)", {"n_embd says 64, d_model 128"}},
      {R"("encoder_attention_heads": 16, "decoder_attention_heads": 8, "head_dim": 64)", {"encoder_attention_heads"}},
      // N9, and numbers of heads: layers that differ
      {heads + R"("num_kv_heads": [8, 8, 4])", {"num_kv_heads[0] is 8, num_kv_heads[2] 4: layers of different shapes"}},
      {R"("num_query_heads": [12, 16], "num_kv_heads": [3, 4], "head_dim": 64)", {"num_query_heads[0] is 12"}},
      {R"("num_attention_heads": 8, "head_dim": [64, 128])", {"head_dim[0] is 64, head_dim[1] 128"}},
      {grouped + R"("global_head_dim": 512)", {"global_head_dim is 512: where others have 64"}},
      {grouped + R"("swa_head_dim": 128)", {"swa_head_dim is 128"}},
      {grouped + R"("v_head_dim": 128)", {"v_head_dim is 128: where others have 64"}},
      {grouped + R"("num_global_key_value_heads": 4)", {"num_global_key_value_heads is 4: where others have 8"}},
      {grouped + R"("swa_num_key_value_heads": 4)", {"swa_num_key_value_heads is 4"}},
      {grouped + R"("swa_num_attention_heads": 32)", {"swa_num_attention_heads is 32"}},
      {heads + R"("block_configs": [{"attention": {"n_heads_in_group": 8}}, {"attention": {"n_heads_in_group": 16}}])",
       {"block_configs[0].attention.n_heads_in_group is 8, block_configs[1].attention.n_heads_in_group 4"}},
      {heads + R"("block_configs": [{"attention": {"n_heads_in_group": 7}}])",
       {"n_heads_in_group is 7, and 64 query heads are no multiple of it"}},
      // what may or may not be KV heads, where nothing else is
      {heads + R"("num_key_value_groups": 8)", {"num_key_value_groups is 8: some families"}},
      {heads + R"("num_gqa_groups": 4)", {"num_gqa_groups is 4: some families"}},
      {grouped + R"("num_key_value_groups": 4)", {"num_key_value_groups is 4: 64 query heads and 8 KV heads"}},
      {heads + R"("n_groups": 8)", {"n_groups is 8: it may be a number of KV heads"}},
      {heads + R"("group_size": 8)", {"group_size is 8"}},
      {heads + R"("new_decoder_architecture": true)", {"new_decoder_architecture is true: nothing says how many"}},
      {heads + R"("group_query_attention": true)", {"group_query_attention is true: nothing says how many"}},
      {heads + R"("attention": {"kv_count": 8})", {"attention.kv_count is 8: it may state heads"}},
      {heads + R"("num_key_value": 8)", {"num_key_value is 8"}},
      {heads + R"("gqa_ratio": 8)", {"gqa_ratio is 8"}},
      {heads + R"("model_type": "falcon")", {"model_type is \"falcon\": the KV heads", "multi_query"}},
      {heads + R"("model_type": "gpt_bigcode")", {"model_type is \"gpt_bigcode\""}},
      {heads + R"("attn_config": {"attn_type": "grouped_query_attention"})", {"attn_config.attn_type is"}},
      {heads + R"("attention_head_type": "other")", {"attention_head_type is \"other\""}},
      {heads + R"("num_key_value_heads": [])", {"num_key_value_heads must be an integer, found an array"}},
      {heads + R"("multi_query": "yes")", {"multi_query must be true or false"}},
      // keys of no known meaning
      {grouped + R"("num_memory_heads": 4)", {"num_memory_heads is 4: it may state heads"}},
      {heads + R"("kv_group_count": 8)", {"kv_group_count is 8: it may state heads, groups or head sizes"}},
      {heads + R"("decoder": {"block": {"mixer": {"head_groups": 8}}})", {"decoder.block.mixer.head_groups is 8"}},
      {heads + R"("numKvHeads": 8)", {"numKvHeads is 8"}},
      {grouped + R"("pruned_heads": {"1": [0, 2]})", {"pruned_heads"}},
      {grouped + R"("block_sparse_attention": true)", {"block_sparse_attention is true: it may change the work"}},
      {grouped + R"("attention_window": [512, 512])", {"attention_window[0] is 512"}},
      // latent attention
      {heads + R"("kv_lora_rank": 512, "qk_nope_head_dim": 128, "qk_rope_head_dim": 64, "v_head_dim": 128)",
       {"kv_lora_rank is 512: multi-head latent attention", "qk_rope_head_dim"}},
      // N10: the factor of the scores, and their cap
      {grouped + R"("query_pre_attn_scalar": 144)", {"query_pre_attn_scalar is 144: the kernels scale scores by"}},
      {grouped + R"("attention_multiplier": 0.015625)", {"attention_multiplier is 0.015625", "1 / sqrt(64) = 0.125"}},
      {grouped + R"("attn_scale": 0.1)", {"attn_scale is 0.1"}},
      {grouped + R"("softmax_scale": 1)", {"softmax_scale is 1"}},
      {grouped + R"("softmax_scale": NaN)", {"softmax_scale is"}},
      {grouped + R"("softmax_scale": "x")", {"softmax_scale must be a number"}},
      {grouped + R"("scale_attn_weights": false)", {"scale_attn_weights is false"}},
      {grouped + R"("scale_attn_by_inverse_layer_idx": true)", {"scale_attn_by_inverse_layer_idx is true"}},
      {grouped + R"("mup_attn_multiplier": 1.0)", {"mup_attn_multiplier is 1.0"}},
      {grouped + R"("attn_logit_softcapping": 50.0)", {"attn_logit_softcapping is 50.0: no kernel caps scores"}},
      {grouped + R"("max_attn_value": 30.0)", {"max_attn_value is 30.0"}},
      {grouped + R"("attn_softcap": Infinity)", {"attn_softcap is"}},
      // what else is done to scores
      {grouped + R"("alibi": true)", {"alibi is true: no kernel adds a bias to scores"}},
      {grouped + R"("attn_config": {"alibi": true})", {"attn_config.alibi is true"}},
      {grouped + R"("position_embedding_type": "alibi")", {"position_embedding_type is \"alibi\""}},
      {grouped + R"("position_embedding_type": "relative_key")", {"position_embedding_type is \"relative_key\""}},
      {grouped + R"("relative_attention_num_buckets": 32)", {"relative_attention_num_buckets is 32"}},
      {grouped + R"("add_swa_attention_sink_bias": true)", {"add_swa_attention_sink_bias is true: no kernel has"}},
      {grouped + R"("num_sink_tokens": 4)", {"num_sink_tokens is 4"}},
      {grouped + R"("use_attention_sinks": true)", {"use_attention_sinks is true"}},
      {grouped + R"("index_topk": 2048)", {"index_topk is 2048"}},
      {grouped + R"("sparse_config": {"topk": 64})", {"sparse_config is an object"}},
      {grouped + R"("layer_types": ["full_attention", "compressed_sparse_attention"])",
       {"layer_types has \"compressed_sparse_attention\""}},
      {grouped + R"("layer_types": ["linear_attention", "conv"])", {"layer_types is an array: no layer has attention"}},
      {grouped + R"("layer_types": ["sliding_attention"])", {"layer_types", "no sliding_window"}},
      {grouped + R"("layer_types": "full_attention")", {"layer_types must be an array"}},
      {grouped + R"("sliding_window": 0)", {"sliding_window is 0 (allowed: a number of keys from 1"}},
      {grouped + R"("sliding_window": 4096.0)", {"sliding_window is 4096.0"}},
      {grouped + R"("sliding_window": true)", {"sliding_window is true"}},
      // families whose files do not say what their attention does besides
      {grouped + R"("model_type": "gpt_oss")", {"model_type is \"gpt_oss\": no kernel has attention sinks"}},
      {heads + R"("model_type": "bloom")", {"model_type is \"bloom\": no kernel adds a bias"}},
      {heads + R"("model_type": "t5")", {"model_type is \"t5\""}},
      {heads + R"("model_type": "gpt_neo")", {"model_type is \"gpt_neo\": its scores are not scaled"}},
      {R"("model_type": "mamba2", "num_heads": 128, "head_dim": 64)",
       {"model_type is \"mamba2\": it has no attention"}},
  };
  for (const RefusedKey& refused : cases) {
    const std::string error = error_of(refused.members);
    for (const std::string& part : refused.parts) {
      EXPECT_TRUE(contains(error, part)) << refused.members << "\ngave: " << error << "\nlacks: " << part;
    }
    EXPECT_TRUE(contains(error, path("config.json") + ": ")) << error;
  }
}

TEST_F(ModelFiles, ThatAreRefusedSayWhatCanBeDone) {
  const std::string error = error_of(grouped + R"("attn_logit_softcapping": 50.0)");
  const std::string own = R"("num_attention_heads": 32, "num_key_value_heads": 8, "head_dim": 128)";
  EXPECT_TRUE(contains(error, "a small file of its own, such as {" + own + "}")) << error;
  EXPECT_EQ(read(own), "32/8/128");
}

TEST_F(ModelFiles, KeysAreListedOnceAndSaySomethingToWhomTheyRefuse) {
  std::set<std::string_view> names;
  for (const ModelFileKey& key : model_file_keys()) {
    EXPECT_TRUE(names.insert(key.name).second) << key.name << " is there twice";
    const bool refuses =
        key.role == ModelFileKeyRole::work_not_modelled || key.role == ModelFileKeyRole::shape_not_understood;
    EXPECT_FALSE(refuses && key.reason.empty()) << key.name;
    EXPECT_TRUE(key.counts_only_if.empty() || model_file_key(key.counts_only_if).name == key.counts_only_if)
        << key.name;
  }
}

TEST_F(ModelFiles, OfMultimodalModelsAreReadInTheirLanguagePartAlone) {
  const std::string vision =
      R"("vision_config": {"num_attention_heads": 12}, "vq_config": {"num_heads": 3, "heads": 1}, )";
  const std::string text = R"({"num_attention_heads": 40, "num_key_value_heads": 8, "hidden_size": 5120})";
  EXPECT_EQ(read(vision + R"("text_config": )" + text), "40/8/128");
  EXPECT_EQ(read(vision + R"("llm_config": )" + text), "40/8/128");
  EXPECT_EQ(read(vision + R"("language_config": )" + text), "40/8/128");
  EXPECT_EQ(read(vision + R"("thinker_config": {"audio_config": {"d_model": 1}, "text_config": )" + text + "}"),
            "40/8/128");
  // A file that says it twice must say the same.
  EXPECT_EQ(read(R"("num_attention_heads": 40, "text_config": )" + text), "40/8/128");
  EXPECT_TRUE(contains(error_of(R"("num_attention_heads": 16, "text_config": )" + text),
                       "num_attention_heads says 16, text_config.num_attention_heads 40"));
  // What restricts the language part is seen there.
  EXPECT_TRUE(contains(error_of(R"("text_config": {"n_head": 8, "head_dim": 64, "attn_logit_softcapping": 50})"),
                       "text_config.attn_logit_softcapping is 50"));
}

TEST_F(ModelFiles, WithTheSameMistakeManyTimesNameItOnce) {
  std::string list;
  for (int i = 0; i < 100'000; ++i) list += i % 2 == 0 ? "8," : "4,";
  EXPECT_LT(error_of(heads + R"("num_kv_heads": [)" + list + "8]").size(), 1000U);
}

// ---- windows at the run

// N7: as many keys as the window is long see each other; with one more the run would read what the model does not.
TEST_F(ModelFiles, WithAWindowAreRefusedByNameForMoreKeysThanItIsLong) {
  WorkloadRequest request;
  request.kernel = "gqa_attention_decode_short";
  request.model = load(grouped + R"("_name_or_path": "someone/model", "sliding_window": 512)");
  const auto error_for = [&request](std::vector<std::int64_t> keys) {
    request.batch = static_cast<std::int64_t>(keys.size());
    request.s_kv = std::move(keys);
    return testing::error_of<WorkloadError>([&] { (void)make_workload(request, SystemConfig{}); });
  };
  EXPECT_EQ(error_for({512}), "no error");
  EXPECT_EQ(error_for({1, 512}), "no error");
  for (const std::string& error : {error_for({513}), error_for({100, 513})}) {
    for (const std::string part : {"--s-kv: 513 keys", "someone/model", "a query sees 512 of them (sliding_window)"}) {
      EXPECT_TRUE(contains(error, part)) << error;
    }
  }
  request.kernel = "gqa_attention_prefill_short";
  EXPECT_EQ(error_for({512}), "no error");
  EXPECT_TRUE(contains(error_for({513}), "a query sees 512 of them (sliding_window)"));
}

// ---- whole models

struct PublicModel {
  std::string name;
  std::string members;
  std::string shape;
};

TEST_F(ModelFiles, OfPublicModelsAreAccepted) {
  const std::string nas_block = R"({"attention": {"n_heads_in_group": 8, "no_op": false, "num_sink_tokens": null,
      "replace_with_linear": false, "sparsify": null, "unshifted_sink": false,
      "use_prefill_window_in_sink_attention": false, "window_length": null}, "ffn": {"ffn_mult": 2.625, "no_op": false}})";
  const std::string nas_skip = R"({"attention": {"n_heads_in_group": null, "no_op": true, "num_sink_tokens": null,
      "replace_with_linear": false, "sparsify": null, "window_length": null}, "ffn": {"ffn_mult": 0.5, "no_op": false}})";
  const std::vector<PublicModel> models{
      {"Llama-2-7B", R"("num_attention_heads": 32, "num_key_value_heads": 32, "hidden_size": 4096)", "32/32/128"},
      {"Llama-1-7B", R"("num_attention_heads": 32, "hidden_size": 4096, "model_type": "llama")", "32/32/128"},
      {"Llama-3-8B", R"("num_attention_heads": 32, "num_key_value_heads": 8, "hidden_size": 4096, "mlp_bias": false,
                        "rope_scaling": null, "pretraining_tp": 1)",
       "32/8/128"},
      {"Llama-3.2-1B", R"("num_attention_heads": 32, "num_key_value_heads": 8, "hidden_size": 2048, "head_dim": 64)",
       "32/8/64"},
      {"Llama-3.1-405B", R"("num_attention_heads": 128, "num_key_value_heads": 8, "hidden_size": 16384)", "128/8/128"},
      {"Llama-3.2-11B-Vision", R"("model_type": "mllama", "vision_config": {"attention_heads": 16, "hidden_size": 1280},
          "text_config": {"num_attention_heads": 32, "num_key_value_heads": 8, "hidden_size": 4096,
                          "cross_attention_layers": [3, 8, 13]})",
       "32/8/128"},
      {"Mistral-7B-v0.3",
       R"("num_attention_heads": 32, "num_key_value_heads": 8, "hidden_size": 4096, "sliding_window": null)",
       "32/8/128"},
      {"Mistral-7B-v0.1",
       R"("num_attention_heads": 32, "num_key_value_heads": 8, "hidden_size": 4096, "sliding_window": 4096)",
       "32/8/128 of 4096 keys"},
      {"Mistral-Nemo", R"("num_attention_heads": 32, "num_key_value_heads": 8, "hidden_size": 5120, "head_dim": 128)",
       "32/8/128"},
      {"Mixtral-8x7B", R"("num_attention_heads": 32, "num_key_value_heads": 8, "hidden_size": 4096,
                          "num_local_experts": 8, "router_aux_loss_coef": 0.02, "sliding_window": null)",
       "32/8/128"},
      {"Qwen-7B", R"("num_attention_heads": 32, "hidden_size": 4096, "kv_channels": 128, "use_logn_attn": true,
                     "attn_dropout_prob": 0.0, "scale_attn_weights": true, "use_flash_attn": "auto")",
       "32/32/128"},
      {"Qwen2.5-7B", R"("num_attention_heads": 28, "num_key_value_heads": 4, "hidden_size": 3584,
                        "max_window_layers": 28, "sliding_window": 131072, "use_sliding_window": false, "use_mrope": false)",
       "28/4/128"},
      {"Qwen3-0.6B", R"("num_attention_heads": 16, "num_key_value_heads": 8, "hidden_size": 1024, "head_dim": 128,
                        "max_window_layers": 28, "sliding_window": null, "use_sliding_window": false)",
       "16/8/128"},
      {"Qwen3-30B-A3B", R"("num_attention_heads": 32, "num_key_value_heads": 4, "hidden_size": 2048, "head_dim": 128,
                           "decoder_sparse_step": 1, "num_experts": 128, "norm_topk_prob": true, "mlp_only_layers": [])",
       "32/4/128"},
      {"Qwen3-Next", R"("num_attention_heads": 16, "num_key_value_heads": 2, "hidden_size": 2048, "head_dim": 256,
                        "layer_types": ["linear_attention", "linear_attention", "linear_attention", "full_attention"],
                        "linear_conv_kernel_dim": 4, "linear_key_head_dim": 128, "linear_num_key_heads": 16,
                        "linear_num_value_heads": 32, "linear_value_head_dim": 128, "partial_rotary_factor": 0.25)",
       "16/2/256"},
      {"Qwen2.5-VL-7B", R"("num_attention_heads": 28, "num_key_value_heads": 4, "hidden_size": 3584,
                           "vision_start_token_id": 151652, "vision_config": {"num_heads": 16, "window_size": 112},
                           "rope_scaling": {"mrope_section": [16, 24, 24], "type": "mrope"},
                           "sliding_window": 32768, "use_sliding_window": false)",
       "28/4/128"},
      {"Falcon-7B", R"("model_type": "falcon", "alibi": false, "bias": false, "hidden_size": 4544, "multi_query": true,
                       "new_decoder_architecture": false, "num_attention_heads": 71, "num_kv_heads": 71,
                       "parallel_attn": true)",
       "71/1/64"},
      {"Falcon-40B", R"("model_type": "falcon", "alibi": false, "hidden_size": 8192, "multi_query": true,
                        "new_decoder_architecture": true, "num_attention_heads": 128, "num_kv_heads": 8)",
       "128/8/64"},
      {"Falcon-40B of 2023", R"("model_type": "RefinedWeb", "alibi": false, "hidden_size": 8192, "n_head": 128,
                                "n_head_kv": 8, "n_layer": 60, "parallel_attn": true)",
       "128/8/64"},
      {"StarCoder", R"("model_type": "gpt_bigcode", "n_embd": 6144, "n_head": 48, "multi_query": true, "n_inner": 24576,
                       "attention_softmax_in_fp32": true, "scale_attention_softmax_in_fp32": true,
                       "scale_attn_weights": true)",
       "48/1/128"},
      {"GPT-2", R"("model_type": "gpt2", "n_embd": 768, "n_head": 12, "n_ctx": 1024, "attn_pdrop": 0.1,
                   "summary_activation": null, "task_specific_params": {"text-generation": {"do_sample": true}})",
       "12/12/64"},
      {"GPT-J-6B", R"("n_embd": 4096, "n_head": 16, "rotary": true, "rotary_dim": 64, "scale_attn_weights": true)",
       "16/16/256"},
      {"GPT-NeoX-20B", R"("hidden_size": 6144, "num_attention_heads": 64, "rotary_pct": 0.25)", "64/64/96"},
      {"OPT-6.7B", R"("hidden_size": 4096, "num_attention_heads": 32, "ffn_dim": 16384, "word_embed_proj_dim": 4096)",
       "32/32/128"},
      {"ChatGLM3-6B",
       R"("hidden_size": 4096, "num_attention_heads": 32, "kv_channels": 128, "multi_query_attention": true,
                         "multi_query_group_num": 2, "apply_query_key_layer_scaling": true, "add_qkv_bias": true,
                         "attention_softmax_in_fp32": true, "original_rope": true)",
       "32/2/128"},
      {"GLM-4.5-Air", R"("num_attention_heads": 96, "num_key_value_heads": 8, "hidden_size": 4096, "head_dim": 128,
                         "n_group": 1, "topk_group": 1, "n_routed_experts": 128, "num_nextn_predict_layers": 1)",
       "96/8/128"},
      {"DBRX", R"("d_model": 6144, "n_heads": 48, "ffn_config": {"moe_num_experts": 16, "moe_top_k": 4},
                  "attn_config": {"clip_qkv": 8, "kv_n_heads": 8, "model_type": "", "rope_theta": 500000})",
       "48/8/128"},
      {"Phi-2", R"("num_attention_heads": 32, "num_key_value_heads": 32, "hidden_size": 2560, "qk_layernorm": false)",
       "32/32/80"},
      {"Phi-3-mini",
       R"("num_attention_heads": 32, "num_key_value_heads": 32, "hidden_size": 3072, "sliding_window": 2047)",
       "32/32/96 of 2047 keys"},
      {"Gemma-2B", R"("num_attention_heads": 8, "num_key_value_heads": 1, "hidden_size": 2048, "head_dim": 256,
                      "hidden_activation": null)",
       "8/1/256"},
      {"Gemma-3-1B", R"("num_attention_heads": 4, "num_key_value_heads": 1, "hidden_size": 1152, "head_dim": 256,
                        "query_pre_attn_scalar": 256, "attn_logit_softcapping": null, "final_logit_softcapping": null,
                        "rope_local_base_freq": 10000, "sliding_window": 512, "sliding_window_pattern": 6)",
       "4/1/256 of 512 keys"},
      {"Llama-4-Scout", R"("model_type": "llama4", "vision_config": {"num_attention_heads": 16},
          "text_config": {"attention_chunk_size": 8192, "attn_scale": 0.1, "attn_temperature_tuning": 4,
                          "floor_scale": 8192, "for_llm_compressor": false, "head_dim": 128, "hidden_size": 5120,
                          "interleave_moe_layer_step": 1, "no_rope_layers": [], "num_attention_heads": 40,
                          "num_key_value_heads": 8, "use_qk_norm": true})",
       "40/8/128 of 8192 keys"},
      {"params.json of Llama-3-8B", R"("dim": 4096, "n_heads": 32, "n_kv_heads": 8, "n_layers": 32, "multiple_of": 1024,
                                       "ffn_dim_multiplier": 1.3)",
       "32/8/128"},
      {"Command-R", R"("num_attention_heads": 64, "num_key_value_heads": 64, "hidden_size": 8192, "logit_scale": 0.0625,
                       "use_qk_norm": false)",
       "64/64/128"},
      {"Yi-34B", R"("num_attention_heads": 56, "num_key_value_heads": 8, "hidden_size": 7168)", "56/8/128"},
      {"DeepSeek-MoE-16B", R"("num_attention_heads": 16, "num_key_value_heads": 16, "hidden_size": 2048,
                              "n_routed_experts": 64, "n_shared_experts": 2, "moe_layer_freq": 1)",
       "16/16/128"},
      {"DeciLM-7B", R"("num_attention_heads": 32, "hidden_size": 4096, "num_key_value_heads_per_layer": [4, 4, 4, 4])",
       "32/4/128"},
      {"Nemotron-Super-49B",
       R"("num_attention_heads": 64, "num_key_value_heads": null, "hidden_size": 8192,
                                "block_configs": [)" +
           nas_block + "," + nas_skip + "," + nas_block + "]",
       "64/8/128"},
      {"Nemotron-H-8B", R"("num_attention_heads": 32, "num_key_value_heads": 8, "hidden_size": 4096,
                           "attention_head_dim": 128, "hybrid_override_pattern": "M-M*-", "mamba_head_dim": 64,
                           "mamba_num_heads": 128, "n_groups": 8, "ssm_state_size": 128,
                           "time_step_limit": [0.0, Infinity])",
       "32/8/128"},
      {"Jamba", R"("num_attention_heads": 32, "num_key_value_heads": 8, "hidden_size": 4096, "attn_layer_offset": 4,
                   "attn_layer_period": 8, "mamba_d_state": 16, "num_experts": 16)",
       "32/8/128"},
      {"Granite-3-like scale", R"("num_attention_heads": 32, "num_key_value_heads": 8, "hidden_size": 2048,
                                  "attention_multiplier": 0.125, "embedding_multiplier": 12.0, "logits_scaling": 8.0,
                                  "residual_multiplier": 0.22)",
       "32/8/64"},
      {"OLMo-7B", R"("num_attention_heads": 32, "num_key_value_heads": 32, "hidden_size": 4096, "clip_qkv": null)",
       "32/32/128"},
      {"OLMo-7B of 2024", R"("d_model": 4096, "n_heads": 32, "n_kv_heads": null, "multi_query_attention": false,
                             "alibi": false, "alibi_bias_max": 8.0, "flash_attention": true, "block_group_size": null)",
       "32/32/128"},
      {"BERT", R"("num_attention_heads": 12, "hidden_size": 768, "position_embedding_type": "absolute",
                  "pruned_heads": {}, "chunk_size_feed_forward": 0)",
       "12/12/64"},
      {"DistilBERT", R"("dim": 768, "n_heads": 12, "hidden_dim": 3072, "sinusoidal_pos_embds": false)", "12/12/64"},
      {"Whisper-tiny", R"("d_model": 384, "encoder_attention_heads": 6, "decoder_attention_heads": 6)", "6/6/64"},
      {"InternVL2-8B", R"("vision_config": {"num_attention_heads": 16, "hidden_size": 1024}, "ps_version": "v2",
          "llm_config": {"num_attention_heads": 32, "num_key_value_heads": 8, "hidden_size": 4096})",
       "32/8/128"},
      {"Megatron's Llama",
       R"("num_attention_heads": 32, "num_query_groups": 8, "hidden_size": 4096, "kv_channels": 128)", "32/8/128"},
      {"tiny random test model", R"("num_attention_heads": 4, "num_key_value_heads": 2, "hidden_size": 16)", "4/2/4"},
  };
  for (const PublicModel& model : models) {
    EXPECT_EQ(read(model.members + R"(, "attention_dropout": 0.0, "attention_bias": false, "torch_dtype": "bfloat16")"),
              model.shape)
        << model.name;
  }
}

}  // namespace
}  // namespace kernwave::platform::model_file_test
