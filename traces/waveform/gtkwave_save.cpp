#include "traces/waveform/gtkwave_save.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>

#include "models/pe/stall_account.h"
#include "models/protocol/engine.h"
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

[[nodiscard]] constexpr Colour colour_of(EngineColour colour) noexcept {
  switch (colour) {
    case EngineColour::grey:
      break;
    case EngineColour::blue:
      return Colour::blue;
    case EngineColour::light_blue:
      return Colour::indigo;
    case EngineColour::orange:
      return Colour::orange;
    case EngineColour::green:
      return Colour::green;
    case EngineColour::purple:
      return Colour::violet;
  }
  return Colour::standard;
}

/// Signals that belong to an engine whose name they do not have.
struct SignalOfEngine {
  std::string_view text;
  Engine engine;
};
constexpr SignalOfEngine signals_of_engines[] = {
    {"outstanding_loads", Engine::dma_read}, {"sends", Engine::ipcq}, {"_slots", Engine::ipcq}};

[[nodiscard]] bool ends_with(std::string_view text, std::string_view end) {
  return text.size() >= end.size() && text.substr(text.size() - end.size()) == end;
}

/// That of the engine that its name tells.
[[nodiscard]] Colour colour_of(std::string_view signal) {
  for (const EngineRow& row : engine_rows) {
    if (signal.find(row.name) != std::string_view::npos) return colour_of(row.colour);
  }
  for (const SignalOfEngine& one : signals_of_engines) {
    if (signal.find(one.text) != std::string_view::npos) return colour_of(row_of(one.engine).colour);
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
