// A model's config.json: a shape that keeps the rules, or a message.
#include "platform/workload/model_shape.h"

#include "tests/fuzz/expectations.h"
#include "tests/fuzz/fuzz_target.h"

namespace kernwave::testing {

void fuzz_model_shape(std::string_view input) {
  const InputFile file(input, ".json");
  platform::ModelShape shape;
  try {
    shape = platform::load_model_shape(file.path());
  } catch (const platform::ModelShapeError& error) {
    require_message(error.what());
    return;
  }
  require(!shape.name.empty(), "a shape without a name");
  require_message(shape.name);
  platform::check_model_shape(shape);
}

}  // namespace kernwave::testing
