// Registers by which software of a platform launches kernels.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "kernels/tl/launch.h"
#include "models/base/late_method.h"
#include "models/base/ring_queue.h"
#include "models/base/systemc.h"
#include "models/protocol/target_port.h"
#include "models/run/run_ledger.h"
#include "models/system/system.h"

namespace kernwave::tl {

/// What software gives a kernel.
using LaunchArguments = std::array<std::uint64_t, 8>;

/// A kernel that software may launch.
struct LaunchableKernel {
  std::function<void(Context& tl, const LaunchArguments& arguments)> kernel;
  Policy policy = Policy::lazy;
};

/// A memory-mapped register file on a TLM-2.0 target socket, in front of some PEs, and its interrupt.
///
/// Registers have 32 bits, little endian as the host; they are read and written whole. Arguments have 64 bits, whose
/// halves are registers too. An access takes `access_time`, one after another. Others than these are answered with an
/// error: an address that is none of a register, a length other than 4 (of an argument also 8), byte enables.
///
/// | offset | register | access |
/// |---|---|---|
/// | 0x00 | `kernel` | read, write: the number of a kernel of the list |
/// | 0x04, 0x08, 0x0C | `grid_x`, `grid_y`, `grid_z` | read, write: the grid; 1 at first |
/// | 0x10 | `start` | write: launches the kernel on the PEs with the arguments as they are; launches run in turn |
/// | 0x14 | `status` | read: bits that `Status` names |
/// | 0x18 | `clear` | write: bits 1 and 2 of `status` become 0, and with them the interrupt |
/// | 0x1C | `drained` | read: how many launches have drained |
/// | 0x20 | `finish` | write: software launches nothing more |
/// | 0x24 | `reset` | write: resets the PEs, where that is allowed (`allow_reset`) |
/// | 0x40 ... 0x7F | `argument[0]` ... `argument[7]` | read, write |
///
/// A launch that has not drained when the PEs are reset never drains (`PeResets`).
///
/// The interrupt is high while bit 1 or bit 2 of `status` is 1. A run is not over before `finish` has been written
/// (`RunLedger::hold`).
class LaunchRegisters : public sc_core::sc_module, private TargetPort::Client {
 public:
  enum Offset : std::uint8_t {
    kernel = 0x00,
    grid_x = 0x04,
    grid_y = 0x08,
    grid_z = 0x0C,
    start = 0x10,
    status = 0x14,
    clear = 0x18,
    drained = 0x1C,
    finish = 0x20,
    reset = 0x24,
    arguments = 0x40,
  };
  enum Status : std::uint8_t {
    running = 1,    ///< a launch has not drained
    done = 2,       ///< one has drained since `clear`
    refused = 4,    ///< one was refused since `clear`
    resetting = 8,  ///< a reset is not over
  };

  LaunchRegisters(const sc_core::sc_module_name& name, std::vector<Pe*> pes, RunLedger& ledger,
                  std::vector<LaunchableKernel> kernels, Picoseconds access_time = Picoseconds(10'000));

  /// During elaboration: software may reset the PEs, which are those of this system.
  void allow_reset(System& system);

  [[nodiscard]] TargetSocket& socket() noexcept { return port_.socket(); }
  sc_core::sc_out<bool> interrupt;

  /// Why the last launch was refused; empty: none was.
  [[nodiscard]] const std::string& refusal() const noexcept { return refusal_; }

 private:
  struct Access {
    Payload* payload = nullptr;
    Picoseconds at;  ///< takes effect
  };

  [[nodiscard]] std::optional<Picoseconds> request(TargetPort& port, Payload& payload, Picoseconds at) override;
  [[nodiscard]] unsigned debug_access(TargetPort& port, Payload& payload) override;

  void serve();
  void drive_interrupt();
  [[nodiscard]] tlm::tlm_response_status carry_out(Payload& payload);
  [[nodiscard]] std::uint32_t read(std::uint64_t offset) const;
  void write(std::uint64_t offset, std::uint32_t value);
  void launch_kernel();
  void reset_pes();
  [[nodiscard]] bool in_reset() const;
  void set(Status bit);

  SimulatedTime now;
  std::vector<Pe*> pes_;
  System* system_ = nullptr;  // with which the PEs may be reset
  RunLedger& ledger_;
  std::vector<LaunchableKernel> kernels_;
  Picoseconds access_time_;
  TargetPort port_;
  RingQueue<Access> accesses_;
  Picoseconds free_at_;
  LateMethod<LaunchRegisters> access_due_{"serve", *this, &LaunchRegisters::serve};
  sc_core::sc_event status_changed_;
  std::array<std::uint32_t, 4> launch_{0, 1, 1, 1};  // kernel and grid
  LaunchArguments arguments_{};
  std::uint32_t status_ = 0;  // without `running`
  std::int64_t open_launches_ = 0;
  std::int64_t resets_ = 0;
  std::uint32_t drained_launches_ = 0;
  bool finished_ = false;
  std::string refusal_;
};

}  // namespace kernwave::tl
