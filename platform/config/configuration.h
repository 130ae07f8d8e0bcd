// The configuration of a run: presets, TOML files and --set overrides, checked and turned into a SystemConfig.
#pragma once

#include <stdexcept>
#include <string>
#include <vector>

#include "models/config/system_config.h"

namespace kernwave::platform {

/// One mistake in a configuration.
struct Problem {
  std::string file;     ///< as the user named it; "--set" for an override; empty if the preset itself is unknown
  int line = 0;         ///< 1 based; 0 where there is no line
  std::string key;      ///< dotted path; empty if the problem is not about one key
  std::string message;  ///< the mistake and the allowed values, one line

  /// "file:line: key: message", without the parts that are not known.
  [[nodiscard]] std::string to_string() const;
};

/// All mistakes in a configuration. what() prints one problem per line.
class ConfigurationError : public std::runtime_error {
 public:
  explicit ConfigurationError(std::vector<Problem> problems);

  [[nodiscard]] const std::vector<Problem>& problems() const noexcept { return problems_; }

 private:
  std::vector<Problem> problems_;
};

struct ConfigurationRequest {
  std::string source = "ahbm";         ///< name of a preset, or path of a file that ends in .toml
  std::vector<std::string> overrides;  ///< "pe.gemm.rows=128"; text values need no quotes; the last one of a key wins
};

struct Configuration {
  std::string preset;                   ///< the shipped preset that was the base
  SystemConfig system;                  ///< every value within its limits
  std::vector<std::string> warnings;    ///< legal, but probably not what was meant
  std::vector<std::string> notes = {};  ///< one sentence for each key given by an old name (renamed_keys.h)
  std::vector<std::string> given = {};  ///< paths of the keys that a file or an override has set, in the table's order
};

/// Base preset, then the file, then the overrides in order. A file builds on the preset named by its top-level
/// `preset`, or on ahbm. Throws ConfigurationError with all problems at once.
[[nodiscard]] Configuration load_configuration(const ConfigurationRequest& request);

/// What the command line would say of values that a program has set.
struct ConfigurationCheck {
  std::vector<Problem> problems;      ///< values outside of their limits, impossible combinations; no file, no line
  std::vector<std::string> warnings;  ///< legal, but probably not intended; none where there are problems
};

/// Checks a configuration that was made in code, before a machine is made of it.
[[nodiscard]] ConfigurationCheck check(const SystemConfig& system);

/// The complete resolved configuration as a commented TOML file, which loads back to the same values.
[[nodiscard]] std::string to_toml(const Configuration& configuration);

/// One key and its value, as to_toml() prints it but without quotes: "pe.gemm.rows", "64"; "pe.clock", "1 GHz".
struct ConfigurationValue {
  std::string path;
  std::string value;
};

/// Every key in the order of the documentation.
[[nodiscard]] std::vector<ConfigurationValue> configuration_values(const SystemConfig& system);

/// One key, for documentation.
struct KeyDescription {
  std::string path;
  std::string type;           ///< "an integer number of cycles", "a bandwidth"
  std::string default_value;  ///< in the preset ahbm
  std::string allowed;
  std::string description;
};

[[nodiscard]] std::vector<KeyDescription> configuration_keys();

/// configuration_keys() as a Markdown table.
[[nodiscard]] std::string keys_as_markdown();

struct PresetDescription {
  std::string name;
  std::string description;
};

[[nodiscard]] std::vector<PresetDescription> presets();

}  // namespace kernwave::platform
