#include "platform/version.h"

#include "kernwave_revision.h"

namespace kernwave {

std::string_view version() noexcept { return KERNWAVE_VERSION; }

std::string_view source_revision() noexcept { return KERNWAVE_SOURCE_REVISION; }

}  // namespace kernwave
