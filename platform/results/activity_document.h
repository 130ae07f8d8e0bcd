// The findings of a run's observers, as the report's page reads them.
#pragma once

#include "platform/json/json.h"
#include "traces/activity/activity_series.h"
#include "traces/activity/window_recorder.h"

namespace kernwave::platform {

/// | key | value |
/// |---|---|
/// | `bin_ps`, `bins` | width and number of the bins |
/// | `busy_ps` | by engine, for each bin; engines that did nothing are left out |
/// | `cubes` | by cube that carried anything: `read` and `written` bytes for each bin |
/// | `window` | `from_ps`; `complete_to_ps` (null: to the end); `touching`, how many operations fall into it; `lanes`,
/// | | | `texts` and `places`, which `operations` refer to by number: [pe, lane, text, place, issued, start, end], in
/// ps |
/// Of a machine of these engines.
[[nodiscard]] Json activity_document(const traces::ActivitySeries& series, const traces::WindowRecorder& recorder,
                                     const EngineList& engines);

}  // namespace kernwave::platform
