#include "models/pe/stall_account.h"

namespace kernwave {

std::string_view name_of(TimeCause cause) noexcept {
  constexpr std::array<std::string_view, time_cause_count> names = {"issue",     "load",         "compute", "store",
                                                                    "composite", "receive",      "credit",  "queue",
                                                                    "scratch",   "memory_order", "drain",   "idle"};
  return names[static_cast<std::size_t>(cause)];
}

Picoseconds StallAccount::total() const {
  Picoseconds sum;
  for (const Picoseconds time : times_) sum += time;
  return sum;
}

}  // namespace kernwave
