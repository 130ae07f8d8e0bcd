#include "models/protocol/command.h"

namespace kernwave {

Command& CommandPool::acquire(const Descriptor& descriptor, std::uint64_t address) {
  Command& command = PayloadPool::acquire();
  command.descriptor = descriptor;
  prepare(command, tlm::TLM_WRITE_COMMAND, address, reinterpret_cast<unsigned char*>(&command.descriptor),
          sizeof(Descriptor));
  command.report.start = Picoseconds(0);
  command.report.end = Picoseconds(0);
  command.report.awaited = false;
  command.report.ahead = false;
  command.report.announce = false;
  command.report.announced_end.reset();
  command.report.dropped = false;
  command.report.problem.clear();
  return command;
}

void drop(Payload& payload, Picoseconds at) {
  payload.set_response_status(tlm::TLM_GENERIC_ERROR_RESPONSE);
  if (auto* report = payload.get_extension<ExecutionReport>()) {
    report->dropped = true;
    report->start = at;
    report->end = at;
  }
}

const Command* CommandPool::find(Completion completion) const noexcept {
  return find_lent([completion](const Command& command) { return command.completion == completion; });
}

}  // namespace kernwave
