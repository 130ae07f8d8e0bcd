#include "models/base/systemc.h"

namespace kernwave {

void require_picosecond_resolution() {
  if (sc_core::sc_get_time_resolution() != sc_core::sc_time(1.0, sc_core::SC_PS)) {
    SC_REPORT_ERROR("kernwave/time",
                    "the time resolution must be 1 ps, SystemC's default: "
                    "remove the call of sc_set_time_resolution");
  }
}

}  // namespace kernwave
