#include "platform/workload/model_shape.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <optional>
#include <string_view>
#include <utility>

#include "platform/files.h"
#include "platform/json/json.h"
#include "platform/message_text.h"

namespace kernwave::platform {
namespace {

constexpr std::int64_t max_count = 65'536;

bool is_equal_ignoring_case(std::string_view a, std::string_view b) noexcept {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](char x, char y) {
    return std::tolower(static_cast<unsigned char>(x)) == std::tolower(static_cast<unsigned char>(y));
  });
}

bool is_path(std::string_view text) noexcept {
  constexpr std::string_view extension = ".json";
  const bool has_extension =
      text.size() >= extension.size() && is_equal_ignoring_case(text.substr(text.size() - extension.size()), extension);
  return has_extension || text.find('/') != std::string_view::npos;
}

std::vector<std::string> shipped_names() {
  std::vector<std::string> names;
  for (const ModelShape& model : shipped_models()) names.push_back(model.name);
  return names;
}

std::string join_lines(const std::vector<std::string>& lines) { return fmt::format("{}", fmt::join(lines, "\n")); }

std::optional<std::string> count_problem(std::string_view what, std::int64_t count) {
  if (count >= 1 && count <= max_count) return std::nullopt;
  return fmt::format("{} is {} (allowed: 1 to {})", what, count, max_count);
}

std::vector<std::string> problems_of(const ModelShape& shape) {
  std::vector<std::string> problems;
  const std::pair<std::string_view, std::int64_t> counts[] = {
      {"the number of query heads", shape.query_heads},
      {"the number of key/value heads", shape.kv_heads},
      {"the head dimension", shape.head_dim},
  };
  for (const auto& [what, count] : counts) {
    if (auto problem = count_problem(what, count)) problems.push_back(std::move(*problem));
  }
  if (shape.query_heads > 0 && shape.kv_heads > 0 && shape.query_heads % shape.kv_heads != 0) {
    problems.push_back(
        fmt::format("{} query heads cannot share {} key/value heads evenly: the first number must be a "
                    "multiple of the second",
                    shape.query_heads, shape.kv_heads));
  }
  return problems;
}

/// Reads counts out of one object of a config.json and collects what is wrong with them.
class ConfigReader {
 public:
  explicit ConfigReader(const Json& config) noexcept : config_(config) {}

  /// The value of a key; nothing if it is absent, null or, as then noted, wrong.
  std::optional<std::int64_t> optional_count(std::string_view key) {
    const Json* const value = config_.find(key);
    if (value == nullptr || value->is_null()) return std::nullopt;
    if (value->is_int()) {
      auto problem = count_problem(key, value->as_int());
      if (!problem) return value->as_int();
      problems_.push_back(std::move(*problem));
    } else {
      problems_.push_back(fmt::format("{} must be an integer, found {}", key, value->description()));
    }
    return std::nullopt;
  }

  std::optional<std::int64_t> count(std::string_view key) {
    const std::size_t problems_before = problems_.size();
    const std::optional<std::int64_t> value = optional_count(key);
    if (!value && problems_.size() == problems_before) problems_.push_back(fmt::format("{} is missing", key));
    return value;
  }

  /// hidden_size / num_attention_heads: the rule of models that do not say their head_dim.
  std::optional<std::int64_t> derived_head_dim(std::optional<std::int64_t> heads) {
    const Json* const explicit_value = config_.find("head_dim");
    if (explicit_value != nullptr && !explicit_value->is_null()) return std::nullopt;  // wrong, and noted
    const std::optional<std::int64_t> hidden_size = count("hidden_size");
    if (!hidden_size || !heads) return std::nullopt;
    if (*hidden_size % *heads == 0) return *hidden_size / *heads;
    problems_.push_back(fmt::format(
        "there is no head_dim, and hidden_size {} is not a multiple of num_attention_heads {}", *hidden_size, *heads));
    return std::nullopt;
  }

