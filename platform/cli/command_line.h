// The command line of `kernwave`, parsed into plain values.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "kernels/tl/policy.h"
#include "models/config/system_config.h"
#include "platform/config/configuration.h"
#include "platform/outputs/outputs.h"
#include "platform/run/run_checks.h"
#include "platform/workload/workload.h"

namespace kernwave::platform {

struct ListCommand {
  bool engines = false;     ///< their table instead
  bool operations = false;  ///< likewise
};

struct RunCommand {
  WorkloadRequest workload;
  std::string model;  ///< name or path; empty: none given
  ConfigurationRequest configuration;
  tl::Policy policy = tl::Policy::lazy;
  DataMode data = DataMode::full;
  CheckRequest checks;
  OutputRequest outputs;
  bool quiet = false;
  std::vector<std::string> given;  ///< names of the options that are on the command line: "--seed"
};

struct HeadlineCommand {
  std::string out = "out";
  DataMode data = DataMode::full;
};

struct ConfigCommand {
  ConfigurationRequest configuration;
  bool keys = false;
};

struct CompareCommand {
  std::string a;  ///< paths of result documents
  std::string b;
  std::string report;  ///< path; empty: none asked for
};

using Command = std::variant<ListCommand, RunCommand, HeadlineCommand, ConfigCommand, CompareCommand>;

/// A command to carry out, or (help, version, an error) a text to print and an exit code.
struct ParsedCommandLine {
  std::optional<Command> command;
  std::string text;
  int exit_code = 0;
};

[[nodiscard]] ParsedCommandLine parse_command_line(const std::vector<std::string>& arguments);

}  // namespace kernwave::platform
