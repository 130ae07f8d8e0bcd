#include "platform/results/result_figures.h"

#include <fmt/format.h>

#include <algorithm>

#include "models/protocol/engine.h"
#include "platform/results/quotient.h"
#include "platform/results/recorded_machine.h"

namespace kernwave::platform {

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

std::int64_t active_pes(const Json& result) { return static_cast<std::int64_t>(numbers_of_active_pes(result).size()); }

std::vector<PeId> numbers_of_active_pes(const Json& result) {
  const std::int64_t latency = result.at("latency_ps").as_int();
  std::vector<PeId> active;
  std::int64_t number = 0;  // all PEs are there, in order
  for (const Json::Member& pe : result.at("stall_ps").as_object()) {
    if (pe.value.at("idle").as_int() < latency) active.emplace_back(number);
    ++number;
  }
  return active;
}

double gigabytes_per_second(const Json& result) {
  const Json& bytes = result.at("bytes");
  const std::int64_t moved = bytes.at("read").as_int() + bytes.at("written").as_int();
  return quotient(moved * 1000, result.at("latency_ps").as_int());
}

std::vector<BoundRow> bound_rows(const Json& result) {
  const std::int64_t latency = result.at("latency_ps").as_int();
  const Json& issued = result.at("bounds_ps").at("issued");
  std::vector<BoundRow> rows;
  for (const Json::Member& bound : result.at("bounds_ps").at("compulsory").as_object()) {
    BoundRow row{bound.key, bound.value.as_int(), issued.at(bound.key).as_int(), std::nullopt};
    if (row.compulsory == 0 && row.issued == 0) continue;
    if (row.compulsory != 0) row.multiple = quotient(latency, row.compulsory);
    rows.push_back(std::move(row));
  }
  return rows;
}

std::vector<EngineUse> engines_used(const Json& result) {
  const std::int64_t latency = result.at("latency_ps").as_int();
  const std::int64_t pes = active_pes(result);
  std::vector<EngineUse> rows;
  for (const Json::Member& engine : result.at("busy_ps").as_object().front().value.as_object()) {
    const std::string name(counts_of_engine(engine.key));
    const std::int64_t operations = result.at("counts").at(name).as_int();
    if (operations == 0) continue;
    const std::int64_t busy = pes == 0 ? 0 : busy_of(result, engine.key) / pes;
    rows.push_back({name, operations, busy, quotient(busy, latency)});
  }
  return rows;
}

std::vector<CauseRow> cause_rows(const Json& result) {
  const std::int64_t latency = result.at("latency_ps").as_int();
  const std::int64_t pes = active_pes(result);
  std::vector<CauseRow> rows;
  for (const Json::Member& cause : result.at("stall_ps").as_object().front().value.as_object()) {
    const std::int64_t sum = stalled_for(result, cause.key);
    if (sum == 0) continue;
    const std::int64_t time = sum / pes;
    rows.push_back({cause.key, time, quotient(time, latency)});
  }
  return rows;
}

std::vector<ChannelRow> channel_rows(const Json& result) {
  const double nanoseconds = static_cast<double>(result.at("latency_ps").as_int()) / 1000.0;
  if (nanoseconds <= 0.0) return {};
  const double peak = channel_bandwidth(recorded_machine(result)) / 1e9;
  std::vector<ChannelRow> rows;
  for (const Json::Member& cube : result.at("channels").as_object()) {
    const Json::Array& channels = cube.value.as_array();
    for (std::size_t first = 0, last = 0; first < channels.size(); first = last + 1) {
      const Json& channel = channels[first];
      last = first;
      while (last + 1 < channels.size() && channels[last + 1] == channel) ++last;
      ChannelRow row;
      row.name =
          first == last ? fmt::format("{} ch{}", cube.key, first) : fmt::format("{} ch{}-{}", cube.key, first, last);
      row.read = channel.at("read").as_int();
      row.written = channel.at("written").as_int();
      if (row.read + row.written == 0) continue;
      row.gigabytes_per_second = static_cast<double>(row.read + row.written) / nanoseconds;
      row.share_of_peak = row.gigabytes_per_second / peak;
      rows.push_back(std::move(row));
    }
  }
  return rows;
}

std::vector<LinkRow> link_rows(const Json& result) {
  const std::int64_t latency = result.at("latency_ps").as_int();
  std::vector<LinkRow> rows;
  for (const Json::Member& direction : result.at("links").as_object()) {
    const Json& links = direction.value;
    if (links.at("messages").as_int() == 0) continue;
    rows.push_back({direction.key, links.at("messages").as_int(), links.at("bytes").as_int(),
                    quotient(links.at("busiest_ps").as_int(), latency), links.at("in_flight_peak").as_int(),
                    links.at("in_flight_average").as_double()});
  }
  return rows;
}

}  // namespace kernwave::platform
