#include "platform/config/engine_table.h"

#include <fmt/format.h>

#include <string_view>

#include "models/protocol/engine.h"

namespace kernwave::platform {

namespace {

[[nodiscard]] std::string_view service_text(EngineService service) noexcept {
  switch (service) {
    case EngineService::in_turn:
      return "one command at a time, in order";
    case EngineService::messages:
      return "messages, as many as its links carry";
    case EngineService::parts:
      return "by commands to other engines";
  }
  return "?";
}

}  // namespace

std::string engines_as_markdown() {
  std::string text = "| engine | what it is | doorbell | its operations | counted as | serves |\n";
  text += "|---|---|---|---|---|---|\n";
  for (const EngineRow& row : engine_rows) {
    text += fmt::format("| `{}` | {} | `{:#06x}` | `{}/{}` | `{}` | {} |\n", row.name, row.words, row.doorbell,
                        row.category, row.kind, row.counted, service_text(row.service));
  }
  return text;
}

}  // namespace kernwave::platform
