#include "models/base/systemc.h"

namespace kernwave {

std::string name_of_current_process() {
  const sc_core::sc_process_handle current = sc_core::sc_get_current_process_handle();
  return current.valid() ? current.name() : "what is no process";
}

void report_error(const char* type, const std::string& instance, const std::string& text) {
  SC_REPORT_ERROR(type, (instance + ": " + text).c_str());
}

bool simulation_has_begun() {
  switch (sc_core::sc_get_status()) {
    case sc_core::SC_ELABORATION:
    case sc_core::SC_BEFORE_END_OF_ELABORATION:
    case sc_core::SC_END_OF_ELABORATION:
    case sc_core::SC_START_OF_SIMULATION:
      return false;
    default:
      return true;
  }
}

sc_core::sc_time::value_type find_ticks_per_picosecond() {
  const sc_core::sc_time::value_type ticks = sc_core::sc_time(1.0, sc_core::SC_PS).value();  // 0: less than one
  if (ticks > 0) return ticks;
  SC_REPORT_ERROR(report_type::configuration,
                  "the time resolution must be 1 ps, SystemC's default, or finer: see the call of "
                  "sc_set_time_resolution");
  return 1;
}

}  // namespace kernwave
