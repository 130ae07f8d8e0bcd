#include "platform/report/result_tables.h"

#include <fmt/format.h>

#include <string>

#include "platform/results/result_figures.h"
#include "platform/text/units.h"

namespace kernwave::platform {

namespace {

[[nodiscard]] std::string percent(double share) { return fmt::format("{:.1f} %", 100.0 * share); }

[[nodiscard]] ReportTable bounds_table(const Json& result) {
  ReportTable table{"Lower bounds of the latency", {"resource", "compulsory", "issued", "latency / compulsory"}, {}};
  for (const BoundRow& bound : bound_rows(result)) {
    table.rows.push_back({bound.resource, time_text(bound.compulsory), time_text(bound.issued),
                          bound.multiple ? fmt::format("{:.3f}", *bound.multiple) : "-"});
  }
  return table;
}

[[nodiscard]] ReportTable engines_table(const Json& result) {
  ReportTable table{"Engines, per PE that worked", {"engine", "operations", "busy", "of the time"}, {}};
  for (const EngineUse& engine : engines_used(result)) {
    table.rows.push_back(
        {engine.name, fmt::format("{}", engine.operations), time_text(engine.busy), percent(engine.share)});
  }
  return table;
}

[[nodiscard]] ReportTable stalls_table(const Json& result) {
  ReportTable table{"Where the time went, per PE that worked", {"cause", "time", "of the time"}, {}};
  for (const CauseRow& cause : cause_rows(result)) {
    table.rows.push_back({cause.name, time_text(cause.time), percent(cause.share)});
  }
  return table;
}

[[nodiscard]] ReportTable work_table(const Json& result) {
  ReportTable table{"Work of all PEs", {"what", "how much"}, {}};
  const auto add = [&table](const Json& object, std::string_view unit) {
    for (const Json::Member& member : object.as_object()) {
      if (member.value.as_int() == 0) continue;
      table.rows.push_back({fmt::format("{}{}", member.key, unit), fmt::format("{}", member.value.as_int())});
    }
  };
  add(result.at("counts"), "");
  add(result.at("bytes"), " bytes");
  add(result.at("flops"), " flops");
  return table;
}

[[nodiscard]] ReportTable channels_table(const Json& result) {
  ReportTable table{"HBM channels, each", {"channels", "read B", "written B", "GB/s", "of the peak"}, {}};
  for (const ChannelRow& channel : channel_rows(result)) {
    table.rows.push_back({channel.name, fmt::format("{}", channel.read), fmt::format("{}", channel.written),
                          fmt::format("{:.2f}", channel.gigabytes_per_second), percent(channel.share_of_peak)});
  }
  return table;
}

[[nodiscard]] ReportTable links_table(const Json& result) {
  ReportTable table{"Links between PEs", {"direction", "messages", "sent B", "busiest link", "in flight at most"}, {}};
  for (const LinkRow& link : link_rows(result)) {
    table.rows.push_back({link.direction, fmt::format("{}", link.messages), fmt::format("{}", link.bytes),
                          percent(link.busiest_share), fmt::format("{}", link.in_flight_peak)});
  }
  return table;
}

[[nodiscard]] ReportTable values_table(const std::string& title, const Json& object) {
  ReportTable table{title, {"key", "value"}, {}, true};
  for (const Json::Member& member : object.as_object()) table.rows.push_back({member.key, value_text(member.value)});
  return table;
}

}  // namespace

std::string value_text(const Json& value) {
  constexpr std::size_t shown = 4;
  if (value.is_string()) return value.as_string();
  if (!value.is_array() || value.size() <= shown) return to_text(value, 0);
  return fmt::format("{} ... ({} values)", to_text(value.at(std::size_t{0}), 0), value.size());
}

std::vector<ReportTable> result_tables(const Json& result) {
  return {bounds_table(result),
          engines_table(result),
          stalls_table(result),
          work_table(result),
          channels_table(result),
          links_table(result),
          values_table("Shape", result.at("shape")),
          values_table("Configuration", result.at("config"))};
}

}  // namespace kernwave::platform
