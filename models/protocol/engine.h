// The engines of a PE: one row each says what is known of it. A machine holds a list of its engines, which begins with
// those that every PE has.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace kernwave {

/// The engines that every PE has, in the order of their doorbells; behind them the scheduler itself, which carries
/// composites out. Engines that are added to a machine have the numbers behind these.
enum class Engine : std::uint8_t { dma_read, dma_write, gemm, math, ipcq, composite };

/// Commands for an engine are written to its doorbell, a multiple of this.
inline constexpr std::uint64_t doorbell_stride = 0x1000;
inline constexpr std::uint64_t last_doorbell = 0xFFF'000;

/// How an engine serves its commands.
enum class EngineService : std::uint8_t {
  in_turn,   ///< one at a time: it is busy or not, and it has a queue
  messages,  ///< as many as its links carry: a send ends when it has landed, a receive when its message is there
  parts,     ///< by commands of its own to other engines
};

/// The colour of an engine in viewers; each viewer has its own shade of it.
enum class EngineColour : std::uint8_t { grey, blue, light_blue, orange, green, purple };

/// The properties of an engine. The texts must outlive the row.
struct EngineRow {
  Engine engine;
  std::uint64_t doorbell;
  EngineService service;
  std::string_view name;      ///< in logs, documents and names of links and signals: "dma_read"
  std::string_view title;     ///< of its track in a timeline: "DMA read"
  std::string_view words;     ///< in a sentence: "DMA read channel"
  std::string_view category;  ///< of its operations in logs: "memory"
  std::string_view kind;      ///< likewise: "dot"; in the place of <operation> stands the name of the MATH operation
  std::string_view counted;   ///< of its operations among the counts of a result; of an added engine its name
  EngineColour colour;
};

inline constexpr std::array<EngineRow, 6> engine_rows = {{
    {Engine::dma_read, 0x0000, EngineService::in_turn, "dma_read", "DMA read", "DMA read channel", "memory", "dma_read",
     "dma_read", EngineColour::blue},
    {Engine::dma_write, 0x1000, EngineService::in_turn, "dma_write", "DMA write", "DMA write channel", "memory",
     "dma_write", "dma_write", EngineColour::light_blue},
    {Engine::gemm, 0x2000, EngineService::in_turn, "gemm", "GEMM", "matrix engine", "gemm", "dot", "gemm",
     EngineColour::orange},
    {Engine::math, 0x3000, EngineService::in_turn, "math", "MATH", "MATH engine", "math", "<operation>", "math",
     EngineColour::green},
    {Engine::ipcq, 0x4000, EngineService::messages, "ipcq", "IPCQ", "queues to other PEs", "comm", "ipcq_copy",
     "ipcq_copy", EngineColour::purple},
    {Engine::composite, 0x5000, EngineService::parts, "composite", "composite", "scheduler", "composite", "gemm",
     "composite", EngineColour::grey},
}};

/// Whether it is none of those that every PE has: one that was added to the machine.
[[nodiscard]] constexpr bool is_added(Engine engine) noexcept {
  return static_cast<std::size_t>(engine) >= engine_rows.size();
}
/// Its place among the added ones.
[[nodiscard]] constexpr std::size_t place_of_added(Engine engine) noexcept {
  return static_cast<std::size_t>(engine) - engine_rows.size();
}

/// Of the engines that every PE has.
[[nodiscard]] constexpr const EngineRow& row_of(Engine engine) noexcept {
  return engine_rows[static_cast<std::size_t>(engine)];
}
[[nodiscard]] constexpr std::string_view name_of(Engine engine) noexcept { return row_of(engine).name; }
[[nodiscard]] constexpr std::uint64_t doorbell(Engine engine) noexcept { return row_of(engine).doorbell; }

/// Of the engines that every PE has: those to which the scheduler hands commands on. They come first.
inline constexpr std::size_t engine_count = engine_rows.size() - 1;

/// The number of engines that serve their commands in turn. They come first.
inline constexpr std::size_t engines_in_turn = [] {
  std::size_t count = 0;
  for (const EngineRow& row : engine_rows) count += row.service == EngineService::in_turn ? 1 : 0;
  return count;
}();

