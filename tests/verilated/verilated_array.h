// The block of systolic_array.v as the matrix engine of a PE: an adaptor that drives it cycle by cycle.
#pragma once

#include <kernwave/models/base/systemc.h>
#include <kernwave/models/protocol/command.h>

#include "systolic_array.h"

namespace verilated {

/// Products of 16-bit types, one at a time. Edges are multiples of the period, which is a whole number of picoseconds;
/// the first cycle of a product begins with the first edge that is not before its command.
class VerilatedArray : public sc_core::sc_module {
 public:
  VerilatedArray(const sc_core::sc_module_name& name, kernwave::Picoseconds period)
      : sc_module(name), socket("socket"), period_(period) {
    socket.register_b_transport(this, &VerilatedArray::serve);
  }
  tlm_utils::simple_target_socket<VerilatedArray> socket;

 private:
  void serve(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
    sc_core::wait(delay);
    delay = sc_core::SC_ZERO_TIME;
    const kernwave::GemmDescriptor& gemm = kernwave::descriptor_of(payload).gemm();
    if (kernwave::size_of(gemm.a.dtype) != 2) {
      payload.get_extension<kernwave::ExecutionReport>()->problem = "is no product of a 16-bit type";
      payload.set_response_status(tlm::TLM_GENERIC_ERROR_RESPONSE);
      return;
    }
    wait_for_edge();
    array_.start(gemm.a.rows, gemm.a.cols, gemm.b.cols);
    do {
      sc_core::wait(kernwave::to_sc_time(period_));
      array_.edge();
    } while (!array_.is_done());
    payload.set_response_status(tlm::TLM_OK_RESPONSE);
  }

  void wait_for_edge() const {
    const kernwave::Picoseconds since(kernwave::now().count() % period_.count());
    if (since != kernwave::Picoseconds(0)) sc_core::wait(kernwave::to_sc_time(period_ - since));
  }

  kernwave::Picoseconds period_;
  SystolicArray array_;
};

}  // namespace verilated
