#include "platform/results/result_document.h"

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <vector>

#include "platform/results/bounds.h"
#include "platform/version.h"

namespace kernwave::platform {

namespace {

[[nodiscard]] std::string pe_key(std::int64_t id) { return fmt::format("pe{}", id); }

[[nodiscard]] Json configuration_object(const Configuration& configuration) {
  Json object = Json::object({{"preset", configuration.preset}});
  for (const ConfigurationValue& value : configuration_values(configuration.system)) object[value.path] = value.value;
  return object;
}

[[nodiscard]] Json counts_object(const System& system) {
  std::int64_t composites = 0;
  std::int64_t composite_reads = 0;
  for (std::int64_t i = 0; i < system.pe_count(); ++i) {
    const CompositeStatistics& statistics = system.pe(PeId(i)).scheduler().composite_statistics();
    composites += statistics.composites;
    composite_reads += statistics.reads;
  }
  Json counts = Json::object();
  for (const EngineRow& row : system.engines()) {
    if (row.service == EngineService::parts) continue;
    std::int64_t sum = 0;
    for (std::int64_t i = 0; i < system.pe_count(); ++i) sum += system.pe(PeId(i)).statistics(row.engine).operations;
    counts[row.counted] = row.engine == Engine::dma_read ? sum - composite_reads : sum;
  }
  counts[row_of(Engine::composite).counted] = composites;
  counts["composite_read"] = composite_reads;
  return counts;
}

[[nodiscard]] Json bytes_object(const System& system) {
  Bytes read;
  Bytes written;
  Bytes sent;
  for (std::int64_t i = 0; i < system.pe_count(); ++i) {
    read += system.pe(PeId(i)).statistics(Engine::dma_read).bytes;
    written += system.pe(PeId(i)).statistics(Engine::dma_write).bytes;
    sent += system.pe(PeId(i)).statistics(Engine::ipcq).bytes;
  }
  return Json::object({{"read", read.count()}, {"written", written.count()}, {"sent", sent.count()}});
}

[[nodiscard]] Json flops_object(const System& system) {
  std::int64_t gemm = 0;
  std::int64_t math = 0;
  for (std::int64_t i = 0; i < system.pe_count(); ++i) {
    gemm += system.pe(PeId(i)).statistics(Engine::gemm).flops;
    math += system.pe(PeId(i)).statistics(Engine::math).flops;
  }
  return Json::object({{name_of(Engine::gemm), gemm}, {name_of(Engine::math), math}});
}

[[nodiscard]] Json bounds_object(const Bounds& bounds) {
  Json object = Json::object();
  for (std::size_t i = 0; i < resource_count; ++i) {
    object[name_of(static_cast<Resource>(i))] = bounds.times[i].count();
  }
  return object;
}

[[nodiscard]] Json busy_object(const System& system) {
  Json object = Json::object();
  for (std::int64_t i = 0; i < system.pe_count(); ++i) {
    Json engines = Json::object();
    for (const EngineRow& row : system.engines()) {
      if (row.service == EngineService::parts) continue;
      engines[row.name] = system.pe(PeId(i)).statistics(row.engine).busy.count();
    }
    object[pe_key(i)] = engines;
  }
  return object;
}

/// A program that was interrupted has no account of the wait that it was in.
[[nodiscard]] Json stall_object(const System& system, const traces::RunNote& note) {
  Json object = Json::object();
  for (std::int64_t i = 0; i < system.pe_count(); ++i) {
    const PeCpu& cpu = system.pe(PeId(i)).cpu();
    StallAccount account = cpu.account();
    const bool idle_since = !cpu.has_program() || cpu.drained();
    if (idle_since) account.add(TimeCause::idle, std::max(Picoseconds(0), note.end - account.total()));
    Json causes = Json::object();
    for (std::size_t cause = 0; cause < time_cause_count; ++cause) {
      causes[name_of(static_cast<TimeCause>(cause))] = account.of(static_cast<TimeCause>(cause)).count();
    }
    object[pe_key(i)] = causes;
  }
  return object;
}

[[nodiscard]] Json channels_object(const System& system) {
  Json cubes = Json::object();
  for (std::int64_t i = 0; i < system.config().cubes; ++i) {
    Json channels = Json::array();
    for (const ChannelStatistics& channel : system.cube(CubeId(i)).hbm().statistics()) {
      channels.push_back(Json::object({{"read", channel.read.count()}, {"written", channel.written.count()}}));
    }
    cubes[fmt::format("cube{}", i)] = channels;
  }
  return cubes;
}

/// Links of one direction, those that nothing was sent on included.
[[nodiscard]] Json direction_object(const System& system, Direction direction, Picoseconds end) {
  std::vector<const IpcqLink*> links;
  InFlightStatistics in_flight;
  for (std::int64_t i = 0; i < system.pe_count(); ++i) {
    const IpcqLink* link = system.queue_link(PeId(i), direction);
    if (link == nullptr) continue;
    if (std::find(links.begin(), links.end(), link) == links.end()) links.push_back(link);
    const InFlightStatistics& mine = system.pe(PeId(i)).ipcq().in_flight(direction);
    in_flight.most = std::max(in_flight.most, mine.most);
    in_flight.total = std::max(in_flight.total, mine.total);
  }
  LinkStatistics sum;
  Picoseconds busiest;
  for (const IpcqLink* link : links) {
    sum.messages += link->statistics().messages;
    sum.bytes += link->statistics().bytes;
    sum.busy += link->statistics().busy;
    busiest = std::max(busiest, link->statistics().busy);
  }
  const auto latency = static_cast<double>(std::max<std::int64_t>(1, end.count()));
  return Json::object({{"links", static_cast<std::int64_t>(links.size())},
                       {"messages", sum.messages},
                       {"bytes", sum.bytes.count()},
                       {"busy_ps", sum.busy.count()},
                       {"busiest_ps", busiest.count()},
                       {"in_flight_peak", in_flight.most},
                       {"in_flight_average", static_cast<double>(in_flight.total.count()) / latency}});
}

[[nodiscard]] Json links_object(const System& system, Picoseconds end) {
  Json object = Json::object();
  for (std::size_t i = 0; i < direction_count; ++i) {
    const auto direction = static_cast<Direction>(i);
    object[name_of(direction)] = direction_object(system, direction, end);
  }
  return object;
}

[[nodiscard]] Json error_object(const RunRequest& request, const Workload& workload, const System& system) {
  if (request.data == DataMode::none) return nullptr;
  const NumericError error = workload.verify(system);
  Json first_wrong = nullptr;
  if (error.first_wrong) {
    const WrongElement& wrong = *error.first_wrong;
    first_wrong = Json::object({{"where", wrong.where}, {"output", wrong.output}, {"expected", wrong.expected}});
  }
  return Json::object({{"max_abs", error.max_abs},
                       {"max_rel", error.max_rel},
                       {"max_of_bound", error.max_of_bound},
                       {"has_nan", error.has_nan},
                       {"reference", "float64"},
                       {"bitwise", error.bitwise ? Json(*error.bitwise) : Json(nullptr)},
                       {"wrong_elements", error.wrong},
                       {"first_wrong", first_wrong},
                       {"within_tolerance", error.is_right()}});
}

/// Of the PE whose scratch was the fullest.
[[nodiscard]] Json scratch_object(const System& system) {
  const PeScratch* fullest = &system.pe(PeId(0)).scratch();
  for (std::int64_t i = 1; i < system.pe_count(); ++i) {
    const PeScratch& other = system.pe(PeId(i)).scratch();
    const Int128 its_share = Int128{other.peak().count()} * fullest->capacity().count();
    if (its_share > Int128{fullest->peak().count()} * other.capacity().count()) fullest = &other;
  }
  return Json::object({{"peak_bytes", fullest->peak().count()}, {"capacity_bytes", fullest->capacity().count()}});
}

/// Of the configuration; those of the run come behind.
[[nodiscard]] Json sentences_array(const std::vector<std::string>& sentences) {
  Json array = Json::array();
  for (const std::string& sentence : sentences) array.push_back(sentence);
  return array;
}

[[nodiscard]] Json host_object(const System& system, double seconds) {
  std::int64_t operations = 0;
  for (std::int64_t i = 0; i < system.pe_count(); ++i) operations += system.pe(PeId(i)).cpu().operations();
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  constexpr std::int64_t kibibyte = 1024;
  return Json::object({{"seconds", seconds},
                       {"operations", operations},
                       {"ns_per_operation", operations == 0 ? 0.0 : seconds * 1e9 / static_cast<double>(operations)},
                       {"peak_rss_bytes", usage.ru_maxrss * kibibyte}});
}

}  // namespace

Json result_document(const RunRequest& request, const Workload& workload, const System& system,
                     const traces::RunNote& note, double host_seconds) {
  const Json shape = workload.shape();
  Json document = Json::object({{"schema", result_schema},
                                {"version", version()},
                                {"revision", source_revision()},
                                {"command", request.command},
                                {"config", configuration_object(request.configuration)},
                                {"kernel", request.kernel},
                                {"shape", shape},
                                {"policy", tl::name_of(request.policy)},
                                {"data", request.data == DataMode::full ? "full" : "none"},
                                {"complete", note.complete},
                                {"reason", note.complete ? Json(nullptr) : Json(note.reason)},
                                {"latency_ps", note.end.count()},
                                {"counts", counts_object(system)},
                                {"bytes", bytes_object(system)},
                                {"flops", flops_object(system)}});
  document["bounds_ps"] =
      Json::object({{"compulsory", bounds_object(compulsory_bounds(system, workload.compulsory(), workload.dtype()))},
                    {"issued", bounds_object(issued_bounds(system))}});
  document["busy_ps"] = busy_object(system);
  document["stall_ps"] = stall_object(system, note);
  document["channels"] = channels_object(system);
  document["links"] = links_object(system, note.end);
  document["critical_path"] = nullptr;
  document["error"] = note.complete ? error_object(request, workload, system) : Json(nullptr);
  document["warnings"] = sentences_array(request.configuration.warnings);
  document["notes"] = sentences_array(request.configuration.notes);
  document["scratch"] = scratch_object(system);
  document["host"] = host_object(system, host_seconds);
  return document;
}

}  // namespace kernwave::platform
