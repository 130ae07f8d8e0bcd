// Exit codes of `kernwave`.
#pragma once

namespace kernwave::platform {

constexpr int good = 0;
constexpr int simulation_failed = 1;
constexpr int usage_error = 2;

}  // namespace kernwave::platform
