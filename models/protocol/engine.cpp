#include "models/protocol/engine.h"

#include <fmt/format.h>

#include <stdexcept>

namespace kernwave {

EngineList::EngineList() : rows_(engine_rows.begin(), engine_rows.end()) {
  for (const EngineRow& row : rows_) note_doorbell(row);
}

void EngineList::note_doorbell(const EngineRow& row) {
  const std::size_t place = row.doorbell / doorbell_stride;
  if (place >= rows_by_doorbell_.size()) rows_by_doorbell_.resize(place + 1, no_row);
  rows_by_doorbell_[place] = static_cast<std::uint16_t>(row.engine);
}

Engine EngineList::add(EngineRow row) {
  const auto refuse = [&row](const std::string& reason) {
    throw std::invalid_argument(fmt::format("the engine \"{}\" {}", row.name, reason));
  };
  for (const std::string_view text : {row.name, row.title, row.words, row.category, row.kind}) {
    if (text.empty()) refuse("needs a name, a title, words, a category and a kind");
  }
  if (row.service == EngineService::parts) refuse("is not the scheduler: it serves commands in turn or as messages");
  if (row.doorbell % doorbell_stride != 0 || row.doorbell > last_doorbell) {
    refuse(fmt::format("has its doorbell at {:#x}, not at a multiple of {:#x} up to {:#x}", row.doorbell,
                       doorbell_stride, last_doorbell));
  }
  for (const EngineRow& other : rows_) {
    if (other.name == row.name) refuse("has the name of another engine");
    if (other.doorbell == row.doorbell) {
      refuse(fmt::format("has its doorbell at {:#x}, which is that of \"{}\"", row.doorbell, other.name));
    }
  }
  constexpr std::size_t most = 256;  // that an Engine can number
  if (rows_.size() == most) refuse(fmt::format("is one more than the {} that a machine can have", most));
  row.engine = static_cast<Engine>(rows_.size());
  row.counted = row.name;
  rows_.push_back(row);
  note_doorbell(row);
  return row.engine;
}

}  // namespace kernwave
