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

constexpr std::size_t receives = engine_rows.size();
constexpr std::size_t lane_count = receives + 1;

/// By Engine; of the queues, sends. Receives have the lane behind them all.
[[nodiscard]] std::string lane_name(std::size_t lane) {
  if (lane == receives) return fmt::format("{} receive", name_of(Engine::ipcq));
  const EngineRow& row = engine_rows[lane];
  return fmt::format("{}{}", row.name, row.service == EngineService::messages ? " send" : "");
}

[[nodiscard]] std::string_view shade_of(std::size_t lane) noexcept {
  if (lane == receives) return "#c9a3e0";
  switch (engine_rows[lane].colour) {
    case EngineColour::grey:
      break;
    case EngineColour::blue:
      return "#3b7dd8";
    case EngineColour::light_blue:
      return "#7fb3f0";
    case EngineColour::orange:
      return "#e08a1e";
    case EngineColour::green:
      return "#3fa66b";
    case EngineColour::purple:
      return "#a063c9";
  }
  return "#8a8f98";
}

[[nodiscard]] std::size_t lane_of(const Descriptor& descriptor) {
  const bool receive = descriptor.engine == Engine::ipcq && descriptor.ipcq().action == IpcqAction::receive;
  return receive ? receives : static_cast<std::size_t>(descriptor.engine);
}

[[nodiscard]] Json lane_names() {
  Json names = Json::array();
  for (std::size_t lane = 0; lane < lane_count; ++lane) names.push_back(lane_name(lane));
  return names;
}

[[nodiscard]] Json lane_colours() {
  Json colours = Json::object();
  for (std::size_t lane = 0; lane < lane_count; ++lane) colours[lane_name(lane)] = shade_of(lane);
  return colours;
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
                       {"lanes", lane_names()},
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
    if (!bins.empty()) busy[lane_name(i)] = numbers(bins, count);
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
                       {"colours", lane_colours()},
                       {"busy_ps", busy},
                       {"cubes", cubes},
                       {"window", window_object(recorder)}});
}

}  // namespace kernwave::platform
