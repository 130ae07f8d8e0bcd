// A thread that writes batches while the simulation goes on.
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "traces/op_log/operation_batch.h"

namespace kernwave::traces {

/// Writes batches in order. Few are under way at a time: a writer that is slower than the simulation holds it up, and
/// memory does not grow. After the first error what follows is dropped.
class BackgroundWriter {
 public:
  /// `write` is called on the thread; what it throws is an error of writing.
  using Write = std::function<void(const OperationBatch&)>;

  explicit BackgroundWriter(Write write);
  /// Drops what is not written yet.
  ~BackgroundWriter();
  BackgroundWriter(const BackgroundWriter&) = delete;
  BackgroundWriter& operator=(const BackgroundWriter&) = delete;

  /// Takes a batch over and leaves an empty one in its place.
  void exchange(OperationBatch& batch);
  /// Returns when everything is written and the thread has ended. Throws WriteError if anything could not be.
  void finish();
  [[nodiscard]] bool failed() const noexcept { return failed_.load(std::memory_order_relaxed); }

 private:
  void run();
  void write_one(const OperationBatch& batch);
  void stop();

  Write write_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<OperationBatch> full_;   // oldest first
  std::vector<OperationBatch> empty_;  // to be filled again
  bool ending_ = false;
  std::atomic<bool> failed_ = false;
  std::string error_;
  std::thread thread_;
};

}  // namespace kernwave::traces
