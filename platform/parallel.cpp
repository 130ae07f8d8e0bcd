#include "platform/parallel.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#include "traces/files/background_writer.h"

namespace kernwave::platform {

namespace {

/// Numbers that are given out in ascending order, and the first thing that went wrong with one.
class Numbers {
 public:
  Numbers(std::int64_t count, const std::function<void(std::int64_t)>& work) : count_(count), work_(work) {}

  void work_off() noexcept {
    for (std::int64_t number = next_++; number < count_ && !failed_; number = next_++) {
      try {
        work_(number);
      } catch (...) {
        note(number, std::current_exception());
      }
    }
  }

  void rethrow() const {
    if (failure_) std::rethrow_exception(failure_);
  }

 private:
  /// A smaller number was given out earlier, so that the smallest that fails does so in every run.
  void note(std::int64_t number, std::exception_ptr failure) noexcept {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (failed_ && number > failed_number_) return;
    failed_number_ = number;
    failure_ = std::move(failure);
    failed_ = true;
  }

  std::int64_t count_;
  const std::function<void(std::int64_t)>& work_;
  std::atomic<std::int64_t> next_{0};
  std::atomic<bool> failed_{false};
  std::mutex mutex_;
  std::int64_t failed_number_ = 0;
  std::exception_ptr failure_;
};

}  // namespace

unsigned host_cores() noexcept { return std::max(1U, std::thread::hardware_concurrency()); }

std::optional<std::thread> helper_thread(const std::function<void()>& work) {
  const traces::SignalsBlocked blocked;
  try {
    return std::thread(work);
  } catch (const std::system_error&) {
    return std::nullopt;
  }
}

void for_each_in_parallel(std::int64_t count, const std::function<void(std::int64_t)>& work) {
  Numbers numbers(count, work);
  std::vector<std::thread> helpers;
  const std::int64_t wanted = std::min<std::int64_t>(host_cores(), count) - 1;
  for (std::int64_t i = 0; i < wanted; ++i) {
    std::optional<std::thread> helper = helper_thread([&numbers] { numbers.work_off(); });
    if (!helper) break;
    helpers.push_back(std::move(*helper));
  }
  numbers.work_off();
  for (std::thread& helper : helpers) helper.join();
  numbers.rethrow();
}

}  // namespace kernwave::platform
