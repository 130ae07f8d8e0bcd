#include "traces/waveform/waveform_observer.h"

namespace kernwave::traces {

WaveformObserver::WaveformObserver(const SignalSelection& selection, SignalSink& sink) {
  for (const SignalPlaces& places : selection.pes) {
    pes_.push_back(places.empty() ? nullptr : std::make_unique<PeWaveform>(places, sink));
    has_pes_ = has_pes_ || !places.empty();
  }
  for (const SignalPlaces& places : selection.memories) {
    memories_.push_back(places.empty() ? nullptr : std::make_unique<MemoryWaveform>(places, sink));
    has_memories_ = has_memories_ || !places.empty();
  }
}

void WaveformObserver::issuing(PeId pe, SourceLocation where, Picoseconds from, Picoseconds to) {
  if (PeWaveform* waveform = of(pe)) waveform->issuing(pe, where, from, to);
}

void WaveformObserver::submitted(const IssuedOperation& operation) {
  if (PeWaveform* waveform = of(operation.descriptor.id.pe)) waveform->submitted(operation);
}

void WaveformObserver::wait_begins(const ProgramWait& wait) {
  if (PeWaveform* waveform = of(wait.pe)) waveform->wait_begins(wait);
}

void WaveformObserver::wait_ends(const ProgramWait& wait, Picoseconds to) {
  if (PeWaveform* waveform = of(wait.pe)) waveform->wait_ends(wait, to);
}

void WaveformObserver::scratch_used(PeId pe, Bytes bytes, Picoseconds at) {
  if (PeWaveform* waveform = of(pe)) waveform->scratch_used(pe, bytes, at);
}

void WaveformObserver::drained(PeId pe, Picoseconds at) {
  if (PeWaveform* waveform = of(pe)) waveform->drained(pe, at);
}

void WaveformObserver::accepted(const Descriptor& operation, Picoseconds presented, Picoseconds at) {
  if (PeWaveform* waveform = of(operation.id.pe)) waveform->accepted(operation, presented, at);
}

void WaveformObserver::dispatched(const Descriptor& operation, Picoseconds at) {
  if (PeWaveform* waveform = of(operation.id.pe)) waveform->dispatched(operation, at);
}

void WaveformObserver::arrived(const Descriptor& operation, Picoseconds at) {
  if (PeWaveform* waveform = of(operation.id.pe)) waveform->arrived(operation, at);
}

void WaveformObserver::service_begins(const Descriptor& operation, Picoseconds at) {
  if (PeWaveform* waveform = of(operation.id.pe)) waveform->service_begins(operation, at);
}

void WaveformObserver::service_ends(const Descriptor& operation, Picoseconds at) {
  if (PeWaveform* waveform = of(operation.id.pe)) waveform->service_ends(operation, at);
}

void WaveformObserver::slot_filled(PeId pe, Direction from, Picoseconds at) {
  if (PeWaveform* waveform = of(pe)) waveform->slot_filled(pe, from, at);
}

void WaveformObserver::slot_released(PeId pe, Direction from, Picoseconds at, const std::vector<Completion>& users) {
  if (PeWaveform* waveform = of(pe)) waveform->slot_released(pe, from, at, users);
}

void WaveformObserver::completed(const CompletedOperation& operation) {
  if (PeWaveform* waveform = of(operation.descriptor.id.pe)) waveform->completed(operation);
}

void WaveformObserver::dropped(const CompletedOperation& operation) {
  if (PeWaveform* waveform = of(operation.descriptor.id.pe)) waveform->dropped(operation);
}

void WaveformObserver::was_reset(PeId pe, const std::vector<Neighbour>& neighbours, Picoseconds at) {
  if (PeWaveform* waveform = of(pe)) waveform->was_reset(pe, neighbours, at);
}

void WaveformObserver::served(const ChannelService& service) {
  MemoryWaveform* memory = memories_[static_cast<std::size_t>(service.cube.count())].get();
  if (memory != nullptr) memory->served(service);
}

}  // namespace kernwave::traces
