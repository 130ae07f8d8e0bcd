// Texts of users' files and options, made safe for messages.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kernwave::platform {

/// `text` without white space at its ends.
[[nodiscard]] std::string_view trimmed(std::string_view text) noexcept;

/// `text` with its control characters escaped, fit for one line of a message.
[[nodiscard]] std::string in_one_line(std::string_view text);

/// `text` in double quotes, fit for one line of a message: control characters are escaped, a long text is cut.
[[nodiscard]] std::string in_quotes(std::string_view text);

/// The candidate that `text` most likely misspells (case aside; a transposition counts as one edit), if one is close
/// enough to be worth naming. The first of equals.
[[nodiscard]] std::optional<std::string> nearest_name(std::string_view text,
                                                      const std::vector<std::string>& candidates);

/// The nearest name as the end of a message, `; did you mean "rows"?`, or nothing.
[[nodiscard]] std::string did_you_mean(std::string_view text, const std::vector<std::string>& candidates);

/// A message about settings without effect: "a, b and c have no effect in this run: why".
[[nodiscard]] std::string without_effect(const std::vector<std::string>& names, std::string_view why);

}  // namespace kernwave::platform
