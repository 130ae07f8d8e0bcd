// A model's config.json as Hugging Face's libraries write it: the attention shape that it states.
#pragma once

#include <string>

#include "platform/workload/model_shape.h"

namespace kernwave::platform {

/// The shape in the file at `path`. Its name is what the file calls the model, or the path, fit for one line. Throws
/// ModelShapeError with all problems, FileError if the file cannot be read.
[[nodiscard]] ModelShape read_model_file(const std::string& path);

}  // namespace kernwave::platform
