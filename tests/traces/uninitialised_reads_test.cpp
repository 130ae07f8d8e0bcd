// Reads of what nobody has written: which are caught, and which are none.
#include "traces/checks/uninitialised_reads.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "models/memory/byte_marks.h"
#include "tests/support/child.h"
#include "tests/support/simulation.h"

namespace kernwave::uninitialised_reads_test {
namespace {

using testing::in_child;
using testing::one_cube;
using testing::Simulation;

const tl::Shape block{4, 8};  // 64 B of f16, 128 B of f32

/// HBM [0x1000, 0x1040) is written before the run, without time; nothing else is.
const HbmAddress input(0x1000);

[[nodiscard]] std::vector<std::string> findings_of(const std::vector<Simulation::Part>& parts,
                                                   const tl::Queues& queues = {}) {
  Simulation simulation(one_cube(2));
  traces::UninitialisedReads reads(simulation.system());
  simulation.observe(reads);
  simulation.write(input, DType::f16, std::vector<float>(32, 1.0F));
  EXPECT_EQ(simulation.run_unchecked(parts, queues), RunEnd::finished);
  return reads.findings();
}

/// The one sentence must end like this, or (empty) there must be none.
void expect_finding(const std::string& what, const tl::Kernel& kernel) {
  in_child([&] {
    const std::vector<std::string> findings = findings_of({{0, kernel}});
    ASSERT_EQ(findings.size(), what.empty() ? 0U : 1U) << (findings.empty() ? what : findings.front());
    if (what.empty()) return;
    const std::string end = " reads what nobody has written: " + what;
    const std::string& found = findings.front();
    ASSERT_GE(found.size(), end.size());
    EXPECT_EQ(found.substr(found.size() - end.size()), end) << found;
  });
}

const std::string none;

// ---- HBM ----------------------------------------------------------------------------------------------------------

TEST(UninitialisedReads, OfHbmNamePeOperationShapeLineAndTheFirstByte) {
  in_child([] {
    int line = 0;
    // Given 64 B that were written; when 128 B are loaded
    const auto findings = findings_of({{1, [&line](tl::Context& tl) {
                                          line = __LINE__ + 1;
                                          tl.load(input, {8, 8}, DType::f16);
                                        }}});
    // Then the first that were not begin at 0x1040.
    ASSERT_EQ(findings.size(), 1U);
    EXPECT_EQ(
        findings.front(),
        fmt::format("PE 1, memory/dma_read of 8x8 f16 at {}:{} reads what nobody has written: HBM of cube 0, from "
                    "offset 0x1040 on",
                    __FILE__, line));
  });
}

TEST(UninitialisedReads, AreNoneWhereSomebodyHasWrittenWithOrWithoutTime) {
  expect_finding(none, [](tl::Context& tl) { tl.load(input, block, DType::f16); });
  expect_finding(none, [](tl::Context& tl) {
    tl.store(HbmAddress(0x2000), tl.zeros(block, DType::f32));
    tl.load(HbmAddress(0x2000), block, DType::f32);
  });
}

TEST(UninitialisedReads, AreFoundAtBothEndsOfTheMemory) {
  const Bytes capacity = one_cube().hbm.capacity;
  const auto from = [](Bytes offset) { return fmt::format("HBM of cube 0, from offset {:#x} on", offset.count()); };
  // The first 64 B, and the last.
  expect_finding(from(Bytes(0)), [](tl::Context& tl) { tl.load(HbmAddress(0), block, DType::f16); });
  const Bytes last = capacity - Bytes(64);
  expect_finding(from(last), [=](tl::Context& tl) { tl.load(HbmAddress(CubeId(0), last), block, DType::f16); });
  // The last byte alone.
  expect_finding(from(capacity - Bytes(1)), [=](tl::Context& tl) {
    tl.store(HbmAddress(CubeId(0), last), tl.cast(tl.zeros({63}, DType::f32), DType::boolean));
    tl.load(HbmAddress(CubeId(0), last), {64}, DType::boolean);
  });
  // Of two rows the one that ends where the memory does.
  expect_finding(from(last + Bytes(48)), [=](tl::Context& tl) {
    tl.store(HbmAddress(CubeId(0), last), tl.zeros({8}, DType::f16));
    tl.load(HbmAddress(CubeId(0), last), {2, 8}, DType::f16, tl::LoadOptions().strides(24));
  });
  expect_finding(none, [=](tl::Context& tl) {
    tl.store(HbmAddress(CubeId(0), last), tl.zeros(block, DType::f16));
    tl.load(HbmAddress(CubeId(0), last), block, DType::f16);
  });
}

TEST(UninitialisedReads, OfStridedRowsPassOverWhatLiesBetween) {
  const auto store_two_rows = [](tl::Context& tl) {  // 16 B at 0x2000 and at 0x2040
    tl.store(HbmAddress(0x2000), tl.zeros({2, 8}, DType::f16), tl::StoreOptions().strides(32));
  };
  expect_finding(none, [&](tl::Context& tl) {
    store_two_rows(tl);
    tl.load(HbmAddress(0x2000), {2, 8}, DType::f16, tl::LoadOptions().strides(32));
  });
  expect_finding("HBM of cube 0, from offset 0x2010 on", [&](tl::Context& tl) {
    store_two_rows(tl);
    tl.load(HbmAddress(0x2000), {2, 8}, DType::f16, tl::LoadOptions().strides(8));
  });
}

TEST(UninitialisedReads, LeaveOutWhatAMaskedLoadDoesNotTouch) {
  expect_finding(none, [](tl::Context& tl) {
    // Rows 4 to 7 are not there; they are poison, which may be read.
    const auto x = tl.load(input, {8, 8}, DType::f16, tl::LoadOptions().valid({4, 8}));
    tl.exp(x);
  });
}

TEST(UninitialisedReads, IncludeTheRefsOfAComposite) {
  const auto composite = [](tl::Context& tl, HbmAddress factor) {
    const auto a = tl.zeros({4, 4}, DType::f16);
    const auto out = tl.buffer({4, 8}, DType::f32);
    tl.composite(a, tl.ref(factor, block, DType::f16), tl::CompositeOptions().out(out));
    tl.exp(out);  // which the composite has written
  };
  expect_finding(none, [&](tl::Context& tl) { composite(tl, input); });
  expect_finding("HBM of cube 0, from offset 0x1040 on", [&](tl::Context& tl) { composite(tl, input + Bytes(32)); });
}

// ---- scratch --------------------------------------------------------------------------------------------------------

TEST(UninitialisedReads, OfABufferNameTheOperandAndItsFirstByte) {
  in_child([] {
    int line = 0;
    const auto findings = findings_of({{0, [&line](tl::Context& tl) {
                                          const auto ring = tl.buffers(2, block, DType::f32);
                                          line = __LINE__ + 1;
                                          tl.exp(ring[1]);
                                        }}});
    ASSERT_EQ(findings.size(), 1U);
    EXPECT_EQ(findings.front(),
              fmt::format("PE 0, math/exp of 4x8 f32 at {}:{} reads what nobody has written: its operand 4x8 f32 in "
                          "scratch, from byte 0 of it on",
                          __FILE__, line));
  });
}

TEST(UninitialisedReads, AreFoundInTheOperandsOfEveryOperation) {
  const std::string buffer = "its operand 4x8 f32 in scratch, from byte 0 of it on";
  const auto with_buffer = [](const std::function<void(tl::Context&, const tl::Tensor&)>& use) {
    return [use](tl::Context& tl) { use(tl, tl.buffer(block, DType::f32)); };
  };
  expect_finding(buffer, with_buffer([](tl::Context& tl, const tl::Tensor& x) { tl.add(1.0F, x); }));
  expect_finding(buffer, with_buffer([](tl::Context& tl, const tl::Tensor& x) { tl.sum(x, 1); }));
  expect_finding(buffer, with_buffer([](tl::Context& tl, const tl::Tensor& x) { tl.store(input, x); }));
  expect_finding(buffer, with_buffer([](tl::Context& tl, const tl::Tensor& x) {
                   tl.dot(tl.zeros({4, 4}, DType::f32), x);
                 }));
  expect_finding(buffer, with_buffer([](tl::Context& tl, const tl::Tensor& acc) {
                   tl.dot(tl.zeros({4, 2}, DType::f32), tl.zeros({2, 8}, DType::f32), acc);
                 }));
  expect_finding(buffer, with_buffer([](tl::Context& tl, const tl::Tensor& x) {
                   const auto out = tl.buffer(block, DType::f32);
                   tl.composite(tl.zeros({4, 4}, DType::f32), x, tl::CompositeOptions().out(out));
                 }));
  // Results are no operands.
  expect_finding(none, with_buffer([](tl::Context& tl, const tl::Tensor& x) { tl.add(1.0F, 2.0F * tl.fill(x, 0.0)); }));
  expect_finding(none, with_buffer([](tl::Context& tl, const tl::Tensor& x) {
                   tl.dot(tl.zeros({4, 2}, DType::f32), tl.zeros({2, 8}, DType::f32), tl::out(x));
                   tl.exp(x);
                 }));
}

TEST(UninitialisedReads, AreExactThroughViews) {
  const auto with_two_rows = [](const std::function<void(tl::Context&, const tl::Tensor&)>& use) {
    return [use](tl::Context& tl) {  // rows 1 and 2 of 4 are written, 32 B each
      const auto x = tl.buffer(block, DType::f32);
      tl.fill(tl.slice(x, 1, 3), 0.0);
      use(tl, x);
    };
  };
  expect_finding(none, with_two_rows([](tl::Context& tl, const tl::Tensor& x) { tl.exp(tl.slice(x, 1, 3)); }));
  expect_finding(none,
                 with_two_rows([](tl::Context& tl, const tl::Tensor& x) { tl.exp(tl.trans(tl.slice(x, 2, 3))); }));
  expect_finding("its operand 3x8 f32 in scratch, from byte 64 of it on",
                 with_two_rows([](tl::Context& tl, const tl::Tensor& x) { tl.exp(tl.slice(x, 1, 4)); }));
  expect_finding("its operand 8x4 f32 in scratch, from byte 0 of it on",
                 with_two_rows([](tl::Context& tl, const tl::Tensor& x) { tl.exp(tl.trans(x)); }));
}

TEST(UninitialisedReads, IncludeOldBytesOfATensorWhoseScopeHasEnded) {
  expect_finding("its operand 4x8 f32 in scratch, from byte 0 of it on", [](tl::Context& tl) {
    {
      const auto scope = tl.scratch_scope();
      tl.zeros(block, DType::f32);
    }
    tl.exp(tl.buffer(block, DType::f32));  // in its place
  });
}

TEST(UninitialisedReads, AreNoneInAMessage) {
  in_child([] {
    const auto findings =
        findings_of({{0, [](tl::Context& tl) { tl.send(Direction::south, tl.zeros({4}, DType::f32)); }},
                     {1, [](tl::Context& tl) { tl.exp(tl.recv(Direction::north, {4}, DType::f32)); }}},
                    {{Direction::north}, Bytes(64)});
    EXPECT_EQ(findings, std::vector<std::string>());
  });
  in_child([] {  // unless it was made of such bytes
    const auto findings =
        findings_of({{0, [](tl::Context& tl) { tl.send(Direction::south, tl.buffer({4}, DType::f32)); }},
                     {1, [](tl::Context& tl) { tl.exp(tl.recv(Direction::north, {4}, DType::f32)); }}},
                    {{Direction::north}, Bytes(64)});
    ASSERT_EQ(findings.size(), 1U);
    EXPECT_EQ(findings.front().find("PE 0, comm/ipcq_copy of 1x4 f32 to PE 1 (south) at "), 0U) << findings.front();
  });
}

TEST(UninitialisedReads, AreToldOnceForEachLineOfTheFirstPe) {
  in_child([] {
    const auto kernel = [](tl::Context& tl) {
      for (int i = 0; i < 3; ++i) tl.exp(tl.buffer(block, DType::f32));
      tl.exp2(tl.buffer(block, DType::f32));
    };
    const auto findings = findings_of({{0, kernel}, {1, kernel}});
    ASSERT_EQ(findings.size(), 2U);
    EXPECT_EQ(findings[0].find("PE 0, math/exp of"), 0U) << findings[0];
    EXPECT_EQ(findings[1].find("PE 0, math/exp2 of"), 0U) << findings[1];
  });
}

TEST(UninitialisedReads, AreFoundInTheLastBytesOfScratch) {
  // Given a buffer that takes all of scratch, of which all but the last 32 B are written.
  const std::int64_t rows = one_cube().pe.scratch.capacity.count() / 32;
  expect_finding(fmt::format("its operand {}x8 f32 in scratch, from byte {} of it on", rows, 32 * (rows - 1)),
                 [rows](tl::Context& tl) {
                   const auto all = tl.buffer({rows, 8}, DType::f32);
                   tl.fill(tl.slice(all, 0, rows - 1), 0.0);
                   tl.store(HbmAddress(0x100000), all);
                 });
}

// ---- marks ----------------------------------------------------------------------------------------------------------

TEST(ByteMarks, AreFoundByteByByteAcrossWords) {
  for (const std::int64_t begin : {0, 1, 63, 64, 65, 127}) {
    for (const std::int64_t count : {1, 2, 63, 64, 65, 130}) {
      ByteMarks marks(300);
      marks.mark(begin, count);
      EXPECT_EQ(marks.first_unmarked(begin, count), begin + count);
      EXPECT_EQ(marks.first_unmarked(begin, count + 1), begin + count);
      if (begin > 0) {
        EXPECT_EQ(marks.first_unmarked(begin - 1, count), begin - 1);
      }
      marks.unmark(begin + count - 1, 1);
      EXPECT_EQ(marks.first_unmarked(begin, count), begin + count - 1);
    }
  }
}

}  // namespace
}  // namespace kernwave::uninitialised_reads_test
