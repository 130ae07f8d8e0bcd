// The types of configuration keys: how values of each type are read and printed.
#pragma once

#include "platform/config/key.h"

namespace kernwave::platform {

extern const KeyType integer_type;
extern const KeyType cycles_type;
extern const KeyType bandwidth_type;
extern const KeyType bytes_per_cycle_type;
extern const KeyType time_type;
extern const KeyType size_type;
extern const KeyType frequency_type;
extern const KeyType ratio_type;
extern const KeyType boolean_type;
extern const KeyType choice_type;

}  // namespace kernwave::platform
