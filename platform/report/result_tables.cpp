#include "platform/report/result_tables.h"

#include <fmt/format.h>

#include <string>

#include "platform/results/quotient.h"
#include "platform/results/recorded_machine.h"
#include "platform/results/summary.h"

namespace kernwave::platform {

namespace {

[[nodiscard]] std::string percent(std::int64_t part, std::int64_t whole) {
  return fmt::format("{:.1f} %", 100.0 * quotient(part, whole));
}

[[nodiscard]] ReportTable bounds_table(const Json& result) {
  const std::int64_t latency = result.at("latency_ps").as_int();
  ReportTable table{"Lower bounds of the latency", {"resource", "compulsory", "issued", "latency / compulsory"}, {}};
  const Json& issued = result.at("bounds_ps").at("issued");
  for (const Json::Member& bound : result.at("bounds_ps").at("compulsory").as_object()) {
    const std::int64_t compulsory = bound.value.as_int();
    const std::int64_t of_issued = issued.at(bound.key).as_int();
    if (compulsory == 0 && of_issued == 0) continue;
    table.rows.push_back({bound.key, time_text(compulsory), time_text(of_issued),
                          compulsory == 0 ? "-" : fmt::format("{:.3f}", quotient(latency, compulsory))});
  }
  return table;
}

[[nodiscard]] ReportTable engines_table(const Json& result) {
  const std::int64_t latency = result.at("latency_ps").as_int();
  const std::int64_t pes = active_pes(result);
  ReportTable table{"Engines, per PE that worked", {"engine", "operations", "busy", "of the time"}, {}};
  if (pes == 0) return table;
  for (const Json::Member& engine : result.at("busy_ps").as_object().front().value.as_object()) {
    const std::string counted(counts_of_engine(engine.key));
    const std::int64_t operations = result.at("counts").at(counted).as_int();
    if (operations == 0) continue;
    const std::int64_t busy = busy_of(result, engine.key) / pes;
    table.rows.push_back({counted, fmt::format("{}", operations), time_text(busy), percent(busy, latency)});
  }
  return table;
}

[[nodiscard]] ReportTable stalls_table(const Json& result) {
  const std::int64_t latency = result.at("latency_ps").as_int();
  const std::int64_t pes = active_pes(result);
  ReportTable table{"Where the time went, per PE that worked", {"cause", "time", "of the time"}, {}};
  if (pes == 0) return table;
  for (const Json::Member& cause : result.at("stall_ps").as_object().front().value.as_object()) {
    const std::int64_t time = stalled_for(result, cause.key) / pes;
    if (time > 0) table.rows.push_back({cause.key, time_text(time), percent(time, latency)});
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
  const double nanoseconds = static_cast<double>(result.at("latency_ps").as_int()) / 1000.0;
  const double peak = channel_bandwidth(recorded_machine(result)) / 1e9;
  ReportTable table{"HBM channels, each", {"channels", "read B", "written B", "GB/s", "of the peak"}, {}};
  for (const Json::Member& cube : result.at("channels").as_object()) {
    const Json::Array& channels = cube.value.as_array();
    for (std::size_t first = 0; first < channels.size();) {
      std::size_t last = first;
      while (last + 1 < channels.size() && channels[last + 1] == channels[first]) ++last;
      const std::int64_t read = channels[first].at("read").as_int();
      const std::int64_t written = channels[first].at("written").as_int();
      const std::string name =
          first == last ? fmt::format("{} ch{}", cube.key, first) : fmt::format("{} ch{}-{}", cube.key, first, last);
      first = last + 1;
      if (read + written == 0 || nanoseconds <= 0.0) continue;
      const double rate = static_cast<double>(read + written) / nanoseconds;
      table.rows.push_back({name, fmt::format("{}", read), fmt::format("{}", written), fmt::format("{:.2f}", rate),
                            fmt::format("{:.1f} %", 100.0 * rate / peak)});
    }
  }
  return table;
}

[[nodiscard]] ReportTable links_table(const Json& result) {
  const std::int64_t latency = result.at("latency_ps").as_int();
  ReportTable table{"Links between PEs", {"direction", "messages", "sent B", "busiest link", "in flight at most"}, {}};
  for (const Json::Member& direction : result.at("links").as_object()) {
    const Json& links = direction.value;
    if (links.at("messages").as_int() == 0) continue;
    table.rows.push_back({direction.key, to_text(links.at("messages"), 0), to_text(links.at("bytes"), 0),
                          percent(links.at("busiest_ps").as_int(), latency), to_text(links.at("in_flight_peak"), 0)});
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
