#include "platform/results/older_names.h"

#include <string_view>

#include "platform/config/renamed_keys.h"

namespace kernwave::platform {

namespace {

using Rename = std::string_view (*)(std::string_view name);

[[nodiscard]] std::string_view current_shape_name(std::string_view name) {
  return name == "circulations" ? "ring_passes" : name;
}

[[nodiscard]] Json renamed(const Json& object, Rename rename) {
  Json result = Json::object();
  for (const Json::Member& member : object.as_object()) result[rename(member.key)] = member.value;
  return result;
}

}  // namespace

Json with_current_names(const Json& document) {
  if (!document.is_object()) return document;
  Json result = document;
  const auto rename_below = [&](std::string_view key, Rename rename) {
    const Json* const object = document.find(key);
    if (object != nullptr && object->is_object()) result[key] = renamed(*object, rename);
  };
  rename_below("config", [](std::string_view name) { return current_path(name); });
  rename_below("shape", current_shape_name);
  return result;
}

}  // namespace kernwave::platform
