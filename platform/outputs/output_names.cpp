#include "platform/outputs/output_names.h"

#include <fmt/format.h>
#include <unistd.h>

#include <map>

#include "platform/files/whole_file.h"
#include "platform/text/message_text.h"
#include "traces/files/output_place.h"

namespace kernwave::platform {

namespace {

using traces::OutputPlace;

/// `--json`, or `--vcd "r.vcd" (which also writes "r.gtkw")`.
[[nodiscard]] std::string subject(const NamedFile& file) {
  if (file.beside.empty()) return file.option;
  return fmt::format("{} {} (which also writes {})", file.option, in_quotes(file.beside), in_quotes(file.path));
}

[[nodiscard]] OutputPlace place_of(const std::string& path) {
  return writing(path, [&] { return traces::output_place(path); });
}

/// What the command says would go into the file that is replaced, and be lost.
void refuse_standard_streams(const NamedFile& file, const OutputPlace& place, const std::string& identity) {
  if (place.kind == OutputPlace::Kind::descriptor) return;
  const auto refuse = [&](int descriptor, const char* name) {
    if (traces::identity_of_descriptor(descriptor) != identity) return;
    throw OutputError(fmt::format("{} and {} both go to {}", subject(file), name, in_quotes(file.path)));
  };
  refuse(STDOUT_FILENO, "standard output");
  refuse(STDERR_FILENO, "standard error");
}

}  // namespace

void check_names(const std::vector<NamedFile>& outputs, const std::vector<NamedFile>& inputs) {
  std::map<std::string, const NamedFile*> read;
  for (const NamedFile& input : inputs) {
    if (const auto identity = traces::identity_of_existing(input.path)) read.emplace(*identity, &input);
  }
  std::map<std::string, const NamedFile*> written;
  for (const NamedFile& output : outputs) {
    const OutputPlace place = place_of(output.path);
    const auto identity = traces::identity_of(place);
    if (!identity) continue;
    if (const auto input = read.find(*identity); input != read.end()) {
      throw OutputError(fmt::format("{} would replace {}, which {} reads", subject(output), in_quotes(output.path),
                                    input->second->option));
    }
    const auto [found, is_new] = written.emplace(*identity, &output);
    if (!is_new) {
      throw OutputError(fmt::format("{} and {} name the same file, {}", subject(*found->second), subject(output),
                                    in_quotes(output.path)));
    }
    refuse_standard_streams(output, place, *identity);
  }
}

bool is_standard_output(const std::string& path) {
  if (path.empty()) return false;
  try {
    return traces::output_place(path).descriptor == STDOUT_FILENO;
  } catch (const traces::WriteError&) {
    return false;
  }
}

}  // namespace kernwave::platform
