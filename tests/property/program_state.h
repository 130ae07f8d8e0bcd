// What a program has made so far: tensors as views of buffers, scopes, messages; and the rules that a step must obey.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <stdexcept>
#include <vector>

#include "tests/property/program.h"

namespace kernwave::testing {

/// Why a step may not follow the ones before it.
class InvalidStep : public std::logic_error {
  using std::logic_error::logic_error;
};

inline void require(bool condition, const char* what) {
  if (!condition) throw InvalidStep(what);
}

/// A tensor: elements of a buffer. A vector counts as one row.
struct View {
  std::size_t buffer = 0;
  tl::Shape shape;
  std::array<std::int64_t, 2> strides{};
  std::int64_t offset = 0;
  DType dtype = DType::f32;

  [[nodiscard]] std::int64_t index(std::int64_t row, std::int64_t col) const noexcept {
    return shape.rank() == 1 ? offset + col * strides[0] : offset + row * strides[0] + col * strides[1];
  }
  [[nodiscard]] bool dense() const noexcept;
  [[nodiscard]] bool repeats_elements() const noexcept;
};

/// A tensor as `shape` sees it, or nothing where it does not broadcast.
[[nodiscard]] std::optional<View> broadcast(const View& view, const tl::Shape& shape);

/// Index in its area of element (row, col) of what lies at `place`.
[[nodiscard]] std::int64_t index_in_area(const Place& place, std::int64_t row, std::int64_t col);

/// The matrix that a factor of a composite stands for.
[[nodiscard]] tl::Shape shape_of(const Factor& factor);

/// Walks a program, step by step.
class ProgramState {
 public:
  /// Who sends: a PE and the side of it.
  struct Link {
    int from = 0;
    Direction direction{};
  };
  struct Buffer {
    std::int64_t elements = 0;
    DType dtype = DType::f32;
    bool alive = true;
    bool written = false;                             ///< all of it
    bool unread = false;                              ///< since it was written last
    double bound = 0.0;                               ///< no element is larger
    std::optional<std::size_t> slot_of;               ///< of a received message: its link
    std::size_t message = 0;                          ///< and its number there
    std::optional<std::vector<std::int64_t>> brings;  ///< a message nobody has waited for: what its sender knew
  };

  explicit ProgramState(const Program& program);

  /// Throws InvalidStep; this state is of no use then.
  void apply(const Step& step);

  // What the steps so far have made.
  [[nodiscard]] const View& view(ValueId value) const;
  [[nodiscard]] const Buffer& buffer(std::size_t number) const { return buffers_.at(number); }
  [[nodiscard]] std::size_t buffer_count() const noexcept { return buffers_.size(); }
  /// Tensors of a PE whose scopes have not ended, in the order in which they were made.
  [[nodiscard]] std::vector<ValueId> tensors_of(int pe) const;
  [[nodiscard]] std::vector<ValueId> stagings_of(int pe) const;
  [[nodiscard]] bool alive(ValueId value) const;
  [[nodiscard]] std::size_t open_scopes(int pe) const { return pes_.at(static_cast<std::size_t>(pe)).scopes.size(); }
  [[nodiscard]] std::int64_t free_scratch(int pe) const;
  [[nodiscard]] std::optional<int> neighbour_of(int pe, Direction direction) const;
  /// Messages that have been sent and not been received by `pe` from a side.
  [[nodiscard]] std::int64_t waiting_messages(int pe, Direction from) const;
  [[nodiscard]] std::size_t link_to(int pe, Direction from) const;
  /// Elements and type of the next message from a side.
  [[nodiscard]] std::pair<std::int64_t, DType> next_message(int pe, Direction from) const;

  /// Values in HBM stay this small, so that no program overflows or loses its data to rounding.
  static constexpr double largest_in_hbm = 4.0;
  static constexpr double largest_in_scratch = 4096.0;
  /// Of a staging slot, what a tile of this composite needs.
  [[nodiscard]] std::int64_t slot_bytes_of(const Step& composite) const;

 private:
  struct Value {
    int pe = 0;
    View view;
  };
  struct StagingArea {
    int pe = 0;
    std::size_t buffer = 0;
    std::int64_t slot_bytes = 0;
  };
  struct Scope {
    std::size_t live = 0;
    std::int64_t top = 0;
  };
  struct PeState {
    std::vector<std::size_t> live;
    std::vector<Scope> scopes;
    std::int64_t top = 0;
    std::int64_t capacity = 0;
    std::vector<std::int64_t> knows;  // of every PE: so many of its accesses are known to be over
    std::int64_t accesses = 0;
  };
  struct Message {
    std::int64_t elements = 0;
    DType dtype = DType::f32;
    double bound = 0.0;
    std::vector<std::int64_t> knows;
    bool released = false;
  };
  struct Channel {
    std::vector<Message> messages;
    std::size_t received = 0;
  };
  struct Access {
    int pe = 0;
    std::int64_t number = 0;
    std::int64_t first = 0;
    std::int64_t last = 0;
    bool writes = false;
  };

  void leave_scope(PeState& pe);
  void load(const Step& step);
  void store(const Step& step);
  void wait(const Step& step);
  void make_view(const Step& step);
  void dot(const Step& step);
  void math(const Step& step);
  void reduce(const Step& step);
  void staging(const Step& step);
  void composite(const Step& step);
  [[nodiscard]] double epilogue_bound(const Step& step, const View& target, double bound);
  void send(const Step& step);
  void receive(const Step& step);

  [[nodiscard]] PeState& pe_of(const Step& step) { return pes_.at(static_cast<std::size_t>(step.pe)); }
  [[nodiscard]] std::size_t allocate(int pe, std::int64_t elements, DType dtype);
  void define(const Step& step, const View& view);
  /// A tensor that the step reads.
  [[nodiscard]] const View& use(const Step& step, ValueId value);
  /// Where the step puts its result: its target, or a new tensor.
  [[nodiscard]] View result(const Step& step, const tl::Shape& shape, DType dtype);
  void written(const View& view, double bound, bool adds = false);
  void access(const Step& step, const Place& place, const tl::Shape& shape, DType dtype, bool writes);
  [[nodiscard]] double bound_of(const Step& step, const Argument& argument) const;

  Machine machine_;
  std::vector<Area> areas_;
  std::vector<std::array<std::optional<int>, direction_count>> neighbours_;
  std::vector<PeState> pes_;
  std::vector<Buffer> buffers_;
  std::map<ValueId, Value> values_;
  std::map<ValueId, StagingArea> stagings_;
  std::map<ValueId, int> pendings_;
  std::vector<Channel> channels_;  // [sending PE][direction]
  std::vector<std::vector<Access>> accesses_;
};

/// The type of the result of a MATH step.
[[nodiscard]] DType type_of_math(const Step& step, const std::vector<std::optional<DType>>& operands);

/// Whether every step may follow the ones before it.
[[nodiscard]] bool is_valid(const Program& program);

}  // namespace kernwave::testing
