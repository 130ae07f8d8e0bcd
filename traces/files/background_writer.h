// A thread that writes batches of data while the simulation goes on.
#pragma once

#include <atomic>
#include <condition_variable>
#include <csignal>
#include <cstddef>
#include <exception>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "traces/files/output.h"

namespace kernwave::traces {

/// The alignment for data of two threads: many processors fetch two cache lines at a time.
constexpr std::size_t cache_line_bytes = 128;

/// While this object lives, this thread, and every thread that it starts, take no signals; the thread of the simulation
/// takes them.
class SignalsBlocked {
 public:
  SignalsBlocked() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;

 private:
  sigset_t before_{};
};

/// Writes batches in order. Only a few batches are in flight at a time: a writer that is slower than the simulation
/// holds the simulation up, and memory does not grow. After the first error later batches are dropped. A `Batch` has
/// `clear()`.
template <typename Batch>
class BackgroundWriter {
 public:
  /// `write` is called on the writer's thread, and may change its batch; an exception of `write` is an error of
  /// writing.
  using Write = std::function<void(Batch&)>;

  explicit BackgroundWriter(Write write) : write_(std::move(write)) {
    const SignalsBlocked blocked;
    thread_ = std::thread([this] { run(); });
  }
  /// Drops all batches that are not written yet.
  ~BackgroundWriter() {
    failed_ = true;
    stop();
  }
  BackgroundWriter(const BackgroundWriter&) = delete;
  BackgroundWriter& operator=(const BackgroundWriter&) = delete;

  /// Takes a batch over and leaves an empty one in its place.
  void exchange(Batch& batch) {
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait(lock, [this] { return full_.size() < most_batches; });
    full_.push_back(std::move(batch));
    if (empty_.empty()) {
      batch = Batch();
    } else {
      batch = std::move(empty_.back());
      empty_.pop_back();
    }
    changed_.notify_one();
  }

  /// Returns when everything is written and the thread has ended. Throws WriteError if anything could not be.
  void finish() {
    stop();
    if (failed()) throw WriteError(error_);
  }

  [[nodiscard]] bool failed() const noexcept { return failed_.load(std::memory_order_relaxed); }

 private:
  static constexpr std::size_t most_batches = 4;

  void stop() {
    if (!thread_.joinable()) return;
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      ending_ = true;
    }
    changed_.notify_one();
    thread_.join();
  }

  void run() {
    std::unique_lock<std::mutex> lock(mutex_);
    while (true) {
      changed_.wait(lock, [this] { return !full_.empty() || ending_; });
      if (full_.empty()) return;
      Batch batch = std::move(full_.front());
      full_.erase(full_.begin());
      changed_.notify_one();
      lock.unlock();
      if (!failed()) write_one(batch);
      batch.clear();
      lock.lock();
      empty_.push_back(std::move(batch));
    }
  }

  void write_one(Batch& batch) {
    try {
      write_(batch);
    } catch (const std::exception& error) {
      error_ = error.what();
      failed_ = true;
    }
  }

  Write write_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Batch> full_;   // oldest first
  std::vector<Batch> empty_;  // to be filled again
  bool ending_ = false;
  std::atomic<bool> failed_ = false;
  std::string error_;
  std::thread thread_;
};

}  // namespace kernwave::traces
