#include "platform/results/activity_document.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <utility>

namespace kernwave::platform {

namespace {

/// By Engine; of the queues, sends. Receives have the lane behind them.
constexpr std::array<std::string_view, engine_count + 2> lanes = {"dma_read",  "dma_write", "gemm",        "math",
                                                                  "ipcq send", "composite", "ipcq receive"};

[[nodiscard]] std::size_t lane_of(const Descriptor& descriptor) {
  const bool receives = descriptor.engine == Engine::ipcq && descriptor.ipcq().action == IpcqAction::receive;
  return receives ? lanes.size() - 1 : static_cast<std::size_t>(descriptor.engine);
}

[[nodiscard]] Json numbers(const traces::ActivitySeries::Bins& bins, std::int64_t count) {
  const auto shown = std::min(static_cast<std::size_t>(count), bins.size());
  return Json::array(Json::Array(bins.begin(), bins.begin() + static_cast<std::ptrdiff_t>(shown)));
}

/// Texts, each once, in the order of their first use.
class TextPool {
 public:
  [[nodiscard]] std::size_t number_of(std::string text) {
    const auto [position, is_new] = numbers_.emplace(std::move(text), texts_.size());
    if (is_new) texts_.push_back(position->first);
    return position->second;
  }
  [[nodiscard]] Json texts() const { return Json::array(Json::Array(texts_.begin(), texts_.end())); }

 private:
  std::map<std::string, std::size_t> numbers_;
  std::vector<std::string> texts_;
};

[[nodiscard]] Json window_object(const traces::WindowRecorder& recorder) {
  TextPool texts;
  TextPool places;
  Json operations = Json::array();
  for (const traces::OperationRow& row : recorder.rows()) {
    operations.push_back(
        Json::array({row.descriptor.id.pe.count(), lane_of(row.descriptor), texts.number_of(describe(row.descriptor)),
                     places.number_of(fmt::format("{}:{}", row.where.file, row.where.line)), row.issued.count(),
                     row.start.count(), row.end.count()}));
  }
  const bool to_the_end = recorder.complete_to().count() == std::numeric_limits<std::int64_t>::max();
  return Json::object({{"from_ps", recorder.window().from.count()},
                       {"complete_to_ps", to_the_end ? Json() : Json(recorder.complete_to().count())},
                       {"touching", recorder.touching()},
                       {"lanes", Json::array(Json::Array(lanes.begin(), lanes.end()))},
                       {"texts", texts.texts()},
                       {"places", places.texts()},
                       {"operations", operations}});
}

}  // namespace

Json activity_document(const traces::ActivitySeries& series, const traces::WindowRecorder& recorder) {
  const std::int64_t count = series.bin_count();
  Json busy = Json::object();
  for (std::size_t i = 0; i < engine_count; ++i) {
    const auto& bins = series.busy(static_cast<Engine>(i));
    if (!bins.empty()) busy[lanes[i]] = numbers(bins, count);
  }
  Json cubes = Json::object();
  for (std::size_t i = 0; i < series.traffic().size(); ++i) {
    const auto& traffic = series.traffic()[i];
    if (traffic.read.empty() && traffic.written.empty()) continue;
    cubes[fmt::format("cube{}", i)] =
        Json::object({{"read", numbers(traffic.read, count)}, {"written", numbers(traffic.written, count)}});
  }
  return Json::object({{"bin_ps", series.bin_width().count()},
                       {"bins", count},
                       {"busy_ps", busy},
                       {"cubes", cubes},
                       {"window", window_object(recorder)}});
}

}  // namespace kernwave::platform
