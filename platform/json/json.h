// JSON documents: for the results that kernwave writes and the files that it reads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace kernwave::platform {

/// A text that is not JSON, or a value that is not what the reader asked for.
class JsonError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// One JSON value. Integers are exact 64-bit ones, apart from doubles; objects keep the order of insertion.
///
///   Json result = Json::object({{"schema", 1}, {"latency_ps", latency.count()}});
///   result["counts"]["dma_read"] = reads;      // objects come into being as they are named
///   result["notes"].push_back("first");        // and so do arrays
class Json {
 public:
  struct Member;
  using Array = std::vector<Json>;
  using Object = std::vector<Member>;

  // Copies, moves and the destructor are defined where Member is complete.
  Json() noexcept;
  Json(const Json& other);
  Json(Json&& other) noexcept;
  Json& operator=(const Json& other);
  Json& operator=(Json&& other) noexcept;
  ~Json();

  // Values convert, so that documents can be read as they are written.
  Json(std::nullptr_t) noexcept;  // NOLINT(google-explicit-constructor)
  template <typename T, std::enable_if_t<std::is_arithmetic_v<T>, int> = 0>
  Json(T value) : value_(stored(value)) {}  // NOLINT(google-explicit-constructor)
  Json(std::string text);                   // NOLINT(google-explicit-constructor)
  Json(std::string_view text);              // NOLINT(google-explicit-constructor)
  Json(const char* text);                   // NOLINT(google-explicit-constructor)

  /// An empty array, which is not null.
  [[nodiscard]] static Json array();
  [[nodiscard]] static Json array(Array elements);
  /// An empty object, which is not null.
  [[nodiscard]] static Json object();
  /// An object of the given members; of equal keys the last value wins.
  [[nodiscard]] static Json object(std::initializer_list<std::pair<std::string_view, Json>> members);
  /// The same of any number of members; the last value stands in the place of the first.
  [[nodiscard]] static Json object_of(Object members);

  [[nodiscard]] bool is_null() const noexcept { return std::holds_alternative<std::monostate>(value_); }
  [[nodiscard]] bool is_bool() const noexcept { return std::holds_alternative<bool>(value_); }
  [[nodiscard]] bool is_int() const noexcept { return std::holds_alternative<std::int64_t>(value_); }
  [[nodiscard]] bool is_double() const noexcept { return std::holds_alternative<double>(value_); }
  [[nodiscard]] bool is_string() const noexcept { return std::holds_alternative<std::string>(value_); }
  [[nodiscard]] bool is_array() const noexcept { return std::holds_alternative<Array>(value_); }
  [[nodiscard]] bool is_object() const noexcept { return std::holds_alternative<Object>(value_); }

  /// A description of the value, for messages: "null", "the integer 7", "an array".
  [[nodiscard]] std::string description() const;

  // Reading. Each throws JsonError, which says what was expected and what is there.
  [[nodiscard]] bool as_bool() const;
  [[nodiscard]] std::int64_t as_int() const;
  [[nodiscard]] double as_double() const;  ///< integers too
  [[nodiscard]] const std::string& as_string() const;
  [[nodiscard]] const Array& as_array() const;
  [[nodiscard]] const Object& as_object() const;

  /// The member of an object, or nullptr; throws JsonError if this is no object.
  [[nodiscard]] const Json* find(std::string_view key) const;
  /// The member of an object; throws JsonError if there is none.
  [[nodiscard]] const Json& at(std::string_view key) const;
  /// The element of an array; throws JsonError if there is none.
  [[nodiscard]] const Json& at(std::size_t index) const;
  /// Members of an object or elements of an array; 0 for every other value.
  [[nodiscard]] std::size_t size() const noexcept;

  // Building. A null becomes an object or array; any other value throws JsonError.
  /// The member of that key, appended as null if there is none yet.
  Json& operator[](std::string_view key);
  void push_back(Json element);

  friend bool operator==(const Json& a, const Json& b);
  friend bool operator!=(const Json& a, const Json& b) { return !(a == b); }

 private:
  using Storage = std::variant<std::monostate, bool, std::int64_t, double, std::string, Array, Object>;

  template <typename T>
  static Storage stored(T value);
  static std::int64_t checked(std::uint64_t value);  ///< throws JsonError beyond 2^63 - 1

  Storage value_;
};

struct Json::Member {
  std::string key;
  Json value;

  friend bool operator==(const Member& a, const Member& b) { return a.key == b.key && a.value == b.value; }
};

template <typename T>
Json::Storage Json::stored(T value) {
  if constexpr (std::is_same_v<T, bool>) {
    return value;
  } else if constexpr (std::is_floating_point_v<T>) {
    return static_cast<double>(value);
  } else if constexpr (std::is_unsigned_v<T> && sizeof(T) >= sizeof(std::int64_t)) {
    return checked(value);
  } else {
    return static_cast<std::int64_t>(value);
  }
}

/// Levels of arrays and objects inside each other that parse_json() accepts.
inline constexpr int max_json_depth = 256;

/// Reads one JSON document. Of equal keys in an object the last value wins, in the place of the first. Integers beyond
/// 64 bits become doubles. Throws JsonError "source_name:line:column: ..." for anything that is not JSON, text after
/// the document included, and for nesting deeper than max_json_depth.
[[nodiscard]] Json parse_json(std::string_view text, std::string_view source_name);

/// The same for text that Python's json module wrote, which has NaN, Infinity and -Infinity where JSON has numbers.
[[nodiscard]] Json parse_python_json(std::string_view text, std::string_view source_name);

/// The document as text without a newline at the end; `indent` spaces a level, all on one line if it is 0.
/// Doubles are printed so that they read back exactly; NaN and infinities, which JSON has not, as null. Bytes that are
/// not UTF-8 are replaced by U+FFFD.
[[nodiscard]] std::string to_text(const Json& json, int indent = 2);

}  // namespace kernwave::platform
