// The only header that includes SystemC and TLM-2.0; it hides the differences between versions 2.3.4 and 3.0.
#pragma once

#ifndef SC_INCLUDE_DYNAMIC_PROCESSES
#define SC_INCLUDE_DYNAMIC_PROCESSES
#endif
#include <limits>
#include <string>
#include <systemc>
#include <tlm>
#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>

#include "models/base/quantity.h"
#include "models/base/time_overflow.h"

// IEEE 1666-2011 needs the declaration for SC_METHOD outside SC_CTOR; IEEE 1666-2023 deprecates it.
#if defined(IEEE_1666_SYSTEMC) && IEEE_1666_SYSTEMC >= 202301L
#define KERNWAVE_HAS_PROCESS(module) static_assert(true)
#else
#define KERNWAVE_HAS_PROCESS(module) SC_HAS_PROCESS(module)
#endif

namespace kernwave {

using Payload = tlm::tlm_generic_payload;
using InitiatorSocket = tlm::tlm_initiator_socket<>;
using TargetSocket = tlm::tlm_target_socket<>;

/// Spawns a method process that runs `body` whenever the event is notified, and not before. Its name begins with
/// `name`.
template <typename Body>
void spawn_method(const char* name, const sc_core::sc_event& event, Body body) {
  sc_core::sc_spawn_options options;
  options.spawn_method();
  options.dont_initialize();
  options.set_sensitivity(&event);
  sc_core::sc_spawn(std::move(body), sc_core::sc_gen_unique_name(name), &options);
}

/// Message types of the errors that the model reports through SystemC, by which a report handler tells them apart; the
/// instance stands in the text.
namespace report_type {
inline constexpr const char* kernel = "kernwave/kernel";                ///< a kernel has failed
inline constexpr const char* protocol = "kernwave/protocol";            ///< a module breaks the base protocol
inline constexpr const char* configuration = "kernwave/configuration";  ///< a value of which no machine can be made
}  // namespace report_type

/// Reports an error of that type, "instance: text".
void report_error(const char* type, const std::string& instance, const std::string& text);

/// A phase that extends the base protocol: whoever does not know it ignores it (IEEE 1666-2011, 15.2.5).
[[nodiscard]] inline bool is_ignorable(const tlm::tlm_phase& phase) noexcept {
  return static_cast<unsigned>(phase) > static_cast<unsigned>(tlm::END_RESP);
}

/// SystemC's time resolution, which is fixed before the first module is made: 1 where it is the default of 1 ps. An
/// error of type "kernwave/configuration" for a resolution of which a picosecond is no multiple.
[[nodiscard]] sc_core::sc_time::value_type find_ticks_per_picosecond();
[[nodiscard]] inline sc_core::sc_time::value_type ticks_per_picosecond() {
  static const sc_core::sc_time::value_type ticks = find_ticks_per_picosecond();
  return ticks;
}

/// Throws TimeOverflow if SystemC cannot express the time in its resolution.
[[nodiscard]] inline sc_core::sc_time to_sc_time(Picoseconds time) {
  if (time == Picoseconds(0)) return sc_core::SC_ZERO_TIME;
  const auto ticks = static_cast<sc_core::sc_time::value_type>(time.count());
  if (ticks_per_picosecond() == 1) return sc_core::sc_time::from_value(ticks);
  if (ticks > std::numeric_limits<sc_core::sc_time::value_type>::max() / ticks_per_picosecond()) throw TimeOverflow();
  return sc_core::sc_time::from_value(ticks * ticks_per_picosecond());
}

/// An instant between two picoseconds, as only modules of the user's know it, belongs to the later one.
[[nodiscard]] inline Picoseconds to_picoseconds(const sc_core::sc_time& time,
                                                sc_core::sc_time::value_type ticks = ticks_per_picosecond()) noexcept {
  if (ticks == 1) return Picoseconds(static_cast<std::int64_t>(time.value()));
  return Picoseconds(static_cast<std::int64_t>((time.value() + ticks - 1) / ticks));
}

[[nodiscard]] inline Picoseconds now() { return to_picoseconds(sc_core::sc_time_stamp()); }

/// The same for a module that asks many times an operation: refers to the kernel's own time stamp, where
/// `sc_time_stamp()` finds it anew at each call. A member named `now`, made during elaboration.
class SimulatedTime {
 public:
  SimulatedTime() : time_(sc_core::sc_get_curr_simcontext()->time_stamp()), ticks_(ticks_per_picosecond()) {}
  [[nodiscard]] Picoseconds operator()() const noexcept { return to_picoseconds(time_, ticks_); }

 private:
  const sc_core::sc_time& time_;
  sc_core::sc_time::value_type ticks_;
};

/// The process that runs, to be compared; a member, made during elaboration, for the same reason.
class CurrentProcess {
 public:
  CurrentProcess() : process_(sc_core::sc_get_curr_simcontext()->get_curr_proc_info()) {}
  /// nullptr outside of processes.
  [[nodiscard]] const sc_core::sc_process_b* operator()() const noexcept { return process_->process_handle; }

 private:
  sc_core::sc_curr_proc_handle process_;
};

/// The hierarchical name of the process that runs, for messages.
[[nodiscard]] std::string name_of_current_process();

/// Whether processes have begun to run: what they find when they start can no longer be changed.
[[nodiscard]] bool simulation_has_begun();

}  // namespace kernwave
