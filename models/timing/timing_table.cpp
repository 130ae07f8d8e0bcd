#include "models/timing/timing_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <stdexcept>
#include <utility>

#include "models/base/clock.h"
#include "models/pe/gemm_timing.h"
#include "models/pe/math_timing.h"
#include "models/protocol/descriptor.h"

namespace kernwave {

namespace {

/// What a table is asked for.
struct Lookup {
  const Descriptor* command = nullptr;  // of an engine
  Bytes bytes;                          // of a link's message
  bool follows = false;                 // its service begins in the instant in which the one before it ended
};

struct Axis {
  std::string_view name;
  std::int64_t (*of)(const Lookup&);
};

struct Condition {
  std::string_view name;
  std::vector<std::string> values;
  std::size_t (*of)(const Lookup&);  // the place of its value among those
};

struct Subject {
  std::string_view name;
  std::vector<Axis> axes;
  std::vector<Condition> conditions;
};

[[nodiscard]] GemmShape shape_of(const Lookup& lookup) { return kernwave::shape_of(lookup.command->gemm()); }
/// What a vector operation runs over.
[[nodiscard]] const ScratchOperand& worked_on(const Lookup& lookup) {
  const MathDescriptor& math = lookup.command->math();
  return is_reduction(math.op) ? math.in[0].tensor : math.out;
}

[[nodiscard]] std::vector<std::string> type_names() {
  std::vector<std::string> names;
  names.reserve(dtype_count);
  for (std::size_t i = 0; i < dtype_count; ++i) names.emplace_back(name_of(static_cast<DType>(i)));
  return names;
}

[[nodiscard]] std::vector<std::string> operation_names() {
  std::vector<std::string> names;
  names.reserve(math_operations.size());
  for (const MathOperation& operation : math_operations) names.emplace_back(operation.name);
  return names;
}

[[nodiscard]] std::vector<Subject> make_subjects() {
  const std::vector<std::string> truth{"false", "true"};
  std::vector<Subject> subjects(4);
  subjects[static_cast<std::size_t>(TimingSubject::gemm)] = {
      "gemm",
      {{"m", [](const Lookup& lookup) { return shape_of(lookup).m; }},
       {"k", [](const Lookup& lookup) { return shape_of(lookup).k; }},
       {"n", [](const Lookup& lookup) { return shape_of(lookup).n; }}},
      {{"type", type_names(),
        [](const Lookup& lookup) { return static_cast<std::size_t>(lookup.command->gemm().a.dtype); }},
       {"accumulates", truth, [](const Lookup& lookup) { return std::size_t{lookup.command->gemm().accumulate}; }},
       {"back_to_back", truth, [](const Lookup& lookup) { return std::size_t{lookup.follows}; }}}};
  subjects[static_cast<std::size_t>(TimingSubject::math)] = {
      "math",
      {{"elements", [](const Lookup& lookup) { return worked_on(lookup).elements(); }},
       {"rows", [](const Lookup& lookup) { return std::int64_t{worked_on(lookup).rows}; }},
       {"cols", [](const Lookup& lookup) { return std::int64_t{worked_on(lookup).cols}; }}},
      {{"operation", operation_names(),
        [](const Lookup& lookup) { return static_cast<std::size_t>(lookup.command->math().op); }},
       {"type", type_names(), [](const Lookup& lookup) { return static_cast<std::size_t>(worked_on(lookup).dtype); }},
       {"axis", {"0", "1"}, [](const Lookup& lookup) { return std::size_t{lookup.command->math().axis}; }},
       {"back_to_back", truth, [](const Lookup& lookup) { return std::size_t{lookup.follows}; }}}};
  subjects[static_cast<std::size_t>(TimingSubject::dma)] = {
      "dma",
      {{"bytes", [](const Lookup& lookup) { return lookup.command->dma().region.bytes().count(); }},
       {"rows", [](const Lookup& lookup) { return lookup.command->dma().region.coalesced().rows; }}},
      {{"channel", {"read", "write"}, [](const Lookup& lookup) {
          return std::size_t{lookup.command->engine == Engine::dma_write};
        }}}};
  subjects[static_cast<std::size_t>(TimingSubject::link)] = {
      "link", {{"bytes", [](const Lookup& lookup) { return lookup.bytes.count(); }}}, {}};
  return subjects;
}

[[nodiscard]] const Subject& subject_of(TimingSubject subject) {
  static const std::vector<Subject> subjects = make_subjects();
  return subjects[static_cast<std::size_t>(subject)];
}

template <typename Parts>
[[nodiscard]] auto& named(const Parts& parts, std::string_view name, const TimingTable& table, std::string_view what) {
  const auto found = std::find_if(parts.begin(), parts.end(), [name](const auto& part) { return part.name == name; });
  if (found != parts.end()) return *found;
  throw std::invalid_argument(fmt::format("{}: {} has no {} \"{}\"", table.name, name_of(table.subject), what, name));
}

/// A table as commands are looked up in it.
class ResolvedTable {
 public:
  explicit ResolvedTable(TimingTable table) : table_(std::move(table)) {
    const Subject& subject = subject_of(table_.subject);
    for (const TimingEntry& entry : table_.entries) {
      Entry resolved{{}, {}, &entry.grid};
      if (entry.axes.size() != entry.grid.axes()) {
        throw std::invalid_argument(
            fmt::format("{}: {} names for a grid of {} axes", table_.name, entry.axes.size(), entry.grid.axes()));
      }
      for (const std::string& axis : entry.axes) resolved.axes.push_back(&named(subject.axes, axis, table_, "axis"));
      for (const TimingEntry::Condition& condition : entry.conditions) {
        resolved.wants.push_back(wanted(named(subject.conditions, condition.name, table_, "condition"), condition));
      }
      entries_.push_back(std::move(resolved));
    }
  }

