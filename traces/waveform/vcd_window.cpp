#include "traces/waveform/vcd_window.h"

#include <sysc/tracing/sc_tracing_ids.h>

#include <utility>

#include "traces/waveform/vcd_file.h"

namespace kernwave::traces {

namespace {

/// SystemC writes the values of an instant when time goes on from there; at the end of a run it does not.
struct LastInstant : sc_core::sc_trace_file {
  static void write(sc_core::sc_trace_file& file) {
    void (sc_core::sc_trace_file::*const cycle)(bool) = &LastInstant::cycle;
    (file.*cycle)(false);
  }
};

/// SystemC reports the unit as if it were news.
void set_unit_quietly(sc_core::sc_trace_file& file) {
  using Handler = sc_core::sc_report_handler;
  const sc_core::sc_actions before =
      Handler::set_actions(sc_core::SC_ID_TRACING_TIMESCALE_UNIT_, sc_core::SC_INFO, sc_core::SC_DO_NOTHING);
  file.set_time_unit(1, sc_core::SC_PS);
  Handler::set_actions(sc_core::SC_ID_TRACING_TIMESCALE_UNIT_, sc_core::SC_INFO, before);
}

}  // namespace

VcdWindow::VcdWindow(const sc_core::sc_module_name& name, std::string path, Picoseconds from,
                     std::optional<Picoseconds> to, TraceAll trace_all)
    : sc_module(name), path_(std::move(path)), from_(from), to_(to), trace_all_(std::move(trace_all)) {
  check_vcd_creatable(path_ + ".vcd");
  KERNWAVE_HAS_PROCESS(VcdWindow);
  SC_METHOD(advance);
}

VcdWindow::~VcdWindow() {
  if (file_ != nullptr) sc_core::sc_close_vcd_trace_file(file_);
}

void VcdWindow::advance() {
  if (over_) return;
  if (now() < from_) return next_trigger(to_sc_time(from_ - now()));
  if (file_ == nullptr) begin();
  if (!to_) return;
  if (now() < *to_) return next_trigger(to_sc_time(*to_ - now()));
  end();
}

void VcdWindow::begin() {
  began_ = now();
  file_ = sc_core::sc_create_vcd_trace_file(path_.c_str());
  set_unit_quietly(*file_);
  trace_all_(file_);
}

void VcdWindow::end() {
  ended_ = now();
  over_ = true;
  sc_core::sc_close_vcd_trace_file(std::exchange(file_, nullptr));
}

void VcdWindow::close() {
  if (!over_) {
    if (file_ == nullptr) begin();
    LastInstant::write(*file_);
    end();
  }
  finish_vcd(path_ + ".vcd", began_, ended_);
}

}  // namespace kernwave::traces
