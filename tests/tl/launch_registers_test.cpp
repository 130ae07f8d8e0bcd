// Software of a platform launches kernels through registers, and hears of their end by an interrupt.
#include "kernels/tl/launch_registers.h"

#include <gtest/gtest.h>
#include <tlm_utils/simple_initiator_socket.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "tests/support/child.h"
#include "tests/support/simulation.h"

namespace kernwave::launch_registers_test {
namespace {

using testing::in_child;
using testing::one_cube;
using testing::Simulation;
using tl::LaunchRegisters;

constexpr Picoseconds access_time(10'000);

/// A processor that runs one program of C++, by blocking transport.
class Processor : public sc_core::sc_module {
 public:
  Processor(const sc_core::sc_module_name& name, std::function<void(Processor&)> program)
      : sc_module(name), socket("socket"), interrupt("interrupt"), program_(std::move(program)) {
    KERNWAVE_HAS_PROCESS(Processor);
    SC_THREAD(run);
  }
  tlm_utils::simple_initiator_socket<Processor> socket;
  sc_core::sc_in<bool> interrupt;

  [[nodiscard]] tlm::tlm_response_status access(tlm::tlm_command command, std::uint64_t address, void* data,
                                                unsigned length) {
    tlm::tlm_generic_payload payload;
    payload.set_command(command);
    payload.set_address(address);
    payload.set_data_ptr(static_cast<unsigned char*>(data));
    payload.set_data_length(length);
    payload.set_streaming_width(length);
    sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
    socket->b_transport(payload, delay);
    sc_core::wait(delay);
    return payload.get_response_status();
  }
  void write(std::uint64_t address, std::uint32_t value) {
    EXPECT_EQ(access(tlm::TLM_WRITE_COMMAND, address, &value, 4), tlm::TLM_OK_RESPONSE) << address;
  }
  void write_argument(int number, std::uint64_t value) {
    const std::uint64_t address = LaunchRegisters::arguments + 8U * static_cast<unsigned>(number);
    EXPECT_EQ(access(tlm::TLM_WRITE_COMMAND, address, &value, 8), tlm::TLM_OK_RESPONSE);
  }
  [[nodiscard]] std::uint32_t read(std::uint64_t address) {
    std::uint32_t value = 0;
    EXPECT_EQ(access(tlm::TLM_READ_COMMAND, address, &value, 4), tlm::TLM_OK_RESPONSE) << address;
    return value;
  }
  void await_interrupt() {
    while (!interrupt.read()) sc_core::wait(interrupt.posedge_event());
  }

 private:
  void run() { program_(*this); }

  std::function<void(Processor&)> program_;
};

/// Writes argument 1 as a number to address argument 0 + 0x1000 x program.
void fill(tl::Context& tl, const tl::LaunchArguments& arguments) {
  const HbmAddress to(arguments[0] + 0x1000U * static_cast<std::uint64_t>(tl.program_id(0)));
  tl.store(to, tl.full({4}, static_cast<double>(arguments[1]), DType::f32));
}

/// PEs 0 and 1 behind registers that a program of the test's uses.
struct Platform {
  explicit Platform(const std::function<void(Processor&)>& program)
      : registers("registers", {&simulation.pe(0), &simulation.pe(1)}, simulation.system().ledger(), {{fill}},
                  access_time),
        processor("processor", program) {
    processor.socket.bind(registers.socket());
    processor.interrupt.bind(line);
    registers.interrupt.bind(line);
  }

  Simulation simulation{one_cube(2)};
  sc_core::sc_signal<bool> line{"line"};
  LaunchRegisters registers;
  Processor processor;
};

TEST(LaunchRegisters, LaunchAKernelAndSayWhenItHasDrained) {
  in_child([] {
    Picoseconds started;
    Picoseconds ended;
    Platform platform([&](Processor& cpu) {
      cpu.write_argument(0, 0x8000);
      cpu.write_argument(1, 7);
      cpu.write(LaunchRegisters::grid_x, 3);
      EXPECT_EQ(cpu.read(LaunchRegisters::status), 0U);
      cpu.write(LaunchRegisters::start, 1);
      started = now();
      EXPECT_EQ(cpu.read(LaunchRegisters::status), LaunchRegisters::running);
      cpu.await_interrupt();
      ended = now();
      EXPECT_EQ(cpu.read(LaunchRegisters::status), LaunchRegisters::done);
      EXPECT_EQ(cpu.read(LaunchRegisters::drained), 1U);
      cpu.write(LaunchRegisters::clear, 1);
      EXPECT_EQ(cpu.read(LaunchRegisters::status), 0U);
      EXPECT_FALSE(cpu.interrupt.read());
      // The same kernel again, with another argument: registers keep what was written.
      cpu.write_argument(0, 0x10000);
      cpu.write(LaunchRegisters::start, 1);
      cpu.await_interrupt();
      cpu.write(LaunchRegisters::finish, 1);
    });
    EXPECT_EQ(run_to_end(platform.simulation.system().ledger()), RunEnd::finished);
    // Four accesses and the start itself, 10 ns each.
    EXPECT_EQ(started, 5 * access_time);
    EXPECT_EQ(platform.simulation.pe(0).cpu().account().of(TimeCause::idle) > started, true);
    EXPECT_GT(ended, started);
    for (const std::uint64_t base : {0x8000U, 0x10000U}) {
      for (const std::uint64_t program : {0U, 1U, 2U}) {
        EXPECT_EQ(platform.simulation.read(HbmAddress(base + 0x1000 * program), DType::f32, 4),
                  std::vector<float>(4, 7.0F));
      }
    }
  });
}

TEST(LaunchRegisters, QueueLaunchesAndRefuseWhatIsNone) {
  in_child([] {
    Platform platform([](Processor& cpu) {
      cpu.write_argument(0, 0x8000);
      cpu.write(LaunchRegisters::start, 1);
      cpu.write(LaunchRegisters::start, 1);
      cpu.write(LaunchRegisters::kernel, 5);
      cpu.write(LaunchRegisters::start, 1);
      EXPECT_EQ(cpu.read(LaunchRegisters::status) & LaunchRegisters::refused, LaunchRegisters::refused);
      while (cpu.read(LaunchRegisters::drained) < 2) continue;
      EXPECT_EQ(cpu.read(LaunchRegisters::status), LaunchRegisters::done | LaunchRegisters::refused);
      cpu.write(LaunchRegisters::finish, 1);
    });
    EXPECT_EQ(run_to_end(platform.simulation.system().ledger()), RunEnd::finished);
    EXPECT_EQ(platform.registers.refusal(), "launch: there is no kernel 5 among 1");
  });
}

TEST(LaunchRegisters, AnswerOtherAccessesWithAnError) {
  in_child([] {
    Platform platform([](Processor& cpu) {
      std::uint64_t data = 0;
      const auto status = [&](std::uint64_t address, unsigned length) {
        return cpu.access(tlm::TLM_READ_COMMAND, address, &data, length);
      };
      EXPECT_EQ(status(0x28, 4), tlm::TLM_ADDRESS_ERROR_RESPONSE);
      EXPECT_EQ(status(0x02, 4), tlm::TLM_ADDRESS_ERROR_RESPONSE);
      EXPECT_EQ(status(0x80, 4), tlm::TLM_ADDRESS_ERROR_RESPONSE);
      EXPECT_EQ(status(LaunchRegisters::kernel, 2), tlm::TLM_BURST_ERROR_RESPONSE);
      EXPECT_EQ(status(LaunchRegisters::kernel, 8), tlm::TLM_BURST_ERROR_RESPONSE);
      EXPECT_EQ(status(LaunchRegisters::arguments + 4, 8), tlm::TLM_BURST_ERROR_RESPONSE);
      EXPECT_EQ(status(LaunchRegisters::arguments + 4, 4), tlm::TLM_OK_RESPONSE);
      cpu.write(LaunchRegisters::finish, 1);
    });
    EXPECT_EQ(run_to_end(platform.simulation.system().ledger()), RunEnd::finished);
  });
}

TEST(LaunchRegisters, ResetAKernelThatHangs) {
  in_child([] {
    // Given a kernel that waits for a message that nobody sends, and software that gives it 1 us
    Picoseconds reset_took;
    const auto hang = [](tl::Context& tl, const tl::LaunchArguments& /*arguments*/) {
      tl.wait(tl.recv(Direction::north, {4}, DType::f32));
    };
    Simulation simulation(one_cube(2));
    LaunchRegisters registers("registers", {&simulation.pe(1)}, simulation.system().ledger(), {{hang}, {fill}},
                              access_time);
    registers.allow_reset(simulation.system());
    Processor processor("processor", [&](Processor& cpu) {
      cpu.write(LaunchRegisters::start, 1);
      sc_core::wait(to_sc_time(Picoseconds(1'000'000)));
      EXPECT_EQ(cpu.read(LaunchRegisters::status), LaunchRegisters::running);
      // when software resets the PE
      cpu.write(LaunchRegisters::reset, 1);
      const Picoseconds asserted = now();
      while ((cpu.read(LaunchRegisters::status) & LaunchRegisters::resetting) != 0) {
      }
      reset_took = now() - asserted;
      EXPECT_EQ(cpu.read(LaunchRegisters::status), 0U);
      EXPECT_EQ(cpu.read(LaunchRegisters::drained), 0U);
      // then it launches other kernels there.
      cpu.write(LaunchRegisters::kernel, 1);
      cpu.write_argument(0, 0x8000);
      cpu.write_argument(1, 7);
      cpu.write(LaunchRegisters::start, 1);
      cpu.await_interrupt();
      EXPECT_EQ(cpu.read(LaunchRegisters::drained), 1U);
      cpu.write(LaunchRegisters::finish, 1);
    });
    sc_core::sc_signal<bool> line("line");
    processor.socket.bind(registers.socket());
    processor.interrupt.bind(line);
    registers.interrupt.bind(line);
    // A kernel that receives declares its queue before the simulation begins.
    tl::launch(simulation.pe(1), [](tl::Context&) {}, tl::Policy::lazy, {{Direction::north}, Bytes(64)});
    EXPECT_EQ(run_to_end(simulation.system().ledger()), RunEnd::finished);
    EXPECT_EQ(reset_took, access_time);
    EXPECT_EQ(simulation.read(HbmAddress(0x8000), DType::f32, 4), std::vector<float>(4, 7.0F));
  });
}

TEST(LaunchRegisters, RefuseAResetThatTheMachineDoesNotAllow) {
  in_child([] {
    Platform platform([](Processor& cpu) {
      cpu.write(LaunchRegisters::reset, 1);
      EXPECT_EQ(cpu.read(LaunchRegisters::status), LaunchRegisters::refused);
      cpu.write(LaunchRegisters::finish, 1);
    });
    EXPECT_EQ(run_to_end(platform.simulation.system().ledger()), RunEnd::finished);
    EXPECT_EQ(platform.registers.refusal(), "reset: the machine does not allow it (LaunchRegisters::allow_reset)");
  });
}

}  // namespace
}  // namespace kernwave::launch_registers_test