  // Entries point into the table.
  ResolvedTable(const ResolvedTable&) = delete;
  ResolvedTable& operator=(const ResolvedTable&) = delete;
  ~ResolvedTable() = default;

  /// What the table says of a command, in its unit, without its fixed part.
  struct Answer {
    enum class Kind : std::uint8_t { value, formula, refused } kind = Kind::refused;
    std::int64_t value = 0;
  };
  [[nodiscard]] Answer answer(const Lookup& lookup) const {
    const Entry* outside = nullptr;
    for (const Entry& entry : entries_) {
      if (!entry.is_for(lookup)) continue;
      const TimingGrid::Position position = entry.position(lookup);
      if (entry.grid->holds(position)) return {Answer::Kind::value, entry.grid->at(position)};
      if (outside == nullptr) outside = &entry;
    }
    if (table_.outside == OutsideTable::formula) return {Answer::Kind::formula};
    if (table_.outside == OutsideTable::refuse || outside == nullptr) return {Answer::Kind::refused};
    const TimingGrid::Position position = outside->position(lookup);
    const bool reaches = std::all_of(position.begin(), position.end(),
                                     [](std::int64_t at) { return at <= TimingGrid::most_coordinate; });
    return reaches ? Answer{Answer::Kind::value, outside->grid->at(position)} : Answer{Answer::Kind::refused};
  }
  [[noreturn]] void refuse(const Lookup& lookup) const {
    throw TimingError(fmt::format("{} has no time for {}", table_.name, description(lookup)));
  }

  [[nodiscard]] const TimingTable& table() const noexcept { return table_; }

 private:
  struct Want {
    const Condition* condition;
    std::size_t value;
  };
  struct Entry {
    std::vector<Want> wants;
    std::vector<const Axis*> axes;
    const TimingGrid* grid;

    [[nodiscard]] bool is_for(const Lookup& lookup) const {
      return std::all_of(wants.begin(), wants.end(),
                         [&lookup](const Want& want) { return want.condition->of(lookup) == want.value; });
    }
    [[nodiscard]] TimingGrid::Position position(const Lookup& lookup) const {
      TimingGrid::Position position{};
      for (std::size_t i = 0; i < axes.size(); ++i) position[i] = axes[i]->of(lookup);
      return position;
    }
  };

  [[nodiscard]] Want wanted(const Condition& condition, const TimingEntry::Condition& written) const {
    const auto found = std::find(condition.values.begin(), condition.values.end(), written.value);
    if (found == condition.values.end()) {
      throw std::invalid_argument(fmt::format("{}: {} is none of {}: \"{}\"", table_.name, written.name,
                                              fmt::join(condition.values, ", "), written.value));
    }
    return {&condition, static_cast<std::size_t>(found - condition.values.begin())};
  }

  /// "m = 4, k = 128, n = 512, type f16, accumulates false"
  [[nodiscard]] std::string description(const Lookup& lookup) const {
    const Subject& subject = subject_of(table_.subject);
    std::vector<std::string> parts;
    parts.reserve(subject.axes.size() + subject.conditions.size());
    for (const Axis& axis : subject.axes) parts.push_back(fmt::format("{} = {}", axis.name, axis.of(lookup)));
    for (const Condition& condition : subject.conditions) {
      parts.push_back(fmt::format("{} {}", condition.name, condition.values[condition.of(lookup)]));
    }
    return fmt::format("{}", fmt::join(parts, ", "));
  }

  TimingTable table_;
  std::vector<Entry> entries_;
};

/// Values of a table as times.
[[nodiscard]] Picoseconds time_of(std::int64_t value, TimingUnit unit, const Clock& clock) {
  return unit == TimingUnit::cycles ? clock(Cycles(value)) : Picoseconds(value);
}

/// By the table, or where it leaves that to the formula, by `formula` (of a command, and whether it follows another).
template <typename Formula>
class TabulatedService {
 public:
  TabulatedService(std::shared_ptr<const ResolvedTable> table, const Clock& clock, Formula formula)
      : table_(std::move(table)), clock_(clock), formula_(std::move(formula)) {}

