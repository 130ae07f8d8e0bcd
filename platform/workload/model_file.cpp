#include "platform/workload/model_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "platform/files/whole_file.h"
#include "platform/json/json.h"
#include "platform/text/message_text.h"
#include "platform/workload/model_file_statements.h"

namespace kernwave::platform {
namespace {

using Role = ModelFileKeyRole;

/// A count that the file states, and where.
struct Claim {
  std::string place;
  std::int64_t count = 0;
  bool is_of_a_layer = false;
};

/// Values that say that there is no such thing.
[[nodiscard]] bool is_off(const Json& value) {
  if (value.is_bool()) return !value.as_bool();
  if (value.is_int() || value.is_double()) return value.as_double() == 0.0;
  if (value.is_string()) return value.as_string().empty();
  return value.size() == 0;
}

[[nodiscard]] std::string written_text(const Json& value) {
  if (value.is_array() || value.is_object()) return value.description();
  return value.is_string() ? in_quotes(value.as_string()) : to_text(value, 0);
}

[[nodiscard]] bool has_part(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

enum class LayerKind : std::uint8_t { full, sliding, chunked, without_attention, unknown };

[[nodiscard]] LayerKind layer_kind(std::string_view name) {
  if (has_part(name, "sliding")) return LayerKind::sliding;
  if (has_part(name, "chunked")) return LayerKind::chunked;
  if (name == "full_attention" || name == "global_attention" || name == "attention") return LayerKind::full;
  const bool may_be_attention = has_part(name, "attention") && !has_part(name, "linear");
  return may_be_attention ? LayerKind::unknown : LayerKind::without_attention;
}

/// Which kinds of layers a file names.
struct Layers {
  bool are_stated = false;
  bool slide = false;
  bool are_chunked = false;
};

/// Weighs what a file states, and collects what is wrong with it and what no kernel runs.
class ShapeReader {
 public:
  explicit ShapeReader(const Json& document) : statements_(document) {
    read_query_heads();
    read_kv_heads();
    read_head_dim();
    check_other_layers();
    read_windows();
    check_scale();
    check_work();
  }

  /// Where counts are missing, which has been noted, the numbers break no rule, so that the others can be checked.
  [[nodiscard]] ModelShape shape(std::string name) const {
    ModelShape shape{std::move(name), query_heads_.value_or(kv_heads_.value_or(1)), kv_heads_.value_or(1),
                     head_dim_.value_or(1)};
    shape.window = window_;
    return shape;
  }

  [[nodiscard]] std::vector<std::string>& problems() noexcept { return problems_; }
  /// Whether the file may be right and is refused all the same.
  [[nodiscard]] bool is_refused() const noexcept { return is_refused_; }

 private:
  // ---- what is wrong

  void note(std::string problem) { problems_.push_back(std::move(problem)); }

  void refuse(const Statement& statement, std::string_view reason) {
    is_refused_ = true;
    note(fmt::format("{} is {}: {}", statement.place, written_text(*statement.value), reason));
  }

  // ---- counts

  std::optional<std::int64_t> count_of(const Statement& statement) {
    if (!statement.value->is_int()) {
      note(fmt::format("{} must be an integer, found {}", statement.place, statement.value->description()));
      return std::nullopt;
    }
    auto problem = count_problem(statement.place, statement.value->as_int());
    if (!problem) return statement.value->as_int();
    note(std::move(*problem));
    return std::nullopt;
  }

  std::vector<Claim> claims_of(Role role) {
    std::vector<Claim> claims;
    for (const Statement* statement : statements_.of(role)) {
      const auto count = count_of(*statement);
      if (count) claims.push_back({statement->place, *count, statement->is_of_a_layer});
    }
    return claims;
  }

  /// The count that all claims agree upon.
  std::optional<std::int64_t> agreed(const std::vector<Claim>& claims) {
    if (claims.empty()) return std::nullopt;
    const Claim& first = claims.front();
    const auto other =
        std::find_if(claims.begin(), claims.end(), [&first](const Claim& claim) { return claim.count != first.count; });
    if (other == claims.end()) return first.count;
    is_refused_ = true;
    const bool is_by_layer = first.is_of_a_layer && other->is_of_a_layer;
    note(fmt::format("{} {} {}, {} {}: {}", first.place, is_by_layer ? "is" : "says", first.count, other->place,
                     other->count,
                     is_by_layer ? "layers of different shapes are not one shape to run"
                                 : "the file does not say which of them holds"));
    return std::nullopt;
  }

  [[nodiscard]] bool is_any_stated(Role role) const { return !statements_.of(role).empty(); }

  void read_query_heads() {
    query_heads_ = agreed(claims_of(Role::query_heads));
    if (!is_any_stated(Role::query_heads)) note("num_attention_heads is missing");
  }

  void read_kv_heads() {
    const std::size_t problems_before = problems_.size();
    std::vector<Claim> claims = claims_of(Role::kv_heads);
    claim_kv_heads_of_groups(claims);
    claim_one_kv_head(claims);
    kv_heads_ = agreed(claims);
    check_groups_of_either_kind(!claims.empty());
    if (claims.empty()) check_silence_on_kv_heads();
    const bool nothing_speaks_of_them = claims.empty() && problems_.size() == problems_before;
    if (nothing_speaks_of_them) kv_heads_ = query_heads_;
  }

  void claim_kv_heads_of_groups(std::vector<Claim>& claims) {
    for (const Claim& group : claims_of(Role::heads_of_a_group)) {
      if (!query_heads_) continue;
      if (*query_heads_ % group.count == 0) {
        claims.push_back({group.place, *query_heads_ / group.count, group.is_of_a_layer});
      } else {
        note(
            fmt::format("{} is {}, and {} query heads are no multiple of it", group.place, group.count, *query_heads_));
      }
    }
  }

  /// The statement that there is one KV head, whatever other keys say of it.
  [[nodiscard]] const Statement* multi_query_statement() const {
    for (const Statement* statement : statements_.of(Role::multi_query)) {
      const bool is_true = statement->value->is_bool() && statement->value->as_bool();
      const bool has_groups =
          statement->key.name == "multi_query_attention" && statements_.find("multi_query_group_num") != nullptr;
      const bool is_ignored = statement->key.name == "multi_query" && statements_.is_true("new_decoder_architecture");
      if (is_true && !has_groups && !is_ignored) return statement;
    }
    for (const Statement* statement : statements_.of(Role::attention_kind)) {
      if (kind_of(*statement) == AttentionKind::multi_query) return statement;
    }
    return nullptr;
  }

  void claim_one_kv_head(std::vector<Claim>& claims) {
    for (const Statement* statement : statements_.of(Role::multi_query)) {
      if (statement->value->is_bool()) continue;
      note(fmt::format("{} must be true or false, found {}", statement->place, statement->value->description()));
    }
    const Statement* const statement = multi_query_statement();
    if (statement == nullptr) return;
    // Beside the flag, Falcon's files have the number of query heads where the number of KV heads would be.
    const auto is_default = [this](const Claim& claim) { return query_heads_ && claim.count == *query_heads_; };
    claims.erase(std::remove_if(claims.begin(), claims.end(), is_default), claims.end());
    claims.push_back({statement->place, 1, statement->is_of_a_layer});
  }

  enum class AttentionKind : std::uint8_t { multi_head, multi_query, grouped_query, unknown };

  [[nodiscard]] static AttentionKind kind_of(const Statement& statement) {
    if (!statement.value->is_string()) return AttentionKind::unknown;
    const std::string& name = statement.value->as_string();
    if (name == "mha" || name == "multihead_attention") return AttentionKind::multi_head;
    if (name == "mqa" || name == "multiquery_attention") return AttentionKind::multi_query;
    if (name == "gqa" || name == "grouped_query_attention") return AttentionKind::grouped_query;
    return AttentionKind::unknown;
  }

  /// Nothing states a number of KV heads: whether anything speaks of them all the same.
  void check_silence_on_kv_heads() {
    for (const Statement* statement : statements_.of(Role::attention_kind)) {
      if (kind_of(*statement) == AttentionKind::grouped_query) refuse(*statement, "nothing says how many KV heads");
    }
    for (const Statement* statement : statements_.of(Role::groups_of_something)) {
      if (is_off(*statement->value)) continue;
      refuse(*statement, "it may be a number of KV heads or of something else, and nothing else states KV heads");
    }
    for (const std::string_view name : {"new_decoder_architecture", "group_query_attention"}) {
      if (statements_.is_true(name)) refuse(*statements_.find(name), "nothing says how many KV heads");
    }
    const Statement* const type = statements_.find("model_type");
    const bool is_by_flag =
        type != nullptr && type->value->is_string() && is_multi_query_by_default(type->value->as_string());
    if (is_by_flag && !is_any_stated(Role::multi_query)) {
      refuse(*type, "the KV heads of this family depend on multi_query, which is missing");
    }
  }

  void check_groups_of_either_kind(bool are_kv_heads_stated) {
    for (const Statement* statement : statements_.of(Role::number_of_groups_or_in_a_group)) {
      const auto count = count_of(*statement);
      if (!count) continue;
      if (!are_kv_heads_stated) {
        refuse(*statement, "some families mean the KV heads by it, others the query heads of each of them");
      } else if (kv_heads_ && query_heads_ && *count != *kv_heads_ && *count * *kv_heads_ != *query_heads_) {
        refuse(*statement, fmt::format("{} query heads and {} KV heads do not go with it", *query_heads_, *kv_heads_));
      }
    }
    for (const Statement* statement : statements_.of(Role::attention_kind)) {
      if (!is_off(*statement->value) && kind_of(*statement) == AttentionKind::unknown) {
        refuse(*statement, "it may say how many KV heads there are, but is not understood");
      }
    }
  }

  void read_head_dim() {
    if (is_any_stated(Role::head_dim)) {
      head_dim_ = agreed(claims_of(Role::head_dim));
      return;
    }
    if (!is_any_stated(Role::hidden_size)) note("hidden_size is missing, and there is no head_dim");
    const std::vector<Claim> claims = claims_of(Role::hidden_size);
    const std::optional<std::int64_t> hidden_size = agreed(claims);
    if (!hidden_size || !query_heads_) return;
    if (*hidden_size % *query_heads_ == 0) {
      head_dim_ = *hidden_size / *query_heads_;
    } else {
      note(fmt::format("there is no head_dim, and {} {} is not a multiple of {} {}", claims.front().place, *hidden_size,
                       statements_.of(Role::query_heads).front()->place, *query_heads_));
    }
  }

  void check_other_layers() {
    const std::pair<Role, std::optional<std::int64_t>> expected[] = {
        {Role::query_heads_of_some_layers, query_heads_},
        {Role::kv_heads_of_some_layers, kv_heads_},
        {Role::head_dim_of_some_layers, head_dim_},
    };
    for (const auto& [role, value] : expected) {
      for (const Statement* statement : statements_.of(role)) {
        if (is_off(*statement->value)) continue;
        const auto count = count_of(*statement);
        if (!count || !value || *count == *value) continue;
        refuse(*statement,
               fmt::format("where others have {}; queries, keys and values of all layers have one shape here", *value));
      }
    }
  }

  // ---- keys that a query does not see

  [[nodiscard]] Layers read_layer_types() {
    Layers layers;
    for (const Statement* statement : statements_.of(Role::layer_types)) {
      if (is_off(*statement->value)) continue;
      layers.are_stated = true;
      if (statement->value->is_array()) {
        take_layers(*statement, layers);
      } else {
        note(fmt::format("{} must be an array, found {}", statement->place, statement->value->description()));
      }
    }
    return layers;
  }

  void take_layers(const Statement& statement, Layers& layers) {
    bool has_attention = false;
    for (const Json& layer : statement.value->as_array()) {
      const std::string name = layer.is_string() ? layer.as_string() : std::string();
      const LayerKind kind = layer_kind(name);
      layers.slide = layers.slide || kind == LayerKind::sliding;
      layers.are_chunked = layers.are_chunked || kind == LayerKind::chunked;
      has_attention = has_attention || kind != LayerKind::without_attention;
      if (kind != LayerKind::unknown) continue;
      is_refused_ = true;
      note(fmt::format("{} has {}: no kernel computes attention of this kind", statement.place, in_quotes(name)));
      return;
    }
    if (!has_attention) refuse(statement, "no layer has attention that the kernels could run");
  }

  /// The first `max_window_layers` layers see every key.
  [[nodiscard]] bool has_no_windowed_layer() const {
    const Statement* const full = statements_.find("max_window_layers");
    const Statement* const all = statements_.find("num_hidden_layers");
    return statements_.is_true("use_sliding_window") && full != nullptr && all != nullptr && full->value->is_int() &&
           all->value->is_int() && full->value->as_int() >= all->value->as_int();
  }

  void read_windows() {
    const Layers layers = read_layer_types();
    bool has_sliding_window = false;
    for (const Role role : {Role::window, Role::window_both_ways}) {
      for (const Statement* statement : statements_.of(role)) {
        const std::optional<std::int64_t> length = window_length(*statement);
        if (!length) continue;
        has_sliding_window = has_sliding_window || !is_chunk(*statement);
        const std::int64_t keys = role == Role::window ? *length : std::max<std::int64_t>(1, *length / 2);
        const bool is_shortest = !window_ || keys < window_->keys;
        if (is_shortest && is_in_use(*statement, layers)) window_ = KeyWindow{statement->place, keys};
      }
    }
    if (!layers.slide || has_sliding_window) return;
    is_refused_ = true;
    note("layer_types has layers whose window slides, and no sliding_window says how many keys they see");
  }

  /// Nothing where the value says that there is no window, and where it is wrong, which is noted.
  std::optional<std::int64_t> window_length(const Statement& statement) {
    const Json& value = *statement.value;
    const bool is_none = (value.is_bool() && !value.as_bool()) || (value.is_int() && value.as_int() == -1);
    if (is_none) return std::nullopt;
    if (value.is_int() && value.as_int() >= 1) return value.as_int();
    note(fmt::format("{} is {} (allowed: a number of keys from 1; null, false or -1 for none)", statement.place,
                     written_text(value)));
    return std::nullopt;
  }

  [[nodiscard]] static bool is_chunk(const Statement& window) { return window.key.name == "attention_chunk_size"; }

  /// Whether the file has layers with this window.
  [[nodiscard]] bool is_in_use(const Statement& window, const Layers& layers) const {
    const bool is_switched_off = !window.key.counts_only_if.empty() && has_no_windowed_layer();
    const bool has_layers = !layers.are_stated || (is_chunk(window) ? layers.are_chunked : layers.slide);
    return has_layers && !is_switched_off;
  }

  // ---- the factor of the scores

  void check_scale() {
    for (const Statement* statement : statements_.of(Role::scale)) {
      // Beside these it is the slope of a factor of the queries, which grows with their position.
      const bool is_of_queries =
          statement->key.name == "attn_scale" &&
          (statements_.find("attn_temperature_tuning") != nullptr || statements_.find("floor_scale") != nullptr);
      if (!is_of_queries) check_factor(*statement, [](double value) { return value; });
    }
    for (const Statement* statement : statements_.of(Role::scale_inverse_square)) {
      check_factor(*statement, [](double value) { return 1.0 / std::sqrt(value); });
    }
    for (const Statement* statement : statements_.of(Role::standard_scale)) {
      const bool is_standard = statement->value->is_bool() && statement->value->as_bool();
      if (!is_standard) refuse(*statement, "the kernels scale scores by 1 / sqrt(head_dim)");
    }
  }

  template <typename Factor>
  void check_factor(const Statement& statement, Factor factor) {
    const Json& value = *statement.value;
    if (value.is_bool() && !value.as_bool()) return;
    if (!value.is_int() && !value.is_double()) {
      note(fmt::format("{} must be a number, found {}", statement.place, value.description()));
      return;
    }
    if (!head_dim_) return;
    constexpr double rounding = 1e-5;  // of decimal digits
    const double expected = 1.0 / std::sqrt(static_cast<double>(*head_dim_));
    const bool is_standard = std::abs(factor(value.as_double()) - expected) <= rounding * expected;
    if (is_standard) return;
    refuse(statement,
           fmt::format("the kernels scale scores by 1 / sqrt({}) = {:.6g} and by nothing else", *head_dim_, expected));
  }

  // ---- everything else that no kernel runs

  void check_work() {
    for (const Role role : {Role::work_not_modelled, Role::shape_not_understood}) {
      for (const Statement* statement : statements_.of(role)) {
        if (!is_off(*statement->value)) refuse(*statement, statement->key.reason);
      }
    }
    for (const Statement* statement : statements_.of(Role::position_embedding)) {
      const std::string name = statement->value->is_string() ? statement->value->as_string() : std::string();
      const bool is_added_to_scores = has_part(name, "alibi") || has_part(name, "relative");
      if (is_added_to_scores) refuse(*statement, statement->key.reason);
    }
    for (const Statement* statement : statements_.of(Role::model_type)) {
      const std::string name = statement->value->is_string() ? statement->value->as_string() : std::string();
      const std::string_view reason = work_of_model_type(name);
      if (!reason.empty()) refuse(*statement, reason);
    }
  }

  ModelFileStatements statements_;
  std::vector<std::string> problems_;
  bool is_refused_ = false;
  std::optional<std::int64_t> query_heads_;
  std::optional<std::int64_t> kv_heads_;
  std::optional<std::int64_t> head_dim_;
  std::optional<KeyWindow> window_;
};

[[nodiscard]] std::string name_in(const Json& document, const std::string& path) {
  constexpr std::size_t max_length = 120;
  const Json* const name = document.find("_name_or_path");
  if (name == nullptr || !name->is_string() || name->as_string().empty()) return in_one_line(path);
  std::string_view text = name->as_string();
  if (text.size() <= max_length) return in_one_line(text);
  const auto is_inside_a_character = [text](std::size_t i) {
    return (static_cast<unsigned char>(text[i]) & 0xC0U) == 0x80;
  };
  std::size_t length = max_length;
  while (length > 0 && is_inside_a_character(length)) --length;
  return in_one_line(text.substr(0, length)) + "...";
}

[[noreturn]] void fail(const std::string& path, std::vector<std::string> problems) {
  for (std::string& problem : problems) problem = fmt::format("{}: {}", in_one_line(path), problem);
  throw ModelShapeError(fmt::format("{}", fmt::join(problems, "\n")));
}

[[nodiscard]] ModelShape shape_in(const Json& document, const std::string& path) {
  if (!document.is_object()) fail(path, {fmt::format("expected an object, found {}", document.description())});
  ShapeReader reader(document);
  ModelShape shape = reader.shape(name_in(document, path));
  std::vector<std::string>& problems = reader.problems();
  for (std::string& problem : model_shape_problems(shape)) problems.push_back(std::move(problem));
  if (problems.empty()) return shape;
  if (reader.is_refused()) {
    problems.emplace_back(
        "what is to be run instead can be said in a small file of its own, such as {\"num_attention_heads\": 32, "
        "\"num_key_value_heads\": 8, \"head_dim\": 128}");
  }
  fail(path, std::move(problems));
}

}  // namespace

ModelShape read_model_file(const std::string& path) {
  constexpr std::int64_t limit_bytes = std::int64_t{4} << 20;
  const std::string text = read_file(path, limit_bytes);
  try {
    return shape_in(parse_python_json(text, path), path);
  } catch (const JsonError& error) {
    throw ModelShapeError(error.what());
  }
}

}  // namespace kernwave::platform
