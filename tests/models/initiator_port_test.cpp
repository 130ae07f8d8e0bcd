// A PE on memories that answer in every legal way: right results at the right time.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <string>
#include <vector>

#include "tests/support/child.h"
#include "tests/support/lone_pe.h"

namespace kernwave::initiator_port_test {
namespace {

using testing::AnswerStyle;
using testing::in_child;
using testing::LonePe;
using testing::StubTiming;

constexpr std::int64_t requests = 8;  // of 64 B for 512 B
constexpr Picoseconds setup(20'000);
constexpr Picoseconds port_time(4'000);  // 512 B at 128 GB/s
constexpr StubTiming timing;             // A = 1 ns, L = 60 ns, D = 1 ns
constexpr Picoseconds accept = timing.accept;
constexpr Picoseconds latency = timing.latency;
constexpr Picoseconds annotation = timing.annotation;

/// First and last response to the eight requests of a transfer, from the end of its setup on.
struct Expectation {
  const char* name;
  AnswerStyle style;
  Picoseconds first;
  Picoseconds last;
  friend void PrintTo(const Expectation& expectation, std::ostream* out) { *out << expectation.name; }
};

/// The port streams from the first response on; the transfer ends with its stream or with the last response.
[[nodiscard]] Picoseconds transfer_time(const Expectation& expected) {
  return setup + std::max(expected.first + port_time, expected.last);
}

void put(std::vector<std::uint8_t>& bytes, std::size_t address, const std::vector<float>& values) {
  std::memcpy(bytes.data() + address, values.data(), values.size() * sizeof(float));
}

[[nodiscard]] std::vector<float> get(const std::vector<std::uint8_t>& bytes, std::size_t address, std::size_t count) {
  std::vector<float> values(count);
  std::memcpy(values.data(), bytes.data() + address, count * sizeof(float));
  return values;
}

class AnyLegalMemory : public ::testing::TestWithParam<Expectation> {};

TEST_P(AnyLegalMemory, APeComputesTheRightThingAtTheRightTime) {
  const Expectation expected = GetParam();
  in_child([expected] {
    LonePe bench(expected.style, timing);
    std::vector<float> values(128);
    std::iota(values.begin(), values.end(), 0.0F);
    put(bench.memory().bytes(), 0x400, values);
    const RunEnd end = bench.run([](tl::Context& tl) {
      const auto x = tl.load(HbmAddress(0x400), {8, 16}, DType::f32);
      tl.store(HbmAddress(0x2000), x + 1.0F);
    });
    EXPECT_EQ(end, RunEnd::finished);

    for (float& value : values) value += 1.0F;
    EXPECT_EQ(get(bench.memory().bytes(), 0x2000, values.size()), values);
    // Issue 8 ns and dispatch 2 ns each of load and store; 2 ns, 2 ns and one cycle of the addition.
    const Picoseconds transfer = transfer_time(expected);
    EXPECT_EQ(bench.ledger().end(),
              Picoseconds(10'000) + transfer + Picoseconds(5'000) + Picoseconds(10'000) + transfer);
    // 8 requests each way, and load, addition and store twice on their way to their engines.
    EXPECT_EQ(bench.monitor().transactions(), 2 * requests + 2 * 3);
    EXPECT_EQ(bench.monitor().in_flight(), 0U);
    EXPECT_EQ(bench.pe().dma().read().request_pool().in_use(), 0U);
    EXPECT_EQ(bench.pe().dma().write().request_pool().in_use(), 0U);
  });
}

INSTANTIATE_TEST_SUITE_P(
    InitiatorPort, AnyLegalMemory,
    ::testing::Values(
        // The k-th request leaves when the request phase of the one before it has ended, k A after the first.
        Expectation{"EndReqLater", AnswerStyle::end_req_later, accept + latency, requests* accept + latency},
        Expectation{"EndReqAnnounced", AnswerStyle::end_req_announced, accept + latency, requests* accept + latency},
        Expectation{"EndReqAnnotated", AnswerStyle::end_req_annotated, accept + latency, requests* accept + latency},
        Expectation{"ResponseAtOnce", AnswerStyle::response_at_once, Picoseconds(0), Picoseconds(0)},
        Expectation{"CompletedAtOnce", AnswerStyle::completed_at_once, Picoseconds(0), Picoseconds(0)},
        // A response implies the end of its request: one request at a time.
        Expectation{"ResponseAnnotated", AnswerStyle::response_annotated, latency, requests* latency},
        Expectation{"CompletedAnnotated", AnswerStyle::completed_annotated, latency, requests* latency},
        Expectation{"ResponseEndsRequest", AnswerStyle::response_ends_request, latency, requests* latency},
        Expectation{"LateAnnotation", AnswerStyle::late_annotation, latency, requests* latency},
        // All requests at once, and all responses: each is acknowledged in the call, ahead of its time.
        Expectation{"ResponsesAnnotated", AnswerStyle::responses_annotated, latency, latency},
        // The last request is answered first.
        Expectation{"ResponsesOutOfOrder", AnswerStyle::responses_out_of_order, latency,
                    latency + (requests - 1) * annotation}),
    [](const ::testing::TestParamInfo<Expectation>& instance) { return std::string(instance.param.name); });

TEST(InitiatorPort, TransfersInARowReachAMemoryThatAnswersOutOfOrder) {
  in_child([] {
    // Given batches of 16 requests answered backwards, so that of two loads the second one's data come first.
    StubTiming backwards;
    backwards.batch = 16;
    LonePe bench(AnswerStyle::responses_out_of_order, backwards);
    std::vector<float> values(256);
    std::iota(values.begin(), values.end(), 0.0F);
    put(bench.memory().bytes(), 0, values);
    const RunEnd end = bench.run([](tl::Context& tl) {
      const auto a = tl.load(HbmAddress(0), {8, 16}, DType::f32);
      const auto b = tl.load(HbmAddress(512), {8, 16}, DType::f32);
      tl.store(HbmAddress(0x2000), b);
      tl.store(HbmAddress(0x2200), a);
    });
    EXPECT_EQ(end, RunEnd::finished);
    EXPECT_EQ(get(bench.memory().bytes(), 0x2200, 128), std::vector<float>(values.begin(), values.begin() + 128));
    EXPECT_EQ(get(bench.memory().bytes(), 0x2000, 128), std::vector<float>(values.begin() + 128, values.end()));
    // Completions stay in command order.
    const auto rows = bench.rows();
    ASSERT_EQ(rows.size(), 4U);
    EXPECT_EQ(rows[0].descriptor.id.sequence, 0);
    EXPECT_EQ(rows[1].descriptor.id.sequence, 1);
  });
}

TEST(InitiatorPort, AMemorysErrorReachesTheKernelWithItsName) {
  in_child([] {
    StubTiming failing;
    failing.status = tlm::TLM_GENERIC_ERROR_RESPONSE;
    LonePe bench(AnswerStyle::completed_at_once, failing);
    const RunEnd end = bench.run([](tl::Context& tl) { tl.load(HbmAddress(0x400), {8, 16}, DType::f32); });
    EXPECT_EQ(end, RunEnd::failed);
    ASSERT_EQ(bench.ledger().failures().size(), 1U);
    const std::string& message = bench.ledger().failures().front().message;
    EXPECT_NE(message.find("memory/dma_read"), std::string::npos) << message;
    EXPECT_NE(message.find("TLM_GENERIC_ERROR_RESPONSE"), std::string::npos) << message;
  });
}

}  // namespace
}  // namespace kernwave::initiator_port_test
