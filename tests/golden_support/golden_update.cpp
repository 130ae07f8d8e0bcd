#include "tests/golden_support/golden_update.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string_view>
#include <thread>
#include <utility>

#include "platform/files/whole_file.h"
#include "platform/host/child_process.h"
#include "tests/golden_support/golden_comparison.h"
#include "tests/golden_support/golden_document.h"
#include "tests/golden_support/golden_folder.h"
#include "tests/golden_support/golden_runs.h"

namespace kernwave::testing {

namespace fs = std::filesystem;

using platform::Json;

namespace {

constexpr std::string_view update_option = "--update-goldens";

/// The goldens as they were, for telling what changed.
struct FormerGoldens {
  GoldenDocument document;
  std::string problem;  ///< why they could not be read; empty: they could
};

[[nodiscard]] GoldenDocument run_all(const std::string& kernel) {
  const std::vector<GoldenRun> runs = golden_runs(kernel);
  std::vector<std::function<std::string()>> work;
  work.reserve(runs.size());
  for (const GoldenRun& run : runs) {
    work.emplace_back([&run] { return platform::to_text(to_json(simulate(run)), 0); });
  }
  const unsigned at_once = std::max(1U, std::thread::hardware_concurrency());
  const std::vector<std::string> texts = platform::texts_from_children(work, at_once);
  GoldenDocument document{kernel, {}};
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const Json figures = platform::parse_json(texts.at(i), "the simulation's process");
    document.entries.push_back({std::string(tl::name_of(runs[i].policy)), runs[i].options, figures_from_json(figures)});
  }
  return document;
}

/// A file that is missing or spoilt is one to be written anew.
[[nodiscard]] FormerGoldens former_goldens(const fs::path& folder, const std::string& kernel) {
  try {
    return {read_golden(folder, kernel), {}};
  } catch (const platform::JsonError& error) {
    return {{kernel, {}}, error.what()};
  } catch (const platform::FileError& error) {
    return {{kernel, {}}, error.what()};
  }
}

/// "latency -0.10 % to +0.49 %" over the runs that have changed.
[[nodiscard]] std::string latency_span(const std::vector<GoldenDifference>& found) {
  std::optional<std::pair<double, double>> span;
  for (const GoldenDifference& difference : found) {
    const std::int64_t before = value_of(difference.before, "latency_ps", "");
    if (difference.kind != GoldenDifference::Kind::changed || before == 0) continue;
    const std::int64_t by = value_of(difference.after, "latency_ps", "") - before;
    const double percent = 100.0 * static_cast<double>(by) / static_cast<double>(before);
    span =
        span ? std::pair(std::min(span->first, percent), std::max(span->second, percent)) : std::pair(percent, percent);
  }
  return span ? fmt::format(", latency {:+.2f} % to {:+.2f} %", span->first, span->second) : "";
}

/// Empty: nothing has changed.
[[nodiscard]] std::string told(const FormerGoldens& former, const GoldenDocument& now) {
  const std::vector<GoldenDifference> found = differences(former.document, now);
  if (found.empty() && former.problem.empty()) return {};
  std::string text =
      fmt::format("{}: {} of {} runs differ{}\n", now.kernel, found.size(), now.entries.size(), latency_span(found));
  if (!former.problem.empty()) text += fmt::format("  written anew: {}\n", former.problem);
  for (const GoldenDifference& difference : found) text += short_text(difference);
  return text;
}

/// Writes unless the file holds that already.
void write_if_different(const fs::path& folder, const FormerGoldens& former, const GoldenDocument& now) {
  const bool same =
      former.problem.empty() && platform::read_file(golden_path(folder, now.kernel).string()) == to_text(now);
  if (!same) write_golden(folder, now);
}

/// All kernels, or those that the option names.
[[nodiscard]] std::vector<std::string> chosen_kernels(const std::string& argument) {
  std::vector<std::string> all = golden_kernels();
  if (argument == update_option) return all;
  if (argument[update_option.size()] != '=') throw std::invalid_argument(fmt::format("'{}' is no option", argument));
  std::vector<std::string> chosen;
  std::size_t begin = update_option.size() + 1;
  while (begin <= argument.size()) {
    const std::size_t comma = std::min(argument.find(',', begin), argument.size());
    const std::string kernel = argument.substr(begin, comma - begin);
    if (std::find(all.begin(), all.end(), kernel) == all.end()) {
      throw std::invalid_argument(fmt::format("'{}' is no kernel; there are {}", kernel, fmt::join(all, ", ")));
    }
    chosen.push_back(kernel);
    begin = comma + 1;
  }
  return chosen;
}

}  // namespace

bool asks_for_golden_update(const std::vector<std::string>& arguments) {
  return std::any_of(arguments.begin(), arguments.end(), [](const std::string& argument) {
    return argument.compare(0, update_option.size(), update_option) == 0;
  });
}

std::string update_goldens(const fs::path& folder, const std::vector<std::string>& kernels) {
  std::vector<GoldenDocument> documents;
  documents.reserve(kernels.size());
  for (const std::string& kernel : kernels) documents.push_back(run_all(kernel));
  std::string text;
  for (const GoldenDocument& document : documents) {
    const FormerGoldens former = former_goldens(folder, document.kernel);
    write_if_different(folder, former, document);
    text += told(former, document);
  }
  return text.empty() ? "nothing changed\n" : text;
}

int carry_out_golden_update(const std::vector<std::string>& arguments) {
  constexpr int failed = 1;
  constexpr int usage_error = 2;
  try {
    if (arguments.size() != 1) throw std::invalid_argument(fmt::format("{} stands alone", update_option));
    const std::vector<std::string> kernels = chosen_kernels(arguments.front());
    const fs::path folder = golden_folder();
    fmt::print("{}", update_goldens(folder, kernels));
    return 0;
  } catch (const std::invalid_argument& error) {
    fmt::print(stderr, "kernwave_regression: {}\n", error.what());
    return usage_error;
  } catch (const std::exception& error) {
    fmt::print(stderr, "kernwave_regression: {}\n", error.what());
    return failed;
  }
}

}  // namespace kernwave::testing