  ServiceTime operator()(const Descriptor& command, ServiceStart start) const {
    const std::optional<Picoseconds> taken = time(command, start.back_to_back);
    if (!taken) table_->refuse({&command, Bytes(0), start.back_to_back});
    return {*taken, std::min(*taken, time(command, !start.back_to_back).value_or(*taken))};
  }

 private:
  /// Nothing where the table refuses the command.
  [[nodiscard]] std::optional<Picoseconds> time(const Descriptor& command, bool follows) const {
    using Kind = ResolvedTable::Answer::Kind;
    const ResolvedTable::Answer answer = table_->answer({&command, Bytes(0), follows});
    if (answer.kind == Kind::refused) return std::nullopt;
    if (answer.kind == Kind::formula) return clock_(formula_(command, follows));
    return time_of(answer.value + table_->table().fixed, table_->table().unit, clock_);
  }

  std::shared_ptr<const ResolvedTable> table_;
  Clock clock_;
  Formula formula_;
};

template <typename Formula>
[[nodiscard]] ServiceTiming service_timing(const std::shared_ptr<const ResolvedTable>& table, const Clock& clock,
                                           Formula formula) {
  const TimingTable& facts = table->table();
  return {facts.name, TabulatedService<Formula>(table, clock, std::move(formula)),
          facts.outside == OutsideTable::formula};
}

[[nodiscard]] ServiceTiming gemm_timing(const std::shared_ptr<const ResolvedTable>& table, const PeConfig& config) {
  const auto formula = [gemm = config.gemm, scratch = config.scratch](const Descriptor& command, bool follows) {
    return gemm_cycles(gemm, scratch, command.gemm(), follows ? GemmStart::back_to_back : GemmStart::after_idle);
  };
  return service_timing(table, Clock(gemm_clock(config)), formula);
}

[[nodiscard]] ServiceTiming math_timing(const std::shared_ptr<const ResolvedTable>& table, const PeConfig& config) {
  const auto formula = [math = config.math](const Descriptor& command, bool /*follows*/) {
    return math_cycles(math, command.math());
  };
  return service_timing(table, Clock(math_clock(config)), formula);
}

[[nodiscard]] TransferTiming dma_timing(const std::shared_ptr<const ResolvedTable>& table, const PeConfig& config) {
  const auto time = [table, clock = Clock(config.clock), setup = config.dma.setup, bandwidth = config.dma.bandwidth](
                        const Descriptor& command, Picoseconds /*start*/) {
    using Kind = ResolvedTable::Answer::Kind;
    const Lookup lookup{&command, Bytes(0), false};
    const ResolvedTable::Answer answer = table->answer(lookup);
    if (answer.kind == Kind::refused) table->refuse(lookup);
    if (answer.kind == Kind::formula) return TransferTime{setup, duration(command.dma().region.bytes(), bandwidth)};
    const TimingUnit unit = table->table().unit;
    return TransferTime{time_of(table->table().fixed, unit, clock), time_of(answer.value, unit, clock)};
  };
  return {table->table().name, time, table->table().outside == OutsideTable::formula};
}

}  // namespace

std::string_view name_of(TimingSubject subject) { return subject_of(subject).name; }

std::vector<std::string_view> timing_axes(TimingSubject subject) {
  std::vector<std::string_view> names;
  for (const Axis& axis : subject_of(subject).axes) names.push_back(axis.name);
  return names;
}

std::vector<std::string_view> timing_conditions(TimingSubject subject) {
  std::vector<std::string_view> names;
  for (const Condition& condition : subject_of(subject).conditions) names.push_back(condition.name);
  return names;
}

std::vector<std::string> timing_condition_values(TimingSubject subject, std::string_view condition) {
  for (const Condition& known : subject_of(subject).conditions) {
    if (known.name == condition) return known.values;
  }
  return {};
}

void apply(const TimingTable& table, PeConfig& config) {
  if (table.subject == TimingSubject::link) {
    throw std::invalid_argument(table.name + ": a table of links is none of a PE's engines");
  }
  const auto resolved = std::make_shared<const ResolvedTable>(table);
  if (table.subject == TimingSubject::gemm) config.gemm.timing = gemm_timing(resolved, config);
  if (table.subject == TimingSubject::math) config.math.timing = math_timing(resolved, config);
  if (table.subject == TimingSubject::dma) config.dma.timing = dma_timing(resolved, config);
}

LinkTiming link_timing(const TimingTable& table) {
  if (table.unit != TimingUnit::picoseconds || table.outside != OutsideTable::extrapolate) {
    throw std::invalid_argument(table.name + ": a table of links is in picoseconds, and extrapolates");
  }
  if (table.entries.empty()) throw std::invalid_argument(table.name + ": has no entry");
  auto resolved = std::make_shared<const ResolvedTable>(table);
  return {table.name,
          [resolved](Bytes bytes, Picoseconds /*start*/) {
            return Picoseconds(resolved->table().fixed + resolved->answer({nullptr, bytes, false}).value);
          },
          false};
}

}  // namespace kernwave
