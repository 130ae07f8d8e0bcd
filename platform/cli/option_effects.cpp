#include "platform/cli/option_effects.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "platform/text/message_text.h"

namespace kernwave::platform {

namespace {

/// Whether the number of that name is 1 in the shape; false if it has no such number.
[[nodiscard]] bool is_one(const Json& shape, std::string_view name) {
  const Json* const value = shape.find(name);
  return value != nullptr && value->is_int() && value->as_int() == 1;
}

bool has_no_data(const RunCommand& run, const Json& /*shape*/) { return run.data == DataMode::none; }
bool has_no_sequences(const RunCommand& /*run*/, const Json& shape) { return shape.find("batch") == nullptr; }
bool has_one_query(const RunCommand& /*run*/, const Json& shape) { return is_one(shape, "s_q"); }
bool has_one_kv_head(const RunCommand& /*run*/, const Json& shape) { return is_one(shape, "kv_heads"); }
bool has_one_rank(const RunCommand& /*run*/, const Json& shape) { return is_one(shape, "ranks"); }

/// An option, and when it has no effect. Options that are not here always have one.
struct Idle {
  std::string_view option;
  bool (*in)(const RunCommand& run, const Json& shape);
  std::string_view why;
};

constexpr std::string_view one_query = "a single query is the last token and sees every key";

constexpr std::array<Idle, 8> idle_options = {
    {{"--seed", has_no_data, "--data none makes no numbers"},
     {"--batch", has_no_sequences, "the kernel has no sequences"},
     {"--causal", has_one_query, one_query},
     {"--no-causal", has_one_query, one_query},
     {"--kv-layout", has_one_kv_head, "K and V of a single KV head lie alike in both layouts"},
     {"--reduce", has_one_rank, "a single rank has nothing to merge"},
     {"--sharding", has_one_rank, "a single rank holds all tokens"},
     {"--bidirectional", has_one_rank, "a single rank holds all tokens"}}};

}  // namespace

std::vector<std::string> options_without_effect(const RunCommand& run, const Json& shape) {
  std::vector<std::string> notes;
  for (const Idle& idle : idle_options) {
    const bool given = std::find(run.given.begin(), run.given.end(), idle.option) != run.given.end();
    if (given && idle.in(run, shape)) notes.push_back(without_effect({std::string(idle.option)}, idle.why));
  }
  return notes;
}

}  // namespace kernwave::platform
