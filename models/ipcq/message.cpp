#include "models/ipcq/message.h"

namespace kernwave {

std::uint8_t* Message::buffer(Bytes length) {
  const auto size = static_cast<std::size_t>(length.count());
  if (buffer_.size() < size) buffer_.resize(size);
  return buffer_.data();
}

Message& MessagePool::acquire(std::uint64_t address, Bytes length) {
  if (free_.empty()) {
    messages_.push_back(std::make_unique<Message>(this));
    free_.reserve(messages_.size());
    free_.push_back(messages_.back().get());
  }
  Message& message = *free_.back();
  free_.pop_back();
  message.command = nullptr;
  message.set_command(tlm::TLM_WRITE_COMMAND);
  message.set_address(address);
  message.set_data_length(static_cast<unsigned>(length.count()));
  message.set_streaming_width(static_cast<unsigned>(length.count()));
  message.set_byte_enable_ptr(nullptr);
  message.set_dmi_allowed(false);
  message.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
  return message;
}

void MessagePool::free(Payload* payload) { free_.push_back(static_cast<Message*>(payload)); }

}  // namespace kernwave
