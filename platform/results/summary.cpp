#include "platform/results/summary.h"

#include <fmt/format.h>

#include <iterator>
#include <vector>

#include "models/protocol/engine.h"
#include "platform/results/critical_path_document.h"
#include "platform/results/quotient.h"
#include "platform/results/result_figures.h"
#include "platform/text/units.h"

namespace kernwave::platform {

namespace {

using Output = std::back_insert_iterator<std::string>;

[[nodiscard]] std::string shape_text(const Json& shape) {
  std::string text;
  for (const Json::Member& member : shape.as_object()) {
    const Json& value = member.value;
    if (value.is_array() && value.size() > 4) {
      text += fmt::format("  {} {} ... ({} values)", member.key, to_text(value.at(std::size_t{0}), 0), value.size());
    } else {
      text += fmt::format("  {} {}", member.key, value.is_string() ? value.as_string() : to_text(value, 0));
    }
  }
  return text;
}

void add_head(Output out, const Json& result) {
  fmt::format_to(out, "{}  policy {}  data {}  preset {}\n", result.at("kernel").as_string(),
                 result.at("policy").as_string(), result.at("data").as_string(),
                 result.at("config").at("preset").as_string());
  fmt::format_to(out, " {}\n\n", shape_text(result.at("shape")));
  if (!is_complete(result)) {
    fmt::format_to(out, "{} before the end: everything below is of the time up to there\n\n",
                   result.at("reason").as_string());
  }
}

void add_latency(Output out, const Json& result) {
  const std::int64_t latency = result.at("latency_ps").as_int();
  if (!is_complete(result)) {
    fmt::format_to(out, "simulated   {}  ({} ps)\n\n", time_text(latency), latency);
    return;
  }
  const BindingBound bound = binding_bound(result);
  fmt::format_to(out, "latency     {}  ({} ps)\n", time_text(latency), latency);
  fmt::format_to(out, "bound       {} by {}: latency is {:.3f} x the bound\n\n", time_text(bound.picoseconds),
                 bound.resource, quotient(latency, bound.picoseconds));
}

void add_bounds(Output out, const Json& result) {
  fmt::format_to(out, "{:<15}{:>14}{:>14}{:>18}\n", "lower bounds", "compulsory", "issued", "latency/compuls.");
  for (const BoundRow& bound : bound_rows(result)) {
    const bool has_ratio = bound.multiple && is_complete(result);
    fmt::format_to(out, "  {:<13}{:>14}{:>14}{:>18}\n", bound.resource, time_text(bound.compulsory),
                   time_text(bound.issued), has_ratio ? fmt::format("{:.3f}", *bound.multiple) : "-");
  }
  fmt::format_to(out, "\n");
}

void add_engines(Output out, const Json& result) {
  fmt::format_to(out, "{:<15}{:>12}{:>14}{:>12}\n", "engines", "operations", "busy per PE", "% of time");
  for (const EngineUse& engine : engines_used(result)) {
    fmt::format_to(out, "  {:<13}{:>12}{:>14}{:>11.1f}%\n", engine.name, engine.operations, time_text(engine.busy),
                   100.0 * engine.share);
  }
  if (const std::int64_t composites = result.at("counts").at(row_of(Engine::composite).counted).as_int();
      composites > 0) {
    fmt::format_to(out, "  {} composites, which read {} tiles\n", composites,
                   result.at("counts").at("composite_read").as_int());
  }
  fmt::format_to(out, "  {} of {} PEs worked; {} flops GEMM, {} MATH\n\n", active_pes(result),
                 result.at("busy_ps").size(), result.at("flops").at(name_of(Engine::gemm)).as_int(),
                 result.at("flops").at(name_of(Engine::math)).as_int());
}

void add_stalls(Output out, const Json& result) {
  fmt::format_to(out, "{:<15}{:>14}{:>12}\n", "where time went", "per PE", "% of time");
  for (const CauseRow& cause : cause_rows(result)) {
    fmt::format_to(out, "  {:<13}{:>14}{:>11.1f}%\n", cause.name, time_text(cause.time), 100.0 * cause.share);
  }
  fmt::format_to(out, "\n");
}

void add_channels(Output out, const Json& result) {
  fmt::format_to(out, "{:<15}{:>14}{:>14}{:>14}{:>10}{:>12}\n", "each channel", "read B", "written B", "time ns",
                 "GB/s", "% of peak");
  const double nanoseconds = static_cast<double>(result.at("latency_ps").as_int()) / 1000.0;
  for (const ChannelRow& channel : channel_rows(result)) {
    fmt::format_to(out, "  {:<13}{:>14}{:>14}{:>14.3f}{:>10.2f}{:>11.1f}%\n", channel.name, channel.read,
                   channel.written, nanoseconds, channel.gigabytes_per_second, 100.0 * channel.share_of_peak);
  }
  fmt::format_to(out, "  no refresh and no row misses are modelled; hbm.efficiency = {} stands for them\n\n",
                 result.at("config").at("hbm.efficiency").as_string());
}

void add_links(Output out, const Json& result) {
  const std::vector<LinkRow> links = link_rows(result);
  if (links.empty()) return;
  fmt::format_to(out, "{:<15}{:>10}{:>14}{:>16}{:>14}{:>14}\n", "links", "messages", "sent B", "busiest link",
                 "in flight max", "average");
  for (const LinkRow& link : links) {
    fmt::format_to(out, "  {:<13}{:>10}{:>14}{:>15.1f}%{:>14}{:>14.2f}\n", link.direction, link.messages, link.bytes,
                   100.0 * link.busiest_share, link.in_flight_peak, link.in_flight_average);
  }
  fmt::format_to(out, "\n");
}

/// An infinite number is null in a document.
[[nodiscard]] std::string number_text(const Json& number) {
  return number.is_null() ? "infinite" : fmt::format("{:.1e}", number.as_double());
}

[[nodiscard]] std::string share_text(const Json& share) {
  if (share.is_null()) return "infinitely much";
  constexpr double many = 10.0;
  return share.as_double() < many ? fmt::format("{:.2g}%", 100.0 * share.as_double())
                                  : fmt::format("{:.1e} times", share.as_double());
}

[[nodiscard]] std::string bits_text(const Json& bitwise) {
  if (bitwise.is_null()) return "";
  return bitwise.as_bool() ? ", every bit as pinned" : ", not the pinned bits";
}

void add_rest(Output out, const Json& result) {
  const Json& error = result.at("error");
  if (!error.is_null()) {
    fmt::format_to(out, "error       max abs {}, max rel {} against float64, {} of its bound{}: {}\n",
                   number_text(error.at("max_abs")), relative_error_text(error), share_text(error.at("max_of_bound")),
                   bits_text(error.at("bitwise")), error.at("within_tolerance").as_bool() ? "right" : "WRONG");
  }
  const Json& scratch = result.at("scratch");
  const Json& host = result.at("host");
  fmt::format_to(out, "scratch     peak {} of {}\n", format_quantity(Bytes(scratch.at("peak_bytes").as_int())),
                 format_quantity(Bytes(scratch.at("capacity_bytes").as_int())));
  fmt::format_to(out, "host        {:.2f} s, {} operations, {:.0f} ns each, peak {:.0f} MiB\n",
                 host.at("seconds").as_double(), host.at("operations").as_int(),
                 host.at("ns_per_operation").as_double(),
                 static_cast<double>(host.at("peak_rss_bytes").as_int()) / (1024.0 * 1024.0));
}

}  // namespace

std::string relative_error_text(const Json& error) {
  if (error.at("has_nan").as_bool()) return "NaN";
  return number_text(error.at("max_rel"));
}

std::string summary(const Json& result) {
  std::string text;
  const Output out = std::back_inserter(text);
  add_head(out, result);
  add_latency(out, result);
  add_bounds(out, result);
  add_engines(out, result);
  add_stalls(out, result);
  if (const Json& path = result.at("critical_path"); !path.is_null()) text += critical_path_text(path);
  add_links(out, result);
  add_channels(out, result);
  add_rest(out, result);
  return text;
}

}  // namespace kernwave::platform
