// Actions at instants: how a stub module does something later.
#pragma once

#include <functional>
#include <map>
#include <utility>

#include "models/base/systemc.h"

namespace kernwave::testing {

/// Runs actions at given instants, from a process of its own; those of one instant in the order in which they were
/// added. Construct during elaboration.
class Agenda {
 public:
  Agenda() {
    sc_core::sc_spawn_options options;
    options.spawn_method();
    options.dont_initialize();
    options.set_sensitivity(&due_);
    sc_core::sc_spawn([this] { run(); }, sc_core::sc_gen_unique_name("agenda"), &options);
  }
  Agenda(const Agenda&) = delete;
  Agenda& operator=(const Agenda&) = delete;
  ~Agenda() = default;

  void at(Picoseconds time, std::function<void()> action) {
    actions_.emplace(time.count(), std::move(action));
    due_.notify(to_sc_time(time - now()));
  }

 private:
  void run() {
    while (!actions_.empty() && actions_.begin()->first <= now().count()) {
      const std::function<void()> action = std::move(actions_.begin()->second);
      actions_.erase(actions_.begin());
      action();
    }
    if (!actions_.empty()) due_.notify(to_sc_time(Picoseconds(actions_.begin()->first) - now()));
  }

  std::multimap<std::int64_t, std::function<void()>> actions_;  // by picosecond
  sc_core::sc_event due_;
};

}  // namespace kernwave::testing
