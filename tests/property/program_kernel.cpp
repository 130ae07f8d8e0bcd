#include "tests/property/program_kernel.h"

#include <array>
#include <map>
#include <memory>

#include "models/ipcq/topology.h"

namespace kernwave::testing {

namespace {

/// Carries steps out on a context, and keeps the tensors that they make by name.
class Player {
 public:
  Player(const Program& program, tl::Context& tl) : program_(program), tl_(tl) {}
  Player(const Player&) = delete;
  Player& operator=(const Player&) = delete;
  ~Player() {
    while (!scopes_.empty()) scopes_.pop_back();  // the innermost first
  }

  void play(const Step& step, int line);

 private:
  [[nodiscard]] const tl::Tensor& tensor(ValueId value) const { return tensors_.at(value); }
  [[nodiscard]] const tl::Tensor& operand(const Step& step, std::size_t index = 0) const {
    return tensor(step.operands.at(index).value);
  }
  [[nodiscard]] tl::Out out(const Step& step) const {
    return step.target == no_value ? tl::Out() : tl::Out(tensor(step.target));
  }
  void keep(const Step& step, const tl::Tensor& made) {
    if (step.result != no_value) tensors_.emplace(step.result, made);
  }
  void keep(const Step& step, const tl::Pending& made) {
    if (step.result != no_value) pendings_.emplace(step.result, made);
  }
  [[nodiscard]] HbmAddress address(const Place& place) const;

  void load(const Step& step);
  void store(const Step& step);
  void wait(const Step& step);
  void make_view(const Step& step);
  void dot(const Step& step);
  void math(const Step& step);
  [[nodiscard]] tl::Tensor elementwise(const Step& step);
  template <typename Function>
  [[nodiscard]] tl::Tensor with_operand(const Argument& argument, Function function) const;
  void reduce(const Step& step);
  void composite(const Step& step);
  [[nodiscard]] tl::CompositeOptions options(const Step& step) const;
  void send(const Step& step);

