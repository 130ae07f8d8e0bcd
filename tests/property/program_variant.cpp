#include "tests/property/program_variant.h"

#include <fmt/format.h>

#include "platform/workload/hbm_tensor.h"
#include "tests/property/program_kernel.h"
#include "tests/support/same_value.h"

namespace kernwave::testing {

namespace {

[[nodiscard]] platform::HbmTensor tensor_of(const Area& area) {
  return {{CubeId(area.cube), Bytes(area.base)}, 1, area.elements, area.elements, area.dtype};
}

void count(const Descriptor& operation, OperationCounts& counts) {
  const bool part = operation.id.part > 0;
  switch (operation.engine) {
    case Engine::dma_read:
      ++(part ? counts.part_reads : counts.loads);
      return;
    case Engine::dma_write:
      ++counts.stores;
      return;
    case Engine::gemm:
      ++(part ? counts.part_products : counts.dots);
      return;
    case Engine::math:
      ++(part ? counts.part_steps : counts.maths);
      return;
    case Engine::ipcq:
      ++(operation.ipcq().action == IpcqAction::send ? counts.sends : counts.receives);
      return;
    case Engine::composite:
      ++counts.composites;
      return;
  }
}

}  // namespace

ProgramVariant::ProgramVariant(const std::string& name, const Program& program, tl::Policy policy, DataMode mode)
    : program_(program),
      policy_(policy),
      mode_(mode),
      path_(program.machine.config(), traces::CriticalPath::Detail::sums),
      system_(name.c_str(), program.machine.config(), mode, connector_) {
  observers_.add(log_);
  observers_.add(path_);
  if (mode == DataMode::none) observers_.add(told_at_the_instant_);
  system_.set_observer(&observers_);
  if (mode == DataMode::full) {
    const std::vector<std::vector<float>> data = initial_data(program);
    for (std::size_t i = 0; i < data.size(); ++i) platform::write(system_, tensor_of(program.areas[i]), data[i]);
  }
  launch(program, system_, policy);
}

std::string ProgramVariant::account() const {
  std::string text;
  for (std::int64_t id = 0; id < system_.pe_count(); ++id) {
    const StallAccount spent = system_.pe(PeId(id)).cpu().account();
    for (std::size_t i = 0; i < time_cause_count; ++i) {
      const auto cause = static_cast<TimeCause>(i);
      text += fmt::format("PE {} {} {}\n", id, name_of(cause), spent.of(cause).count());
    }
  }
  return text;
}

std::vector<std::string> ProgramVariant::problems(const Work& work) const {
  std::vector<std::string> problems;
  check_end(problems);
  if (finished()) {
    check_pes(problems);
    check_critical_path(problems);
    check_counts(work, problems);
    check_bounds(work, problems);
  }
  return problems;
}

void ProgramVariant::check_end(std::vector<std::string>& problems) const {
  for (const RunLedger::Failure& failure : system_.ledger().failures()) problems.push_back(failure.message);
  for (const std::string& violation : connector_.violations()) problems.push_back(violation);
  if (finished()) {
    if (connector_.in_flight() > 0) problems.emplace_back("payloads are in flight after the end");
    return;
  }
  for (std::int64_t id = 0; id < system_.pe_count(); ++id) {
    const PeCpu& cpu = system_.pe(PeId(id)).cpu();
    if (!cpu.drained()) problems.push_back("has not ended: " + cpu.describe_wait());
  }
}

void ProgramVariant::check_pes(std::vector<std::string>& problems) const {
  for (std::int64_t id = 0; id < system_.pe_count(); ++id) {
    const Pe& pe = system_.pe(PeId(id));
    const Picoseconds accounted = pe.cpu().account().total();
    const Picoseconds lived = pe.cpu().local_time();
    if (accounted != lived) {
      problems.push_back(fmt::format("PE {} lives {} ps, {} are accounted for", id, lived.count(), accounted.count()));
    }
    if (lived > latency()) problems.push_back(fmt::format("PE {} ends after the run", id));
    if (pe.scratch().peak() > pe.scratch().capacity()) {
      problems.push_back(fmt::format("PE {} uses {} B of {} B of scratch", id, pe.scratch().peak().count(),
                                     pe.scratch().capacity().count()));
    }
    const std::size_t payloads = pe.cpu().command_pool().in_use() + pe.scheduler().command_pool().in_use() +
                                 pe.dma().read().request_pool().in_use() + pe.dma().write().request_pool().in_use() +
                                 pe.ipcq().pool().in_use();
    if (payloads > 0) problems.push_back(fmt::format("{} payloads of PE {} are not back in their pools", payloads, id));
  }
}

void ProgramVariant::check_critical_path(std::vector<std::string>& problems) const {
  const traces::PathSummary path = path_.summary();
  Picoseconds by_cause;
  for (const Picoseconds time : path.causes) by_cause += time;
  Picoseconds by_line;
  for (const traces::PathSummary::Line& line : path.lines) by_line += line.total;
  if (path.latency != latency() || by_cause != latency() || by_line != latency()) {
    problems.push_back(fmt::format("of {} ps the critical path explains {}, {} by cause, {} by line", latency().count(),
                                   path.latency.count(), by_cause.count(), by_line.count()));
  }
  const Picoseconds unexplained = path.causes[static_cast<std::size_t>(traces::PathCause::unexplained)];
  if (unexplained != Picoseconds(0)) {
    problems.push_back(fmt::format("the critical path leaves {} ps unexplained", unexplained.count()));
  }
}

void ProgramVariant::check_counts(const Work& work, std::vector<std::string>& problems) const {
  std::vector<OperationCounts> counts(work.counts.size());
  for (const traces::OperationRow& row : log_.rows()) {
    count(row.descriptor, counts.at(static_cast<std::size_t>(row.descriptor.id.pe.count())));
  }
  for (std::size_t pe = 0; pe < counts.size(); ++pe) {
    if (counts[pe] == work.counts[pe]) continue;
    problems.push_back(fmt::format("PE {} has made {}, not {}", pe, to_text(counts[pe]), to_text(work.counts[pe])));
  }
}

void ProgramVariant::check_bounds(const Work& work, std::vector<std::string>& problems) const {
  for (const LowerBound& bound : work.bounds) {
    if (latency() >= bound.time) continue;
    problems.push_back(fmt::format("takes {} ps, less than the {} ps that {} needs", latency().count(),
                                   bound.time.count(), bound.resource));
  }
}

std::vector<std::string> ProgramVariant::wrong_data(const std::vector<std::vector<float>>& expected) const {
  std::vector<std::string> problems;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const std::vector<float> found = platform::read(system_, tensor_of(program_.areas[i]));
    std::size_t wrong = 0;
    std::size_t first = 0;
    for (std::size_t element = found.size(); element-- > 0;) {
      if (same_value(found[element], expected[i][element])) continue;
      ++wrong;
      first = element;
    }
    if (wrong == 0) continue;
    problems.push_back(fmt::format("{} elements of a{} are wrong; the first, a{} + {}, is {}, not {}", wrong, i, i,
                                   first, found[first], expected[i][first]));
  }
  return problems;
}

}  // namespace kernwave::testing
