#include "platform/text/message_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstddef>

namespace kernwave::platform {
namespace {

bool is_space(char c) noexcept { return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\v' || c == '\f'; }

char lower(char c) noexcept { return static_cast<char>(std::tolower(static_cast<unsigned char>(c))); }

/// Appends text whose control characters, those of Unicode's Latin-1 part included, are written as escapes.
void append_escaped(std::string& result, std::string_view text, std::string_view also_escaped) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto code = static_cast<unsigned char>(text[i]);
    const auto next = static_cast<unsigned char>(i + 1 < text.size() ? text[i + 1] : '\0');
    if (text[i] == '\n') {
      result += "\\n";
    } else if (code < 0x20 || code == 0x7f) {
      result += fmt::format("\\x{:02x}", code);
    } else if (code == 0xc2 && next >= 0x80 && next < 0xa0) {  // U+0080 to U+009F in UTF-8
      result += fmt::format("\\x{:02x}", next);
      ++i;
    } else {
      if (also_escaped.find(text[i]) != std::string_view::npos) result += '\\';
      result += text[i];
    }
  }
}

/// Edits (insert, delete, replace, swap neighbours) from one word to the other, case aside.
std::size_t edit_distance(std::string_view from, std::string_view to) {
  std::vector<std::size_t> before_last(to.size() + 1);
  std::vector<std::size_t> last(to.size() + 1);
  std::vector<std::size_t> row(to.size() + 1);
  for (std::size_t j = 0; j <= to.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= from.size(); ++i) {
    before_last.swap(last);
    last.swap(row);
    row[0] = i;
    for (std::size_t j = 1; j <= to.size(); ++j) {
      const char a = lower(from[i - 1]);
      const char b = lower(to[j - 1]);
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (a == b ? 0U : 1U)});
      const bool swapped = i > 1 && j > 1 && a == lower(to[j - 2]) && b == lower(from[i - 2]);
      if (swapped) row[j] = std::min(row[j], before_last[j - 2] + 1);
    }
  }
  return row[to.size()];
}

}  // namespace

std::string_view trimmed(std::string_view text) noexcept {
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

std::string in_one_line(std::string_view text) {
  std::string result;
  append_escaped(result, text, "");
  return result;
}

std::string in_quotes(std::string_view text) {
  constexpr std::size_t max_length = 120;
  std::string result = "\"";
  append_escaped(result, text.substr(0, max_length), "\"\\");
  if (text.size() > max_length) result += "...";
  return result + '"';
}

std::optional<std::string> nearest_name(std::string_view text, const std::vector<std::string>& candidates) {
  // Beyond a third of the letters a suggestion is more likely to mislead than to help. Longer texts are not names,
  // and the distance is quadratic.
  constexpr std::size_t max_length = 200;
  if (text.empty() || text.size() > max_length) return std::nullopt;
  std::optional<std::string> best;
  std::size_t best_distance = std::max<std::size_t>(1, text.size() / 3) + 1;
  for (const std::string& candidate : candidates) {
    const std::size_t distance = edit_distance(text, candidate);
    if (distance < best_distance) {
      best = candidate;
      best_distance = distance;
    }
  }
  return best;
}

std::string did_you_mean(std::string_view text, const std::vector<std::string>& candidates) {
  const std::optional<std::string> nearest = nearest_name(text, candidates);
  return nearest ? fmt::format("; did you mean \"{}\"?", *nearest) : "";
}

std::string without_effect(const std::vector<std::string>& names, std::string_view why) {
  std::string list;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const bool last = i + 1 == names.size();
    list += (i == 0 ? "" : last ? " and " : ", ") + names[i];
  }
  return fmt::format("{} {} no effect in this run: {}", list, names.size() == 1 ? "has" : "have", why);
}

}  // namespace kernwave::platform
