// Tests of the executable `kernwave`, each in a folder of its own.
#pragma once

#include <string>

#include "platform/files/whole_file.h"
#include "platform/json/json.h"
#include "tests/support/process.h"
#include "tests/support/temporary_folder.h"

namespace kernwave::testing {

class KernwaveCommandTest : public TemporaryFolderTest {
 protected:
  [[nodiscard]] Outcome run(const Arguments& arguments, User user = User::own) const {
    return start(kernwave_executable(), arguments, folder_, user);
  }
  /// By a shell, with `kernwave` as $K.
  [[nodiscard]] Outcome shell(const std::string& script) const {
    return start("/bin/sh", {"-c", with_kernwave(script)}, folder_);
  }
  [[nodiscard]] static std::string with_kernwave(const std::string& script) {
    return "K='" + kernwave_executable().string() + "'; " + script;
  }
  /// A document that a command has written.
  [[nodiscard]] platform::Json document(const std::string& name) const {
    return platform::parse_json(platform::read_file(path(name)), name);
  }
};

}  // namespace kernwave::testing
