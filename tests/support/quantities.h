// How GoogleTest prints quantities: as their counts.
#pragma once

#include <ostream>

#include "models/base/quantity.h"

namespace kernwave {

template <typename Unit>
void PrintTo(Quantity<Unit> quantity, std::ostream* out) {  // NOLINT(readability-identifier-naming): GoogleTest's name
  *out << quantity.count();
}

}  // namespace kernwave
