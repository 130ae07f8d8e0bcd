// The names that an earlier version gave to parts of result documents.
#pragma once

#include "platform/json/json.h"

namespace kernwave::platform {

/// The document with present names in place of old ones; a document without old names is unchanged.
[[nodiscard]] Json with_current_names(const Json& document);

}  // namespace kernwave::platform
