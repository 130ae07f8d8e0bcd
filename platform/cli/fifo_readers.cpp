#include "platform/cli/fifo_readers.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <cerrno>
#include <chrono>
#include <thread>
#include <utility>

#include "platform/files/whole_file.h"
#include "platform/text/message_text.h"
#include "platform/text/text_stream.h"
#include "traces/files/output_place.h"

namespace kernwave::platform {

namespace {

using traces::OpenFile;

[[nodiscard]] bool is_fifo(const std::string& path) {
  const auto place = writing(path, [&path] { return traces::output_place(path); });
  return place.kind == traces::OutputPlace::Kind::stream && S_ISFIFO(place.status->st_mode);
}

[[nodiscard]] OpenFile open_with_reader(const std::string& path) {
  constexpr std::chrono::milliseconds between_looks(20);
  bool said = false;
  while (true) {
    OpenFile file(traces::open_file(path, O_WRONLY | O_NONBLOCK));
    if (file.is_open()) return file;
    if (errno != ENXIO) throw cannot_write(path, traces::reason_of(errno));
    if (!said) complain(fmt::format("waiting until {}, a FIFO, is read", in_quotes(path)));
    said = true;
    std::this_thread::sleep_for(between_looks);
  }
}

}  // namespace

std::vector<OpenFile> wait_for_readers(const std::vector<std::string>& paths) {
  std::vector<OpenFile> files;
  for (const std::string& path : paths) {
    if (is_fifo(path)) files.push_back(open_with_reader(path));
  }
  return files;
}

}  // namespace kernwave::platform
