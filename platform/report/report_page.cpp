#include "platform/report/report_page.h"

#include <fmt/format.h>

#include <utility>
#include <vector>

#include "platform/report/report_assets.h"

namespace kernwave::platform {

namespace {

using Parts = std::vector<std::pair<std::string_view, std::string>>;

/// The template with each {{name}} replaced, in one pass: what is put in is not searched again.
[[nodiscard]] std::string filled(std::string_view page, const Parts& parts) {
  std::string text;
  std::size_t begin = 0;
  for (;;) {
    const std::size_t open = page.find("{{", begin);
    if (open == std::string_view::npos) return text.append(page.substr(begin));
    const std::size_t close = page.find("}}", open);
    const std::string_view name = page.substr(open + 2, close - open - 2);
    text.append(page.substr(begin, open - begin));
    for (const auto& [key, value] : parts) {
      if (key == name) text += value;
    }
    begin = close + 2;
  }
}

/// JSON inside a script element: a text such as "</script>" must not end it.
[[nodiscard]] std::string script_safe(const std::string& json) {
  std::string safe;
  safe.reserve(json.size());
  for (const char c : json) {
    if (c == '<') {
      safe += "\\u003c";
    } else {
      safe += c;
    }
  }
  return safe;
}

[[nodiscard]] std::string paragraphs(const std::vector<std::string>& sentences, std::string_view style) {
  std::string html;
  for (const std::string& sentence : sentences) {
    html += fmt::format("<p class=\"{}\">{}</p>\n", style, html_escaped(sentence));
  }
  return html;
}

[[nodiscard]] std::string list_of(std::string_view title, const std::vector<std::string>& sentences) {
  if (sentences.empty()) return {};
  std::string html = fmt::format("<div><h2>{}</h2><ul>\n", title);
  for (const std::string& sentence : sentences) html += fmt::format("<li>{}</li>\n", html_escaped(sentence));
  return html + "</ul></div>\n";
}

[[nodiscard]] std::string verdict_html(const ReportPage& page) {
  const Verdict& verdict = page.verdict;
  return paragraphs(verdict.warnings, "warning") + paragraphs({verdict.headline}, "headline") +
         "<div class=\"findings\">\n" + list_of(page.findings_title, verdict.findings) +
         list_of("To go faster", verdict.advice) + "</div>\n";
}

}  // namespace

std::string html_escaped(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    switch (c) {
      case '&':
        escaped += "&amp;";
        break;
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      case '"':
        escaped += "&quot;";
        break;
      case '\'':
        escaped += "&#39;";
        break;
      default:
        escaped += c;
    }
  }
  return escaped;
}

std::string to_html(const ReportPage& page) {
  const ReportAssets& assets = report_assets();
  const std::string script =
      fmt::format("{}\n{}\n{}\n{}", assets.charts, assets.timeline, assets.tables, assets.assembly);
  return filled(assets.page, {{"title", html_escaped(page.title)},
                              {"subtitle", html_escaped(page.subtitle)},
                              {"verdict", verdict_html(page)},
                              {"style", std::string(assets.style)},
                              {"library", std::string(assets.library)},
                              {"data", script_safe(to_text(page.data, 0))},
                              {"script", script}});
}

}  // namespace kernwave::platform
