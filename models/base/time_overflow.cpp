#include "models/base/time_overflow.h"

namespace kernwave {

void fail_time_overflow() { throw TimeOverflow(); }

}  // namespace kernwave
