// The keys of kinds of PEs: [pe.kind.NAME] has the keys of [pe], and says which PEs are of the kind.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "platform/config/configuration.h"
#include "platform/config/timing_keys.h"
#include "platform/config/written_value.h"

namespace kernwave::platform {

/// A path at or below pe.kind: "pe.kind.big.gemm.rows" is the key "pe.gemm.rows" for the kind "big".
struct KindPath {
  std::string kind;    ///< empty: of the path "pe.kind" itself
  std::string common;  ///< the key of all PEs
};

/// Nothing if the path is not at or below pe.kind.
[[nodiscard]] std::optional<KindPath> kind_path(std::string_view path);

/// The path of the key of all PEs that has the meaning of this one.
[[nodiscard]] std::string common_path(std::string_view path);

/// The keys that choose PEs: of [pe.kind.NAME] alone.
inline constexpr std::string_view kind_pes_key = "pes";
inline constexpr std::string_view kind_of_each_cube_key = "of_each_cube";

/// A timing of each subject that was given one; nothing: the formula.
using GivenTimings = std::map<const TimingKey*, std::optional<TimingTable>>;

void apply_timings(const GivenTimings& timings, SystemConfig& system);

/// What the keys of kinds say, in the order of the kinds' first keys. The values of other keys hold for a kind as for
/// all PEs, whichever are given first.
class KindAssignments {
 public:
  /// Returns false if a kind has no such key. Throws ParseError for a value that the key does not take.
  [[nodiscard]] bool assign(const KindPath& path, const WrittenValue& value);
  void assign_timing(const std::string& kind, const TimingKey& key, std::optional<TimingTable> timing);

  /// `system`: without timings and kinds.
  [[nodiscard]] std::vector<PeKind> kinds(const SystemConfig& system, const GivenTimings& common) const;

 private:
  struct Kind {
    PeKind chosen;  ///< without values
    std::vector<std::pair<const Key*, std::int64_t>> values;
    GivenTimings timings;
  };

  [[nodiscard]] Kind& of(const std::string& name);

  std::vector<Kind> kinds_;
};

/// The values in which a kind differs from other PEs, and which PEs are of it.
[[nodiscard]] std::vector<ConfigurationValue> kind_values(const SystemConfig& system, const PeKind& kind);

/// Kinds of no PE, PEs that do not exist, and PEs of two kinds.
[[nodiscard]] std::vector<Problem> kind_problems(const SystemConfig& system);

}  // namespace kernwave::platform
