// A message in protobuf's text format, as `protoc --decode` prints it.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace kernwave::testing {

/// Fields by name, in the order in which they stand. Numbers and names of constants are texts; strings are unquoted.
struct TextMessage {
  std::map<std::string, std::vector<std::string>> values;
  std::map<std::string, std::vector<TextMessage>> messages;

  [[nodiscard]] bool has(const std::string& name) const { return values.count(name) + messages.count(name) > 0; }
  /// The first of that name; empty if there is none.
  [[nodiscard]] std::string text(const std::string& name) const;
  /// 0 if there is none.
  [[nodiscard]] std::int64_t number(const std::string& name) const;
  [[nodiscard]] const std::vector<std::string>& all(const std::string& name) const;
  /// Of nested messages; an empty message if there is none.
  [[nodiscard]] const TextMessage& message(const std::string& name) const;
};

/// The file's message of that type, read by protoc by the .proto file. Fails the calling test if that is not possible
/// or the file has a field that the .proto file does not know.
[[nodiscard]] TextMessage read_protobuf(const std::string& path, const std::string& proto, const std::string& type);

}  // namespace kernwave::testing
