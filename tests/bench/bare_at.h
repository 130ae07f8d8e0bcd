// The yardstick: a bare AT round trip of the SystemC library.
#pragma once

#include <cstdint>

namespace kernwave::bench {

/// Host nanoseconds of one round trip: a thread sends BEGIN_REQ with a pooled payload, the target answers END_REQ in
/// the call and BEGIN_RESP 10 ns later through a peq_with_cb_and_phase, the thread wakes. `pairs` of thread and
/// target work side by side. Elaborates and simulates.
[[nodiscard]] double bare_at_nanoseconds(std::int64_t pairs, std::int64_t round_trips);

}  // namespace kernwave::bench
