// Values that are told ahead of time.
#include "traces/waveform/timed_signals.h"

#include <gtest/gtest.h>

#include "tests/support/child.h"

namespace kernwave::traces {
namespace {

using kernwave::testing::in_child;

TEST(TimedSignals, TakeTheirValuesInTheOrderOfTimeAndThenOfTheCall) {
  in_child([] {
    TimedSignals signals("signals", {{"a"}, {"b", 32, 7}, {"hidden", 32, 0, false}});
    signals.set(0, Picoseconds(20), 1);
    signals.set(0, Picoseconds(10), 2);
    signals.set(0, Picoseconds(20), 3);
    signals.add(1, Picoseconds(10), 5);
    signals.add(1, Picoseconds(20), -4);
    signals.set(2, Picoseconds(0), 9);
    EXPECT_EQ(signals.value(0), 0U);
    EXPECT_EQ(signals.value(1), 7U);
    sc_core::sc_start(to_sc_time(Picoseconds(15)));
    EXPECT_EQ(signals.value(0), 2U);
    EXPECT_EQ(signals.value(1), 12U);
    sc_core::sc_start(to_sc_time(Picoseconds(10)));
    EXPECT_EQ(signals.value(0), 3U);
    EXPECT_EQ(signals.value(1), 8U);
    EXPECT_EQ(signals.value(2), 0U);
    signals.set(0, Picoseconds(3), 4);  // has passed: now
    EXPECT_EQ(signals.value(0), 4U);
    EXPECT_FALSE(sc_core::sc_pending_activity());
  });
}

}  // namespace
}  // namespace kernwave::traces
