// Commands: pooled payloads that carry a descriptor from the CPU of a PE to an engine.
#pragma once

#include <optional>
#include <string>

#include "models/base/systemc.h"
#include "models/protocol/completion.h"
#include "models/protocol/descriptor.h"
#include "models/protocol/payload_pool.h"

namespace kernwave {

/// The report of a command for observers. The issuer sets `where` and the flags; the engine that carries the command
/// out fills in the rest. A user's engine need not do so.
class ExecutionReport : public tlm::tlm_extension<ExecutionReport> {
 public:
  SourceLocation where;  ///< of the call that issued it; the parts of a composite have their composite's
  Picoseconds start;
  Picoseconds end;
  /// The issuer does nothing else before this operation ends: an engine that knows the end at once may answer at once,
  /// with the end annotated. A module that keeps the command instead of passing it on in the call clears this flag.
  bool awaited = false;
  /// The issuer and all observers can be told of the end ahead of its instant: an engine that knows the end may carry
  /// the operation out as soon as the command arrives, and send BEGIN_RESP with the end as annotated delay.
  bool ahead = false;
  /// In addition to `ahead`, all links on the way are time-transparent and the command is passed on in the call: the
  /// engine may announce the end with END_REQ, and the response must then come for that instant. A module that keeps
  /// the command clears this flag.
  bool announce = false;
  std::optional<Picoseconds> announced_end;  ///< set by an engine that announces it
  /// A reset has ended the command before any engine began it.
  bool dropped = false;
  /// The reason of an error response, as words that follow the operation's description: "was ...". Empty if the engine
  /// gives no reason.
  std::string problem;

  [[nodiscard]] tlm_extension_base* clone() const override { return new ExecutionReport(*this); }
  void copy_from(const tlm_extension_base& other) override { *this = static_cast<const ExecutionReport&>(other); }
};

/// A payload with its descriptor inside: a WRITE of the descriptor to the doorbell of its engine.
class Command : public Payload {
 public:
  explicit Command(tlm::tlm_mm_interface* memory_manager) : Payload(memory_manager) { set_extension(&report); }
  ~Command() override { clear_extension(&report); }
  Command(const Command&) = delete;
  Command& operator=(const Command&) = delete;

  Descriptor descriptor;
  ExecutionReport report;
  Completion completion;
  Picoseconds issued;
  bool end_is_taken = false;  ///< the issuer goes by the end that was announced
};

/// How a doorbell answers a payload that is no command, before anybody looks at its bytes; TLM_OK_RESPONSE: it is one,
/// a WRITE of a whole descriptor. Whether its address is a doorbell is for the list of engines to say.
[[nodiscard]] inline tlm::tlm_response_status command_status(const Payload& payload) noexcept {
  if (!payload.is_write()) return tlm::TLM_COMMAND_ERROR_RESPONSE;
  if (payload.get_byte_enable_ptr() != nullptr) return tlm::TLM_BYTE_ENABLE_ERROR_RESPONSE;
  const bool is_whole = payload.get_data_length() == sizeof(Descriptor) && payload.get_data_ptr() != nullptr;
  return is_whole ? tlm::TLM_OK_RESPONSE : tlm::TLM_BURST_ERROR_RESPONSE;
}

/// Makes the payload one that a reset has dropped, at that instant.
void drop(Payload& payload, Picoseconds at);

/// The descriptor that a payload on a command socket carries.
[[nodiscard]] inline const Descriptor& descriptor_of(const Payload& payload) {
  return *reinterpret_cast<const Descriptor*>(payload.get_data_ptr());
}

class CommandPool : public PayloadPool<Command> {
 public:
  /// A command for the doorbell at `address`, ready for BEGIN_REQ.
  [[nodiscard]] Command& acquire(const Descriptor& descriptor, std::uint64_t address);
  /// The command in flight with that completion, if any.
  [[nodiscard]] const Command* find(Completion completion) const noexcept;
};

}  // namespace kernwave
