#include "platform/workload/model_shape.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>

#include "platform/files.h"
#include "platform/json/json.h"
#include "platform/message_text.h"
#include "platform/workload/model_config.h"

namespace kernwave::platform {
namespace {

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

std::vector<std::string> problems_of(const ModelShape& shape) {
  std::vector<std::string> problems;
  const std::pair<std::string_view, std::int64_t> counts[] = {
      {"the number of query heads", shape.query_heads},
      {"the number of key/value heads", shape.kv_heads},
      {"the head dimension", shape.head_dim},
  };
  for (const auto& [what, count] : counts) {
    if (auto problem = model_count_problem(what, count)) problems.push_back(std::move(*problem));
  }
  if (shape.query_heads > 0 && shape.kv_heads > 0 && shape.query_heads % shape.kv_heads != 0) {
    problems.push_back(
        fmt::format("{} query heads cannot share {} key/value heads evenly: the first number must be a "
                    "multiple of the second",
                    shape.query_heads, shape.kv_heads));
  }
  return problems;
}

/// The file that a path means: of a folder, its config.json.
std::string config_file(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::is_directory(path, ignored) ? (std::filesystem::path(path) / "config.json").string() : path;
}

ModelShape load_file(const std::string& given) {
  constexpr std::int64_t limit_bytes = std::int64_t{4} << 20;
  const std::string path = config_file(given);
  try {
    const Json document = parse_json_of_python(read_file(path, limit_bytes), path);
    ConfigShape found = shape_of_config(document, given);
    if (found.problems.empty()) found.problems = problems_of(found.shape);
    if (found.problems.empty()) return found.shape;
    for (std::string& problem : found.problems) problem = fmt::format("{}: {}", in_one_line(path), problem);
    throw ModelShapeError(join_lines(found.problems));
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
