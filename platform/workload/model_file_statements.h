// The statements of a config.json about attention, key by key, before they are weighed against each other.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "platform/json/json.h"
#include "platform/workload/model_file_keys.h"

namespace kernwave::platform {

/// A value of one key, or of one element of a list of values, as a list with a number a layer has them.
struct Statement {
  std::string place;  ///< as in "attn_config.kv_n_heads" or "num_kv_heads[3]", fit for one line
  ModelFileKey key;
  const Json* value = nullptr;  ///< of the document; neither null nor an object
  bool is_of_a_layer = false;   ///< in a list, or below one
};

class ModelFileStatements {
 public:
  /// Looks through an object, which must outlive this, with everything in it that may speak of attention. Where the
  /// language part of a multimodal model is an object of its own, other objects beside it are left out. Blocks that say
  /// of themselves that they have no attention are left out, and so are nulls, and zeros in lists. Of a list's elements
  /// the first one is taken, and of those that differ from it the first.
  explicit ModelFileStatements(const Json& document);

  /// Those that count, in the order of the file: not those that another key of the file switches off.
  [[nodiscard]] std::vector<const Statement*> of(ModelFileKeyRole role) const;
  /// The first statement of a key.
  [[nodiscard]] const Statement* find(std::string_view name) const;
  /// Whether a key is there and is true, or is there and is false.
  [[nodiscard]] bool is_true(std::string_view name) const;
  [[nodiscard]] bool is_false(std::string_view name) const;

 private:
  void take_object(const Json& object, const std::string& place, bool is_of_a_layer);
  void take_member(const Json::Member& member, const std::string& place, bool is_of_a_layer);
  void take_list(const Json& list, const ModelFileKey& key, const std::string& place);

  std::vector<Statement> statements_;
};

}  // namespace kernwave::platform