  void refuse_latent_attention() {
    const Json* const rank = config_.find("kv_lora_rank");
    if (rank == nullptr || rank->is_null()) return;
    problems_.emplace_back("kv_lora_rank: multi-head latent attention has no grouped-query shape");
  }

  [[nodiscard]] std::vector<std::string>& problems() noexcept { return problems_; }

 private:
  const Json& config_;
  std::vector<std::string> problems_;
};

/// The object that holds the attention shape: the document, or the text part of a multimodal model.
const Json& language_config(const Json& document) {
  const Json* const text_config = document.find("text_config");
  const bool is_nested =
      document.find("num_attention_heads") == nullptr && text_config != nullptr && text_config->is_object();
  return is_nested ? *text_config : document;
}

std::string name_in(const Json& document, const std::string& path) {
  const Json* const name = document.find("_name_or_path");
  return name != nullptr && name->is_string() && !name->as_string().empty() ? name->as_string() : path;
}

[[noreturn]] void fail(const std::string& path, std::vector<std::string> problems) {
  for (std::string& problem : problems) problem = fmt::format("{}: {}", in_one_line(path), problem);
  throw ModelShapeError(join_lines(problems));
}

ModelShape shape_in(const Json& document, const std::string& path) {
  if (!document.is_object()) fail(path, {fmt::format("expected an object, found {}", document.description())});
  ConfigReader reader(language_config(document));
  const std::optional<std::int64_t> query_heads = reader.count("num_attention_heads");
  const std::size_t problems_before = reader.problems().size();
  std::optional<std::int64_t> kv_heads = reader.optional_count("num_key_value_heads");
  if (!kv_heads && reader.problems().size() == problems_before) kv_heads = query_heads;
  std::optional<std::int64_t> head_dim = reader.optional_count("head_dim");
  if (!head_dim) head_dim = reader.derived_head_dim(query_heads);
  reader.refuse_latent_attention();

  // A count that is missing has been noted; 1 breaks no rule, so that the others are still checked.
  ModelShape shape{name_in(document, path), query_heads.value_or(kv_heads.value_or(1)), kv_heads.value_or(1),
                   head_dim.value_or(1)};
  std::vector<std::string>& problems = reader.problems();
  for (std::string& problem : problems_of(shape)) problems.push_back(std::move(problem));
  if (!problems.empty()) fail(path, std::move(problems));
  return shape;
}

ModelShape load_file(const std::string& path) {
  constexpr std::int64_t limit_bytes = std::int64_t{4} << 20;
  try {
    return shape_in(parse_json(read_file(path, limit_bytes), path), path);
  } catch (const FileError& error) {
    throw ModelShapeError(fmt::format("{} (shipped models: {})", error.what(), fmt::join(shipped_names(), ", ")));
  } catch (const JsonError& error) {
    throw ModelShapeError(error.what());
  }
}

}  // namespace

std::vector<ModelShape> shipped_models() {
  return {
      {"llama-3.1-8b", 32, 8, 128}, {"llama-3.1-70b", 64, 8, 128}, {"qwen2.5-7b", 28, 4, 128},
      {"qwen3-8b", 32, 8, 128},     {"mistral-7b", 32, 8, 128},
  };
}

void check_model_shape(const ModelShape& shape) {
  const std::vector<std::string> problems = problems_of(shape);
  if (!problems.empty()) throw ModelShapeError(join_lines(problems));
}

ModelShape load_model_shape(const std::string& name_or_path) {
  for (const ModelShape& model : shipped_models()) {
    if (is_equal_ignoring_case(model.name, name_or_path)) return model;
  }
  if (is_path(name_or_path)) return load_file(name_or_path);
  const std::vector<std::string> names = shipped_names();
  throw ModelShapeError(
      fmt::format("unknown model {}{} (shipped models: {}; or the path of a Hugging Face config.json)",
                  in_quotes(name_or_path), did_you_mean(name_or_path, names), fmt::join(names, ", ")));
}

}  // namespace kernwave::platform
