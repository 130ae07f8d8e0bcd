// A trace file of SystemC that is written during a part of simulated time.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "models/base/quantity.h"
#include "models/base/systemc.h"

namespace kernwave::traces {

/// Makes the file when simulated time reaches `from` and ends it at `to`: of what happens at `to` nothing is in it.
/// Without `to`, and when the run ends before, it ends with `close()`, and what happened in that last instant is in it.
/// The file is one of VCD, time unit 1 ps, with a time stamp at its first and at its last instant.
class VcdWindow : public sc_core::sc_module {
 public:
  /// Adds the signals to the file.
  using TraceAll = std::function<void(sc_core::sc_trace_file*)>;

  /// `path` is without the suffix ".vcd". Throws WriteError if the file cannot be made.
  VcdWindow(const sc_core::sc_module_name& name, std::string path, Picoseconds from, std::optional<Picoseconds> to,
            TraceAll trace_all);
  VcdWindow(const VcdWindow&) = delete;
  VcdWindow& operator=(const VcdWindow&) = delete;
  ~VcdWindow() override;

  /// Nothing more will be written.
  [[nodiscard]] bool over() const noexcept { return over_; }

  /// After the run, once. If the run has not reached `from`, the file holds the values at its end. Throws WriteError if
  /// the file is not whole.
  void close();

 private:
  void advance();
  void begin();
  void end();

  SimulatedTime now;
  std::string path_;
  Picoseconds from_;
  std::optional<Picoseconds> to_;
  TraceAll trace_all_;
  sc_core::sc_trace_file* file_ = nullptr;  // SystemC's
  bool over_ = false;
  Picoseconds began_;
  Picoseconds ended_;
};

}  // namespace kernwave::traces
