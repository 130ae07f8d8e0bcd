#include "traces/op_log/operation_order.h"

#include <algorithm>
#include <iterator>
#include <tuple>
#include <utility>

namespace kernwave::traces {

namespace {

/// Of a batch that is written, all rows of its last instant included.
constexpr std::size_t batch_rows = 8192;

[[nodiscard]] bool is_before(const OperationEntry& a, const OperationEntry& b) noexcept {
  const auto key = [](const OperationEntry& entry) {
    return std::make_tuple(entry.id.pe.count(), entry.id.sequence, entry.id.part);
  };
  return key(a) < key(b);
}

/// Appends the dependencies of an entry, which stand in `from`, to those in `to`.
void move_dependencies(OperationEntry& entry, const std::vector<std::int64_t>& from, std::vector<std::int64_t>& to) {
  const auto first = from.begin() + static_cast<std::ptrdiff_t>(entry.first_dependency);
  entry.first_dependency = to.size();
  to.insert(to.end(), first, first + entry.dependencies);
}

}  // namespace

void OperationOrder::take(ToldOperations& told) {
  hold(told);
  due_.clear();
  later_.clear();
  later_dependencies_.clear();
  for (std::size_t i = 0; i < held_.size(); ++i) {
    if (held_[i].end < told.settled) {
      due_.push_back({held_[i].end.count(), i});
    } else {
      later_.push_back(held_[i]);
      move_dependencies(later_.back(), held_dependencies_, later_dependencies_);
    }
  }
  std::sort(due_.begin(), due_.end(), [this](const Key& a, const Key& b) {
    return a.end == b.end ? is_before(held_[a.index], held_[b.index]) : a.end < b.end;
  });
  for (const Key& key : due_) release(held_[key.index]);
  held_.swap(later_);
  held_dependencies_.swap(later_dependencies_);
}

void OperationOrder::hold(ToldOperations& told) {
  OperationBatch& batch = told.batch;
  std::move(batch.new_work.begin(), batch.new_work.end(), std::back_inserter(work_));
  numbers_.resize(work_.size(), 0);
  const std::size_t before = held_dependencies_.size();
  held_dependencies_.insert(held_dependencies_.end(), batch.dependencies.begin(), batch.dependencies.end());
  for (OperationEntry& entry : batch.entries) {
    entry.first_dependency += before;
    held_.push_back(entry);
  }
}

void OperationOrder::release(OperationEntry entry) {
  if (entry.end > last_end_ && ordered_.entries.size() >= batch_rows) hand_over();
  last_end_ = entry.end;
  move_dependencies(entry, held_dependencies_, ordered_.dependencies);
  entry.work = number_of_work(entry.work);
  ordered_.entries.push_back(entry);
}

std::uint32_t OperationOrder::number_of_work(std::uint32_t index) {
  std::uint32_t& number = numbers_[index];
  if (number == 0) {
    number = ++last_number_;
    ordered_.new_work.push_back(std::move(work_[index]));
  }
  return number;
}

void OperationOrder::hand_over() {
  write_(ordered_);
  ordered_.clear();
}

void OperationOrder::finish() {
  if (!ordered_.entries.empty()) hand_over();
}

}  // namespace kernwave::traces
