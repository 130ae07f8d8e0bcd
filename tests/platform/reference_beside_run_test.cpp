// The reference is computed while the simulation goes on: nothing of a result depends on it, and nobody waits in vain.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <stdexcept>
#include <string>
#include <thread>

#include "platform/parallel.h"
#include "tests/support/error_text.h"
#include "tests/support/own_workload.h"

namespace kernwave::platform::reference_beside_run_test {
namespace {

using testing::error_of;
using testing::own_request;
using testing::OwnWorkload;

void does_nothing(tl::Context& /*tl*/) {}

void fails(tl::Context& /*tl*/) { throw std::runtime_error("on purpose"); }

/// Of a result that is right if the reference was there when it was asked for.
class SlowReference : public OwnWorkload {
 public:
  using OwnWorkload::OwnWorkload;
  void prepare_reference_beside_run(const std::atomic<bool>& /*cancelled*/) const override {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));  // longer than the run
    there_ = true;
  }
  [[nodiscard]] NumericError verify(const System& /*system*/) const override {
    NumericError error;
    error.wrong = there_ ? 0 : 1;
    return error;
  }

 private:
  mutable std::atomic<bool> there_{false};
};

TEST(ReferenceBesideRun, IsThereWhenTheResultIsVerified) {
  if (host_cores() == 1) GTEST_SKIP() << "one core computes the reference afterwards";
  const Json result = simulate_isolated(own_request(DataMode::full), SlowReference(does_nothing));
  EXPECT_EQ(result.at("error").at("wrong_elements").as_int(), 0);
}

/// A reference that never comes to an end of its own.
class EndlessReference : public OwnWorkload {
 public:
  using OwnWorkload::OwnWorkload;
  void prepare_reference_beside_run(const std::atomic<bool>& cancelled) const override {
    while (!cancelled) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
};

TEST(ReferenceBesideRun, IsGivenUpWhenTheRunFails) {
  const std::string error =
      error_of([] { (void)simulate_isolated(own_request(DataMode::full), EndlessReference(fails)); });
  EXPECT_TRUE(testing::contains(error, "on purpose")) << error;
}

class FailingReference : public OwnWorkload {
 public:
  using OwnWorkload::OwnWorkload;
  void prepare_reference_beside_run(const std::atomic<bool>& /*cancelled*/) const override {
    throw std::runtime_error("ahead");
  }
  [[nodiscard]] NumericError verify(const System& /*system*/) const override {
    throw std::runtime_error("when it is needed");
  }
};

TEST(ReferenceBesideRun, TellsItsErrorsWhenItIsNeeded) {
  const std::string error =
      error_of([] { (void)simulate_isolated(own_request(DataMode::full), FailingReference(does_nothing)); });
  EXPECT_EQ(error, "when it is needed");
}

}  // namespace
}  // namespace kernwave::platform::reference_beside_run_test
