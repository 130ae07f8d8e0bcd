#include "platform/run/run_checks.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

namespace kernwave::platform {

namespace {

constexpr std::size_t most_told = 20;

/// The first ones, and how many more there are.
void add(std::vector<std::string>& texts, std::string_view kind, const std::vector<std::string>& findings) {
  for (std::size_t i = 0; i < std::min(most_told, findings.size()); ++i) {
    texts.push_back(fmt::format("{}{}", kind, findings[i]));
  }
  if (findings.size() > most_told) texts.push_back(fmt::format("{}and {} more", kind, findings.size() - most_told));
}

}  // namespace

RunChecks::RunChecks(const CheckRequest& request, System& system) : request_(request) {
  const bool with_data = system.data_mode() == DataMode::full;
  if (with_data || request.strict) races_ = std::make_unique<traces::RaceDetector>(system.config());
  if (!with_data) return;
  reads_ = std::make_unique<traces::UninitialisedReads>(system);
  nan_watch_ = std::make_unique<traces::NanWatch>(system, request.trap_nan ? traces::OnNan::stop : traces::OnNan::note);
}

std::vector<PeObserver*> RunChecks::observers() const {
  std::vector<PeObserver*> made;
  for (PeObserver* observer : {static_cast<PeObserver*>(races_.get()), static_cast<PeObserver*>(reads_.get()),
                               static_cast<PeObserver*>(nan_watch_.get())}) {
    if (observer != nullptr) made.push_back(observer);
  }
  return made;
}

std::vector<std::string> RunChecks::findings() const {
  std::vector<std::string> texts;
  if (races_ != nullptr) add(texts, "race: ", races_->findings());
  if (reads_ != nullptr) add(texts, "", reads_->findings());
  if (nan_watch_ != nullptr && !request_.trap_nan) {
    if (const auto finding = nan_watch_->finding()) texts.push_back(*finding);
  }
  return texts;
}

std::vector<std::string> RunChecks::errors() const {
  std::vector<std::string> texts;
  if (nan_watch_ != nullptr && request_.trap_nan) {
    if (const auto finding = nan_watch_->finding()) texts.push_back("kernel error: " + *finding);
  }
  if (!request_.strict) return texts;
  for (std::string& finding : findings()) texts.push_back(std::move(finding));
  return texts;
}

std::vector<std::string> RunChecks::warnings() const {
  return request_.strict ? std::vector<std::string>() : findings();
}

}  // namespace kernwave::platform
