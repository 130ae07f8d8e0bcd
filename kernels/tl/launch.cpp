#include "kernels/tl/launch.h"

#include <fmt/format.h>

#include <stdexcept>

namespace kernwave::tl {

class Launcher {
 public:
  static void run(Pe& pe, Policy policy, const Kernel& kernel, const std::vector<ProgramPosition>& programs) {
    Context context(pe, policy);
    for (const ProgramPosition& program : programs) {
      context.begin_program(program);
      const ScratchScope scope(context);
      try {
        kernel(context);
      } catch (const KernelError&) {
        throw;
      } catch (const std::exception& error) {  // the kernel's own: it does not say where
        const auto& [x, y, z] = program.id;
        throw KernelError(fmt::format("PE {}, program ({}, {}, {}): {}", pe.id().count(), x, y, z, error.what()));
      }
    }
  }
};

namespace {

void open_queues(Pe& pe, const Queues& queues) {
  for (const Direction direction : queues.receive_from) {
    if (!pe.ipcq().linked(direction)) continue;
    const IpcqConfig& config = pe.config().ipcq;
    const Bytes slot = config.slot_bytes == Bytes(0) ? queues.slot_bytes : config.slot_bytes;
    if (!pe.ipcq().open(direction, slot)) {
      throw std::invalid_argument(fmt::format(
          "launch: scratch overflow: on PE {}, {} slots of {} B for messages from the {} bring the slots of queues to "
          "{} B; scratch has {} B",
          pe.id().count(), config.depth, slot.count(), name_of(direction), pe.ipcq().slots_size().count(),
          pe.scratch().capacity().count()));
    }
  }
}

}  // namespace

void launch(const std::vector<Pe*>& pes, const Grid& grid, const Kernel& kernel, Policy policy, const Queues& queues) {
  if (pes.empty()) throw std::invalid_argument("launch: there is no PE to run on");
  for (const std::int64_t extent : grid) {
    if (extent < 1) {
      throw std::invalid_argument(
          fmt::format("launch: a grid of {} x {} x {} has no program", grid[0], grid[1], grid[2]));
    }
  }
  std::vector<std::vector<ProgramPosition>> programs(pes.size());
  std::size_t number = 0;
  for (std::int64_t z = 0; z < grid[2]; ++z) {
    for (std::int64_t y = 0; y < grid[1]; ++y) {
      for (std::int64_t x = 0; x < grid[0]; ++x) {
        programs[number++ % pes.size()].push_back(ProgramPosition{{x, y, z}, grid});
      }
    }
  }
  for (std::size_t i = 0; i < pes.size(); ++i) {
    if (programs[i].empty()) continue;
    Pe& pe = *pes[i];
    open_queues(pe, queues);
    pe.cpu().set_program(
        [&pe, policy, kernel, mine = programs[i]](PeCpu&) { Launcher::run(pe, policy, kernel, mine); });
  }
}

void launch(Pe& pe, const Kernel& kernel, Policy policy, const Queues& queues) {
  launch({&pe}, Grid{1, 1, 1}, kernel, policy, queues);
}

}  // namespace kernwave::tl
