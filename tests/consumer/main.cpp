// Processing elements in a SystemC design of one's own: own sc_main, own kernel, own memories.
//
// Two PEs run the same kernel, each on a memory of the user's in place of kernwave's HBM. The results are checked, and
// the latencies against what stands in the comments below.
#include <kernwave/kernels/tl/launch.h>
#include <kernwave/models/pe/pe.h>
#include <kernwave/models/run/run.h>
#include <kernwave/traces/op_log/op_log.h>

#include <cstdio>
#include <cstring>
#include <exception>
#include <stdexcept>
#include <string>
#include <vector>

#include "blocking_memory.h"
#include "pipelined_memory.h"
#include "scale_and_shift.h"

namespace {

using consumer::BlockingMemory;
using consumer::cols;
using consumer::PipelinedMemory;
using consumer::rows;
using consumer::ScaleAndShift;
using kernwave::Bytes;
using kernwave::HbmAddress;
using kernwave::Picoseconds;

constexpr std::size_t capacity = 64 * 1024;
constexpr std::uint64_t x_at = 0x0400;
constexpr std::uint64_t y_at = 0x2000;

/// A PE for any TLM-2.0 memory: requests are naturally aligned powers of two of at most 64 bytes.
kernwave::PeConfig pe_on_foreign_memory() {
  kernwave::PeConfig config;  // 1 GHz, a DMA port of 128 GB/s, 20 ns of setup, ...
  config.dma.burst = Bytes(64);
  return config;
}

void fill_x(std::uint8_t* memory) {
  std::vector<float> x(rows * cols);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i);
  std::memcpy(memory + x_at, x.data(), x.size() * sizeof(float));
}

/// y = 2 x + 1, exactly.
void check_y(const std::uint8_t* memory, const char* who) {
  std::vector<float> y(rows * cols);
  std::memcpy(y.data(), memory + y_at, y.size() * sizeof(float));
  for (std::size_t i = 0; i < y.size(); ++i) {
    if (y[i] != 2.0F * static_cast<float>(i) + 1.0F) throw std::runtime_error(std::string(who) + ": a wrong result");
  }
}

void check_time(const kernwave::Pe& pe, Picoseconds expected, const char* who) {
  const Picoseconds taken = pe.cpu().local_time();
  if (taken != expected) {
    throw std::runtime_error(std::string(who) + ": " + std::to_string(taken.count()) + " ps, expected " +
                             std::to_string(expected.count()));
  }
}

/// Operations are told with the user's own files, as from the user's own project: nothing of this machine is in a log.
void check_sources(const kernwave::traces::OpLog& log) {
  for (const kernwave::traces::OperationRow& row : log.rows()) {
    if (row.where.file != std::string("scale_and_shift.h")) {
      throw std::runtime_error(std::string("an operation of the source file ") + row.where.file);
    }
  }
}

void simulate() {
  // The PEs. A ledger knows when all kernels have ended; a connector binds sockets (directly, here).
  kernwave::RunLedger ledger;
  kernwave::Connector connector;
  kernwave::Pe pe0("pe0", kernwave::PeId(0), pe_on_foreign_memory(), kernwave::DataMode::full, ledger, connector);
  kernwave::Pe pe1("pe1", kernwave::PeId(1), pe_on_foreign_memory(), kernwave::DataMode::full, ledger, connector);

  // The memories, bound like any TLM-2.0 target.
  BlockingMemory blocking("blocking", capacity, sc_core::sc_time(50, sc_core::SC_NS));
  pe0.read_socket().bind(blocking.read_socket);
  pe0.write_socket().bind(blocking.write_socket);

  std::vector<std::uint8_t> shared(capacity);
  const sc_core::sc_time accept(4, sc_core::SC_NS);
  const sc_core::sc_time latency(60, sc_core::SC_NS);
  PipelinedMemory reads("reads", shared, accept, latency);
  PipelinedMemory writes("writes", shared, accept, latency);
  pe1.read_socket().bind(reads.socket);
  pe1.write_socket().bind(writes.socket);

  fill_x(blocking.bytes());
  fill_x(shared.data());

  // The kernel.
  const ScaleAndShift args{HbmAddress(x_at), HbmAddress(y_at), 2.0F, 1.0F};
  const auto kernel = [args](kernwave::tl::Context& tl) { consumer::scale_and_shift(tl, args); };
  kernwave::traces::OpLog log;
  pe0.set_observer(&log);
  kernwave::tl::launch(pe0, kernel);
  kernwave::tl::launch(pe1, kernel);

  if (kernwave::run_to_end(ledger) != kernwave::RunEnd::finished) {
    throw std::runtime_error(ledger.failures().empty() ? pe0.cpu().describe_wait() : ledger.failures().front().message);
  }
  check_sources(log);
  check_y(blocking.bytes(), "blocking memory");
  check_y(shared.data(), "pipelined memory");

  // A tile of 1 KiB is 16 requests of 64 B. Load and store cost 8 ns of issue, 2 ns of dispatch and 20 ns of setup
  // each; the multiplication of 256 elements 2 ns, 2 ns and one cycle of 1 ns.
  constexpr std::int64_t requests = 16;
  const auto whole = [](std::int64_t transfer_ns) { return Picoseconds(1000 * (2 * (30 + transfer_ns) + 5)); };
  // One request at a time, 50 ns each. (Its port needs 1024 B / 128 GB/s = 8 ns, which hide.)
  check_time(pe0, whole(requests * 50), "blocking memory");
  // A request every 4 ns; the last is answered 60 ns after it was accepted.
  check_time(pe1, whole(requests * 4 + 60), "pipelined memory");
  std::printf("consumer: a kernel on two foreign memories, right results after %lld and %lld ps\n",
              static_cast<long long>(pe0.cpu().local_time().count()),
              static_cast<long long>(pe1.cpu().local_time().count()));
}

}  // namespace

int sc_main(int /*argc*/, char** /*argv*/) {
  try {
    simulate();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "consumer: %s\n", error.what());
    return 1;
  }
  return 0;
}