  const Program& program_;
  tl::Context& tl_;
  SourceLocation where_;
  std::map<ValueId, tl::Tensor> tensors_;
  std::map<ValueId, tl::Staging> stagings_;
  std::map<ValueId, tl::Pending> pendings_;
  std::vector<std::unique_ptr<tl::ScratchScope>> scopes_;
};

void Player::play(const Step& step, int line) {
  where_ = SourceLocation{"program", line};
  switch (step.kind) {
    case StepKind::enter_scope:
      scopes_.push_back(std::make_unique<tl::ScratchScope>(tl_));
      return;
    case StepKind::leave_scope:
      return scopes_.pop_back();
    case StepKind::buffer:
      return keep(step, tl_.buffer(step.shape, step.dtype, where_));
    case StepKind::load:
      return load(step);
    case StepKind::store:
      return store(step);
    case StepKind::wait:
      return wait(step);
    case StepKind::trans:
    case StepKind::slice:
    case StepKind::broadcast:
    case StepKind::expand_dims:
    case StepKind::reshape:
      return make_view(step);
    case StepKind::dot:
      return dot(step);
    case StepKind::math:
      return math(step);
    case StepKind::reduce:
      return reduce(step);
    case StepKind::staging:
      stagings_.emplace(step.result, tl_.staging(Bytes(step.end), where_));
      return;
    case StepKind::composite:
      return composite(step);
    case StepKind::send:
      return send(step);
    case StepKind::receive:
      return keep(step, tl_.recv(step.direction, step.shape, step.dtype, where_));
    case StepKind::receive_async:
      return keep(step, tl_.recv_async(step.direction, step.shape, step.dtype, where_));
  }
}

HbmAddress Player::address(const Place& place) const {
  const Area& area = program_.areas.at(static_cast<std::size_t>(place.area));
  return {CubeId(area.cube), Bytes(area.base + place.offset * size_of(area.dtype))};
}

void Player::load(const Step& step) {
  tl::LoadOptions options = tl::LoadOptions().strides(step.place.stride).valid(step.place.valid);
  if (step.other) options = options.other(static_cast<float>(*step.other));
  if (step.target != no_value) options = options.into(tensor(step.target));
  keep(step, tl_.load(address(step.place), step.shape, step.dtype, options, where_));
}

void Player::store(const Step& step) {
  const auto options = tl::StoreOptions().strides(step.place.stride).valid(step.place.valid);
  keep(step, tl_.store(address(step.place), operand(step), options, where_));
}

void Player::wait(const Step& step) {
  const auto pending = pendings_.find(step.operands.at(0).value);
  if (pending != pendings_.end()) return tl_.wait(pending->second);
  tl_.wait(operand(step), where_);
}

void Player::make_view(const Step& step) {
  const tl::Tensor& x = operand(step);
  switch (step.kind) {
    case StepKind::trans:
      return keep(step, tl_.trans(x, where_));
    case StepKind::slice:
      return keep(step, tl_.slice(x, step.begin, step.end, where_));
    case StepKind::broadcast:
      return keep(step, tl_.broadcast_to(x, step.shape, where_));
    case StepKind::expand_dims:
      return keep(step, tl_.expand_dims(x, static_cast<int>(step.axis), where_));
    default:
      return keep(step, tl_.reshape(x, step.shape, where_));
  }
}

void Player::dot(const Step& step) {
  if (step.accumulate) {
    tl_.dot(operand(step, 0), operand(step, 1), tensor(step.target), where_);
  } else {
    keep(step, tl_.dot(operand(step, 0), operand(step, 1), out(step), where_));
  }
}

/// An Operand lives as long as the call that takes it.
template <typename Function>
tl::Tensor Player::with_operand(const Argument& argument, Function function) const {
  return argument.value == no_value ? function(tl::Operand(argument.number, where_))
                                    : function(tl::Operand(tensor(argument.value), where_));
}

tl::Tensor Player::elementwise(const Step& step) {
  const tl::Out out = this->out(step);
  const auto argument = [&step](std::size_t i) { return i < step.operands.size() ? step.operands[i] : Argument{}; };
  return with_operand(argument(0), [&](const tl::Operand& a) {
    return with_operand(argument(1), [&](const tl::Operand& b) {
      return with_operand(argument(2), [&](const tl::Operand& c) {
        switch (step.op) {
          case MathOp::add:
            return tl_.add(a, b, out);
          case MathOp::sub:
            return tl_.sub(a, b, out);
          case MathOp::mul:
            return tl_.mul(a, b, out);
          case MathOp::maximum:
            return tl_.maximum(a, b, out);
          case MathOp::minimum:
            return tl_.minimum(a, b, out);
          case MathOp::less:
            return tl_.less(a, b, out);
          case MathOp::logical_and:
            return tl_.logical_and(a, b, out);
          case MathOp::logical_not:
            return tl_.logical_not(a, out);
          case MathOp::fma:
            return tl_.fma(a, b, c, out);
          case MathOp::where:
            return tl_.where(a, b, c, out);
          case MathOp::neg:
            return tl_.neg(a, out);
          case MathOp::abs:
            return tl_.abs(a, out);
          case MathOp::exp2:
            return tl_.exp2(a, out);
          default:
            return tl_.cast(a, step.dtype, out);
        }
      });
    });
  });
}

void Player::math(const Step& step) {
  if (step.op == MathOp::copy) return tl_.copy_to(tensor(step.target), operand(step), where_);
  if (step.op != MathOp::fill) return keep(step, elementwise(step));
  const double value = step.operands.at(0).number;
  if (step.target != no_value) {
    tl_.fill(tensor(step.target), value, where_);
  } else {
    keep(step, tl_.full(step.shape, value, step.dtype, where_));
  }
}

void Player::reduce(const Step& step) {
  const tl::Operand x(operand(step), where_);
  const auto axis = static_cast<int>(step.axis);
  if (step.op == MathOp::reduce_sum) return keep(step, tl_.sum(x, axis, step.keep_dims, out(step)));
  if (step.op == MathOp::reduce_max) return keep(step, tl_.max(x, axis, step.keep_dims, out(step)));
  keep(step, tl_.min(x, axis, step.keep_dims, out(step)));
}

tl::CompositeOptions Player::options(const Step& step) const {
  const tl::Tensor& target = tensor(step.target);
  tl::CompositeOptions options =
      tl::CompositeOptions().tile(step.end).along(step.axis == 0 ? CompositeAxis::n : CompositeAxis::k);
  options = step.accumulate ? options.acc(target) : options.out(target);
  for (const EpilogueStep& part : step.epilogue) {
    if (!part.operand) {
      options = options.then(part.op);
    } else if (part.operand->value == no_value) {
      options = options.then(part.op, part.operand->number);
    } else {
      options = options.then(part.op, tensor(part.operand->value));
    }
  }
  if (step.through != no_value) options = options.through(stagings_.at(step.through));
  return options;
}

void Player::composite(const Step& step) {
  std::array<std::optional<tl::Ref>, 2> refs;
  for (std::size_t i = 0; i < refs.size(); ++i) {
    const Factor& factor = step.factors.at(i);
    if (factor.value != no_value) continue;
    const DType dtype = program_.areas.at(static_cast<std::size_t>(factor.place.area)).dtype;
    const auto ref = tl_.ref(address(factor.place), factor.stored, dtype,
                             tl::RefOptions().strides(factor.place.stride).valid(factor.place.valid.rows()), where_);
    refs.at(i) = factor.transposed ? tl_.trans(ref) : ref;
  }
  const auto factor = [&](std::size_t i) {
    return refs.at(i) ? tl::CompositeOperand(*refs.at(i)) : tl::CompositeOperand(tensor(step.factors.at(i).value));
  };
  keep(step, tl_.composite(factor(0), factor(1), options(step), where_));
}

void Player::send(const Step& step) {
  std::vector<tl::Tensor> tensors;
  for (const Argument& part : step.operands) tensors.push_back(tensor(part.value));
  keep(step, tl_.send(step.direction, tensors, where_));
}

}  // namespace

tl::Kernel kernel_of(const Program& program, int pe) {
  return [&program, pe](tl::Context& tl) {
    Player player(program, tl);
    for (std::size_t i = 0; i < program.steps.size(); ++i) {
      if (program.steps[i].pe == pe) player.play(program.steps[i], static_cast<int>(i) + 1);
    }
  };
}

void launch(const Program& program, System& system, tl::Policy policy) {
  const SystemConfig config = program.machine.config();
  for (int pe = 0; pe < static_cast<int>(program.machine.pes()); ++pe) {
    tl::Queues queues{{}, Bytes(program.machine.slot_bytes)};
    for (const Neighbour& other : neighbours(config, PeId(pe))) queues.receive_from.push_back(other.direction);
    tl::launch(system.pe(PeId(pe)), kernel_of(program, pe), policy, queues);
  }
}

}  // namespace kernwave::testing
