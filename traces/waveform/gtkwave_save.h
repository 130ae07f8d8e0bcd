// GTKWave's save file for a waveform.
#pragma once

#include <string>
#include <vector>

#include "models/base/quantity.h"

namespace kernwave::traces {

/// The contents of a save file of GTKWave.
struct GtkwaveSave {
  std::string name;                  ///< of the save file itself
  std::string vcd;                   ///< of the VCD file, in the same folder
  std::string states;                ///< of the file of `state_names()`, in the same folder
  std::vector<std::string> signals;  ///< `Waveform::signals()`
  Picoseconds from;                  ///< what the window shows: all of the file
  Picoseconds to;
};

/// The save file (".gtkw"): a group for each PE and each memory, numbers in decimal, states by their names, a colour
/// for each engine, all of the file in view.
[[nodiscard]] std::string gtkwave_save(const GtkwaveSave& save);

/// The file by which GTKWave translates numbers of `state` into names: a line for each `TimeCause`.
[[nodiscard]] std::string state_names();

}  // namespace kernwave::traces
