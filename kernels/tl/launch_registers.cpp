#include "kernels/tl/launch_registers.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <utility>

namespace kernwave::tl {

namespace {

constexpr std::uint64_t register_bytes = 4;
constexpr std::uint64_t end_of_arguments = LaunchRegisters::arguments + sizeof(LaunchArguments);

[[nodiscard]] bool is_register(std::uint64_t offset) noexcept {
  if (offset % register_bytes != 0) return false;
  return offset <= LaunchRegisters::reset || (offset >= LaunchRegisters::arguments && offset < end_of_arguments);
}

}  // namespace

LaunchRegisters::LaunchRegisters(const sc_core::sc_module_name& name, std::vector<Pe*> pes, RunLedger& ledger,
                                 std::vector<LaunchableKernel> kernels, Picoseconds access_time)
    : sc_module(name),
      interrupt("interrupt"),
      pes_(std::move(pes)),
      ledger_(ledger),
      kernels_(std::move(kernels)),
      access_time_(access_time),
      port_("socket", *this) {
  KERNWAVE_HAS_PROCESS(LaunchRegisters);
  SC_METHOD(drive_interrupt);
  sensitive << status_changed_;
  dont_initialize();
  ledger_.hold();
}

std::optional<Picoseconds> LaunchRegisters::request(TargetPort& /*port*/, Payload& payload, Picoseconds at) {
  free_at_ = std::max(at, free_at_) + access_time_;
  accesses_.push_back({&payload, free_at_});
  access_due_.notify(to_sc_time(accesses_.front().at - now()));
  return at;
}

void LaunchRegisters::serve() {
  while (!accesses_.empty()) {
    const Access access = accesses_.front();
    if (access.at > now()) return access_due_.notify(to_sc_time(access.at - now()));
    accesses_.pop_front();
    access.payload->set_response_status(carry_out(*access.payload));
    port_.respond(*access.payload);
  }
}

tlm::tlm_response_status LaunchRegisters::carry_out(Payload& payload) {
  const std::uint64_t first = payload.get_address();
  const std::uint64_t length = payload.get_data_length();
  if (!is_register(first)) return tlm::TLM_ADDRESS_ERROR_RESPONSE;
  const bool whole_argument = length == 2 * register_bytes && first >= arguments && first % (2 * register_bytes) == 0;
  const bool in_one_piece = payload.get_streaming_width() >= length;
  if ((length != register_bytes && !whole_argument) || !in_one_piece) return tlm::TLM_BURST_ERROR_RESPONSE;
  if (payload.get_byte_enable_ptr() != nullptr) return tlm::TLM_BYTE_ENABLE_ERROR_RESPONSE;
  if (!payload.is_read() && !payload.is_write()) return tlm::TLM_OK_RESPONSE;
  for (std::uint64_t byte = 0; byte < length; byte += register_bytes) {
    std::uint32_t value = payload.is_read() ? read(first + byte) : 0;
    unsigned char* data = payload.get_data_ptr() + byte;
    if (payload.is_read()) {
      std::memcpy(data, &value, sizeof(value));
    } else {
      std::memcpy(&value, data, sizeof(value));
      write(first + byte, value);
    }
  }
  return tlm::TLM_OK_RESPONSE;
}

/// Reads only: a debugger starts nothing.
unsigned LaunchRegisters::debug_access(TargetPort& /*port*/, Payload& payload) {
  if (!payload.is_read() || carry_out(payload) != tlm::TLM_OK_RESPONSE) return 0;
  return payload.get_data_length();
}

std::uint32_t LaunchRegisters::read(std::uint64_t offset) const {
  if (offset >= arguments) {
    const std::uint64_t half = (offset - arguments) / register_bytes;
    return static_cast<std::uint32_t>(arguments_[half / 2] >> (half % 2 == 0 ? 0U : 32U));
  }
  if (offset <= grid_z) return launch_[offset / register_bytes];
  if (offset == status) {
    return status_ | (open_launches_ > 0 ? std::uint32_t{running} : 0U) | (in_reset() ? std::uint32_t{resetting} : 0U);
  }
  return offset == drained ? drained_launches_ : 0;
}

void LaunchRegisters::write(std::uint64_t offset, std::uint32_t value) {
  if (offset >= arguments) {
    const std::uint64_t half = (offset - arguments) / register_bytes;
    const unsigned shift = half % 2 == 0 ? 0 : 32;
    std::uint64_t& argument = arguments_[half / 2];
    argument = (argument & ~(std::uint64_t{0xFFFF'FFFF} << shift)) | (std::uint64_t{value} << shift);
  } else if (offset <= grid_z) {
    launch_[offset / register_bytes] = value;
  } else if (offset == start) {
    launch_kernel();
  } else if (offset == reset) {
    reset_pes();
  } else if (offset == clear) {
    status_ = 0;
    refusal_.clear();
    status_changed_.notify();
  } else if (offset == finish && !finished_) {
    finished_ = true;
    ledger_.release();
  }
}

void LaunchRegisters::allow_reset(System& system) {
  system.allow_reset();
  system_ = &system;
}

void LaunchRegisters::reset_pes() {
  if (system_ == nullptr) {
    refusal_ = "reset: the machine does not allow it (LaunchRegisters::allow_reset)";
    set(refused);
    return;
  }
  std::vector<PeId> ids;
  ids.reserve(pes_.size());
  for (const Pe* pe : pes_) ids.push_back(pe->id());
  system_->reset(ids);
  ++resets_;
  open_launches_ = 0;
}

bool LaunchRegisters::in_reset() const {
  return system_ != nullptr &&
         std::any_of(pes_.begin(), pes_.end(), [this](const Pe* pe) { return system_->resets()->in_reset(pe->id()); });
}

void LaunchRegisters::launch_kernel() {
  try {
    const std::uint32_t number = launch_[0];
    if (number >= kernels_.size()) {
      throw std::invalid_argument(fmt::format("launch: there is no kernel {} among {}", number, kernels_.size()));
    }
    const LaunchableKernel& chosen = kernels_[number];
    const Grid grid{launch_[1], launch_[2], launch_[3]};
    const auto waits = std::make_shared<std::int64_t>(0);  // for so many PEs
    const auto kernel_of_arguments = [body = chosen.kernel, given = arguments_](Context& tl) { body(tl, given); };
    const auto at_end_of_pe = [this, waits, resets = resets_](PeId /*pe*/) {
      if (resets != resets_ || --*waits > 0) return;
      --open_launches_;
      ++drained_launches_;
      set(done);
    };
    *waits = std::min<std::int64_t>(grid[0] * grid[1] * grid[2], static_cast<std::int64_t>(pes_.size()));
    tl::launch(pes_, grid, kernel_of_arguments, chosen.policy, {}, at_end_of_pe);
    ++open_launches_;
  } catch (const std::invalid_argument& error) {
    refusal_ = error.what();
    set(refused);
  }
}

void LaunchRegisters::set(Status bit) {
  status_ |= bit;
  status_changed_.notify();
}

void LaunchRegisters::drive_interrupt() { interrupt.write(status_ != 0); }

}  // namespace kernwave::tl
