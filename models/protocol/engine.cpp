#include "models/protocol/engine.h"

#include <fmt/format.h>

#include <stdexcept>

namespace kernwave {

EngineList::EngineList() : rows_(engine_rows.begin(), engine_rows.end()), users_(rows_.size()) {
  for (const EngineRow& row : rows_) note_doorbell(row);
}

void EngineList::note_doorbell(const EngineRow& row) {
  const std::size_t place = row.doorbell / doorbell_stride;
  if (place >= rows_by_doorbell_.size()) rows_by_doorbell_.resize(place + 1, no_row);
  rows_by_doorbell_[place] = static_cast<std::uint16_t>(row.engine);
}

Engine EngineList::add(const AddedEngine& engine) {
  EngineRow row{};
  row.doorbell = engine.doorbell;
  row.service = EngineService::in_turn;
  row.name = row.kind = row.counted = engine.name;
  row.title = engine.title;
  row.words = engine.words;
  row.category = "custom";
  row.colour = engine.colour;
  const auto refuse = [&row](const std::string& reason) {
    throw std::invalid_argument(fmt::format("the engine \"{}\" {}", row.name, reason));
  };
  for (const std::string_view text : {row.name, row.title, row.words}) {
    if (text.empty()) refuse("needs a name, a title and words");
  }
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
  rows_.push_back(row);
  users_.push_back({true, EngineData::own});
  note_doorbell(row);
  return row.engine;
}

void EngineList::replace(Engine engine, EngineData data) {
  if (engine != Engine::gemm && engine != Engine::math) {
    throw std::invalid_argument(fmt::format("the engine \"{}\" cannot be replaced: {} and {} can", (*this)[engine].name,
                                            name_of(Engine::gemm), name_of(Engine::math)));
  }
  users_[static_cast<std::size_t>(engine)] = {true, data};
}

}  // namespace kernwave
