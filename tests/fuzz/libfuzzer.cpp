// The function that libFuzzer calls. The build names the target: an executable holds one.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "tests/fuzz/fuzz_target.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  // Null where the size is 0.
  const std::string_view input = size == 0 ? "" : std::string_view(reinterpret_cast<const char*>(data), size);
  kernwave::testing::KERNWAVE_FUZZ_TARGET(input);
  return 0;
}

// libsystemc.so asks for the symbol; nothing calls it.
extern "C" int sc_main(int /*argc*/, char** /*argv*/) { return 0; }
