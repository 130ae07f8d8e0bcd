#include "platform/results/summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>

#include "models/protocol/engine.h"
#include "platform/results/critical_path_document.h"
#include "platform/results/quotient.h"
#include "platform/results/recorded_machine.h"
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
  const std::int64_t latency = result.at("latency_ps").as_int();
  const Json& compulsory = result.at("bounds_ps").at("compulsory");
  const Json& issued = result.at("bounds_ps").at("issued");
  fmt::format_to(out, "{:<15}{:>14}{:>14}{:>18}\n", "lower bounds", "compulsory", "issued", "latency/compuls.");
  for (const Json::Member& member : compulsory.as_object()) {
    const std::int64_t time = member.value.as_int();
    const std::int64_t of_issued = issued.at(member.key).as_int();
    if (time == 0 && of_issued == 0) continue;
    const bool no_ratio = time == 0 || !is_complete(result);
    fmt::format_to(out, "  {:<13}{:>14}{:>14}{:>18}\n", member.key, time_text(time), time_text(of_issued),
                   no_ratio ? "-" : fmt::format("{:.3f}", quotient(latency, time)));
  }
  fmt::format_to(out, "\n");
}

void add_engines(Output out, const Json& result) {
  const std::int64_t latency = result.at("latency_ps").as_int();
  const std::int64_t pes = active_pes(result);
  fmt::format_to(out, "{:<15}{:>12}{:>14}{:>12}\n", "engines", "operations", "busy per PE", "% of time");
  for (const Json::Member& engine : result.at("busy_ps").as_object().front().value.as_object()) {
    const std::string_view name = counts_of_engine(engine.key);
    const std::int64_t operations = result.at("counts").at(name).as_int();
    if (operations == 0) continue;
    const std::int64_t busy = pes == 0 ? 0 : busy_of(result, engine.key) / pes;
    fmt::format_to(out, "  {:<13}{:>12}{:>14}{:>11.1f}%\n", name, operations, time_text(busy),
                   100.0 * quotient(busy, latency));
  }
  if (const std::int64_t composites = result.at("counts").at(row_of(Engine::composite).counted).as_int();
      composites > 0) {
    fmt::format_to(out, "  {} composites, which read {} tiles\n", composites,
                   result.at("counts").at("composite_read").as_int());
  }
  fmt::format_to(out, "  {} of {} PEs worked; {} flops GEMM, {} MATH\n\n", pes, result.at("busy_ps").size(),
                 result.at("flops").at(name_of(Engine::gemm)).as_int(),
                 result.at("flops").at(name_of(Engine::math)).as_int());
}

void add_stalls(Output out, const Json& result) {
  const std::int64_t latency = result.at("latency_ps").as_int();
  const std::int64_t pes = active_pes(result);
  fmt::format_to(out, "{:<15}{:>14}{:>12}\n", "where time went", "per PE", "% of time");
  for (const Json::Member& cause : result.at("stall_ps").as_object().front().value.as_object()) {
    const std::int64_t sum = stalled_for(result, cause.key);
    if (sum == 0) continue;
    fmt::format_to(out, "  {:<13}{:>14}{:>11.1f}%\n", cause.key, time_text(sum / pes),
                   100.0 * quotient(sum / pes, latency));
  }
  fmt::format_to(out, "\n");
}

void add_channels(Output out, const Json& result) {
  const std::int64_t latency = result.at("latency_ps").as_int();
  const double peak = channel_bandwidth(recorded_machine(result)) / 1e9;
  fmt::format_to(out, "{:<15}{:>14}{:>14}{:>14}{:>10}{:>12}\n", "each channel", "read B", "written B", "time ns",
                 "GB/s", "% of peak");
  const double nanoseconds = static_cast<double>(latency) / 1000.0;
  for (const Json::Member& cube : result.at("channels").as_object()) {
    const Json::Array& channels = cube.value.as_array();
    for (std::size_t first = 0; first < channels.size();) {
      const Json& channel = channels[first];
      std::size_t last = first;
      while (last + 1 < channels.size() && channels[last + 1] == channel) ++last;
      const std::int64_t read = channel.at("read").as_int();
      const std::int64_t written = channel.at("written").as_int();
      const std::string name =
          first == last ? fmt::format("{} ch{}", cube.key, first) : fmt::format("{} ch{}-{}", cube.key, first, last);
      first = last + 1;
      if (read + written == 0) continue;
      const double rate = static_cast<double>(read + written) / nanoseconds;
      fmt::format_to(out, "  {:<13}{:>14}{:>14}{:>14.3f}{:>10.2f}{:>11.1f}%\n", name, read, written, nanoseconds, rate,
                     100.0 * rate / peak);
    }
  }
  fmt::format_to(out, "  no refresh and no row misses are modelled; hbm.efficiency = {} stands for them\n\n",
                 result.at("config").at("hbm.efficiency").as_string());
}