namespace engine_checks {

[[nodiscard]] constexpr bool in_order() noexcept {
  for (std::size_t i = 0; i < engine_rows.size(); ++i) {
    if (engine_rows[i].engine != static_cast<Engine>(i)) return false;
    if (engine_rows[i].doorbell != i * doorbell_stride) return false;
    if (i > 0 && engine_rows[i].service < engine_rows[i - 1].service) return false;
    if ((engine_rows[i].service == EngineService::parts) != (i >= engine_count)) return false;
  }
  return true;
}

[[nodiscard]] constexpr bool complete() noexcept {
  for (const EngineRow& row : engine_rows) {
    for (const std::string_view text : {row.name, row.title, row.words, row.category, row.kind, row.counted}) {
      if (text.empty()) return false;
    }
    for (const EngineRow& other : engine_rows) {
      if (&other == &row) break;
      if (other.name == row.name || other.title == row.title || other.counted == row.counted) return false;
      if (other.colour == row.colour) return false;
    }
  }
  return true;
}

static_assert(in_order(),
              "rows stand in the order of enumerators, of doorbells, and of services; the scheduler's own is last");
static_assert(complete(), "every text of a row is there, and name, title, counts and colour are its own");

}  // namespace engine_checks

/// The module that computes the results of a user's engine in data mode `full`, when the engine has answered.
enum class EngineData : std::uint8_t {
  own,    ///< the engine itself, in scratch (`Pe::scratch`)
  model,  ///< the model: the engine gives the time alone
};

/// A user's engine with a doorbell of its own. It serves one command at a time.
struct AddedEngine {
  std::uint64_t doorbell;
  std::string_view name;   ///< in logs, documents and names of links and signals: "sorter"; also of its operations
  std::string_view title;  ///< of its track in a timeline: "Sorter"
  std::string_view words;  ///< in a sentence: "sorting engine"
  EngineColour colour = EngineColour::grey;
};

/// The engines of a machine: those that every PE has, and those that are added.
class EngineList {
 public:
  EngineList();

  /// Adds a user's engine and returns its number. Throws std::invalid_argument, and changes nothing, if a text is
  /// missing, the name is taken, or the doorbell is taken or no multiple of the stride; the message says which.
  Engine add(const AddedEngine& engine);

  /// Puts a user's engine in the place of the matrix or the vector engine. Throws std::invalid_argument for another
  /// engine.
  void replace(Engine engine, EngineData data);

  /// Whether the engine is a user's: an added one, or one that replaces an engine of the model.
  [[nodiscard]] bool is_users(Engine engine) const noexcept { return users_[static_cast<std::size_t>(engine)].is; }
  /// The module that computes the results of a user's engine.
  [[nodiscard]] EngineData data_of(Engine engine) const noexcept {
    return users_[static_cast<std::size_t>(engine)].data;
  }

  [[nodiscard]] std::size_t size() const noexcept { return rows_.size(); }
  [[nodiscard]] const EngineRow& operator[](Engine engine) const noexcept {
    return rows_[static_cast<std::size_t>(engine)];
  }
  /// The engine whose doorbell has that address, or nullptr.
  [[nodiscard]] const EngineRow* at_doorbell(std::uint64_t address) const noexcept {
    const std::uint64_t place = address / doorbell_stride;
    if (address % doorbell_stride != 0 || place >= rows_by_doorbell_.size()) return nullptr;
    const std::uint16_t row = rows_by_doorbell_[place];
    return row == no_row ? nullptr : &rows_[row];
  }
  [[nodiscard]] std::vector<EngineRow>::const_iterator begin() const noexcept { return rows_.begin(); }
  [[nodiscard]] std::vector<EngineRow>::const_iterator end() const noexcept { return rows_.end(); }

 private:
  static constexpr std::uint16_t no_row = 0xFFFF;

  struct User {
    bool is = false;
    EngineData data = EngineData::own;
  };

  void note_doorbell(const EngineRow& row);

  std::vector<EngineRow> rows_;
  std::vector<User> users_;                      // by engine
  std::vector<std::uint16_t> rows_by_doorbell_;  // by doorbell / stride
};

}  // namespace kernwave
