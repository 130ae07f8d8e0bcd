#include "platform/config/configuration.h"

#include <fmt/format.h>

// toml++ asserts, or with NDEBUG lets the compiler assume, that a name begins after "[". That is for the author of the
// text to say, and the library goes on to check it.
#undef NDEBUG
#define TOML_ASSERT(expression) static_assert(true)
#include <toml++/toml.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string_view>
#include <system_error>
#include <type_traits>
#include <utility>
#include <variant>

#include "models/base/exact_time.h"
#include "platform/config/presets.h"
#include "platform/config/units.h"
#include "platform/files.h"

namespace kernwave::platform {
namespace {

// ---- values as they are written -------------------------------------------------------------------------------

/// What no key takes: a table, an array, a date. Holds its name for messages.
struct Unsupported {
  std::string_view what;
};

using Value = std::variant<bool, std::int64_t, double, std::string, Unsupported>;

std::string describe(const Value& value) {
  struct Description {
    std::string operator()(bool flag) const { return flag ? "true" : "false"; }
    std::string operator()(std::int64_t number) const { return fmt::format("the integer {}", number); }
    std::string operator()(double number) const { return fmt::format("the number {:#}", number); }
    std::string operator()(const std::string& text) const { return fmt::format("the text {}", in_quotes(text)); }
    std::string operator()(Unsupported unsupported) const { return std::string(unsupported.what); }
  };
  return std::visit(Description{}, value);
}

Value value_of(const toml::node& node) {
  switch (node.type()) {
    case toml::node_type::string:
      return node.ref<std::string>();
    case toml::node_type::integer:
      return node.ref<std::int64_t>();
    case toml::node_type::floating_point:
      return node.ref<double>();
    case toml::node_type::boolean:
      return node.ref<bool>();
    case toml::node_type::table:
      return Unsupported{"a table"};
    case toml::node_type::array:
      return Unsupported{"an array"};
    default:
      return Unsupported{"a date or time"};
  }
}

template <typename Number>
std::optional<Number> number_of(std::string_view text) noexcept {
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return number;
}

/// The value part of an override. What is neither a number nor a truth value is text, quoted or not.
Value value_of(std::string_view text) {
  if (text == "true") return true;
  if (text == "false") return false;
  if (const auto integer = number_of<std::int64_t>(text)) return *integer;
  if (const auto number = number_of<double>(text)) return *number;
  const bool is_quoted = text.size() >= 2 && text.front() == text.back() && (text[0] == '"' || text[0] == '\'');
  return std::string(is_quoted ? text.substr(1, text.size() - 2) : text);
}

// ---- the members of SystemConfig --------------------------------------------------------------------------------

// Every member is an integer at heart (a count, a Quantity, an enumerator, a truth value): the table of keys handles
// them all as one.

template <typename T>
std::int64_t to_count(T value) noexcept {
  return static_cast<std::int64_t>(value);
}

template <typename Unit>
std::int64_t to_count(Quantity<Unit> quantity) noexcept {
  return quantity.count();
}

struct Member {
  std::int64_t (*get)(const SystemConfig&);
  void (*set)(SystemConfig&, std::int64_t);
};

/// The member at the end of a path of pointers to members, from SystemConfig on.
template <auto... path>
struct MemberAt {
  static std::int64_t get(const SystemConfig& system) { return to_count((system.*....*path)); }

