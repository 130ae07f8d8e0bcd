#include "kernels/tl/launch.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <new>
#include <set>
#include <stdexcept>
#include <string>

namespace kernwave::tl {

namespace {

/// The programs of one PE: every `step`-th of a grid, from `first` on.
struct Share {
  std::int64_t programs = 0;
  std::int64_t first = 0;
  std::int64_t step = 1;
  Grid grid;
};

}  // namespace

class Launcher {
 public:
  static void run(Pe& pe, Policy policy, const Kernel& kernel, const Share& share) {
    Context context(pe, policy);
    for (std::int64_t left = share.programs; left > 0; --left) {
      const ProgramPosition program = position(share.first + (share.programs - left) * share.step, share.grid);
      context.begin_program(program);
      const ScratchScope scope(context);
      try {
        kernel(context);
      } catch (const sc_core::sc_unwind_exception&) {
        throw;  // the process is killed or reset, which SystemC wants to know
      } catch (const KernelError&) {
        throw;
      } catch (const TimeOverflow& error) {
        throw KernelError(fmt::format("{}, {}: {}", name_of(pe, program), pe.cpu().position(), error.what()));
      } catch (const std::bad_alloc&) {
        throw KernelError(fmt::format("{}, {}: the host has no memory left for what the kernel asks of it",
                                      name_of(pe, program), pe.cpu().position()));
      } catch (const std::exception& error) {  // the kernel's own: it does not say where
        throw KernelError(fmt::format("{}: {}", name_of(pe, program), error.what()));
      } catch (...) {
        throw KernelError(
            fmt::format("{}, {}: an exception that is no std::exception", name_of(pe, program), pe.cpu().position()));
      }
    }
  }

 private:
  [[nodiscard]] static ProgramPosition position(std::int64_t number, const Grid& grid) {
    const std::int64_t line = number / grid[0];
    return {{number % grid[0], line % grid[1], line / grid[1]}, grid};
  }

  [[nodiscard]] static std::string name_of(const Pe& pe, const ProgramPosition& program) {
    const auto& [x, y, z] = program.id;
    return fmt::format("PE {}, program ({}, {}, {})", pe.id().count(), x, y, z);
  }
};

namespace {

/// Each side once, and only those on which there is a neighbour.
[[nodiscard]] std::vector<Direction> sides_of(const Pe& pe, const Queues& queues) {
  std::vector<Direction> sides;
  for (const Direction direction : queues.receive_from) {
    const bool known = std::find(sides.begin(), sides.end(), direction) != sides.end();
    if (!known && pe.ipcq().linked(direction)) sides.push_back(direction);
  }
  return sides;
}

[[nodiscard]] Bytes slot_bytes(const Pe& pe, const Queues& queues) {
  const Bytes configured = pe.config().ipcq.slot_bytes;
  return configured == Bytes(0) ? queues.slot_bytes : configured;
}

void check_queues(const Pe& pe, const Queues& queues) {
  const Bytes slot = slot_bytes(pe, queues);
  const Bytes capacity = pe.scratch().capacity();
  Bytes slots = pe.ipcq().slots_size();
  for (const Direction direction : sides_of(pe, queues)) {
    const bool one_fits = slot >= Bytes(0) && slot <= capacity;
    if (!one_fits) {
      throw std::invalid_argument(
          fmt::format("launch: on PE {}, a slot for messages from the {} has {} B; allowed: 0 "
                      "to the {} B of scratch",
                      pe.id().count(), name_of(direction), slot.count(), capacity.count()));
    }
    if (pe.ipcq().receives_from(direction)) {
      if (slot <= pe.ipcq().slot_bytes(direction)) continue;
      throw std::invalid_argument(
          fmt::format("launch: on PE {}, slots for messages from the {} have {} B since an earlier launch, not {}",
                      pe.id().count(), name_of(direction), pe.ipcq().slot_bytes(direction).count(), slot.count()));
    }
    if (simulation_has_begun()) {
      throw std::invalid_argument(
          fmt::format("launch: PE {} has no slots for messages from the {}: no launch before the simulation began has "
                      "declared them",
                      pe.id().count(), name_of(direction)));
    }
    slots += pe.ipcq().slots_need(slot);
    if (slots > capacity) {
      throw std::invalid_argument(fmt::format(
          "launch: scratch overflow: on PE {}, {} slots of {} B for messages from the {} bring the slots of queues to "
          "{} B; scratch has {} B",
          pe.id().count(), pe.config().ipcq.depth, slot.count(), name_of(direction), slots.count(), capacity.count()));
    }
  }
}

void check_list(const std::vector<Pe*>& pes) {
  if (pes.empty()) throw std::invalid_argument("launch: there is no PE to run on");
  std::set<const Pe*> seen;
  for (const Pe* pe : pes) {
    if (pe == nullptr) throw std::invalid_argument("launch: one of the PEs is nullptr");
    if (!seen.insert(pe).second) {
      throw std::invalid_argument(fmt::format("launch: PE {} stands in the list twice", pe->id().count()));
    }
  }
}

/// How many programs a grid has.
[[nodiscard]] std::int64_t programs_of(const Grid& grid) {
  std::int64_t programs = 1;
  for (const std::int64_t extent : grid) {
    if (extent < 1) {
      throw std::invalid_argument(
          fmt::format("launch: a grid of {} x {} x {} has no program", grid[0], grid[1], grid[2]));
    }
    if (extent > std::numeric_limits<std::int64_t>::max() / programs) {
      throw std::invalid_argument(fmt::format("launch: a grid of {} x {} x {} has more programs than 64 bits can count",
                                              grid[0], grid[1], grid[2]));
    }
    programs *= extent;
  }
  return programs;
}

}  // namespace

void launch(const std::vector<Pe*>& pes, const Grid& grid, const Kernel& kernel, Policy policy, const Queues& queues,
            const Drained& drained) {
  check_list(pes);
  const std::int64_t programs = programs_of(grid);
  if (!kernel) throw std::invalid_argument("launch: the kernel is empty");
  const auto step = static_cast<std::int64_t>(pes.size());
  const std::vector<Pe*> used(pes.begin(), pes.begin() + std::min(programs, step));
  for (const Pe* pe : used) {
    const std::string refusal = pe->cpu().refusal();
    if (!refusal.empty()) throw std::invalid_argument("launch: " + refusal);
    check_queues(*pe, queues);
  }
  for (std::size_t i = 0; i < used.size(); ++i) {
    Pe& pe = *used[i];
    for (const Direction direction : sides_of(pe, queues)) {
      if (!pe.ipcq().receives_from(direction)) pe.ipcq().open(direction, slot_bytes(pe, queues));
    }
    const auto first = static_cast<std::int64_t>(i);
    const Share share{(programs - 1 - first) / step + 1, first, step, grid};
    const auto program = [&pe, policy, kernel, share](PeCpu&) { Launcher::run(pe, policy, kernel, share); };
    std::function<void()> at_its_end;
    if (drained) at_its_end = [drained, id = pe.id()] { drained(id); };
    pe.cpu().add_program(program, at_its_end);
  }
}

void launch(Pe& pe, const Kernel& kernel, Policy policy, const Queues& queues) {
  launch({&pe}, Grid{1, 1, 1}, kernel, policy, queues);
}

}  // namespace kernwave::tl
