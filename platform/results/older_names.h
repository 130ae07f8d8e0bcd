// The names that an earlier version gave to parts of result documents.
#pragma once

#include "platform/json/json.h"

namespace kernwave::platform {

/// The document with the names of today for what has been renamed since; any other document as it is.
[[nodiscard]] Json with_current_names(const Json& document);

}  // namespace kernwave::platform
