// Commands to engines of the user's.
#include <fmt/format.h>

#include <algorithm>

#include "kernels/tl/context.h"

namespace kernwave::tl {

void Context::check_call(Engine engine, const Call& call, SourceLocation where) const {
  constexpr const char* operation = "call";
  check_caller(operation, where);
  if (!is_added(engine) || static_cast<std::size_t>(engine) >= pe_.engines().size()) {
    fail(operation, where,
         fmt::format("engine {} is none that was added to this PE (EngineList::add)", static_cast<int>(engine)));
  }
  const std::size_t tensors = call.reads().size() + call.writes().size();
  if (tensors == 0 || tensors > CallDescriptor::most_tensors) {
    fail(operation, where,
         fmt::format("a command names 1 to {} tensors, not {}", CallDescriptor::most_tensors, tensors));
  }
  for (const Tensor& tensor : call.reads()) check_alive(operation, tensor, where);
  for (const Tensor& tensor : call.writes()) {
    check_alive(operation, tensor, where);
    for (int axis = 0; axis < tensor.shape().rank(); ++axis) {
      require(tensor.shape()[axis] == 1 || tensor.stride(axis) != 0, operation, where,
              "what is written must not be a broadcast view", tensor);
    }
  }
}

Pending Context::call(Engine engine, const Call& call, SourceLocation where) {
  check_call(engine, call, where);
  for (const Tensor& tensor : call.reads()) await_writer(tensor);
  for (const Tensor& tensor : call.writes()) await_overwrite(tensor);
  Descriptor descriptor;
  descriptor.engine = engine;
  auto& work = descriptor.work.emplace<CallDescriptor>();
  work.name = pe_.engines()[engine].name;
  work.reads = static_cast<std::uint8_t>(call.reads().size());
  work.writes = static_cast<std::uint8_t>(call.writes().size());
  std::size_t place = 0;
  for (const Tensor& tensor : call.reads()) work.tensors[place++] = tensor.operand();
  for (const Tensor& tensor : call.writes()) work.tensors[place++] = tensor.operand();
  work.parameters = call.parameters();
  const Cycles cost = call.issue_cost().value_or(pe_.config().issue.math);
  const Completion completion = issue(OperationKind::call, descriptor, cost, where);
  for (const Tensor& tensor : call.reads()) note_reader(tensor, completion);
  for (const Tensor& tensor : call.writes()) note_writer(tensor, completion, TimeCause::compute);
  return {*this, completion, TimeCause::compute};
}

}  // namespace kernwave::tl
