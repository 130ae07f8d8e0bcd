// What an error says.
#pragma once

#include <exception>
#include <string>

namespace kernwave::testing {

/// The message of the Error that `action` throws; "no error" if it throws none.
template <class Error = std::exception, class Action>
[[nodiscard]] std::string error_of(Action&& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

[[nodiscard]] inline bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace kernwave::testing
