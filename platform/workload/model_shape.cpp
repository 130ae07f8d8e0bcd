#include "platform/workload/model_shape.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cctype>
#include <utility>

#include "platform/files/whole_file.h"
#include "platform/text/message_text.h"
#include "platform/workload/model_file.h"
#include "traces/files/open_file.h"

namespace kernwave::platform {
namespace {

bool is_equal_ignoring_case(std::string_view a, std::string_view b) noexcept {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](char x, char y) {
    return std::tolower(static_cast<unsigned char>(x)) == std::tolower(static_cast<unsigned char>(y));
  });
}

bool is_folder(const std::string& path) noexcept {
  const std::optional<struct stat> status = traces::status_of(path);
  return status && S_ISDIR(status->st_mode);
}

bool looks_like_path(std::string_view text) noexcept {
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

ModelShape load_file(const std::string& path) {
  try {
    return read_model_file(path);
  } catch (const FileError& error) {
    throw ModelShapeError(fmt::format("{} (shipped models: {})", error.what(), fmt::join(shipped_names(), ", ")));
  }
}

}  // namespace

std::vector<ModelShape> shipped_models() {
  return {
      {"llama-3.1-8b", 32, 8, 128}, {"llama-3.1-70b", 64, 8, 128}, {"qwen2.5-7b", 28, 4, 128},
      {"qwen3-8b", 32, 8, 128},     {"mistral-7b", 32, 8, 128},
  };
}

std::optional<std::string> count_problem(std::string_view what, std::int64_t count) {
  constexpr std::int64_t max_count = 65'536;
  if (count >= 1 && count <= max_count) return std::nullopt;
  return fmt::format("{} is {} (allowed: 1 to {})", what, count, max_count);
}

std::vector<std::string> model_shape_problems(const ModelShape& shape) {
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
  if (shape.window && shape.window->keys < 1) {
    problems.push_back(fmt::format("a window of {} keys (allowed: 1 or more)", shape.window->keys));
  }
  return problems;
}

void check_model_shape(const ModelShape& shape) {
  const std::vector<std::string> problems = model_shape_problems(shape);
  if (!problems.empty()) throw ModelShapeError(fmt::format("{}", fmt::join(problems, "\n")));
}

ModelShape load_model_shape(const std::string& name_or_path) {
  for (const ModelShape& model : shipped_models()) {
    if (is_equal_ignoring_case(model.name, name_or_path)) return model;
  }
  if (is_folder(name_or_path)) {
    return load_file(name_or_path + (name_or_path.back() == '/' ? "config.json" : "/config.json"));
  }
  if (looks_like_path(name_or_path)) return load_file(name_or_path);
  const std::vector<std::string> names = shipped_names();
  throw ModelShapeError(
      fmt::format("unknown model {}{} (shipped models: {}; or the path of a Hugging Face config.json or of its folder)",
                  in_quotes(name_or_path), did_you_mean(name_or_path, names), fmt::join(names, ", ")));
}

}  // namespace kernwave::platform
