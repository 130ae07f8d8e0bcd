// What holds under every policy.
#pragma once

#include <array>
#include <functional>

#include "kernels/tl/policy.h"

namespace kernwave::testing {

inline constexpr std::array<tl::Policy, 3> all_policies = {tl::Policy::blocking, tl::Policy::lazy,
                                                           tl::Policy::stall_on_use};

/// Runs `body` once for each policy, in a process of its own.
void in_child_for_each_policy(const std::function<void(tl::Policy)>& body);

}  // namespace kernwave::testing
