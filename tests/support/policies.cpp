#include "tests/support/policies.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/support/child.h"

namespace kernwave::testing {

void in_child_for_each_policy(const std::function<void(tl::Policy)>& body) {
  for (const tl::Policy policy : all_policies) {
    SCOPED_TRACE("policy " + std::string(tl::name_of(policy)));
    in_child([&] { body(policy); });
  }
}

}  // namespace kernwave::testing
