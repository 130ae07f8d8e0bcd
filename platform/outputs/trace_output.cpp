#include "platform/outputs/trace_output.h"

#include <algorithm>
#include <filesystem>
#include <stdexcept>

#include "platform/files/whole_file.h"
#include "platform/outputs/outputs.h"
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
  WaveformOutput(const traces::WaveformOptions& options, System& system)
      : window_(options.window), waveform_(system, options) {}

  [[nodiscard]] const std::string& path() const noexcept override { return waveform_.path(); }
  [[nodiscard]] PeObserver* pe_observer() noexcept override { return waveform_.pe_observer(); }
  [[nodiscard]] ChannelObserver* channel_observer() noexcept override { return waveform_.channel_observer(); }
  [[nodiscard]] bool failed() const noexcept override { return waveform_.failed(); }
  void finish(const traces::RunNote& note) override {
    waveform_.close();
    const Picoseconds to = std::min(window_.to.value_or(note.end), note.end);
    const WaveformSideFiles beside = side_files_of_waveform(path());
    write_file_atomically(beside.states, traces::state_names());
    write_file_atomically(beside.save,
                          traces::gtkwave_save({name_of(beside.save), name_of(path()), name_of(beside.states),
                                                waveform_.signals(), window_.from, to}));
  }

 private:
  [[nodiscard]] static std::string name_of(const std::string& path) { return fs::path(path).filename().string(); }

  traces::VcdWindow window_;
  traces::Waveform waveform_;
};

class TimelineOutput : public TraceOutput {
 public:
  TimelineOutput(const std::string& path, const System& system)
      : timeline_(path, compression_of(path), system.config(), system.engines()) {}

  [[nodiscard]] const std::string& path() const noexcept override { return timeline_.path(); }
  [[nodiscard]] PeObserver* pe_observer() noexcept override { return &timeline_; }
  [[nodiscard]] ChannelObserver* channel_observer() noexcept override { return &timeline_; }
  [[nodiscard]] bool failed() const noexcept override { return timeline_.failed(); }
  void finish(const traces::RunNote& note) override { timeline_.close(note); }

 private:
  [[nodiscard]] static traces::Compression compression_of(const std::string& path) {
    return fs::path(path).extension() == ".gz" ? traces::Compression::gzip : traces::Compression::none;
  }

  traces::Timeline timeline_;
};

class SqliteOutput : public TraceOutput {
 public:
  explicit SqliteOutput(const std::string& path) : log_(path) {}

  [[nodiscard]] const std::string& path() const noexcept override { return log_.path(); }
  [[nodiscard]] PeObserver* pe_observer() noexcept override { return &log_.observer(); }
  [[nodiscard]] bool failed() const noexcept override { return log_.failed(); }
  void add_critical_path(const traces::CriticalPath& path) override { log_.write_path(path.segments()); }
  void finish(const traces::RunNote& note) override {
    log_.close(note, {{"version", std::string(version())}, {"revision", std::string(source_revision())}});
  }

 private:
  traces::SqliteOpLog log_;
};

class CsvOutput : public TraceOutput {
 public:
  explicit CsvOutput(const std::string& path) : log_(path) {}

  [[nodiscard]] const std::string& path() const noexcept override { return log_.path(); }
  [[nodiscard]] PeObserver* pe_observer() noexcept override { return &log_.observer(); }
  [[nodiscard]] bool failed() const noexcept override { return log_.failed(); }
  void add_critical_path(const traces::CriticalPath& path) override {
    const std::string beside = path_file_of_op_log(log_.path());
    writing(beside, [&] { traces::write_path_csv(beside, path.segments()); });
  }
  void finish(const traces::RunNote& note) override { log_.close(note); }

 private:
  traces::CsvOpLog log_;
};

}  // namespace

WaveformSideFiles side_files_of_waveform(const std::string& path) {
  return {without_extension(path) + ".gtkw", without_extension(path) + ".states.txt"};
}

std::string path_file_of_op_log(const std::string& path) { return without_extension(path) + ".path.csv"; }

std::unique_ptr<TraceOutput> make_waveform_output(const traces::WaveformOptions& options, System& system) {
  try {
    return writing(options.path, [&] { return std::make_unique<WaveformOutput>(options, system); });
  } catch (const std::invalid_argument& error) {
    throw OutputError(error.what());
  }
}

std::unique_ptr<TraceOutput> make_timeline_output(const std::string& path, const System& system) {
  return writing(path, [&] { return std::make_unique<TimelineOutput>(path, system); });
}

std::unique_ptr<TraceOutput> make_op_log_output(const std::string& path) {
  return writing(path, [&]() -> std::unique_ptr<TraceOutput> {
    if (is_csv(path)) return std::make_unique<CsvOutput>(path);
    return std::make_unique<SqliteOutput>(path);
  });
}

bool is_csv(const std::string& path) { return fs::path(path).extension() == ".csv"; }

}  // namespace kernwave::platform
