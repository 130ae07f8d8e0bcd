// A file that is written while a run goes on.
#pragma once

#include <memory>
#include <string>

#include "models/memory/channel_observer.h"
#include "models/pe/pe_observer.h"
#include "models/system/system.h"
#include "traces/critical_path/critical_path.h"
#include "traces/output.h"
#include "traces/waveform/waveform.h"

namespace kernwave::platform {

/// One file that is written while a run goes on. What goes wrong during the run is kept until `finish`: an observer
/// cannot throw.
class TraceOutput {
 public:
  TraceOutput() = default;
  TraceOutput(const TraceOutput&) = delete;
  TraceOutput& operator=(const TraceOutput&) = delete;
  virtual ~TraceOutput() = default;

  /// Final path, for messages.
  [[nodiscard]] virtual const std::string& path() const noexcept = 0;
  /// Whom to tell; nullptr: nobody.
  [[nodiscard]] virtual PeObserver* pe_observer() noexcept { return nullptr; }
  [[nodiscard]] virtual ChannelObserver* channel_observer() noexcept { return nullptr; }
  /// Before `finish`, of a run that has finished and whose path is known.
  virtual void add_critical_path(const traces::CriticalPath& /*path*/) {}
  /// The run has ended: writes what is left, closes the file and puts it in its place. Throws traces::WriteError (the
  /// reason alone) or FileError, and leaves the final path as it was.
  virtual void finish(const traces::RunNote& note) = 0;
};

/// A waveform, and a save file for GTKWave beside it. `options.path` is not looked at. Throws FileError, OutputError if
/// the scope holds no signal.
[[nodiscard]] std::unique_ptr<TraceOutput> make_waveform_output(const std::string& path,
                                                                const traces::WaveformOptions& options, System& system);
/// Compressed if the name ends with ".gz".
[[nodiscard]] std::unique_ptr<TraceOutput> make_timeline_output(const std::string& path, const SystemConfig& config);
/// SQLite, or CSV if the name ends with ".csv"; the critical path then goes into a file of its own, FILE.path.csv.
[[nodiscard]] std::unique_ptr<TraceOutput> make_op_log_output(const std::string& path, bool with_critical_path);

}  // namespace kernwave::platform
