#include "traces/waveform/gtkwave_save.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>

#include "models/pe/stall_account.h"
#include "traces/waveform/signal_name.h"

namespace kernwave::traces {

namespace {

constexpr int window_width = 1400;
constexpr int window_height = 800;
constexpr int names_width = 300;                              // with the values next to them
constexpr int waves_width = window_width - names_width - 80;  // borders and scroll bars

// How GTKWave shows what follows; the codes are its own.
constexpr std::string_view as_bit = "@28\n";
constexpr std::string_view as_decimal = "@24\n";
constexpr std::string_view as_translated_decimal = "@2024\n";
constexpr std::string_view begin_group = "@800200\n";
constexpr std::string_view end_group = "@1000200\n";

enum class Colour : std::uint8_t { standard, red, orange, yellow, green, blue, indigo, violet };

struct ColourRule {
  std::string_view text;
  Colour colour;
};

/// The first that occurs in a signal's name.
constexpr ColourRule colour_rules[] = {
    {"dma_read", Colour::orange}, {"outstanding_loads", Colour::orange},
    {"dma_write", Colour::red},   {"gemm", Colour::yellow},
    {"math", Colour::violet},     {"sends", Colour::blue},
    {"_slots", Colour::blue},
};

[[nodiscard]] bool ends_with(std::string_view text, std::string_view end) {
  return text.size() >= end.size() && text.substr(text.size() - end.size()) == end;
}

[[nodiscard]] Colour colour_of(std::string_view signal) {
  for (const ColourRule& rule : colour_rules) {
    if (signal.find(rule.text) != std::string_view::npos) return rule.colour;
  }
  return Colour::standard;
}

/// A signal, under its name without the scope, which its group tells.
[[nodiscard]] std::string lines_of(const std::string& signal, const std::string& states) {
  const std::string_view name = name_in_scope(signal);
  const Colour colour = colour_of(signal);
  std::string text = colour == Colour::standard ? "" : fmt::format("[color] {}\n", static_cast<int>(colour));
  if (name == "state") {
    text += fmt::format("{}^1 {}\n+{{{}}} {}.{}[3:0]\n", as_translated_decimal, states, name, root_scope, signal);
  } else if (ends_with(name, "_busy")) {
    text += fmt::format("{}+{{{}}} {}.{}\n", as_bit, name, root_scope, signal);
  } else {
    text += fmt::format("{}+{{{}}} {}.{}[31:0]\n", as_decimal, name, root_scope, signal);
  }
  return text;
}

/// GTKWave shows 2^-zoom units of time in 200 pixels.
[[nodiscard]] double zoom_to_fit(Picoseconds length) {
  constexpr double pixels = 200;
  const auto units = static_cast<double>(std::max<std::int64_t>(1, length.count()));
  return -std::log2(units * pixels / waves_width);
}

}  // namespace

std::string gtkwave_save(const GtkwaveSave& save) {
  std::string text = fmt::format(
      "[*] Open with: gtkwave {}\n[dumpfile] \"{}\"\n[savefile] \"{}\"\n[timestart] {}\n[size] {} {}\n[pos] -1 "
      "-1\n*{:.6f} -1\n"
      "[sst_expanded] 0\n[signals_width] {}\n",
      save.name, save.vcd, save.name, save.from.count(), window_width, window_height, zoom_to_fit(save.to - save.from),
      names_width);
  std::string_view group;
  for (const std::string& signal : save.signals) {
    const std::string_view scope = scope_of(signal);
    if (scope != group) {
      if (!group.empty()) text += fmt::format("{}-{}\n", end_group, group);
      text += fmt::format("{}-{}\n", begin_group, scope);
      group = scope;
    }
    text += lines_of(signal, save.states);
  }
  if (!group.empty()) text += fmt::format("{}-{}\n", end_group, group);
  return text;
}

std::string state_names() {
  std::string text;
  for (std::size_t i = 0; i < time_cause_count; ++i) {
    text += fmt::format("{} {}\n", i, name_of(static_cast<TimeCause>(i)));
  }
  return text;
}

}  // namespace kernwave::traces
