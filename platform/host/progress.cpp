#include "platform/host/progress.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

#include "platform/text/text_stream.h"
#include "platform/text/units.h"

namespace kernwave::platform {

namespace {

[[nodiscard]] std::string count_text(double count) {
  struct Unit {
    double size;
    const char* name;
  };
  constexpr std::array<Unit, 3> units = {{{1e9, "G"}, {1e6, "M"}, {1e3, "k"}}};
  for (const Unit& unit : units) {
    if (count >= unit.size) return fmt::format("{:.1f} {}", count / unit.size, unit.name);
  }
  return fmt::format("{:.0f}", count);
}

[[nodiscard]] std::string duration_text(double seconds) {
  const auto whole = static_cast<std::int64_t>(std::ceil(seconds));
  constexpr std::int64_t minute = 60;
  constexpr std::int64_t hour = 60 * minute;
  if (whole < 2 * minute) return fmt::format("{} s", whole);
  if (whole < 2 * hour) return fmt::format("{} min", (whole + minute / 2) / minute);
  return fmt::format("{} h", (whole + hour / 2) / hour);
}

/// Less than a line of the terminal: what wraps cannot be written over.
[[nodiscard]] std::size_t width_of_terminal() noexcept {
  winsize size{};
  const bool known = ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1;
  return known ? size.ws_col - std::size_t{1} : std::size_t{79};
}

/// A terminal may have gone while the run goes on.
void show_text(const std::string& text) {
  TextStream terminal(stderr);
  terminal.print(text);
  terminal.flush();
}

}  // namespace

std::string progress_text(const ProgressState& state) {
  std::string text = fmt::format("simulated {}   {} operations", time_text(state.simulated.count()),
                                 count_text(static_cast<double>(state.operations)));
  if (state.seconds <= 0.0) return text;
  text += fmt::format("   {}/s", count_text(static_cast<double>(state.operations) / state.seconds));
  if (state.fraction && *state.fraction > 0.0) {
    const double left = state.seconds * (1.0 - *state.fraction) / *state.fraction;
    text += fmt::format("   about {} left", duration_text(left));
  }
  return text;
}

std::optional<double> done_fraction(const System& system, const std::vector<CompulsoryWork>& work) {
  constexpr double most = 0.99;
  constexpr std::int64_t flops_of_one = 2;  // a product and a sum
  CompulsoryWork whole;
  CompulsoryWork done;
  for (const CompulsoryWork& mine : work) {
    whole.read += mine.read;
    whole.multiply_accumulates += mine.multiply_accumulates;
  }
  for (std::int64_t i = 0; i < system.pe_count(); ++i) {
    done.read += system.pe(PeId(i)).statistics(Engine::dma_read).bytes;
    done.multiply_accumulates += system.pe(PeId(i)).statistics(Engine::gemm).flops / flops_of_one;
  }
  double fraction = most;
  bool known = false;
  const auto consider = [&](std::int64_t part, std::int64_t all) {
    if (all == 0) return;
    fraction = std::min(fraction, static_cast<double>(part) / static_cast<double>(all));
    known = true;
  };
  consider(done.read.count(), whole.read.count());
  consider(done.multiply_accumulates, whole.multiply_accumulates);
  return known && fraction > 0.0 ? std::optional<double>(fraction) : std::nullopt;
}

ProgressState progress_of(const System& system, const std::vector<CompulsoryWork>& work, double seconds) {
  ProgressState state{now(), 0, seconds, done_fraction(system, work)};
  for (std::int64_t i = 0; i < system.pe_count(); ++i) state.operations += system.pe(PeId(i)).cpu().operations();
  return state;
}

ProgressLine::~ProgressLine() {
  if (shown_ == 0) return;
  show_text(fmt::format("\r{:{}}\r", "", shown_));
}

void ProgressLine::show(const std::string& text) {
  const std::string line = text.substr(0, width_of_terminal());
  show_text(fmt::format("\r{:<{}}", line, shown_));  // blanks over what was longer
  shown_ = std::max(shown_, line.size());
}

}  // namespace kernwave::platform
