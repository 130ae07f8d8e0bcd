// The summary of a result document, as text for users.
#pragma once

#include <string>
#include <string_view>

#include "platform/json/json.h"

namespace kernwave::platform {

/// Several lines: latency, its bound and their ratio, each resource, time of the PEs by cause, memory traffic by
/// channel, numeric error, host time.
[[nodiscard]] std::string summary(const Json& result);

/// The relative error of a result's `error` object: "3.1e-04", "NaN" or, where the reference is 0, "infinite".
[[nodiscard]] std::string relative_error_text(const Json& error);

}  // namespace kernwave::platform
