#include "platform/run/trace_output.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <stdexcept>
#include <utility>

#include "platform/files.h"
#include "platform/pending_file.h"
#include "platform/run/outputs.h"
#include "platform/version.h"
#include "traces/op_log/csv_op_log.h"
#include "traces/op_log/sqlite_op_log.h"
#include "traces/timeline/timeline.h"
#include "traces/waveform/gtkwave_save.h"

namespace kernwave::platform {

namespace {

namespace fs = std::filesystem;

[[nodiscard]] std::string without_extension(const std::string& path) {
  return fs::path(path).replace_extension().string();
}

class WaveformOutput : public TraceOutput {
 public:
  WaveformOutput(const std::string& path, const traces::WaveformOptions& options, System& system)
      : file_(path), options_(options), waveform_(system, with_path(options)) {
    for (const std::string& beside : {save_path(), states_path()}) check_writable(beside);
  }

  [[nodiscard]] const std::string& path() const noexcept override { return file_.path(); }
  [[nodiscard]] PeObserver* pe_observer() noexcept override { return waveform_.pe_observer(); }
  [[nodiscard]] ChannelObserver* channel_observer() noexcept override { return waveform_.channel_observer(); }
  void finish(const traces::RunNote& note) override {
    waveform_.close();
    file_.commit();
    const Picoseconds to = std::min(options_.window.to.value_or(note.end), note.end);
    write_file_atomically(states_path(), traces::state_names());
    write_file_atomically(save_path(),
                          traces::gtkwave_save({name_of(save_path()), name_of(file_.path()), name_of(states_path()),
                                                waveform_.signals(), options_.window.from, to}));
  }

 private:
  [[nodiscard]] traces::WaveformOptions with_path(traces::WaveformOptions options) const {
    options.path = file_.temporary_path();
    return options;
  }

  [[nodiscard]] std::string save_path() const { return without_extension(file_.path()) + ".gtkw"; }
  [[nodiscard]] std::string states_path() const { return without_extension(file_.path()) + ".states.txt"; }
  [[nodiscard]] static std::string name_of(const std::string& path) { return fs::path(path).filename().string(); }

  PendingFile file_;
  traces::WaveformOptions options_;
  traces::Waveform waveform_;
};

class TimelineOutput : public TraceOutput {
 public:
  TimelineOutput(const std::string& path, const SystemConfig& config)
      : file_(path), timeline_(file_.temporary_path(), compression_of(path), config) {}

  [[nodiscard]] const std::string& path() const noexcept override { return file_.path(); }
  [[nodiscard]] PeObserver* pe_observer() noexcept override { return &timeline_; }
  [[nodiscard]] ChannelObserver* channel_observer() noexcept override { return &timeline_; }
  void finish(const traces::RunNote& note) override {
    timeline_.close(note);
    file_.commit();
  }

 private:
  [[nodiscard]] static traces::Compression compression_of(const std::string& path) {
    return fs::path(path).extension() == ".gz" ? traces::Compression::gzip : traces::Compression::none;
  }

  PendingFile file_;
  traces::Timeline timeline_;
};

class SqliteOutput : public TraceOutput {
 public:
  explicit SqliteOutput(const std::string& path)
      : file_(path, PendingFile::Kind::regular), log_(file_.temporary_path()) {}

  [[nodiscard]] const std::string& path() const noexcept override { return file_.path(); }
  [[nodiscard]] PeObserver* pe_observer() noexcept override { return &log_.observer(); }
  void add_critical_path(const traces::CriticalPath& path) override { log_.write_path(path.segments()); }
  void finish(const traces::RunNote& note) override {
    log_.close(note, {{"version", std::string(version())}, {"revision", std::string(source_revision())}});
    file_.commit();
  }

 private:
  PendingFile file_;
  traces::SqliteOpLog log_;
};

class CsvOutput : public TraceOutput {
 public:
  CsvOutput(const std::string& path, bool with_critical_path) : file_(path), log_(file_.temporary_path()) {
    if (with_critical_path) path_file_ = std::make_unique<PendingFile>(without_extension(path) + ".path.csv");
  }

  [[nodiscard]] const std::string& path() const noexcept override { return file_.path(); }
  [[nodiscard]] PeObserver* pe_observer() noexcept override { return &log_.observer(); }
  void add_critical_path(const traces::CriticalPath& path) override {
    traces::write_path_csv(path_file_->temporary_path(), path.segments());
    path_file_->commit();
  }
  void finish(const traces::RunNote& note) override {
    log_.close(note);
    file_.commit();
  }

 private:
  PendingFile file_;
  std::unique_ptr<PendingFile> path_file_;
  traces::CsvOpLog log_;
};

/// What a writer says of its own file, with the name of the file.
template <typename Output, typename... Arguments>
[[nodiscard]] std::unique_ptr<TraceOutput> make(const std::string& path, Arguments&&... arguments) {
  try {
    return std::make_unique<Output>(path, std::forward<Arguments>(arguments)...);
  } catch (const traces::WriteError& error) {
    throw FileError("write", path, error.what());
  }
}

}  // namespace

std::unique_ptr<TraceOutput> make_waveform_output(const std::string& path, const traces::WaveformOptions& options,
                                                  System& system) {
  try {
    return make<WaveformOutput>(path, options, system);
  } catch (const std::invalid_argument& error) {
    throw OutputError(error.what());
  }
}

std::unique_ptr<TraceOutput> make_timeline_output(const std::string& path, const SystemConfig& config) {
  return make<TimelineOutput>(path, config);
}

std::unique_ptr<TraceOutput> make_op_log_output(const std::string& path, bool with_critical_path) {
  if (fs::path(path).extension() == ".csv") return make<CsvOutput>(path, with_critical_path);
  return make<SqliteOutput>(path);
}

}  // namespace kernwave::platform
