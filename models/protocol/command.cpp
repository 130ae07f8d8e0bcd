#include "models/protocol/command.h"

#include <algorithm>

namespace kernwave {

Command& CommandPool::acquire(const Descriptor& descriptor) {
  if (free_.empty()) {
    commands_.push_back(std::make_unique<Command>(this));
    free_.reserve(commands_.size());
    free_.push_back(commands_.back().get());
  }
  Command& command = *free_.back();
  free_.pop_back();
  command.descriptor = descriptor;
  command.set_command(tlm::TLM_WRITE_COMMAND);
  command.set_address(doorbell(descriptor.engine));
  command.set_data_ptr(reinterpret_cast<unsigned char*>(&command.descriptor));
  command.set_data_length(sizeof(Descriptor));
  command.set_streaming_width(sizeof(Descriptor));
  command.set_byte_enable_ptr(nullptr);
  command.set_dmi_allowed(false);
  command.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
  command.report.start = Picoseconds(0);
  command.report.end = Picoseconds(0);
  return command;
}

const Command* CommandPool::find(Completion completion) const noexcept {
  const auto lent = [this](const Command* command) {
    return std::find(free_.begin(), free_.end(), command) == free_.end();
  };
  for (const auto& command : commands_) {
    if (command->completion == completion && lent(command.get())) return command.get();
  }
  return nullptr;
}

void CommandPool::free(Payload* payload) { free_.push_back(static_cast<Command*>(payload)); }

}  // namespace kernwave
