// Signals that SystemC traces: told ahead of time, seen in time.
#include "traces/waveform/traced_signals.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "platform/files/whole_file.h"
#include "tests/support/child.h"
#include "tests/support/traced.h"
#include "traces/waveform/waveform_observer.h"

namespace kernwave::traces::traced_signals_test {
namespace {

using kernwave::testing::in_child;
using kernwave::testing::parse_vcd;
using kernwave::testing::run_ring;
using kernwave::testing::Simulation;
using kernwave::testing::Traced;
using kernwave::testing::two_cubes;
using kernwave::testing::Vcd;

[[nodiscard]] std::vector<std::string> sorted(std::vector<std::string> names) {
  std::sort(names.begin(), names.end());
  return names;
}

TEST(TracedSignals, TakeTheirValuesInTheOrderOfTimeAndThenOfTheCall) {
  in_child([] {
    TracedSignals signals("signals", {{"a"}, {"b", 32, 7}});
    signals.set(0, Picoseconds(20), 1);
    signals.set(0, Picoseconds(10), 2);
    signals.set(0, Picoseconds(20), 3);
    signals.add(1, Picoseconds(10), 5);
    signals.add(1, Picoseconds(20), -4);
    EXPECT_EQ(signals.value(0), 0U);
    EXPECT_EQ(signals.value(1), 7U);
    sc_core::sc_start(to_sc_time(Picoseconds(15)));
    EXPECT_EQ(signals.value(0), 2U);
    EXPECT_EQ(signals.value(1), 12U);
    sc_core::sc_start(to_sc_time(Picoseconds(10)));
    EXPECT_EQ(signals.value(0), 3U);
    EXPECT_EQ(signals.value(1), 8U);
    signals.set(0, Picoseconds(3), 4);  // has passed: now
    EXPECT_EQ(signals.value(0), 4U);
    EXPECT_FALSE(sc_core::sc_pending_activity());
  });
}

class SystemCTraceFile : public kernwave::testing::TracedTest {};

TEST_F(SystemCTraceFile, OfOneRunHoldsTheSameChangesAsOurs) {
  in_child([this] {
    // Given a run whose waveform is written by us
    const WaveformOptions ours = options();
    Traced traced(two_cubes(), ours);
    // And the same signals in a file of SystemC's
    const SignalSelection selection = select_signals(traced.simulation().system(), "*");
    TracedSignals signals("traced", selection.signals);
    WaveformObserver observer(selection, signals);
    traced.observe(*observer.pe_observer());
    traced.observe(*observer.channel_observer());
    sc_core::sc_trace_file* file = sc_core::sc_create_vcd_trace_file(path("systemc").c_str());
    file->set_time_unit(1, sc_core::SC_PS);
    signals.trace(file);
    run_ring(traced);
    // And one instant more, in which nothing happens: SystemC writes an instant when the next one comes
    sc_core::sc_start(to_sc_time(Picoseconds(1)));
    sc_core::sc_close_vcd_trace_file(file);
    std::string text = platform::read_file(path("systemc.vcd"));
    text.insert(text.find("$dumpvars"), "#0\n");  // which SystemC does not write
    const Vcd expected = parse_vcd(text);
    const Vcd actual = traced.close();
    // SystemC orders scopes by name
    EXPECT_EQ(sorted(actual.names), sorted(expected.names));
    EXPECT_EQ(actual.timescale, expected.timescale);
    for (const std::string& name : actual.names) {
      EXPECT_EQ(actual.signals.at(name).width, expected.signals.at(name).width) << name;
      EXPECT_EQ(actual.signals.at(name).changes, expected.signals.at(name).changes) << name;
    }
  });
}

}  // namespace
}  // namespace kernwave::traces::traced_signals_test
