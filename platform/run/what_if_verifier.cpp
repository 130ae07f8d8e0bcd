#include "platform/run/what_if_verifier.h"

#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <vector>

#include "platform/host/child_process.h"
#include "platform/results/critical_path_document.h"
#include "platform/results/what_if.h"

namespace kernwave::platform {

namespace {

[[nodiscard]] bool read_exactly(int file, void* to, std::size_t count) {
  auto* bytes = static_cast<char*>(to);
  while (count > 0) {
    const ssize_t got = ::read(file, bytes, count);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    bytes += got;
    count -= static_cast<std::size_t>(got);
  }
  return true;
}

/// A message this short is sent whole.
[[nodiscard]] bool send_message(int socket, const void* from, std::size_t count) {
  return ::send(socket, from, count, MSG_NOSIGNAL) == static_cast<ssize_t>(count);
}

/// -1: it could not be run. Without data, which change no time.
[[nodiscard]] std::int64_t latency_with(const RunRequest& request, const Workload& workload, Faster resource) {
  RunRequest faster = request;
  faster.configuration.system = twice_as_fast(request.configuration.system, resource);
  faster.data = DataMode::none;
  faster.checks = {};
  try {
    return simulate_isolated(faster, workload).at("latency_ps").as_int();
  } catch (const std::exception&) {
    return -1;
  }
}

[[noreturn]] void serve(const RunRequest& request, const Workload& workload, int socket) {
  Faster resource{};
  while (read_exactly(socket, &resource, sizeof(resource))) {
    const std::int64_t latency = latency_with(request, workload, resource);
    if (!send_message(socket, &latency, sizeof(latency))) break;
  }
  end_child(0);
}

}  // namespace

WhatIfVerifier::WhatIfVerifier(const RunRequest& request, const Workload& workload) {
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_STREAM, 0, ends.data()) != 0) {
    throw ChildError(fmt::format("cannot make a pair of sockets: {}", std::strerror(errno)));
  }
  process_ = fork_dependent();
  if (process_ == 0) {
    ::close(ends[0]);
    serve(request, workload, ends[1]);
  }
  ::close(ends[1]);
  socket_ = ends[0];
}

WhatIfVerifier::~WhatIfVerifier() {
  ::close(socket_);
  ::waitpid(process_, nullptr, 0);
}

void WhatIfVerifier::verify(Json& critical_path, std::size_t most) const {
  std::vector<Prediction> predictions = predictions_of(critical_path);
  if (predictions.size() > most) predictions.resize(most);
  for (const Prediction& prediction : predictions) {
    std::int64_t latency = -1;
    if (!send_message(socket_, &prediction.resource, sizeof(prediction.resource))) return;
    if (!read_exactly(socket_, &latency, sizeof(latency))) return;
    if (latency >= 0) set_actual(critical_path, prediction.resource, Picoseconds(latency));
  }
}

}  // namespace kernwave::platform