  static void set(SystemConfig& system, std::int64_t count) {
    auto& member = (system.*....*path);
    member = static_cast<std::decay_t<decltype(member)>>(count);
  }
};

template <auto... path>
constexpr Member system_member{&MemberAt<path...>::get, &MemberAt<path...>::set};

template <auto... path>
constexpr Member pe_member = system_member<&SystemConfig::pe, path...>;
template <auto member>
constexpr Member issue_member = pe_member<&PeConfig::issue, member>;
template <auto member>
constexpr Member scheduler_member = pe_member<&PeConfig::scheduler, member>;
template <auto member>
constexpr Member gemm_member = pe_member<&PeConfig::gemm, member>;
template <auto... path>
constexpr Member math_member = pe_member<&PeConfig::math, path...>;
template <auto member>
constexpr Member math_cycles_member = math_member<&MathConfig::cycles, member>;
template <auto member>
constexpr Member scratch_member = pe_member<&PeConfig::scratch, member>;
template <auto member>
constexpr Member dma_member = pe_member<&PeConfig::dma, member>;
template <auto member>
constexpr Member ipcq_member = pe_member<&PeConfig::ipcq, member>;
template <auto member>
constexpr Member hbm_member = system_member<&SystemConfig::hbm, member>;
template <auto member>
constexpr Member interconnect_member = system_member<&SystemConfig::interconnect, member>;

// ---- types of keys ----------------------------------------------------------------------------------------------

struct Key;

struct Type {
  std::string_view name;                                 ///< "a bandwidth"
  std::string_view expected;                             ///< with an example; what a value of the wrong type is told
  bool is_text;                                          ///< written in quotes
  std::int64_t (*read)(const Key&, const Value&);        ///< throws ParseError
  std::string (*print)(const Key&, std::int64_t value);  ///< without quotes
  std::string (*allowed)(const Key&);
};

/// In the base unit of the key's type, both included.
struct Limits {
  std::int64_t min;
  std::int64_t max;
};

constexpr Limits between(std::int64_t min, std::int64_t max) noexcept { return Limits{min, max}; }

/// Names in the order of the enumerators; empty at the end.
using Choices = std::array<std::string_view, 3>;

struct Key {
  std::string_view path;
  const Type& type;
  Limits limits;
  Member member;
  std::string_view description;
  Choices choices{};
  bool is_power_of_two = false;
  std::string_view word_for_zero{};  ///< allowed besides the limits, stands for 0
};

ParseError wrong_type(const Key& key, const Value& value) {
  return ParseError(fmt::format("expected {}, got {}", key.type.expected, describe(value)));
}

/// `count`, if it is within the limits of the key. `shown` is the value as the user wrote it.
std::int64_t within_limits(const Key& key, std::int64_t count, std::string_view shown) {
  if (count < key.limits.min || count > key.limits.max) throw ParseError(fmt::format("{} is out of range", shown));
  if (key.is_power_of_two && (count & (count - 1)) != 0) throw ParseError(fmt::format("{} is no power of two", shown));
  return count;
}

std::string allowed_range(const Key& key) {
  const std::string first = key.type.print(key, key.limits.min);
  const std::string last = key.type.print(key, key.limits.max);
  std::string range = fmt::format("{} to {}", first, last);
  if (key.is_power_of_two) range = fmt::format("powers of two from {}", range);
  return key.word_for_zero.empty() ? range : fmt::format("{}, or {}", key.word_for_zero, range);
}

std::int64_t read_integer(const Key& key, const Value& value) {
  const auto* const count = std::get_if<std::int64_t>(&value);
  if (count == nullptr) throw wrong_type(key, value);
  return within_limits(key, *count, std::to_string(*count));
}

std::string print_integer(const Key&, std::int64_t value) { return std::to_string(value); }

template <auto parse>
std::int64_t read_quantity(const Key& key, const Value& value) {
  const auto* const text = std::get_if<std::string>(&value);
  if (text == nullptr) throw wrong_type(key, value);
  if (!key.word_for_zero.empty() && *text == key.word_for_zero) return 0;
  return within_limits(key, to_count(parse(*text)), in_quotes(*text));
}

template <typename Q>
std::string print_quantity(const Key& key, std::int64_t value) {
  return value == 0 && !key.word_for_zero.empty() ? std::string(key.word_for_zero) : format_quantity(Q(value));
}

std::string print_bytes_per_cycle(const Key&, std::int64_t value) { return format_bytes_per_cycle(value); }

/// TOML gives a ratio as a double; the decimal that was written is the nearest one of at most six digits.
std::int64_t read_ratio(const Key& key, const Value& value) {
  const auto* const integer = std::get_if<std::int64_t>(&value);
  const auto* const number = std::get_if<double>(&value);
  if (integer == nullptr && number == nullptr) throw wrong_type(key, value);
  constexpr double million = 1e6;
  const double ratio = integer != nullptr ? static_cast<double>(*integer) : *number;
  const bool is_in_range = ratio > 0 && ratio <= static_cast<double>(key.limits.max) / million;
  if (!is_in_range) throw ParseError(fmt::format("{} is out of range", ratio));
  const std::int64_t millionths = std::llround(ratio * million);
  constexpr double rounding = 1e-8;
  if (std::abs(ratio * million - static_cast<double>(millionths)) > rounding) {
    throw ParseError(fmt::format("{} has more than six decimals", ratio));
  }
  return within_limits(key, millionths, fmt::format("{}", ratio));
}

std::string print_ratio(const Key&, std::int64_t value) { return format_millionths(value); }

std::int64_t read_boolean(const Key& key, const Value& value) {
  const auto* const flag = std::get_if<bool>(&value);
  if (flag == nullptr) throw wrong_type(key, value);
  return *flag ? 1 : 0;
}

std::string print_boolean(const Key&, std::int64_t value) { return value != 0 ? "true" : "false"; }

std::string allowed_booleans(const Key&) { return "true, false"; }

std::vector<std::string> names_of(const Choices& choices) {
  std::vector<std::string> names;
  for (const std::string_view choice : choices) {
    if (!choice.empty()) names.emplace_back(choice);
  }
  return names;
}

std::string did_you_mean(std::string_view text, const std::vector<std::string>& candidates) {
  const std::optional<std::string> nearest = nearest_name(text, candidates);
  return nearest ? fmt::format("; did you mean \"{}\"?", *nearest) : "";
}

std::int64_t read_choice(const Key& key, const Value& value) {
  const auto* const text = std::get_if<std::string>(&value);
  if (text == nullptr) throw wrong_type(key, value);
  const std::vector<std::string> names = names_of(key.choices);
  const auto found = std::find(names.begin(), names.end(), *text);
  if (found != names.end()) return found - names.begin();
  throw ParseError(fmt::format("{} is not a choice{}", in_quotes(*text), did_you_mean(*text, names)));
}

std::string print_choice(const Key& key, std::int64_t value) {
  return std::string(key.choices.at(static_cast<std::size_t>(value)));
}

std::string allowed_choices(const Key& key) { return fmt::format("{}", fmt::join(names_of(key.choices), ", ")); }

constexpr Type integer_type{"an integer", "an integer", false, &read_integer, &print_integer, &allowed_range};
constexpr Type cycles_type{
    "an integer number of cycles", "an integer number of cycles", false, &read_integer, &print_integer, &allowed_range};
constexpr Type bandwidth_type{"a bandwidth",
                              R"(a bandwidth such as "819.2 GB/s")",
                              true,
                              &read_quantity<&parse_bandwidth>,
                              &print_quantity<Bandwidth>,
                              &allowed_range};
constexpr Type bytes_per_cycle_type{"bytes per cycle",
                                    R"(bytes per cycle such as "512 B/cycle")",
                                    true,
                                    &read_quantity<&parse_bytes_per_cycle>,
                                    &print_bytes_per_cycle,
                                    &allowed_range};
constexpr Type time_type{
    "a time",      R"(a time such as "20 ns")", true, &read_quantity<&parse_time>, &print_quantity<Picoseconds>,
    &allowed_range};
constexpr Type size_type{
    "a size", R"(a size such as "1 MiB")", true, &read_quantity<&parse_size>, &print_quantity<Bytes>, &allowed_range};
constexpr Type frequency_type{"a frequency",
                              R"(a frequency such as "1.3 GHz")",
                              true,
                              &read_quantity<&parse_frequency>,
                              &print_quantity<Frequency>,
                              &allowed_range};
constexpr Type ratio_type{
    "a number of at most six decimals", "a number such as 0.86", false, &read_ratio, &print_ratio, &allowed_range};
constexpr Type boolean_type{"true or false", "true or false", false, &read_boolean, &print_boolean, &allowed_booleans};
constexpr Type choice_type{"a name", "a name", true, &read_choice, &print_choice, &allowed_choices};

// ---- the keys ---------------------------------------------------------------------------------------------------

constexpr std::int64_t ps_per_us = 1'000'000;
constexpr std::int64_t ps_per_ms = 1'000'000'000;
constexpr std::int64_t ps_per_s = 1'000'000'000'000;
constexpr std::int64_t kib = std::int64_t{1} << 10;
constexpr std::int64_t gib = std::int64_t{1} << 30;

// The limits keep every product of the model inside its integers: the slowest stream of the largest memory (1 TiB at
// 1 MB/s) lasts 1.1e18 ps. Modules that choose among inputs need a latency of at least 1 ps, hence the minima of
// pe.scheduler.dispatch, hbm.latency and interconnect.latency.
constexpr std::int64_t min_bytes_per_second = 1'000'000;
constexpr Limits bandwidth_limits{min_bytes_per_second, 1'000'000'000'000'000};
constexpr Limits queue_limits{1, 65'536};
constexpr Limits array_limits{1, 65'536};
constexpr Limits cost_limits{0, 1'000'000};
constexpr Limits cycle_limits{1, 1'000'000};
constexpr Limits no_limits{0, 0};
constexpr Choices no_choices{};
constexpr Choices dataflow_names{"ideal", "weight_stationary", "output_stationary"};
constexpr Choices fold_names{"serial", "overlapped"};
constexpr Choices topology_names{"ring", "line", "mesh"};

/// In the order in which documentation and to_toml() show them; the keys of one table are contiguous.
constexpr std::array keys{
    Key{"system.cubes", integer_type, between(1, 1'024), system_member<&SystemConfig::cubes>, "HBM cubes"},
    Key{"system.pes_per_cube", integer_type, between(1, 256), system_member<&SystemConfig::pes_per_cube>,
        "processing elements on the base die of each cube"},
    Key{"pe.clock", frequency_type, between(1'000'000, 100'000'000'000), pe_member<&PeConfig::clock>,
        "clock of every PE; cycles are of this clock"},
    Key{"pe.issue.load", cycles_type, cost_limits, issue_member<&IssueCosts::load>,
        "what the CPU of a PE spends to issue a load"},
    Key{"pe.issue.store", cycles_type, cost_limits, issue_member<&IssueCosts::store>,
        "what the CPU of a PE spends to issue a store"},
    Key{"pe.issue.dot", cycles_type, cost_limits, issue_member<&IssueCosts::dot>,
        "what the CPU of a PE spends to issue a matrix product"},
    Key{"pe.issue.math", cycles_type, cost_limits, issue_member<&IssueCosts::math>,
        "what the CPU of a PE spends to issue an elementwise operation or a reduction"},
    Key{"pe.issue.composite", cycles_type, cost_limits, issue_member<&IssueCosts::composite>,
        "what the CPU of a PE spends to issue a composite"},
    Key{"pe.issue.send", cycles_type, cost_limits, issue_member<&IssueCosts::send>,
        "what the CPU of a PE spends to issue a send"},
    Key{"pe.issue.receive", cycles_type, cost_limits, issue_member<&IssueCosts::receive>,
        "what the CPU of a PE spends to issue a receive"},
    Key{"pe.scheduler.queue_depth", integer_type, queue_limits, scheduler_member<&SchedulerConfig::queue_depth>,
        "commands taken and not yet handed to an engine"},
    Key{"pe.scheduler.dispatch", cycles_type, cycle_limits, scheduler_member<&SchedulerConfig::dispatch>,
        "from taking a command to presenting it to its engine"},
    Key{"pe.scheduler.prefetch_depth", integer_type, between(1, 64), scheduler_member<&SchedulerConfig::prefetch_depth>,
        "tiles of HBM that a composite's staging area holds"},
    Key{"pe.gemm.rows", integer_type, array_limits, gemm_member<&GemmConfig::rows>, "rows of multiply-accumulators"},
    Key{"pe.gemm.cols", integer_type, array_limits, gemm_member<&GemmConfig::cols>, "columns of multiply-accumulators"},
    Key{"pe.gemm.dataflow", choice_type, no_limits, gemm_member<&GemmConfig::dataflow>,
        "what fill and drain of the array cost; ideal: nothing", dataflow_names},
    Key{"pe.gemm.folds", choice_type, no_limits, gemm_member<&GemmConfig::folds>,
        "whether weights of the next fold load, or results of the last one drain, while a fold streams", fold_names},
    Key{"pe.gemm.f32_cycles", cycles_type, between(1, 1'024), gemm_member<&GemmConfig::f32_cycles>,
        "cycles of one multiply-accumulate of f32 inputs"},
    Key{"pe.gemm.f16_cycles", cycles_type, between(1, 1'024), gemm_member<&GemmConfig::f16_cycles>,
        "cycles of one multiply-accumulate of f16 inputs"},
    Key{"pe.gemm.bf16_cycles", cycles_type, between(1, 1'024), gemm_member<&GemmConfig::bf16_cycles>,
        "cycles of one multiply-accumulate of bf16 inputs"},
    Key{"pe.gemm.clock_multiple", integer_type, between(1, 16), gemm_member<&GemmConfig::clock_multiple>,
        "clock of the matrix engine, its scratch port included, in clocks of the PE"},
    Key{"pe.gemm.queue_depth", integer_type, queue_limits, gemm_member<&GemmConfig::queue_depth>, "commands queued"},
    Key{"pe.math.lanes", integer_type, array_limits, math_member<&MathConfig::lanes>, "elements of one vector"},
    Key{"pe.math.clock_multiple", integer_type, between(1, 16), math_member<&MathConfig::clock_multiple>,
        "clock of the vector engine in clocks of the PE"},
    Key{"pe.math.queue_depth", integer_type, queue_limits, math_member<&MathConfig::queue_depth>, "commands queued"},
    Key{"pe.math.cycles.add", cycles_type, cycle_limits, math_cycles_member<&MathCycles::add>,
        "of one vector: add, sub, neg, sum"},
    Key{"pe.math.cycles.mul", cycles_type, cycle_limits, math_cycles_member<&MathCycles::mul>, "of one vector: mul"},
    Key{"pe.math.cycles.max", cycles_type, cycle_limits, math_cycles_member<&MathCycles::max>,
        "of one vector: maximum, minimum, abs, max, min"},
    Key{"pe.math.cycles.compare", cycles_type, cycle_limits, math_cycles_member<&MathCycles::compare>,
        "of one vector: comparisons and logical operations"},
    Key{"pe.math.cycles.where", cycles_type, cycle_limits, math_cycles_member<&MathCycles::where>,
        "of one vector: where"},
    Key{"pe.math.cycles.cast", cycles_type, cycle_limits, math_cycles_member<&MathCycles::cast>,
        "of one vector: conversion of the element type"},
    Key{"pe.math.cycles.copy", cycles_type, cycle_limits, math_cycles_member<&MathCycles::copy>,
        "of one vector: copy, full, zeros, arange"},
    Key{"pe.math.cycles.fma", cycles_type, cycle_limits, math_cycles_member<&MathCycles::fma>,
        "of one vector: fused multiply-add"},
    Key{"pe.math.cycles.exp", cycles_type, cycle_limits, math_cycles_member<&MathCycles::exp>,
        "of one vector: exp, exp2"},
    Key{"pe.math.cycles.log", cycles_type, cycle_limits, math_cycles_member<&MathCycles::log>,
        "of one vector: log, log2"},
    Key{"pe.math.cycles.div", cycles_type, cycle_limits, math_cycles_member<&MathCycles::div>,
        "of one vector: division"},
    Key{"pe.math.cycles.rsqrt", cycles_type, cycle_limits, math_cycles_member<&MathCycles::rsqrt>,
        "of one vector: rsqrt, sqrt"},
    Key{"pe.scratch.capacity", size_type, between(kib, 4 * gib - 1), scratch_member<&ScratchConfig::capacity>,
        "on-chip memory of a PE; addresses are 32 bits"},
    Key{"pe.scratch.bandwidth", bytes_per_cycle_type, between(1, 1 << 20),
        scratch_member<&ScratchConfig::bytes_per_cycle>, "what GEMM can read and write"},
    Key{"pe.dma.bandwidth", bandwidth_type, bandwidth_limits, dma_member<&DmaConfig::bandwidth>,
        "of the read channel, and as much again of the write channel"},
    Key{"pe.dma.setup", time_type, between(0, ps_per_ms), dma_member<&DmaConfig::setup>,
        "before the first request of a command"},
    Key{"pe.dma.overlap_commands", boolean_type, no_limits, dma_member<&DmaConfig::overlap_commands>,
        "setup and latency of the next command hide under the data of this one"},
    Key{"pe.dma.outstanding", integer_type, queue_limits, dma_member<&DmaConfig::outstanding>,
        "requests in the memory at once, per channel"},
    Key{"pe.dma.queue_depth", integer_type, queue_limits, dma_member<&DmaConfig::queue_depth>,
        "commands queued, per channel"},
    Key{"pe.dma.burst", size_type, between(4, 4 * kib), dma_member<&DmaConfig::burst>,
        "longest request, naturally aligned; whole: one request a command", no_choices, true, "whole"},
    Key{"pe.dma.zero_writes", boolean_type, no_limits, dma_member<&DmaConfig::zero_writes>,
        "data mode none may write zeroes to a memory that is not the model's own"},
    Key{"ipcq.topology", choice_type, no_limits, ipcq_member<&IpcqConfig::topology>,
        "where queues lead: ring and line, over the cubes east and west, along the cube north and south; mesh, a grid "
        "inside the cube",
        topology_names},
    Key{"ipcq.depth", integer_type, queue_limits, ipcq_member<&IpcqConfig::depth>,
        "slots of one direction at the receiver"},
    Key{"ipcq.window", integer_type, queue_limits, ipcq_member<&IpcqConfig::window>,
        "messages of one direction that are sent and not yet received"},
    Key{"ipcq.bandwidth", bandwidth_type, bandwidth_limits, ipcq_member<&IpcqConfig::bandwidth>, "of one link"},
    Key{"ipcq.hop", time_type, between(1, ps_per_ms), ipcq_member<&IpcqConfig::hop>,
        "from sending a message to its first data; returned credits take it too"},
    Key{"ipcq.slot_bytes", size_type, between(64, 1 << 30), ipcq_member<&IpcqConfig::slot_bytes>,
        "of one slot; auto is the largest message of the kernel", no_choices, false, "auto"},
    Key{"ipcq.shared_per_cube", boolean_type, no_limits, ipcq_member<&IpcqConfig::shared_per_cube>,
        "the PEs of a cube share one link to each neighbouring cube"},
    Key{"hbm.channels", integer_type, between(1, 1'024), hbm_member<&HbmConfig::channels>,
        "channels of one cube; any number"},
    Key{"hbm.bandwidth", bandwidth_type, bandwidth_limits, hbm_member<&HbmConfig::bandwidth>,
        "of one cube, all channels together"},
    Key{"hbm.efficiency", ratio_type, between(1, 1'000'000), hbm_member<&HbmConfig::efficiency>,
        "share of the bandwidth that is sustained"},
    Key{"hbm.latency", time_type, between(1, ps_per_ms), hbm_member<&HbmConfig::latency>, "from request to first data"},
    Key{"hbm.interleave", size_type, between(32, gib), hbm_member<&HbmConfig::interleave>,
        "consecutive bytes in one channel", no_choices, true},
    Key{"hbm.queue_depth", integer_type, queue_limits, hbm_member<&HbmConfig::queue_depth>,
        "requests taken per port and not yet answered"},
    Key{"hbm.capacity", size_type, between(1 << 20, 1024 * gib), hbm_member<&HbmConfig::capacity>, "of one cube"},
    Key{"interconnect.bandwidth", bandwidth_type, bandwidth_limits, interconnect_member<&InterconnectConfig::bandwidth>,
        "of one cube's port: what it sends to other cubes"},
    Key{"interconnect.latency", time_type, between(1, ps_per_ms), interconnect_member<&InterconnectConfig::latency>,
        "of one hop between neighbours on the ring of cubes, there or back"},
    Key{"run.no_progress_limit", time_type, between(ps_per_us, 1'000 * ps_per_s),
        system_member<&SystemConfig::run, &RunConfig::no_progress_limit>,
        "simulated time without an operation that completes or is issued, after which a run is given up", no_choices,
        false, "never"},
    Key{"run.kernel_stack", size_type, between(64 * kib, gib), pe_member<&PeConfig::kernel_stack>,
        "of the host's thread in which a kernel runs on one PE; pages that it does not touch cost nothing"},
};

/// The part of a dotted path before its last dot: the table that the key is in.
std::string_view table_of(std::string_view path) noexcept {
  const std::size_t dot = path.rfind('.');
  return dot == std::string_view::npos ? std::string_view{} : path.substr(0, dot);
}

bool is_below(std::string_view path, std::string_view table) noexcept {
  return table.empty() ||
         (path.size() > table.size() && path.substr(0, table.size()) == table && path[table.size()] == '.');
}

bool ends_with(std::string_view text, std::string_view end) noexcept {
  return text.size() >= end.size() && text.substr(text.size() - end.size()) == end;
}

bool is_table(std::string_view path) noexcept {
  return std::any_of(keys.begin(), keys.end(), [path](const Key& key) { return is_below(key.path, path); });
}

std::optional<std::size_t> index_of(std::string_view path) noexcept {
  const auto found = std::find_if(keys.begin(), keys.end(), [path](const Key& key) { return key.path == path; });
  if (found == keys.end()) return std::nullopt;
  return static_cast<std::size_t>(found - keys.begin());
}

std::vector<std::string> key_paths() {
  std::vector<std::string> paths;
  paths.reserve(keys.size());
  for (const Key& key : keys) paths.emplace_back(key.path);
  return paths;
}

std::vector<std::string> table_paths() {
  std::vector<std::string> paths;
  for (const Key& key : keys) {
    for (std::string_view table = table_of(key.path); !table.empty(); table = table_of(table)) {
      if (std::find(paths.begin(), paths.end(), table) == paths.end()) paths.emplace_back(table);
    }
  }
  return paths;
}

/// The names directly below a table, keys and tables.
std::vector<std::string> names_below(std::string_view table) {
  std::vector<std::string> names;
  for (const Key& key : keys) {
    if (!is_below(key.path, table)) continue;
    const std::string_view rest = key.path.substr(table.empty() ? 0 : table.size() + 1);
    const std::string_view name = rest.substr(0, rest.find('.'));
    if (names.empty() || names.back() != name) names.emplace_back(name);
  }
  return names;
}

// ---- messages ---------------------------------------------------------------------------------------------------

/// Paths that end in `path`: what a user meant who left out the tables around it.
std::vector<std::string> longer_paths(std::string_view path, const std::vector<std::string>& candidates) {
  std::vector<std::string> found;
  const std::string end = fmt::format(".{}", path);
  std::copy_if(candidates.begin(), candidates.end(), std::back_inserter(found),
               [&end](const std::string& candidate) { return ends_with(candidate, end); });
  return found;
}

std::string unknown_key_message(std::string_view path, const std::vector<std::string>& candidates) {
  constexpr std::size_t max_suggestions = 6;
  const std::vector<std::string> longer = longer_paths(path, candidates);
  const bool use_longer = !longer.empty() && longer.size() <= max_suggestions;
  const std::string suggestion = use_longer ? fmt::format("; did you mean \"{}\"?", fmt::join(longer, "\" or \""))
                                            : did_you_mean(path, candidates);
  std::string_view table = table_of(path);
  while (!table.empty() && !is_table(table)) table = table_of(table);
  const std::string place = table.empty() ? "at the top" : fmt::format("in [{}]", table);
  return fmt::format("unknown key{} (allowed {}: {})", suggestion, place, fmt::join(names_below(table), ", "));
}

std::string table_expected_message(std::string_view path, const Value& value) {
  return fmt::format("is a table of keys ({}), not a single value; got {}", fmt::join(names_below(path), ", "),
                     describe(value));
}

std::vector<std::string> preset_names() {
  std::vector<std::string> names;
  for (const Preset& preset : shipped_presets()) names.emplace_back(preset.name);
  return names;
}

std::string unknown_preset_message(std::string_view name) {
  const std::vector<std::string> names = preset_names();
  return fmt::format("unknown preset {}{} (presets: {}; the name of a file ends in .toml)", in_quotes(name),
                     did_you_mean(name, names), fmt::join(names, ", "));
}

// ---- rules about several keys -----------------------------------------------------------------------------------

/// An impossible combination of values that are each within their limits.
struct Rule {
  std::array<std::string_view, 3> keys{};  ///< that it reads; empty at the end
  std::optional<std::string> (*violation)(const SystemConfig&) = nullptr;
};

std::optional<std::string> too_many_pes(const SystemConfig& system) {
  // Each PE runs its kernel on a stack of its own, with a guard page: Linux allows a process about 65 thousand
  // mappings, two of which a stack takes.
  constexpr std::int64_t max_pes = 16'384;
  const std::int64_t pes = system.cubes * system.pes_per_cube;
  if (pes <= max_pes) return std::nullopt;
  return fmt::format("system.cubes x system.pes_per_cube is {} PEs (allowed: up to {})", pes, max_pes);
}

std::optional<std::string> too_slow_channels(const SystemConfig& system) {
  const HbmConfig& hbm = system.hbm;
  constexpr std::int64_t million = 1'000'000;
  const Int128 scaled = Int128{hbm.bandwidth.count()} * hbm.efficiency.count();
  const auto channel = static_cast<std::int64_t>(scaled / (Int128{hbm.channels} * million));
  if (channel >= min_bytes_per_second) return std::nullopt;
  return fmt::format("hbm.bandwidth x hbm.efficiency / hbm.channels is {} a channel (allowed: from {} on)",
                     format_quantity(Bandwidth(channel)), format_quantity(Bandwidth(min_bytes_per_second)));
}

constexpr std::array rules{
    Rule{{"system.cubes", "system.pes_per_cube"}, &too_many_pes},
    Rule{{"hbm.bandwidth", "hbm.efficiency", "hbm.channels"}, &too_slow_channels},
};

std::vector<std::string> warnings_of(const SystemConfig& system) {
  const DmaConfig& dma = system.pe.dma;
  if (dma.burst.count() == 0) return {};
  const Bytes in_flight = dma.burst * dma.outstanding;
  const Picoseconds round_trip = dma.setup + system.hbm.latency;
  const Int128 scaled = Int128{dma.bandwidth.count()} * round_trip.count();
  const auto needed = static_cast<std::int64_t>((scaled + picoseconds_per_second - 1) / picoseconds_per_second);
  if (in_flight.count() >= needed) return {};
  return {
      fmt::format("pe.dma.outstanding x pe.dma.burst is {} in flight, below the {} B that pe.dma.bandwidth {} takes "
                  "over a round trip of {} (pe.dma.setup + hbm.latency): the port cannot reach its bandwidth; {} "
                  "outstanding bursts would",
                  format_quantity(in_flight), needed, format_quantity(dma.bandwidth), format_quantity(round_trip),
                  ceil_div(needed, dma.burst.count()))};
}

// ---- loading ----------------------------------------------------------------------------------------------------

struct Place {
  std::string file;
  int line = 0;
};

int line_of(const toml::source_region& source) noexcept { return static_cast<int>(source.begin.line); }

/// The TOML library recurses over nested keys without a limit of its own; on lines of this length it cannot go deep.
constexpr std::size_t max_line_length = 1'000;

/// The number of the first line that is longer than max_line_length, or 0.
int overlong_line(std::string_view text) noexcept {
  for (int line = 1; !text.empty(); ++line) {
    const std::size_t length = std::min(text.find('\n'), text.size());
    if (length > max_line_length) return line;
    text.remove_prefix(std::min(length + 1, text.size()));
  }
  return 0;
}

/// A component of a path as TOML would write it, so that the quoted key "pe.clock" is not taken for clock in [pe].
std::string component(std::string_view name) {
  const bool is_bare = !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
  });
  return is_bare ? std::string(name) : in_quotes(name);
}

/// Applies layer after layer to a SystemConfig and collects every problem on the way.
class Loader {
 public:
  void apply_source(const std::string& source) {
    if (ends_with(source, ".toml")) {
      apply_file(source);
    } else {
      apply_preset(source, Place{}, "");
    }
  }

  void apply_override(const std::string& text) {
    const Place place{"--set"};
    const std::size_t equals = text.find('=');
    const std::string_view path = trimmed(std::string_view(text).substr(0, equals));
    if (equals == std::string::npos || path.empty()) {
      add_problem(place, "", fmt::format("{} is not KEY=VALUE; write --set pe.gemm.rows=128", in_quotes(text)));
      return;
    }
    const Value value = value_of(trimmed(std::string_view(text).substr(equals + 1)));
    if (path == preset_key) {
      add_problem(place, std::string(path), "the preset is chosen by name or in a file, not by --set");
    } else {
      apply_value(place, std::string(path), value);
    }
  }

  [[nodiscard]] Configuration finish() {
    check_rules();
    if (!problems_.empty()) throw ConfigurationError(std::move(problems_));
    configuration_.warnings = warnings_of(configuration_.system);
    return std::move(configuration_);
  }

 private:
  static constexpr std::string_view preset_key = "preset";

  /// Where a key was last set.
  struct Origin {
    Place place;
    int order = 0;           ///< counts assignments
    bool is_faulty = false;  ///< the last value was refused: rules about it would mislead
  };

  void add_problem(const Place& place, std::string key, std::string message) {
    problems_.push_back(Problem{place.file, place.line, std::move(key), std::move(message)});
  }

  void apply_file(const std::string& path) {
    constexpr std::int64_t limit_bytes = 64 * kib;  // far above any real configuration
    try {
      apply_text(read_file(path, limit_bytes), path, default_preset);
    } catch (const FileError& error) {
      add_problem(Place{path}, "", fmt::format("cannot be read: {}", error.reason()));
    }
  }

  void apply_preset(std::string_view name, const Place& place, std::string_view key) {
    const Preset* const preset = find_preset(name);
    if (preset == nullptr) {
      add_problem(place, std::string(key), unknown_preset_message(name));
      return;
    }
    apply_text(preset->toml, fmt::format("preset {}", name), "");
    configuration_.preset = name;
  }

  /// `base`: the preset that comes first if the text names none; empty for none.
  void apply_text(std::string_view text, const std::string& file, std::string_view base) {
    if (const int line = overlong_line(text); line != 0) {
      add_problem(Place{file, line}, "", fmt::format("the line is longer than {} bytes", max_line_length));
      return;
    }
    const std::size_t first_problem = problems_.size();
    try {
      const toml::table table = toml::parse(text, std::string_view(file));
      apply_base(table, file, base);
      apply_table(table, "", file);
    } catch (const toml::parse_error& error) {
      add_problem(Place{file, line_of(error.source())}, "", fmt::format("not TOML: {}", error.description()));
    }
    // The library sorts tables by name; people read files from the top.
    std::stable_sort(problems_.begin() + static_cast<std::ptrdiff_t>(first_problem), problems_.end(),
                     [](const Problem& a, const Problem& b) { return a.line < b.line; });
  }

  void apply_base(const toml::table& table, const std::string& file, std::string_view base) {
    const toml::node* const node = table.get(preset_key);
    if (node == nullptr) {
      if (!base.empty()) apply_preset(base, Place{file}, "");
      return;
    }
    const Place place{file, line_of(node->source())};
    if (const auto* const name = node->as_string()) {
      apply_preset(name->get(), place, preset_key);
    } else {
      add_problem(place, std::string(preset_key),
                  fmt::format("expected the name of a preset in quotes ({}), got {}", fmt::join(preset_names(), ", "),
                              describe(value_of(*node))));
    }
  }

  void apply_table(const toml::table& table, const std::string& prefix, const std::string& file) {
    for (const auto& [name, node] : table) {
      if (prefix.empty() && name.str() == preset_key) continue;
      const std::string path = prefix + component(name.str());
      if (node.is_table() && is_table(path)) {
        apply_table(*node.as_table(), path + '.', file);
      } else {
        apply_value(Place{file, line_of(name.source())}, path, value_of(node));
      }
    }
  }

  void apply_value(const Place& place, const std::string& path, const Value& value) {
    const std::optional<std::size_t> index = index_of(path);
    if (index) {
      assign(*index, place, value);
    } else if (is_table(path)) {
      add_problem(place, path, table_expected_message(path, value));
    } else {
      const bool wants_table = std::holds_alternative<Unsupported>(value);
      add_problem(place, printable(path), unknown_key_message(path, wants_table ? table_paths() : key_paths()));
    }
  }

  void assign(std::size_t index, const Place& place, const Value& value) {
    const Key& key = keys[index];
    Origin& origin = origins_[index];
    origin = Origin{place, ++assignments_, false};
    try {
      key.member.set(configuration_.system, key.type.read(key, value));
    } catch (const ParseError& error) {
      origin.is_faulty = true;
      add_problem(place, std::string(key.path), fmt::format("{} (allowed: {})", error.what(), key.type.allowed(key)));
    }
  }

  void check_rules() {
    for (const Rule& rule : rules) {
      const std::optional<Origin> origin = last_origin(rule);
      if (!origin) continue;
      if (auto violation = rule.violation(configuration_.system)) {
        add_problem(origin->place, "", std::move(*violation));
      }
    }
  }

  /// Where the last value that the rule reads comes from; nothing if one of them was refused.
  [[nodiscard]] std::optional<Origin> last_origin(const Rule& rule) const {
    Origin last;
    for (const std::string_view path : rule.keys) {
      const std::optional<std::size_t> index = index_of(path);
      if (!index) continue;
      const Origin& origin = origins_[*index];
      if (origin.is_faulty) return std::nullopt;
      if (origin.order >= last.order) last = origin;
    }
    return last;
  }

  /// The path as it stands, unless it would break the line of the message.
  [[nodiscard]] static std::string printable(const std::string& path) {
    const bool is_plain = std::all_of(path.begin(), path.end(), [](char c) { return c >= ' ' && c != 0x7f; });
    constexpr std::size_t max_length = 120;
    return is_plain && path.size() <= max_length ? path : in_quotes(path);
  }

  Configuration configuration_;
  std::vector<Problem> problems_;
  std::array<Origin, keys.size()> origins_;
  int assignments_ = 0;
};

std::string lines_of(const std::vector<Problem>& problems) {
  std::vector<std::string> lines;
  lines.reserve(problems.size());
  for (const Problem& problem : problems) lines.push_back(problem.to_string());
  return fmt::format("{}", fmt::join(lines, "\n"));
}

}  // namespace

std::string Problem::to_string() const {
  std::string text = in_one_line(file);
  if (line > 0) text += fmt::format(":{}", line);
  for (const std::string& part : {key, message}) {
    if (!text.empty() && !part.empty()) text += ": ";
    text += part;
  }
  return text;
}

ConfigurationError::ConfigurationError(std::vector<Problem> problems)
    : std::runtime_error(lines_of(problems)), problems_(std::move(problems)) {}

Configuration load_configuration(const ConfigurationRequest& request) {
  Loader loader;
  loader.apply_source(request.source);
  for (const std::string& text : request.overrides) loader.apply_override(text);
  return loader.finish();
}

std::string to_toml(const Configuration& configuration) {
  std::string text = fmt::format("preset = {}\n", in_quotes(configuration.preset));
  std::string_view table;
  for (const Key& key : keys) {
    if (table_of(key.path) != table) {
      table = table_of(key.path);
      text += fmt::format("\n[{}]\n", table);
    }
    const std::string value = key.type.print(key, key.member.get(configuration.system));
    const std::string assignment =
        fmt::format("{} = {}", key.path.substr(table.size() + 1), key.type.is_text ? in_quotes(value) : value);
    text += fmt::format("{:<32} # {}\n", assignment, key.description);
  }
  return text;
}

std::vector<ConfigurationValue> configuration_values(const SystemConfig& system) {
  std::vector<ConfigurationValue> values;
  values.reserve(keys.size());
  for (const Key& key : keys) values.push_back({std::string(key.path), key.type.print(key, key.member.get(system))});
  return values;
}

std::vector<KeyDescription> configuration_keys() {
  const SystemConfig defaults;
  std::vector<KeyDescription> descriptions;
  descriptions.reserve(keys.size());
  for (const Key& key : keys) {
    descriptions.push_back({std::string(key.path), std::string(key.type.name),
                            key.type.print(key, key.member.get(defaults)), key.type.allowed(key),
                            std::string(key.description)});
  }
  return descriptions;
}

std::string keys_as_markdown() {
  std::string text = "| key | type | default | allowed | meaning |\n|---|---|---|---|---|\n";
  for (const KeyDescription& key : configuration_keys()) {
    text += fmt::format("| `{}` | {} | `{}` | {} | {} |\n", key.path, key.type, key.default_value, key.allowed,
                        key.description);
  }
  return text;
}

std::vector<PresetDescription> presets() {
  std::vector<PresetDescription> descriptions;
  for (const Preset& preset : shipped_presets()) {
    descriptions.push_back({std::string(preset.name), std::string(preset.description)});
  }
  return descriptions;
}

}  // namespace kernwave::platform
