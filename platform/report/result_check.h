// The check whether a report can be made from a document.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

#include "platform/json/json.h"

namespace kernwave::platform {

/// A document that is not the result of a run, or of another schema. what() begins with the document's name.
class ReportError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Throws ReportError unless `document` has the keys of a result document of this version's schema. `name` is for the
/// message: a path.
void require_result_document(const Json& document, std::string_view name);

}  // namespace kernwave::platform
