// The parts of a signal's name, as in "pe0.gemm_busy".
#pragma once

#include <string_view>

namespace kernwave::traces {

/// The outermost scope, as in waveform files by SystemC.
constexpr std::string_view root_scope = "SystemC";

[[nodiscard]] inline std::string_view scope_of(std::string_view signal) { return signal.substr(0, signal.find('.')); }

[[nodiscard]] inline std::string_view name_in_scope(std::string_view signal) {
  return signal.substr(signal.find('.') + 1);
}

}  // namespace kernwave::traces
