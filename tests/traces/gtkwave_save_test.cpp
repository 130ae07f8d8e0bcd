// What GTKWave is told of a waveform.
#include "traces/waveform/gtkwave_save.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "models/pe/stall_account.h"

namespace kernwave::traces::gtkwave_save_test {
namespace {

TEST(GtkwaveSave, GroupsSignalsAndNamesStates) {
  GtkwaveSave save;
  save.name = "run.gtkw";
  save.vcd = "run.vcd";
  save.states = "run.states.txt";
  save.signals = {"pe0.state", "pe0.gemm_busy", "cube0.channel0_queue"};
  save.from = Picoseconds(512'000);
  save.to = Picoseconds(512'000 + 1020 * 1024);
  // 1024 ps a pixel of 1020, in frames of 200 pixels: 2^10 x 200 = 2^17.643856
  EXPECT_EQ(gtkwave_save(save),
            "[*] Open with: gtkwave run.gtkw\n[dumpfile] \"run.vcd\"\n[savefile] \"run.gtkw\"\n[timestart] 512000\n"
            "[size] 1400 800\n[pos] -1 -1\n*-17.643856 -1\n[sst_expanded] 0\n[signals_width] 300\n"
            "@800200\n-pe0\n"
            "@2024\n^1 run.states.txt\n+{state} SystemC.pe0.state[3:0]\n"
            "[color] 2\n@28\n+{gemm_busy} SystemC.pe0.gemm_busy\n"
            "@1000200\n-pe0\n@800200\n-cube0\n"
            "@24\n+{channel0_queue} SystemC.cube0.channel0_queue[31:0]\n"
            "@1000200\n-cube0\n");
}

TEST(GtkwaveSave, HasANameForEveryState) {
  const std::string names = state_names();
  EXPECT_EQ(names.substr(0, names.find("2 ")), "0 issue\n1 load\n");
  EXPECT_EQ(std::count(names.begin(), names.end(), '\n'), static_cast<std::ptrdiff_t>(time_cause_count));
}

}  // namespace
}  // namespace kernwave::traces::gtkwave_save_test
