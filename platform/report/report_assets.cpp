#include "platform/report/report_assets.h"

#include <cstddef>

namespace kernwave::platform {

namespace {

constexpr char page[] =
#include "embedded/report.html.inc"
    ;
constexpr char style[] =
#include "embedded/report.css.inc"
    ;
constexpr char library[] =
#include "embedded/echarts.min.js.inc"
    ;
constexpr char charts[] =
#include "embedded/charts.js.inc"
    ;
constexpr char timeline[] =
#include "embedded/timeline.js.inc"
    ;
constexpr char tables[] =
#include "embedded/tables.js.inc"
    ;
constexpr char assembly[] =
#include "embedded/page.js.inc"
    ;

template <std::size_t size>
[[nodiscard]] constexpr std::string_view view(const char (&text)[size]) noexcept {
  return {text, size - 1};
}

}  // namespace

const ReportAssets& report_assets() noexcept {
  static constexpr ReportAssets assets = {view(page),     view(style),  view(library), view(charts),
                                          view(timeline), view(tables), view(assembly)};
  return assets;
}

}  // namespace kernwave::platform
