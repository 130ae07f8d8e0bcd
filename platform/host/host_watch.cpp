#include "platform/host/host_watch.h"

#include <utility>

namespace kernwave::platform {

namespace {

constexpr std::chrono::milliseconds period(100);

}  // namespace

HostWatch::HostWatch(RunLedger& ledger, const InterruptCatcher* interrupts, Report report)
    : sc_prim_channel(sc_core::sc_gen_unique_name("host_watch")),
      ledger_(ledger),
      interrupts_(interrupts),
      report_(std::move(report)) {
  if (report_) async_request_update();  // the first look is at the beginning, however short the run
  if (interrupts_ != nullptr || report_) thread_ = std::thread([this] { watch(); });
}

HostWatch::~HostWatch() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    over_ = true;
  }
  wake_.notify_one();
  if (thread_.joinable()) thread_.join();
}

void HostWatch::watch() {
  std::unique_lock<std::mutex> lock(mutex_);
  while (!wake_.wait_for(lock, period, [this] { return over_; })) {
    if (report_ || interrupted()) async_request_update();
  }
}

void HostWatch::update() {
  if (interrupted()) return ledger_.interrupt();
  if (!report_) return;
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start_;
  line_.show(report_(elapsed.count()));
}

}  // namespace kernwave::platform
