// Work that is shared out among the host's cores: each piece once, errors carried back, none lost.
#include "platform/parallel.h"

#include <gtest/gtest.h>

#include <atomic>
#include <csignal>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/support/error_text.h"

namespace kernwave::platform::parallel_test {
namespace {

using testing::error_of;

TEST(WorkInParallel, DoesEachNumberOnce) {
  for (const std::int64_t count : {0, 1, 2, 3, 100, 5000}) {
    std::vector<std::atomic<int>> times(static_cast<std::size_t>(count));
    for_each_in_parallel(count, [&](std::int64_t number) { ++times[static_cast<std::size_t>(number)]; });
    for (const std::atomic<int>& done : times) ASSERT_EQ(done, 1) << "of " << count;
  }
}

// Whatever thread is faster, the same error is told.
TEST(WorkInParallel, ThrowsWhatTheSmallestNumberThrew) {
  for (int repetition = 0; repetition < 200; ++repetition) {
    const std::string error = error_of([] {
      for_each_in_parallel(50, [](std::int64_t number) {
        if (number >= 3) throw std::runtime_error("number " + std::to_string(number));
      });
    });
    ASSERT_EQ(error, "number 3");
  }
}

TEST(WorkInParallel, BeginsNothingAfterAnError) {
  std::atomic<int> begun{0};
  EXPECT_THROW(for_each_in_parallel(1'000'000,
                                    [&](std::int64_t) {
                                      ++begun;
                                      throw std::runtime_error("no");
                                    }),
               std::runtime_error);
  EXPECT_LE(begun, static_cast<int>(host_cores()));
}

// A signal finds the thread that waits for it: Ctrl-C, and the faults of a kernel's stack.
TEST(WorkInParallel, LeavesSignalsToTheThreadsThatWereThere) {
  sigset_t blocked;
  sigemptyset(&blocked);
  std::optional<std::thread> helper = helper_thread([&] { pthread_sigmask(SIG_BLOCK, nullptr, &blocked); });
  ASSERT_TRUE(helper.has_value());
  helper->join();
  EXPECT_EQ(sigismember(&blocked, SIGINT), 1);
  sigset_t own;
  pthread_sigmask(SIG_BLOCK, nullptr, &own);
  EXPECT_EQ(sigismember(&own, SIGINT), 0);
}

}  // namespace
}  // namespace kernwave::platform::parallel_test
