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

/// The lanes of a machine: one for each engine, of the queues for sends, and one for receives behind them all.
class Lanes {
 public:
  explicit Lanes(const EngineList& engines) : engines_(engines) {}

  [[nodiscard]] std::size_t count() const noexcept { return engines_.size() + 1; }
  [[nodiscard]] std::string name(std::size_t lane) const {
    if (lane == engines_.size()) return fmt::format("{} receive", name_of(Engine::ipcq));
    const EngineRow& row = engines_[static_cast<Engine>(lane)];
    return fmt::format("{}{}", row.name, row.service == EngineService::messages ? " send" : "");
  }
  [[nodiscard]] std::size_t of(const Descriptor& descriptor) const {
    const bool receive = descriptor.engine == Engine::ipcq && descriptor.ipcq().action == IpcqAction::receive;
    return receive ? engines_.size() : static_cast<std::size_t>(descriptor.engine);
  }
  [[nodiscard]] Json names() const {
    Json names = Json::array();
    for (std::size_t lane = 0; lane < count(); ++lane) names.push_back(name(lane));
    return names;
  }
  [[nodiscard]] Json colours() const {
    Json colours = Json::object();
    for (std::size_t lane = 0; lane < count(); ++lane) colours[name(lane)] = shade(lane);
    return colours;
  }

 private:
  [[nodiscard]] std::string_view shade(std::size_t lane) const noexcept {
    if (lane == engines_.size()) return "#c9a3e0";
    switch (engines_[static_cast<Engine>(lane)].colour) {
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

  const EngineList& engines_;
};

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

[[nodiscard]] Json window_object(const traces::WindowRecorder& recorder, const Lanes& lanes) {
  TextPool texts;
  TextPool places;
  Json operations = Json::array();
  for (const traces::OperationRow& row : recorder.rows()) {
    operations.push_back(
        Json::array({row.descriptor.id.pe.count(), lanes.of(row.descriptor), texts.number_of(describe(row.descriptor)),
                     places.number_of(fmt::format("{}:{}", row.where.file, row.where.line)), row.issued.count(),
                     row.start.count(), row.end.count()}));
  }
  const bool to_the_end = recorder.complete_to().count() == std::numeric_limits<std::int64_t>::max();
  return Json::object({{"from_ps", recorder.window().from.count()},
                       {"complete_to_ps", to_the_end ? Json() : Json(recorder.complete_to().count())},
                       {"touching", recorder.touching()},
                       {"lanes", lanes.names()},
                       {"texts", texts.texts()},
                       {"places", places.texts()},
                       {"operations", operations}});
}

}  // namespace

Json activity_document(const traces::ActivitySeries& series, const traces::WindowRecorder& recorder,
                       const EngineList& engines) {
  const Lanes lanes(engines);
  const std::int64_t count = series.bin_count();
  Json busy = Json::object();
  for (const EngineRow& row : engines) {
    const auto& bins = series.busy(row.engine);
    if (!bins.empty()) busy[lanes.name(static_cast<std::size_t>(row.engine))] = numbers(bins, count);
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
                       {"colours", lanes.colours()},
                       {"busy_ps", busy},
                       {"cubes", cubes},
                       {"window", window_object(recorder, lanes)}});
}

}  // namespace kernwave::platform
