// Messages between PEs.
#include <fmt/format.h>

#include "kernels/tl/context.h"

namespace kernwave::tl {

void Context::check_send(Direction direction, const std::vector<Tensor>& tensors, SourceLocation where) {
  constexpr const char* operation = "send";
  check_caller(operation, where);
  constexpr std::size_t most = std::tuple_size_v<decltype(IpcqDescriptor::tensors)>;
  if (tensors.empty() || tensors.size() > most) {
    fail(operation, where, fmt::format("a message is made of 1 to {} tensors, not {}", most, tensors.size()));
  }
  Bytes bytes;
  for (const Tensor& tensor : tensors) {
    check_alive(operation, tensor, where);
    require(tensor.contiguous(), operation, where, "the tensor must be dense; copy it first", tensor);
    bytes += tensor.operand().bytes();
  }
  PeIpcq& queues = pe_.ipcq();
  if (!queues.linked(direction)) fail(operation, where, fmt::format("there is no PE in the {}", name_of(direction)));
  const QueueState peer = queues.peer(direction);
  if (peer.slots == 0) {
    fail(
        operation, where,
        fmt::format("the PE in the {} does not receive from the {}", name_of(direction), name_of(opposite(direction))));
  }
  if (bytes.count() > peer.slot_bytes) {
    fail(operation, where,
         fmt::format("a message of {} B does not fit into the {} B of a slot", bytes.count(), peer.slot_bytes));
  }
}

Pending Context::send(Direction direction, const Tensor& tensor, SourceLocation where) {
  return send(direction, std::vector<Tensor>{tensor}, where);
}

Pending Context::send(Direction direction, const std::vector<Tensor>& tensors, SourceLocation where) {
  check_send(direction, tensors, where);
  for (const Tensor& tensor : tensors) await_writer(tensor);
  while (const auto access = memory_order_.any(completeness())) pe_.cpu().wait_for(*access, TimeCause::memory_order);
  Descriptor descriptor;
  descriptor.engine = Engine::ipcq;
  auto& message = descriptor.work.emplace<IpcqDescriptor>();
  message.direction = direction;
  message.peer = pe_.ipcq().peer_id(direction);
  message.count = static_cast<std::uint8_t>(tensors.size());
  for (std::size_t i = 0; i < tensors.size(); ++i) message.tensors[i] = tensors[i].operand();
  pe_.cpu().take_credit(direction, where);
  const Completion completion = issue(OperationKind::send, descriptor, where);
  for (const Tensor& tensor : tensors) note_reader(tensor, completion);
  return Pending(*this, completion, TimeCause::credit);
}

Tensor Context::receive(OperationKind kind, Direction direction, const Shape& shape, DType dtype,
                        SourceLocation where) {
  const char* operation = kind == OperationKind::receive ? "recv" : "recv_async";
  check_caller(operation, where);
  check_shape(operation, shape, where);
  PeIpcq& queues = pe_.ipcq();
  if (!queues.linked(direction)) fail(operation, where, fmt::format("there is no PE in the {}", name_of(direction)));
  if (!queues.receives_from(direction)) {
    fail(operation, where, fmt::format("the launch declares no queue from the {}", name_of(direction)));
  }
  const Bytes size(shape.elements() * size_of(dtype));
  if (size > queues.slot_bytes(direction)) {
    fail(operation, where,
         fmt::format("{} {} needs {} B, a slot has {} B", to_string(shape), name_of(dtype), size.count(),
                     queues.slot_bytes(direction).count()));
  }
  const std::int64_t number = pe_.cpu().next_message(direction);
  const ScratchAddress address = queues.slot(direction, number);
  const BufferId id = arena_.adopt({direction, number}, address, size, BufferOrigin{operation, where, shape, dtype});
  pe_.scratch().note_use(arena_.top() + queues.slots_size());
  const Tensor tensor(*this, id, address, shape, {shape.rank() == 1 ? 1 : shape[1], 1}, dtype);

  Descriptor descriptor;
  descriptor.engine = Engine::ipcq;
  auto& message = descriptor.work.emplace<IpcqDescriptor>();
  message.action = IpcqAction::receive;
  message.direction = direction;
  message.peer = queues.peer_id(direction);
  message.tensors[0] = tensor.operand();
  const Completion completion = issue(kind, descriptor, where);
  note_writer(tensor, completion, TimeCause::receive);
  return tensor;
}

Tensor Context::recv(Direction direction, const Shape& shape, DType dtype, SourceLocation where) {
  return receive(OperationKind::receive, direction, shape, dtype, where);
}

Tensor Context::recv_async(Direction direction, const Shape& shape, DType dtype, SourceLocation where) {
  return receive(OperationKind::receive_async, direction, shape, dtype, where);
}

}  // namespace kernwave::tl
