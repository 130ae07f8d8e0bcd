// Shapes of models: shipped, or read from a Hugging Face config.json.
#include "platform/workload/model_shape.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "platform/files/whole_file.h"
#include "tests/support/error_text.h"
#include "tests/support/temporary_folder.h"

namespace kernwave::platform::model_shape_test {
namespace {

using testing::contains;

class ModelShapes : public kernwave::testing::TemporaryFolderTest {
 protected:
  void SetUp() override {
    TemporaryFolderTest::SetUp();
    path_ = path("config.json");
  }

  [[nodiscard]] ModelShape load(const std::string& text) const {
    write_file_atomically(path_, text);
    return load_model_shape(path_);
  }

  [[nodiscard]] std::string error_of(const std::string& text) const {
    return testing::error_of<ModelShapeError>([&] { (void)load(text); });
  }

  std::string path_;
};

std::string error_of_name(const std::string& name) {
  return testing::error_of<ModelShapeError>([&] { (void)load_model_shape(name); });
}

void expect_shape(const ModelShape& shape, std::int64_t query_heads, std::int64_t kv_heads, std::int64_t head_dim) {
  EXPECT_EQ(shape.query_heads, query_heads);
  EXPECT_EQ(shape.kv_heads, kv_heads);
  EXPECT_EQ(shape.head_dim, head_dim);
}

TEST_F(ModelShapes, OfShippedModelsAreFacts) {
  expect_shape(load_model_shape("llama-3.1-8b"), 32, 8, 128);
  expect_shape(load_model_shape("llama-3.1-70b"), 64, 8, 128);
  expect_shape(load_model_shape("qwen2.5-7b"), 28, 4, 128);
  expect_shape(load_model_shape("qwen3-8b"), 32, 8, 128);
  expect_shape(load_model_shape("mistral-7b"), 32, 8, 128);
}

TEST_F(ModelShapes, OfShippedModelsKeepTheRulesAndHaveNamesThatLoad) {
  for (const ModelShape& model : shipped_models()) {
    EXPECT_NO_THROW(check_model_shape(model)) << model.name;
    EXPECT_EQ(load_model_shape(model.name).name, model.name);
  }
}

TEST_F(ModelShapes, AreFoundWhateverTheCaseOfTheName) {
  EXPECT_EQ(load_model_shape("Llama-3.1-8B").name, "llama-3.1-8b");
}

TEST_F(ModelShapes, UnknownNamesAreAnsweredWithTheNearestAndTheList) {
  const std::string error = error_of_name("lama-3.1-8b");
  EXPECT_TRUE(contains(error, "unknown model \"lama-3.1-8b\"; did you mean \"llama-3.1-8b\"?")) << error;
  EXPECT_TRUE(contains(error, "mistral-7b")) << error;
  EXPECT_TRUE(contains(error_of_name(""), "unknown model \"\""));
}

// C9: a file that is missing is named. A Hugging Face id looks like a path, so that the shipped names help here too.
TEST_F(ModelShapes, MissingFilesAreNamed) {
  const std::string error = error_of_name("meta-llama/Llama-3.1-8B");
  EXPECT_TRUE(contains(error, "cannot read \"meta-llama/Llama-3.1-8B\": it does not exist")) << error;
  EXPECT_TRUE(contains(error, "llama-3.1-8b")) << error;
  EXPECT_TRUE(contains(error_of_name(folder_.string()), "config.json\": it does not exist"));
}

TEST_F(ModelShapes, OfAFolderAreInItsConfigJson) {
  write_file_atomically(path_, R"({"num_attention_heads": 16, "num_key_value_heads": 4, "head_dim": 64})");
  for (const std::string& folder : {folder_.string(), folder_.string() + "/"}) {
    const ModelShape shape = load_model_shape(folder);
    expect_shape(shape, 16, 4, 64);
    EXPECT_EQ(shape.name, path_);
  }
}

TEST_F(ModelShapes, HaveNamesThatMoveNoTerminalsCursor) {
  const std::string rest = R"("num_attention_heads": 16, "head_dim": 64})";
  EXPECT_EQ(load(R"({"_name_or_path": "a\u001b[2J\nb\u009b1m", )" + rest).name, R"(a\x1b[2J\nb\x9b1m)");
  // Cut in front of the character that the 120th byte is part of: two bytes each, after one of one byte.
  const std::string euros = [] {
    std::string text;
    for (int i = 0; i < 100; ++i) text += "\u00e9";
    return text;
  }();
  EXPECT_EQ(load(R"({"_name_or_path": "x)" + euros + R"(", )" + rest).name, "x" + euros.substr(0, 118) + "...");
}

// C13: the shape file of any model.
TEST_F(ModelShapes, InAFileTakeAnExplicitHeadDimFirst) {
  const ModelShape shape = load(
      R"({"_name_or_path": "Qwen/Qwen3-0.6B", "hidden_size": 1024, "num_attention_heads": 16,
          "num_key_value_heads": 8, "head_dim": 128})");
  expect_shape(shape, 16, 8, 128);
  EXPECT_EQ(shape.name, "Qwen/Qwen3-0.6B");
}

TEST_F(ModelShapes, InAFileWithoutHeadDimDivideTheHiddenSize) {
  const std::string rest = R"("hidden_size": 4096, "num_attention_heads": 32, "num_key_value_heads": 8})";
  expect_shape(load("{" + rest), 32, 8, 128);
  expect_shape(load(R"({"head_dim": null, )" + rest), 32, 8, 128);
  EXPECT_EQ(load("{" + rest).name, path_);
}

TEST_F(ModelShapes, InAFileWithoutKeyValueHeadsAreMultiHead) {
  expect_shape(load(R"({"hidden_size": 4096, "num_attention_heads": 32})"), 32, 32, 128);
  expect_shape(load(R"({"hidden_size": 4096, "num_attention_heads": 32, "num_key_value_heads": null})"), 32, 32, 128);
}

TEST_F(ModelShapes, OfMultimodalModelsAreInTheirTextPart) {
  expect_shape(load(R"({"vision_config": {"num_attention_heads": 16},
                        "text_config": {"hidden_size": 5120, "num_attention_heads": 40, "num_key_value_heads": 8}})"),
               40, 8, 128);
}

// B10: 7 query heads on 2 key/value heads.
TEST_F(ModelShapes, WhoseHeadsCannotBeSharedNameBothNumbers) {
  const std::string error =
      error_of(R"({"hidden_size": 896, "num_attention_heads": 7, "num_key_value_heads": 2, "head_dim": 128})");
  EXPECT_TRUE(contains(error, "7 query heads cannot share 2 key/value heads")) << error;
  EXPECT_TRUE(contains(error, path_)) << error;
  EXPECT_THROW(check_model_shape({"mine", 7, 2, 128}), ModelShapeError);
  EXPECT_THROW(check_model_shape({"mine", 4, 8, 128}), ModelShapeError);
}

TEST_F(ModelShapes, ThatAreImpossibleNameEveryProblem) {
  try {
    check_model_shape({"mine", 0, 65'537, -1});
    FAIL() << "accepted";
  } catch (const ModelShapeError& error) {
    const std::string message = error.what();
    EXPECT_TRUE(contains(message, "query heads is 0 (allowed: 1 to 65536)")) << message;
    EXPECT_TRUE(contains(message, "key/value heads is 65537")) << message;
    EXPECT_TRUE(contains(message, "head dimension is -1")) << message;
  }
}

TEST_F(ModelShapes, InFilesThatDescribeNoneSayWhy) {
  struct Case {
    std::string text;
    std::string part;
  };
  const std::vector<Case> cases{
      {"", path_ + ":1:1: "},
      {"[]", "expected an object, found an array"},
      {"{}", "num_attention_heads is missing"},
      {"{}", "hidden_size is missing"},
      {R"({"text_config": 3})", "num_attention_heads is missing"},
      {R"({"num_attention_heads": 32})", "hidden_size is missing"},
      {R"({"num_attention_heads": "32", "head_dim": 128})", "num_attention_heads must be an integer, found the text"},
      {R"({"num_attention_heads": 32.0, "head_dim": 128})", "must be an integer, found the number 32.0"},
      {R"({"num_attention_heads": 0, "head_dim": 128})", "num_attention_heads is 0 (allowed: 1 to 65536)"},
      {R"({"num_attention_heads": 70000, "head_dim": 128})", "num_attention_heads is 70000"},
      {R"({"num_attention_heads": 32, "num_key_value_heads": -8, "head_dim": 128})", "num_key_value_heads is -8"},
      {R"({"num_attention_heads": 32, "head_dim": 0})", "head_dim is 0"},
      {R"({"num_attention_heads": 7, "hidden_size": 100})",
       "hidden_size 100 is not a multiple of num_attention_heads 7"},
      {R"({"num_attention_heads": 128, "hidden_size": 7168, "kv_lora_rank": 512})", "latent attention"},
  };
  for (const Case& bad : cases) {
    const std::string error = error_of(bad.text);
    EXPECT_TRUE(contains(error, bad.part)) << bad.text << "\ngave: " << error << "\nlacks: " << bad.part;
  }
}

TEST_F(ModelShapes, InAFileWithSeveralMistakesNameThemAll) {
  const std::string error = error_of(R"({"num_attention_heads": 0, "num_key_value_heads": "x", "head_dim": -1})");
  for (const std::string key : {"num_attention_heads", "num_key_value_heads", "head_dim"}) {
    EXPECT_TRUE(contains(error, path_ + ": " + key)) << error;
  }
}

}  // namespace
}  // namespace kernwave::platform::model_shape_test
