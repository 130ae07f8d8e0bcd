#include "platform/report/result_check.h"

#include <fmt/format.h>

#include <array>
#include <string_view>

#include "platform/results/result_document.h"

namespace kernwave::platform {

namespace {

constexpr std::array<std::string_view, 17> result_keys = {
    "version", "revision", "command", "config",    "kernel",  "shape",    "policy",   "data", "latency_ps",
    "counts",  "bytes",    "flops",   "bounds_ps", "busy_ps", "stall_ps", "channels", "links"};

[[noreturn]] void refuse(std::string_view name, const std::string& reason) {
  throw ReportError(fmt::format("{}: {}", name, reason));
}

}  // namespace

void require_result_document(const Json& document, std::string_view name) {
  if (document.is_array()) {
    refuse(name, "is a list, as kernwave headline writes; what is wanted is one result document (kernwave run --json)");
  }
  const Json* schema = document.is_object() ? document.find("schema") : nullptr;
  if (schema == nullptr) refuse(name, "is not a result document (kernwave run --json): it has no key \"schema\"");
  if (!schema->is_int() || schema->as_int() != result_schema) {
    refuse(name, fmt::format("has schema {}; this version reads schema {}", to_text(*schema, 0), result_schema));
  }
  for (const std::string_view key : result_keys) {
    if (document.find(key) == nullptr) {
      refuse(name, fmt::format("is not a whole result document: \"{}\" is missing", key));
    }
  }
  for (const std::string_view key : {"busy_ps", "stall_ps"}) {
    const Json& pes = document.at(key);
    if (!pes.is_object() || pes.size() == 0) {
      refuse(name, fmt::format("is not a result document: \"{}\" holds no PE", key));
    }
  }
}

}  // namespace kernwave::platform
