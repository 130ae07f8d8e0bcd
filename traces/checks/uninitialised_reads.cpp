#include "traces/checks/uninitialised_reads.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "traces/checks/footprint.h"
#include "traces/checks/operation_text.h"

namespace kernwave::traces {

UninitialisedReads::UninitialisedReads(const System& system)
    : system_(system), scratch_(static_cast<std::size_t>(system.pe_count())) {}

ByteMarks& UninitialisedReads::written(PeId pe) {
  std::optional<ByteMarks>& marks = scratch_.at(static_cast<std::size_t>(pe.count()));
  if (!marks) marks.emplace(system_.pe(pe).scratch().capacity().count());
  return *marks;
}

void UninitialisedReads::scratch_allocated(PeId pe, const ScratchOperand& tensor) {
  ByteMarks& marks = written(pe);
  for_each_interval(tensor, [&marks](std::int64_t begin, std::int64_t count) { marks.unmark(begin, count); });
}

void UninitialisedReads::was_reset(PeId pe, const std::vector<Neighbour>& /*neighbours*/, Picoseconds /*at*/) {
  scratch_.at(static_cast<std::size_t>(pe.count())).reset();
}

void UninitialisedReads::submitted(const IssuedOperation& operation) {
  for_each_read(operation.descriptor, [&](const ScratchOperand& operand) { check_scratch(operation, operand); });
  for_each_region(operation.descriptor, [&](const HbmRegion& region, bool writes) {
    if (!writes) check_hbm(operation, region);
  });
  ByteMarks& marks = written(operation.descriptor.id.pe);
  for_each_write(operation.descriptor, [&marks](const ScratchOperand& result) {
    for_each_interval(result, [&marks](std::int64_t begin, std::int64_t count) { marks.mark(begin, count); });
  });
}

void UninitialisedReads::check_scratch(const IssuedOperation& operation, const ScratchOperand& operand) {
  const ByteMarks& marks = written(operation.descriptor.id.pe);
  std::optional<std::int64_t> first;
  for_each_interval(operand, [&](std::int64_t begin, std::int64_t count) {
    if (first) return;
    const std::int64_t found = marks.first_unmarked(begin, count);
    if (found < begin + count) first = found;
  });
  if (!first) return;
  note(operation, {operation.issued, operation.descriptor, operation.where, operand, HbmAddress(),
                   *first - operand.address.count()});
}

/// An address outside the memory is an error that the memory answers.
void UninitialisedReads::check_hbm(const IssuedOperation& operation, const HbmRegion& region) {
  const CubeId cube = region.base.cube();
  if (cube.count() >= system_.config().cubes) return;
  const Hbm& hbm = system_.cube(cube).hbm();
  const Bytes capacity = system_.config().hbm.capacity;
  std::optional<Bytes> first;
  for_each_interval(region, [&](std::int64_t begin, std::int64_t count) {
    if (first || Bytes(begin + count) > capacity) return;
    const Bytes found = hbm.first_unwritten(Bytes(begin), Bytes(count));
    if (found < Bytes(begin + count)) first = found;
  });
  if (!first) return;
  note(operation, {operation.issued, operation.descriptor, operation.where, std::nullopt, HbmAddress(cube, *first), 0});
}

bool UninitialisedReads::is_earlier(const Finding& a, const Finding& b) {
  const auto key = [](const Finding& one) {
    return std::make_tuple(one.issued.count(), one.operation.id.pe.count(), one.operation.id.sequence);
  };
  return key(a) < key(b);
}

void UninitialisedReads::note(const IssuedOperation& operation, const Finding& finding) {
  const auto [found, is_new] = by_line_.try_emplace({operation.where.file, operation.where.line}, finding);
  if (is_new) return;
  if (is_earlier(finding, found->second)) found->second = finding;
}

std::vector<std::string> UninitialisedReads::findings() const {
  std::vector<const Finding*> order;
  order.reserve(by_line_.size());
  for (const auto& [line, finding] : by_line_) order.push_back(&finding);
  std::sort(order.begin(), order.end(), [](const Finding* a, const Finding* b) { return is_earlier(*a, *b); });
  std::vector<std::string> texts;
  texts.reserve(order.size());
  for (const Finding* finding : order) {
    const std::string what =
        finding->operand ? fmt::format("its operand {}x{} {} in scratch, from byte {} of it on", finding->operand->rows,
                                       finding->operand->cols, name_of(finding->operand->dtype), finding->first)
                         : fmt::format("HBM of cube {}, from offset {:#x} on", finding->address.cube().count(),
                                       finding->address.offset().count());
    texts.push_back(
        fmt::format("{} reads what nobody has written: {}", operation_text(finding->operation, finding->where), what));
  }
  return texts;
}

}  // namespace kernwave::traces
