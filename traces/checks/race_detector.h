// The detector of races: PEs that use the same bytes of HBM without an order between them.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "models/config/system_config.h"
#include "traces/checks/access_history.h"
#include "traces/checks/message_clocks.h"

namespace kernwave::traces {

/// A race is two accesses of different PEs to one byte of HBM, at least one of them a write, without a chain of
/// messages that orders them: the data that the later access reads depend on the times of one machine, not on the
/// program. Programs that run in turn on one PE are ordered, and so are all accesses of one program. Strided accesses
/// count byte by byte; a composite uses all of its factors from its issue on.
class RaceDetector : public PeObserver {
 public:
  explicit RaceDetector(const SystemConfig& config);

  [[nodiscard]] bool takes_ends_ahead() const override { return true; }
  void submitted(const IssuedOperation& operation) override;
  void wait_ends(const ProgramWait& wait, Picoseconds to) override;
  void slot_filled(PeId pe, Direction from, Picoseconds /*at*/) override { clocks_.landed(pe, from); }
  void was_reset(PeId pe, const std::vector<Neighbour>& neighbours, Picoseconds /*at*/) override {
    clocks_.was_reset(pe, neighbours);
  }

  /// One sentence for each pair of source lines that race, in the order of issue: both PEs, operations and lines, and
  /// the bytes.
  [[nodiscard]] std::vector<std::string> findings() const;

 private:
  using Site = std::uint32_t;
  /// The first operation of a PE, line and kind, which represents all of them.
  struct Operation {
    Descriptor descriptor;
    SourceLocation where;
  };
  struct Race {
    Picoseconds issued;  ///< of the later operation
    CubeId cube;
    std::int64_t begin = 0;
    std::int64_t end = 0;
  };

  [[nodiscard]] Site site_of(const IssuedOperation& operation);
  void add(const IssuedOperation& operation, const Access& access, const HbmRegion& region);
  void note(Site earlier, Site later, const Race& race);

  MessageClocks clocks_;
  std::vector<AccessHistory> memories_;  // by cube
  std::vector<Operation> operations_;    // by site
  std::map<std::tuple<std::int64_t, std::string_view, int, Engine>, Site> sites_;
  std::map<std::pair<Site, Site>, Race> races_;
};

}  // namespace kernwave::traces
