// The values of a configuration as SystemC attributes of a machine.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "models/base/systemc.h"
#include "models/system/system.h"

namespace kernwave::platform {

/// Makes every value of a machine's configuration readable through SystemC, as a platform's tools expect it: an
/// `sc_attribute<std::string>` with the key's path as its name and the value as `kernwave config` prints it. The System
/// has all keys, each cube those of `hbm`, each PE those of `pe` (of its kind) and `ipcq`. They go with this object,
/// which the System must outlive.
class ParameterAttributes {
 public:
  explicit ParameterAttributes(System& system);
  ParameterAttributes(const ParameterAttributes&) = delete;
  ParameterAttributes& operator=(const ParameterAttributes&) = delete;
  ~ParameterAttributes();

 private:
  struct Attached {
    sc_core::sc_object* object;
    std::unique_ptr<sc_core::sc_attribute<std::string>> attribute;
  };

  /// Nullptr: to those of no kind.
  void attach_to_pes(System& system, const PeKind* kind);
  void attach(sc_core::sc_object& object, const std::string& path, const std::string& value);

  std::vector<Attached> attached_;
};

}  // namespace kernwave::platform
