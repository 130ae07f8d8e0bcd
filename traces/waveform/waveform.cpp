#include "traces/waveform/waveform.h"

#include <fmt/format.h>
#include <fnmatch.h>

#include <stdexcept>

namespace kernwave::traces {

bool in_scope(const std::string& pattern, const std::string& signal) {
  if (::fnmatch(pattern.c_str(), signal.c_str(), FNM_NOESCAPE) == 0) return true;
  return ::fnmatch(pattern.c_str(), signal.substr(0, signal.find('.')).c_str(), FNM_NOESCAPE) == 0;
}

Waveform::Waveform(System& system, const WaveformOptions& options) {
  if (options.to && *options.to <= options.from) {
    throw std::invalid_argument("the end of a waveform must be after its beginning");
  }
  add_pes(system, options.scope);
  add_memories(system, options.scope);
  if (names_.empty()) {
    throw std::invalid_argument(
        fmt::format("no signal is in the scope \"{}\"; there are pe0 to pe{} (pe0.state, pe0.gemm_busy, ...) and cube0 "
                    "to cube{} (cube0.channel0_busy, ...)",
                    options.scope, system.pe_count() - 1, system.config().cubes - 1));
  }
  window_ = std::make_unique<VcdWindow>("waveform", options.path, options.from, options.to,
                                        [this](sc_core::sc_trace_file* file) { trace(file); });
}

void Waveform::add_pes(const System& system, const std::string& scope) {
  pes_.resize(static_cast<std::size_t>(system.pe_count()));
  for (std::int64_t id = 0; id < system.pe_count(); ++id) {
    std::vector<WaveformSignal> signals = PeWaveform::signals_of(system.pe(PeId(id)));
    if (!select(signals, scope)) continue;
    has_pes_ = true;
    pes_[static_cast<std::size_t>(id)] =
        std::make_unique<PeWaveform>(fmt::format("waveform_pe{}", id).c_str(), signals);
  }
}

void Waveform::add_memories(const System& system, const std::string& scope) {
  const SystemConfig& config = system.config();
  memories_.resize(static_cast<std::size_t>(config.cubes));
  for (std::int64_t id = 0; id < config.cubes; ++id) {
    std::vector<WaveformSignal> signals = MemoryWaveform::signals_of(CubeId(id), config.hbm.channels);
    if (!select(signals, scope)) continue;
    has_memories_ = true;
    memories_[static_cast<std::size_t>(id)] =
        std::make_unique<MemoryWaveform>(fmt::format("waveform_cube{}", id).c_str(), signals);
  }
}

/// Returns whether any of them is in the scope.
bool Waveform::select(std::vector<WaveformSignal>& signals, const std::string& scope) {
  const std::size_t before = names_.size();
  for (WaveformSignal& signal : signals) {
    signal.shown = signal.shown && in_scope(scope, signal.name);
    if (signal.shown) names_.push_back(signal.name);
  }
  return names_.size() > before;
}

void Waveform::trace(sc_core::sc_trace_file* file) const {
  for (const auto& pe : pes_) {
    if (pe != nullptr) pe->trace(file);
  }
  for (const auto& memory : memories_) {
    if (memory != nullptr) memory->trace(file);
  }
}

void Waveform::issuing(PeId pe, SourceLocation where, Picoseconds from, Picoseconds to) {
  if (PeWaveform* waveform = of(pe)) waveform->issuing(pe, where, from, to);
}

void Waveform::submitted(const IssuedOperation& operation) {
  if (PeWaveform* waveform = of(operation.descriptor.id.pe)) waveform->submitted(operation);
}

void Waveform::wait_begins(const ProgramWait& wait) {
  if (PeWaveform* waveform = of(wait.pe)) waveform->wait_begins(wait);
}

void Waveform::wait_ends(const ProgramWait& wait, Picoseconds to) {
  if (PeWaveform* waveform = of(wait.pe)) waveform->wait_ends(wait, to);
}

void Waveform::scratch_used(PeId pe, Bytes bytes, Picoseconds at) {
  if (PeWaveform* waveform = of(pe)) waveform->scratch_used(pe, bytes, at);
}

void Waveform::drained(PeId pe, Picoseconds at) {
  if (PeWaveform* waveform = of(pe)) waveform->drained(pe, at);
}

void Waveform::taken(const Descriptor& operation, Picoseconds presented, Picoseconds at) {
  if (PeWaveform* waveform = of(operation.id.pe)) waveform->taken(operation, presented, at);
}

void Waveform::handed_on(const Descriptor& operation, Picoseconds at) {
  if (PeWaveform* waveform = of(operation.id.pe)) waveform->handed_on(operation, at);
}

void Waveform::arrived(const Descriptor& operation, Picoseconds at) {
  if (PeWaveform* waveform = of(operation.id.pe)) waveform->arrived(operation, at);
}

void Waveform::service_begins(const Descriptor& operation, Picoseconds at) {
  if (PeWaveform* waveform = of(operation.id.pe)) waveform->service_begins(operation, at);
}

void Waveform::service_ends(const Descriptor& operation, Picoseconds at) {
  if (PeWaveform* waveform = of(operation.id.pe)) waveform->service_ends(operation, at);
}

void Waveform::slot_filled(PeId pe, Direction from, Picoseconds at) {
  if (PeWaveform* waveform = of(pe)) waveform->slot_filled(pe, from, at);
}

void Waveform::slot_released(PeId pe, Direction from, Picoseconds at, const std::vector<Completion>& users) {
  if (PeWaveform* waveform = of(pe)) waveform->slot_released(pe, from, at, users);
}

void Waveform::completed(const CompletedOperation& operation) {
  if (PeWaveform* waveform = of(operation.descriptor.id.pe)) waveform->completed(operation);
}

void Waveform::served(const ChannelService& service) {
  if (window_->over()) return;
  MemoryWaveform* memory = memories_[static_cast<std::size_t>(service.cube.count())].get();
  if (memory != nullptr) memory->served(service);
}

}  // namespace kernwave::traces
