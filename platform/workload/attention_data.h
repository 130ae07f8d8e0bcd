// The inputs of an attention task, and the check of its output.
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "platform/workload/attention_layout.h"
#include "platform/workload/attention_reference.h"
#include "platform/workload/attention_task.h"
#include "platform/workload/numeric_error.h"
#include "platform/workload/random_data.h"

namespace kernwave::platform {

/// Random Q, K and V of each program, and the float64 reference that its output is compared with.
class AttentionData {
 public:
  /// Both must outlive this; the task is planned before anything is asked.
  AttentionData(const AttentionTask& task, const AttentionLayout& layout) : task_(task), layout_(layout) {}

  /// Writes the inputs, and NaN where the output will be.
  void place(System& system) const;
  /// Computes all references ahead of `verify`.
  void prepare_reference();
  /// Computes the first of them, as many as fit into some memory, on one thread (`Workload`).
  void prepare_reference_beside_run(const std::atomic<bool>& cancelled) const;
  [[nodiscard]] NumericError verify(const System& system) const;

 private:
  enum class Part : std::uint8_t { q, k, v };

  [[nodiscard]] RandomTensor numbers(std::int64_t program, Part part) const;
  /// Inputs of one program after another.
  struct Inputs {
    std::vector<float> q;
    std::vector<float> k;
    std::vector<float> v;
  };

  void make(std::int64_t program, Part part, std::vector<float>& values) const;
  [[nodiscard]] AttentionArithmetic arithmetic(std::int64_t program) const;
  [[nodiscard]] AttentionReference reference(std::int64_t program, Inputs& inputs, const ReferenceEffort& effort) const;
  [[nodiscard]] NumericError verify(const System& system, std::int64_t program, AttentionReference expected) const;

  const AttentionTask& task_;
  const AttentionLayout& layout_;
  mutable std::vector<AttentionReference> references_;  // of the first programs: those that are prepared
};

}  // namespace kernwave::platform
