#include "systolic_array.h"

#include <VSystolicArray.h>

namespace verilated {

SystolicArray::SystolicArray()
    : context_(std::make_unique<VerilatedContext>()), block_(std::make_unique<VSystolicArray>(context_.get())) {
  block_->reset = 1;
  edge();
  block_->reset = 0;
}

SystolicArray::~SystolicArray() { block_->final(); }

void SystolicArray::start(std::int64_t m, std::int64_t k, std::int64_t n) {
  block_->m = static_cast<std::uint32_t>(m);
  block_->k = static_cast<std::uint32_t>(k);
  block_->n = static_cast<std::uint32_t>(n);
  block_->start = 1;
}

void SystolicArray::edge() {
  block_->clock = 1;
  block_->eval();
  block_->clock = 0;
  block_->start = 0;
  block_->eval();
}

bool SystolicArray::is_busy() const { return block_->busy != 0; }
bool SystolicArray::is_done() const { return block_->done != 0; }

}  // namespace verilated
