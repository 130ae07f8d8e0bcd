// The table of the engines of a PE, as users see it.
#pragma once

#include <string>

namespace kernwave::platform {

/// Every engine with its doorbell, the category of its operations, their name among the counts of a result, and how it
/// serves them: a table in Markdown.
[[nodiscard]] std::string engines_as_markdown();

}  // namespace kernwave::platform
