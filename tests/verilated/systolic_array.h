// The block of systolic_array.v and its clock. Verilator's headers and SystemC's do not go together in one source file.
#pragma once

#include <cstdint>
#include <memory>

class VSystolicArray;
class VerilatedContext;

namespace verilated {

class SystolicArray {
 public:
  /// After its reset.
  SystolicArray();
  SystolicArray(const SystolicArray&) = delete;
  SystolicArray& operator=(const SystolicArray&) = delete;
  ~SystolicArray();

  /// Gives a product of M x K by K x N to the idle block; the next edge ends its first cycle.
  void start(std::int64_t m, std::int64_t k, std::int64_t n);
  /// One cycle of the clock.
  void edge();

  [[nodiscard]] bool is_busy() const;
  /// In the cycle behind the last one of a product.
  [[nodiscard]] bool is_done() const;

 private:
  std::unique_ptr<VerilatedContext> context_;
  std::unique_ptr<VSystolicArray> block_;
};

}  // namespace verilated
