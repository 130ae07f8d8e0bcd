#include "traces/op_log/background_writer.h"

#include <csignal>
#include <exception>
#include <utility>

#include "traces/output.h"

namespace kernwave::traces {

namespace {

constexpr std::size_t most_batches = 4;

/// While it lives, this thread, and a thread that it starts for good, take no signals: they are the simulation's.
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

}  // namespace

BackgroundWriter::BackgroundWriter(Write write) : write_(std::move(write)) {
  const SignalsBlocked blocked;
  thread_ = std::thread([this] { run(); });
}

BackgroundWriter::~BackgroundWriter() {
  failed_ = true;
  stop();
}

void BackgroundWriter::exchange(OperationBatch& batch) {
  std::unique_lock<std::mutex> lock(mutex_);
  changed_.wait(lock, [this] { return full_.size() < most_batches; });
  full_.push_back(std::move(batch));
  if (empty_.empty()) {
    batch = OperationBatch();
  } else {
    batch = std::move(empty_.back());
    empty_.pop_back();
  }
  changed_.notify_one();
}

void BackgroundWriter::finish() {
  stop();
  if (failed()) throw WriteError(error_);
}

void BackgroundWriter::stop() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    ending_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

void BackgroundWriter::run() {
  std::unique_lock<std::mutex> lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return !full_.empty() || ending_; });
    if (full_.empty()) return;
    OperationBatch batch = std::move(full_.front());
    full_.erase(full_.begin());
    changed_.notify_one();
    lock.unlock();
    if (!failed()) write_one(batch);
    batch.clear();
    lock.lock();
    empty_.push_back(std::move(batch));
  }
}

void BackgroundWriter::write_one(const OperationBatch& batch) {
  try {
    write_(batch);
  } catch (const std::exception& error) {
    error_ = error.what();
    failed_ = true;
  }
}

}  // namespace kernwave::traces