void add_links(Output out, const Json& result) {
  const std::int64_t latency = result.at("latency_ps").as_int();
  if (result.at("counts").at(row_of(Engine::ipcq).counted).as_int() == 0) return;
  fmt::format_to(out, "{:<15}{:>10}{:>14}{:>16}{:>14}{:>14}\n", "links", "messages", "sent B", "busiest link",
                 "in flight max", "average");
  for (const Json::Member& direction : result.at("links").as_object()) {
    const Json& links = direction.value;
    if (links.at("messages").as_int() == 0) continue;
    fmt::format_to(out, "  {:<13}{:>10}{:>14}{:>15.1f}%{:>14}{:>14.2f}\n", direction.key, links.at("messages").as_int(),
                   links.at("bytes").as_int(), 100.0 * quotient(links.at("busiest_ps").as_int(), latency),
                   links.at("in_flight_peak").as_int(), links.at("in_flight_average").as_double());
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

std::string time_text(std::int64_t picoseconds) {
  struct Unit {
    std::int64_t size;
    const char* name;
  };
  constexpr std::array<Unit, 5> units = {
      {{1'000'000'000'000, "s"}, {1'000'000'000, "ms"}, {1'000'000, "us"}, {1'000, "ns"}, {1, "ps"}}};
  for (const Unit& unit : units) {
    if (picoseconds >= unit.size && unit.size > 1) {
      return fmt::format("{:.3f} {}", static_cast<double>(picoseconds) / static_cast<double>(unit.size), unit.name);
    }
  }
  return fmt::format("{} ps", picoseconds);
}

std::string relative_error_text(const Json& error) {
  if (error.at("has_nan").as_bool()) return "NaN";
  return number_text(error.at("max_rel"));
}

BindingBound binding_bound(const Json& result) {
  BindingBound bound;
  for (const Json::Member& member : result.at("bounds_ps").at("compulsory").as_object()) {
    if (member.key == "gemm_ideal") continue;  // gemm_dataflow is at least as long
    if (member.value.as_int() > bound.picoseconds) bound = {member.key, member.value.as_int()};
  }
  return bound;
}

bool is_complete(const Json& result) {
  const Json* complete = result.find("complete");
  return complete == nullptr || complete->as_bool();
}

std::string_view counts_of_engine(std::string_view engine) noexcept {
  for (const EngineRow& row : engine_rows) {
    if (row.name == engine) return row.counted;
  }
  return engine;  // one that was added to the machine
}

std::int64_t busy_of(const Json& result, std::string_view engine) {
  std::int64_t sum = 0;
  for (const Json::Member& pe : result.at("busy_ps").as_object()) sum += pe.value.at(engine).as_int();
  return sum;
}

std::int64_t stalled_for(const Json& result, std::string_view cause) {
  const std::int64_t latency = result.at("latency_ps").as_int();
  std::int64_t sum = 0;
  for (const Json::Member& pe : result.at("stall_ps").as_object()) {
    const bool worked = pe.value.at("idle").as_int() < latency;
    if (worked) sum += pe.value.at(cause).as_int();
  }
  return sum;
}

std::int64_t active_pes(const Json& result) {
  const std::int64_t latency = result.at("latency_ps").as_int();
  const Json::Object& pes = result.at("stall_ps").as_object();
  return std::count_if(pes.begin(), pes.end(),
                       [latency](const Json::Member& pe) { return pe.value.at("idle").as_int() < latency; });
}

double gigabytes_per_second(const Json& result) {
  const Json& bytes = result.at("bytes");
  const std::int64_t moved = bytes.at("read").as_int() + bytes.at("written").as_int();
  return quotient(moved * 1000, result.at("latency_ps").as_int());
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
