#include "tests/support/text_message.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string_view>

namespace kernwave::testing {

namespace {

[[nodiscard]] std::string output_of(const std::string& command) {
  std::string text;
  // NOLINTNEXTLINE(bugprone-unused-return-value): a failure shows in what is missing
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> pipe(popen(command.c_str(), "r"), pclose);
  if (pipe == nullptr) return text;
  std::array<char, 65536> buffer{};
  while (const std::size_t count = std::fread(buffer.data(), 1, buffer.size(), pipe.get())) {
    text.append(buffer.data(), count);
  }
  return text;
}

/// What is quoted here holds nothing that would have to be escaped.
[[nodiscard]] std::string unquoted(std::string_view text) {
  if (text.size() >= 2 && text.front() == '"') text = text.substr(1, text.size() - 2);
  return std::string(text);
}

class Reader {
 public:
  explicit Reader(std::string_view text) : rest_(text) {}

  /// Reads to the end of the message, or of the text.
  [[nodiscard]] TextMessage message() {
    TextMessage found;
    while (!rest_.empty()) {
      const std::string_view line = next_line();
      if (line == "}") break;
      if (line.empty()) continue;
      if (line.substr(line.size() - 2) == " {") {
        const std::string name(known(line.substr(0, line.size() - 2)));
        found.messages[name].push_back(message());
      } else {
        const std::size_t colon = line.find(": ");
        found.values[std::string(known(line.substr(0, colon)))].push_back(unquoted(line.substr(colon + 2)));
      }
    }
    return found;
  }

 private:
  [[nodiscard]] std::string_view next_line() {
    const std::size_t end = rest_.find('\n');
    std::string_view line = rest_.substr(0, end);
    rest_.remove_prefix(end == std::string_view::npos ? rest_.size() : end + 1);
    line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
    return line;
  }

  [[nodiscard]] static std::string_view known(std::string_view name) {
    if (name.front() >= '0' && name.front() <= '9') ADD_FAILURE() << "a field that is not known: " << name;
    return name;
  }

  std::string_view rest_;
};

}  // namespace

std::string TextMessage::text(const std::string& name) const {
  const auto& found = all(name);
  return found.empty() ? std::string() : found.front();
}

std::int64_t TextMessage::number(const std::string& name) const {
  const std::string found = text(name);
  return found.empty() ? 0 : std::stoll(found);
}

const std::vector<std::string>& TextMessage::all(const std::string& name) const {
  static const std::vector<std::string> none;
  const auto found = values.find(name);
  return found == values.end() ? none : found->second;
}

const TextMessage& TextMessage::message(const std::string& name) const {
  static const TextMessage none;
  const auto found = messages.find(name);
  return found == messages.end() ? none : found->second.front();
}

TextMessage read_protobuf(const std::string& path, const std::string& proto, const std::string& type) {
  const std::string folder = std::filesystem::path(proto).parent_path().string();
  const std::string text =
      output_of("protoc --decode=" + type + " --proto_path='" + folder + "' '" + proto + "' <'" + path + "' 2>&1");
  TextMessage message = Reader(text).message();
  if (message.messages.empty()) ADD_FAILURE() << "protoc says: " << text;
  return message;
}

}  // namespace kernwave::testing
