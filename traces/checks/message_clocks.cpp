#include "traces/checks/message_clocks.h"

#include <algorithm>

namespace kernwave::traces {

MessageClocks::MessageClocks(std::int64_t pes)
    : clocks_(static_cast<std::size_t>(pes), Clock(static_cast<std::size_t>(pes), 0)),
      queues_(static_cast<std::size_t>(pes)) {
  for (std::size_t pe = 0; pe < clocks_.size(); ++pe) clocks_[pe][pe] = 1;  // its own is not over
}

void MessageClocks::submitted(const IssuedOperation& message) {
  const IpcqDescriptor& ipcq = message.descriptor.ipcq();
  const PeId pe = message.descriptor.id.pe;
  if (ipcq.action == IpcqAction::receive) {
    queue(pe, ipcq.direction).receives.push_back(message.completion);
    return;
  }
  queue(ipcq.peer, opposite(ipcq.direction)).sent.push_back(clock(pe));
  ++clocks_[index(pe)][index(pe)];
}

void MessageClocks::waited(PeId pe, Completion on) {
  for (Queue& queue : queues_[index(pe)]) {
    const auto found = std::find(queue.receives.begin(), queue.receives.end(), on);
    if (found == queue.receives.end()) continue;
    return join(pe, queue, queue.first_receive + (found - queue.receives.begin()));
  }
}

void MessageClocks::was_reset(PeId pe, const std::vector<Neighbour>& neighbours) {
  for (const auto& [direction, peer] : neighbours) {
    queue(pe, direction) = {};
    Queue& theirs = queue(peer, opposite(direction));
    while (!theirs.sent.empty() && theirs.first_sent + static_cast<std::int64_t>(theirs.sent.size()) > theirs.landed) {
      theirs.sent.pop_back();
    }
  }
}

/// Messages of one direction land in order: those before this one have come too, and say no more than it does. One that
/// somebody outside the model has sent makes no order.
void MessageClocks::join(PeId receiver, Queue& queue, std::int64_t message) {
  Clock& mine = clocks_[index(receiver)];
  for (; queue.first_receive <= message; ++queue.first_receive) queue.receives.pop_front();
  for (; queue.first_sent <= message && !queue.sent.empty(); ++queue.first_sent) {
    const Clock& theirs = queue.sent.front();
    for (std::size_t pe = 0; pe < mine.size(); ++pe) mine[pe] = std::max(mine[pe], theirs[pe]);
    queue.sent.pop_front();
  }
}

}  // namespace kernwave::traces
