// A SystemC method process that is made when it is first needed.
#pragma once

#include <memory>

#include "models/base/systemc.h"

namespace kernwave {

/// Calls a member function of its owner when it is notified. The first notification makes process and event, because
/// they take more than a kilobyte and most ports and links of a machine never need theirs. The method process is a
/// child of the process that notified first.
template <typename Owner>
class LateMethod {
 public:
  using Body = void (Owner::*)();

  LateMethod(const char* name, Owner& owner, Body body) noexcept : name_(name), owner_(owner), body_(body) {}

  /// Notifies after `delay`, while the simulation runs. As with `sc_event::notify`, the earliest pending notification
  /// counts.
  void notify(const sc_core::sc_time& delay) { due().notify(delay); }
  /// Notifies in the present evaluation phase.
  void notify() { due().notify(); }

 private:
  [[nodiscard]] sc_core::sc_event& due() {
    if (due_ == nullptr) make();
    return *due_;
  }

  void make() {
    due_ = std::make_unique<sc_core::sc_event>();
    spawn_method(name_, *due_, [this] { (owner_.*body_)(); });
  }

  const char* name_;
  Owner& owner_;
  Body body_;
  std::unique_ptr<sc_core::sc_event> due_;
};

}  // namespace kernwave
