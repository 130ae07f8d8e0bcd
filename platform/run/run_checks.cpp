#include "platform/run/run_checks.h"

#include <fmt/format.h>

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

RunChecks::RunChecks(const CheckRequest& request, System& system) : strict_(request.strict) {
  const bool with_data = system.data_mode() == DataMode::full;
  if (with_data || strict_) races_ = std::make_unique<traces::RaceDetector>(system.config());
  if (with_data) reads_ = std::make_unique<traces::UninitialisedReads>(system);
  if (with_data && request.trap_nan) nan_trap_ = std::make_unique<traces::NanTrap>(system);
}

std::vector<PeObserver*> RunChecks::observers() const {
  std::vector<PeObserver*> made;
  for (PeObserver* observer : {static_cast<PeObserver*>(races_.get()), static_cast<PeObserver*>(reads_.get()),
                               static_cast<PeObserver*>(nan_trap_.get())}) {
    if (observer != nullptr) made.push_back(observer);
  }
  return made;
}

std::vector<std::string> RunChecks::errors() const {
  std::vector<std::string> texts;
  if (nan_trap_ != nullptr) {
    if (const auto finding = nan_trap_->finding()) texts.push_back("kernel error: " + *finding);
  }
  if (races_ != nullptr) add(texts, "race: ", races_->findings());
  if (reads_ != nullptr && strict_) add(texts, "", reads_->findings());
  return texts;
}

std::vector<std::string> RunChecks::warnings() const {
  std::vector<std::string> texts;
  if (reads_ != nullptr && !strict_) add(texts, "", reads_->findings());
  return texts;
}

}  // namespace kernwave::platform
