// A bridge between sockets of different bus widths.
#pragma once

#include "models/base/systemc.h"

namespace kernwave {

/// Joins an initiator whose socket is `in_width` bits wide to a target whose socket has `out_width`; kernwave's own
/// sockets have 32. Every call is passed on in the same instant, both ways: the width of a socket is a promise that TLM
/// checks when sockets are bound, and says nothing of times or lengths in the approximately-timed style (IEEE
/// 1666-2011, 14.10). Declare a link through it time-transparent where both of its sides are.
template <unsigned in_width, unsigned out_width>
class WidthAdaptor : public sc_core::sc_module, private tlm::tlm_fw_transport_if<>, private tlm::tlm_bw_transport_if<> {
 public:
  explicit WidthAdaptor(const sc_core::sc_module_name& name) : sc_module(name), input("input"), output("output") {
    input.bind(static_cast<tlm::tlm_fw_transport_if<>&>(*this));
    output.bind(static_cast<tlm::tlm_bw_transport_if<>&>(*this));
  }

  tlm::tlm_target_socket<in_width> input;
  tlm::tlm_initiator_socket<out_width> output;

 private:
  tlm::tlm_sync_enum nb_transport_fw(Payload& payload, tlm::tlm_phase& phase, sc_core::sc_time& delay) override {
    return output->nb_transport_fw(payload, phase, delay);
  }
  tlm::tlm_sync_enum nb_transport_bw(Payload& payload, tlm::tlm_phase& phase, sc_core::sc_time& delay) override {
    return input->nb_transport_bw(payload, phase, delay);
  }
  void b_transport(Payload& payload, sc_core::sc_time& delay) override { output->b_transport(payload, delay); }
  unsigned transport_dbg(Payload& payload) override { return output->transport_dbg(payload); }
  bool get_direct_mem_ptr(Payload& payload, tlm::tlm_dmi& dmi) override {
    return output->get_direct_mem_ptr(payload, dmi);
  }
  void invalidate_direct_mem_ptr(sc_dt::uint64 start, sc_dt::uint64 end) override {
    input->invalidate_direct_mem_ptr(start, end);
  }
};

}  // namespace kernwave
