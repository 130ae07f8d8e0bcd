// The attention shape that a model's config.json states.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "platform/json/json.h"
#include "platform/workload/model_shape.h"

namespace kernwave::platform {

/// A shape, or why there is none: one line each.
struct ConfigShape {
  ModelShape shape;
  std::vector<std::string> problems;
};

/// Reads a Hugging Face config.json, or a file of its kind (Meta's params.json, Megatron's, MPT's). Heads, KV heads and
/// head size are known under the names of `model_config_keys`; the language part of a multimodal model is found.
/// Without a statement on KV heads each query head has one of its own. A key that is not known but speaks of heads, of
/// groups of them or of which keys a query sees is a problem that names it, unless its value is null, false, 0 or
/// empty; so is a known one that changes the work in a way that no kernel models. `name` names a model that does not
/// name itself.
[[nodiscard]] ConfigShape shape_of_config(const Json& document, const std::string& name);

/// What is wrong with a number of heads or a head size, if anything.
[[nodiscard]] std::optional<std::string> model_count_problem(std::string_view what, std::int64_t count);

}  // namespace kernwave::platform
