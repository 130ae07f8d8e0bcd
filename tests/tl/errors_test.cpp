// What a kernel is told when it does something wrong: PE, operation, shapes, source line.
#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "tests/support/child.h"
#include "tests/support/kernel_errors.h"
#include "tests/support/simulation.h"

namespace kernwave::errors_test {
namespace {

using testing::expect_kernel_error;
using testing::in_child;
using testing::Simulation;

// ---- shapes

TEST(Errors, ShapesThatDoNotBroadcastNameTheOperationAndBothShapes) {
  expect_kernel_error("add", {"4x3", "4x5"}, [](tl::Context& tl, int& line) {
    const auto a = tl.zeros({4, 3}, DType::f32);
    const auto b = tl.zeros({4, 5}, DType::f32);
    line = __LINE__ + 1;
    tl.add(a, b);
  });
  expect_kernel_error("mul", {"3", "2x4"}, [](tl::Context& tl, int& line) {
    const auto a = tl.zeros({3}, DType::f32);
    const auto b = tl.zeros({2, 4}, DType::f32);
    line = __LINE__ + 1;
    static_cast<void>(a * b);
  });
  expect_kernel_error("less", {"3x1", "2x4"}, [](tl::Context& tl, int& line) {
    const auto a = tl.zeros({3, 1}, DType::f32);
    const auto b = tl.zeros({2, 4}, DType::f32);
    line = __LINE__ + 1;
    static_cast<void>(b < a);
  });
  expect_kernel_error("where", {"5", "4"}, [](tl::Context& tl, int& line) {
    const auto condition = tl.zeros({4}, DType::boolean);
    const auto x = tl.zeros({5}, DType::f32);
    line = __LINE__ + 1;
    tl.where(condition, x, 0.0F);
  });
  expect_kernel_error("broadcast_to", {"2x3", "4x3"}, [](tl::Context& tl, int& line) {
    const auto x = tl.zeros({2, 3}, DType::f32);
    line = __LINE__ + 1;
    static_cast<void>(tl.broadcast_to(x, {4, 3}));
  });
  expect_kernel_error("broadcast_to", {"1x3", "3"}, [](tl::Context& tl, int& line) {
    const auto x = tl.zeros({1, 3}, DType::f32);
    line = __LINE__ + 1;
    static_cast<void>(tl.broadcast_to(x, {3}));  // a dimension never goes away
  });
}

TEST(Errors, DotNamesTheShapesThatDoNotFit) {
  expect_kernel_error("dot", {"4x8", "4x16"}, [](tl::Context& tl, int& line) {
    const auto a = tl.zeros({4, 8}, DType::f16);
    const auto b = tl.zeros({4, 16}, DType::f16);
    line = __LINE__ + 1;
    tl.dot(a, b);
  });
  expect_kernel_error("dot", {"by 8"}, [](tl::Context& tl, int& line) {
    const auto a = tl.zeros({4, 8}, DType::f16);
    const auto b = tl.zeros({8}, DType::f16);
    line = __LINE__ + 1;
    tl.dot(a, b);
  });
  expect_kernel_error("dot", {"4x4 f32", "4x2 f32"}, [](tl::Context& tl, int& line) {
    const auto a = tl.zeros({4, 8}, DType::f16);
    const auto b = tl.zeros({8, 2}, DType::f16);
    const auto acc = tl.zeros({4, 4}, DType::f32);
    line = __LINE__ + 1;
    tl.dot(a, b, acc);
  });
}

TEST(Errors, ZeroExtentsThreeDimensionsAndTooManyElements) {
  expect_kernel_error("zeros", {"not 0", "0x4"}, [](tl::Context& tl, int& line) {
    line = __LINE__ + 1;
    tl.zeros({0, 4}, DType::f32);
  });
  expect_kernel_error("full", {"not 0"}, [](tl::Context& tl, int& line) {
    line = __LINE__ + 1;
    tl.full({0}, 1.0, DType::f32);
  });
  expect_kernel_error("buffer", {"not -3", "4x-3"}, [](tl::Context& tl, int& line) {
    line = __LINE__ + 1;
    static_cast<void>(tl.buffer({4, -3}, DType::f32));
  });
  expect_kernel_error("load", {"1 or 2 dimensions, not 3"}, [](tl::Context& tl, int& line) {
    line = __LINE__ + 1;
    tl.load(HbmAddress(0), {2, 3, 4}, DType::f32);
  });
  expect_kernel_error("load", {"not 0"}, [](tl::Context& tl, int& line) {
    line = __LINE__ + 1;
    tl.load(HbmAddress(0), {0}, DType::f32);
  });
  // Its bytes would not fit 64 bits.
  expect_kernel_error("zeros", {"2147483647x2147483647"}, [](tl::Context& tl, int& line) {
    constexpr std::int64_t largest = std::numeric_limits<std::int32_t>::max();
    line = __LINE__ + 1;
    tl.zeros({largest, largest}, DType::f32);
  });
  expect_kernel_error("arange", {"3", "7"}, [](tl::Context& tl, int& line) {
    line = __LINE__ + 1;
    tl.arange(7, 3);
  });
  expect_kernel_error("arange", {"4"}, [](tl::Context& tl, int& line) {
    line = __LINE__ + 1;
    tl.arange(4, 4);
  });
}

TEST(Errors, ViewsNameTheTensorThatTheyCannotTurn) {
  expect_kernel_error("trans", {"2 dimensions", "8 f16"}, [](tl::Context& tl, int& line) {
    const auto x = tl.zeros({8}, DType::f16);
    line = __LINE__ + 1;
    static_cast<void>(tl.trans(x));
  });
  expect_kernel_error("expand_dims", {"1 dimension", "2x4 f32"}, [](tl::Context& tl, int& line) {
    const auto x = tl.zeros({2, 4}, DType::f32);
    line = __LINE__ + 1;
    static_cast<void>(tl.expand_dims(x, 0));
  });
  expect_kernel_error("expand_dims", {"axis", "8 f32"}, [](tl::Context& tl, int& line) {
    const auto x = tl.zeros({8}, DType::f32);
    line = __LINE__ + 1;
    static_cast<void>(tl.expand_dims(x, 2));
  });
  expect_kernel_error("reshape", {"2x4 has 8 elements", "3x3 has 9"}, [](tl::Context& tl, int& line) {
    const auto x = tl.zeros({2, 4}, DType::f32);
    line = __LINE__ + 1;
    static_cast<void>(tl.reshape(x, {3, 3}));
  });
  expect_kernel_error("reshape", {"dense", "4x2 f32"}, [](tl::Context& tl, int& line) {
    const auto x = tl.zeros({2, 4}, DType::f32);
    line = __LINE__ + 1;
    static_cast<void>(tl.reshape(tl.trans(x), {8}));
  });
}

TEST(Errors, AReductionNamesTheTensorThatHasNoSuchAxis) {
  expect_kernel_error("sum", {"axis", "2x4 f32"}, [](tl::Context& tl, int& line) {
    const auto x = tl.zeros({2, 4}, DType::f32);
    line = __LINE__ + 1;
    tl.sum(x, 2);
  });
  expect_kernel_error("max", {"axis", "4 bf16"}, [](tl::Context& tl, int& line) {
    const auto x = tl.zeros({4}, DType::bf16);
    line = __LINE__ + 1;
    tl.max(x, 1);
  });
  expect_kernel_error("min", {"axis", "4 f32"}, [](tl::Context& tl, int& line) {
    const auto x = tl.zeros({4}, DType::f32);
    line = __LINE__ + 1;
    tl.min(x, -1);
  });
  expect_kernel_error("sum", {"needs a tensor"}, [](tl::Context& tl, int& line) {
    line = __LINE__ + 1;
    tl.sum(1.0F, 0);
  });
}

// ---- types

TEST(Errors, TypesThatAnOperationDoesNotTake) {
  expect_kernel_error("dot", {"f16 by bf16", ".to()"}, [](tl::Context& tl, int& line) {
    const auto a = tl.zeros({4, 4}, DType::f16);
    const auto b = tl.zeros({4, 4}, DType::bf16);
    line = __LINE__ + 1;
    tl.dot(a, b);
  });
  expect_kernel_error("dot", {"int32 by int32"}, [](tl::Context& tl, int& line) {
    const auto a = tl.zeros({4, 4}, DType::int32);
    const auto b = tl.zeros({4, 4}, DType::int32);
    line = __LINE__ + 1;
    tl.dot(a, b);
  });
  expect_kernel_error("exp2", {"float type", "4 int32"}, [](tl::Context& tl, int& line) {
    const auto x = tl.zeros({4}, DType::int32);
    line = __LINE__ + 1;
    tl.exp2(x);
  });
  expect_kernel_error("floor_div", {"integers", "4 f32"}, [](tl::Context& tl, int& line) {
    const auto x = tl.zeros({4}, DType::f32);
    line = __LINE__ + 1;
    tl.floor_div(x, 2);
  });
  expect_kernel_error("floor_div", {"integers", "0.5"}, [](tl::Context& tl, int& line) {
    const auto x = tl.zeros({4}, DType::int32);
    line = __LINE__ + 1;
    tl.floor_div(x, 0.5);
  });
  expect_kernel_error("where", {"booleans", "4 f32"}, [](tl::Context& tl, int& line) {
    const auto x = tl.zeros({4}, DType::f32);
    line = __LINE__ + 1;
    tl.where(x, x, x);
  });
}

TEST(Errors, ArithmeticOnBooleansAndLogicOnNumbers) {
  expect_kernel_error("add", {"booleans", "4 bool"}, [](tl::Context& tl, int& line) {
    const auto x = tl.zeros({4}, DType::boolean);
    line = __LINE__ + 1;
    static_cast<void>(x + x);
  });
  expect_kernel_error("neg", {"booleans", "4 bool"}, [](tl::Context& tl, int& line) {
    const auto x = tl.zeros({4}, DType::boolean);
    line = __LINE__ + 1;
    static_cast<void>(-x);
  });
  expect_kernel_error("fma", {"booleans", "4 bool"}, [](tl::Context& tl, int& line) {
    const auto x = tl.zeros({4}, DType::boolean);
    line = __LINE__ + 1;
    tl.fma(x, x, x);
  });
  expect_kernel_error("logical_and", {"booleans", "4 f32"}, [](tl::Context& tl, int& line) {
    const auto x = tl.zeros({4}, DType::f32);
    line = __LINE__ + 1;
    static_cast<void>(x & x);
  });
  expect_kernel_error("logical_not", {"booleans", "4 int32"}, [](tl::Context& tl, int& line) {
    const auto x = tl.zeros({4}, DType::int32);
    line = __LINE__ + 1;
    static_cast<void>(~x);
  });
  expect_kernel_error("maximum", {"at least one tensor"}, [](tl::Context& tl, int& line) {
    line = __LINE__ + 1;
    tl.maximum(1.0F, 2.0F);
  });
}

// ---- out=, into=, shared buffers

TEST(Errors, OutThatDoesNotAgreeWithTheResult) {
  expect_kernel_error("add", {"4x2 f32", "4x4 f32"}, [](tl::Context& tl, int& line) {
    const auto x = tl.zeros({4, 4}, DType::f32);
    const auto target = tl.buffer({4, 2}, DType::f32);
    line = __LINE__ + 1;
    tl.add(x, x, tl::out(target));
  });
  expect_kernel_error("exp", {"4 f16", "4 f32"}, [](tl::Context& tl, int& line) {
    const auto x = tl.zeros({4}, DType::f32);
    const auto target = tl.buffer({4}, DType::f16);
    line = __LINE__ + 1;
    tl.exp(x, tl::out(target));
  });
  expect_kernel_error("dot", {"4x4 f16", "4x4 f32"}, [](tl::Context& tl, int& line) {
    const auto x = tl.zeros({4, 4}, DType::f16);
    const auto target = tl.buffer({4, 4}, DType::f16);
    line = __LINE__ + 1;
    tl.dot(x, x, tl::out(target));
  });
  expect_kernel_error("max", {"4x1 f32", "the result 4 f32"}, [](tl::Context& tl, int& line) {
    const auto x = tl.zeros({4, 4}, DType::f32);
    const auto target = tl.buffer({4, 1}, DType::f32);
    line = __LINE__ + 1;
    tl.max(x, 1, false, tl::out(target));
  });
  expect_kernel_error("copy", {"4 f32", "4 f16"}, [](tl::Context& tl, int& line) {
    const auto x = tl.zeros({4}, DType::f16);
    const auto target = tl.buffer({4}, DType::f32);
    line = __LINE__ + 1;
    tl.copy_to(target, x);
  });
}

TEST(Errors, OutMustNotBeABroadcastView) {
  expect_kernel_error("add", {"broadcast", "4x4 f32"}, [](tl::Context& tl, int& line) {
    const auto x = tl.zeros({4, 4}, DType::f32);
    const auto target = tl.broadcast_to(tl.buffer({4, 1}, DType::f32), {4, 4});
    line = __LINE__ + 1;
    tl.add(x, x, tl::out(target));
  });
}

TEST(Errors, BuffersSharedThroughDifferentViews) {
  expect_kernel_error("add", {"different views", "4x4 f32"}, [](tl::Context& tl, int& line) {
    const auto x = tl.zeros({4, 4}, DType::f32);
    line = __LINE__ + 1;
    tl.add(tl.trans(x), 1.0F, tl::out(x));
  });
  expect_kernel_error("sum", {"share", "1x1 f32"}, [](tl::Context& tl, int& line) {
    const auto x = tl.zeros({1, 1}, DType::f32);
    line = __LINE__ + 1;
    tl.sum(x, 1, true, tl::out(x));
  });
  expect_kernel_error("dot", {"share", "4x4 f32"}, [](tl::Context& tl, int& line) {
    const auto x = tl.zeros({4, 4}, DType::f32);
    line = __LINE__ + 1;
    tl.dot(x, x, tl::out(x));
  });
  expect_kernel_error("dot", {"share", "4x4 f32"}, [](tl::Context& tl, int& line) {
    const auto x = tl.zeros({4, 4}, DType::f32);
    const auto y = tl.zeros({4, 4}, DType::f32);
    line = __LINE__ + 1;
    tl.dot(y, tl.trans(x), x);
  });
}

TEST(Errors, IntoThatDoesNotAgreeWithTheLoad) {
  expect_kernel_error("load", {"4x4 f32", "4x4 f16"}, [](tl::Context& tl, int& line) {
    const auto target = tl.buffer({4, 4}, DType::f32);
    line = __LINE__ + 1;
    tl.load(HbmAddress(0), {4, 4}, DType::f16, tl::into(target));
  });
  expect_kernel_error("load", {"2x8 f16", "4x4 f16"}, [](tl::Context& tl, int& line) {
    const auto target = tl.buffer({2, 8}, DType::f16);
    line = __LINE__ + 1;
    tl.load(HbmAddress(0), {4, 4}, DType::f16, tl::into(target));
  });
  expect_kernel_error("load", {"dense", "4x4 f16"}, [](tl::Context& tl, int& line) {
    const auto target = tl.trans(tl.buffer({4, 4}, DType::f16));
    line = __LINE__ + 1;
    tl.load(HbmAddress(0), {4, 4}, DType::f16, tl::into(target));
  });
}

// ---- transfers

TEST(Errors, ValidPartsAndStridesThatMakeNoSense) {
  expect_kernel_error("load", {"5x4", "4x4"}, [](tl::Context& tl, int& line) {
    line = __LINE__ + 1;
    tl.load(HbmAddress(0), {4, 4}, DType::f32, tl::LoadOptions().valid({5, 4}));
  });
  expect_kernel_error("load", {"valid part 4", "4x4"}, [](tl::Context& tl, int& line) {
    line = __LINE__ + 1;
    tl.load(HbmAddress(0), {4, 4}, DType::f32, tl::LoadOptions().valid({4}));
  });
  expect_kernel_error("store", {"-1x4", "4x4"}, [](tl::Context& tl, int& line) {
    const auto x = tl.zeros({4, 4}, DType::f32);
    line = __LINE__ + 1;
    tl.store(HbmAddress(0), x, tl::StoreOptions().valid({-1, 4}));
  });
  expect_kernel_error("load", {"innermost stride", "4x4 f16"}, [](tl::Context& tl, int& line) {
    line = __LINE__ + 1;
    tl.load(HbmAddress(0), {4, 4}, DType::f16, tl::LoadOptions().strides(1, 4));
  });
  expect_kernel_error("store", {"negative", "4 f16"}, [](tl::Context& tl, int& line) {
    const auto x = tl.zeros({4}, DType::f16);
    line = __LINE__ + 1;
    tl.store(HbmAddress(0), x, tl::StoreOptions().strides(-1));
  });
}

TEST(Errors, TensorDescriptors) {
  expect_kernel_error("make_tensor_descriptor", {"2 dimensions", ": 64"}, [](tl::Context& tl, int& line) {
    line = __LINE__ + 1;
    static_cast<void>(tl.make_tensor_descriptor(HbmAddress(0), {64}, {1, 1}, {8, 8}, DType::f16));
  });
  expect_kernel_error("make_tensor_descriptor", {"innermost stride", "64x32"}, [](tl::Context& tl, int& line) {
    line = __LINE__ + 1;
    static_cast<void>(tl.make_tensor_descriptor(HbmAddress(0), {64, 32}, {1, 64}, {8, 8}, DType::f16));
  });
  expect_kernel_error("load", {"negative", "8x8"}, [](tl::Context& tl, int& line) {
    const auto matrix = tl.make_tensor_descriptor(HbmAddress(0), {64, 32}, {32, 1}, {8, 8}, DType::f16);
    line = __LINE__ + 1;
    matrix.load({-8, 0});
  });
  expect_kernel_error("store", {"negative", "8x8"}, [](tl::Context& tl, int& line) {
    const auto matrix = tl.make_tensor_descriptor(HbmAddress(0), {64, 32}, {32, 1}, {8, 8}, DType::f16);
    const auto block = tl.zeros({8, 8}, DType::f16);
    line = __LINE__ + 1;
    matrix.store({0, -1}, block);
  });
  expect_kernel_error("store", {"8x4 f16", "8x8 f16"}, [](tl::Context& tl, int& line) {
    const auto matrix = tl.make_tensor_descriptor(HbmAddress(0), {64, 32}, {32, 1}, {8, 8}, DType::f16);
    const auto block = tl.zeros({8, 4}, DType::f16);
    line = __LINE__ + 1;
    matrix.store({0, 0}, block);
  });
}

TEST(Errors, AnAddressOutsideTheMemoryNamesTheTransferAndItsLine) {
  in_child([] {
    Simulation simulation;
    int line = 0;
    const std::string message = simulation.run_failing([&line](tl::Context& tl) {
      const HbmAddress beyond(CubeId(0), Bytes(std::int64_t{16} << 30));  // the capacity
      line = __LINE__ + 1;
      tl.wait(tl.load(beyond, {4, 32}, DType::f16));
    });
    for (const std::string& word : {std::string("PE 0"), std::string("memory/dma_read"), std::string("4x32 f16"),
                                    __FILE__ + (":" + std::to_string(line)), std::string("ADDRESS_ERROR")}) {
      EXPECT_NE(message.find(word), std::string::npos) << "'" << word << "' is missing in: " << message;
    }
  });
}

// ---- lifetimes

TEST(Errors, ATensorUsedAfterItsScope) {
  expect_kernel_error("mul", {"4x8", "f16", "scope"}, [](tl::Context& tl, int& line) {
    auto x = tl.zeros({1}, DType::f16);
    {
      const auto scope = tl.scratch_scope();
      x = tl.zeros({4, 8}, DType::f16);
    }
    line = __LINE__ + 1;
    static_cast<void>(x * 2.0F);
  });
  expect_kernel_error("store", {"4x8", "scope"}, [](tl::Context& tl, int& line) {
    auto x = tl.zeros({1}, DType::f16);
    {
      const auto scope = tl.scratch_scope();
      x = tl.trans(tl.zeros({8, 4}, DType::f16));  // a view lives as long as its tensor
    }
    tl.zeros({4, 8}, DType::f16);  // another tensor in its place does not bring it back
    line = __LINE__ + 1;
    tl.store(HbmAddress(0), x);
  });
  for (const char* operation : {"wait", "dot", "fill", "trans", "sum", "copy", "load"}) {
    expect_kernel_error(operation, {"4x4", "scope"}, [operation](tl::Context& tl, int& line) {
      const auto alive = tl.zeros({4, 4}, DType::f32);
      auto x = alive;
      {
        const auto scope = tl.scratch_scope();
        x = tl.buffer({4, 4}, DType::f32);
      }
      const std::string name = operation;
      line = __LINE__ + 1;
      if (name == "wait") tl.wait(x);
      line = __LINE__ + 1;
      if (name == "dot") tl.dot(alive, x);
      line = __LINE__ + 1;
      if (name == "fill") tl.fill(x, 0.0);
      line = __LINE__ + 1;
      if (name == "trans") static_cast<void>(tl.trans(x));
      line = __LINE__ + 1;
      if (name == "sum") tl.sum(x, 0);
      line = __LINE__ + 1;
      if (name == "copy") tl.copy_to(x, alive);
      line = __LINE__ + 1;
      if (name == "load") tl.load(HbmAddress(0), {4, 4}, DType::f32, tl::into(x));
    });
  }
}

TEST(Errors, AProgramThatAsksForAFourthAxis) {
  expect_kernel_error("program_id", {"axes 0, 1 and 2"}, [](tl::Context& tl, int& line) {
    line = __LINE__ + 1;
    static_cast<void>(tl.program_id(3));
  });
  expect_kernel_error("num_programs", {"axes 0, 1 and 2"}, [](tl::Context& tl, int& line) {
    line = __LINE__ + 1;
    static_cast<void>(tl.num_programs(-1));
  });
}

TEST(Errors, TheLineOfAnOperatorIsThatOfItsExpression) {
  expect_kernel_error("div", {"3", "4"}, [](tl::Context& tl, int& line) {
    const auto a = tl.zeros({3}, DType::f32);
    const auto b = tl.zeros({4}, DType::f32);
    line = __LINE__ + 1;
    const auto quotient = 1.0F + a / b;
    tl.store(HbmAddress(0), quotient);
  });
  expect_kernel_error("less_equal", {"3", "4"}, [](tl::Context& tl, int& line) {
    const auto a = tl.zeros({3}, DType::f32);
    const auto b = tl.zeros({4}, DType::f32);
    line = __LINE__ + 1;
    const auto smaller = a <= b;
    tl.store(HbmAddress(0), smaller);
  });
  expect_kernel_error("cast", {"scope"}, [](tl::Context& tl, int& line) {
    auto x = tl.zeros({4}, DType::f32);
    {
      const auto scope = tl.scratch_scope();
      x = tl.zeros({4}, DType::f32);
    }
    line = __LINE__ + 1;
    const auto narrow = x.to(DType::f16);
    tl.store(HbmAddress(0), narrow);
  });
}

TEST(Errors, TheProgramsOwnExceptionsEndTheRunToo) {
  in_child([] {
    Simulation simulation;
    const std::string message =
        simulation.run_failing([](tl::Context&) { throw std::runtime_error("not a tile that I know"); });
    EXPECT_EQ(message, "PE 0, program (0, 0, 0): not a tile that I know");
  });
}

}  // namespace
}  // namespace kernwave::errors_test
