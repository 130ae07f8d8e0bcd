// A file that is written while a run goes on.
#pragma once

#include <memory>
#include <string>

#include "models/memory/channel_observer.h"
#include "models/pe/pe_observer.h"
#include "models/system/system.h"
#include "traces/critical_path/critical_path.h"
#include "traces/files/output.h"
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
  /// The observer of this output; nullptr: none.
  [[nodiscard]] virtual PeObserver* pe_observer() noexcept { return nullptr; }
  [[nodiscard]] virtual ChannelObserver* channel_observer() noexcept { return nullptr; }
  /// A write has failed: `finish` will throw.
  [[nodiscard]] virtual bool failed() const noexcept { return false; }
  /// Before `finish`, of a run that has finished and whose path is known.
  virtual void add_critical_path(const traces::CriticalPath& /*path*/) {}
  /// The run has ended: writes what is left, closes the file and puts it in its place. Throws traces::WriteError (the
  /// reason alone) or FileError, and leaves the final path as it was.
  virtual void finish(const traces::RunNote& note) = 0;
};

/// What a waveform is written with: a save file for GTKWave, and the names of states that it refers to.
struct WaveformSideFiles {
  std::string save;
  std::string states;
};
[[nodiscard]] WaveformSideFiles side_files_of_waveform(const std::string& path);

/// An op log of this name is CSV, and SQLite else.
[[nodiscard]] bool is_csv(const std::string& path);
/// Where a CSV log has the critical path: FILE.path.csv.
[[nodiscard]] std::string path_file_of_op_log(const std::string& path);

/// A waveform and its side files. Throws FileError, OutputError if the scope holds no signal.
[[nodiscard]] std::unique_ptr<TraceOutput> make_waveform_output(const traces::WaveformOptions& options, System& system);
/// Compressed if the name ends with ".gz".
[[nodiscard]] std::unique_ptr<TraceOutput> make_timeline_output(const std::string& path, const System& system);
[[nodiscard]] std::unique_ptr<TraceOutput> make_op_log_output(const std::string& path);

}  // namespace kernwave::platform
