// The version of kernwave.
#pragma once

#include <string_view>

namespace kernwave {

/// The release, such as "0.1.0".
[[nodiscard]] std::string_view version() noexcept;

/// The source tree this was built from, as `git describe --tags --always --dirty` names it; "unknown" outside a clone.
[[nodiscard]] std::string_view source_revision() noexcept;

}  // namespace kernwave
