#include "models/memory/cube_links.h"

#include <algorithm>
#include <cstdlib>

namespace kernwave {

namespace {

[[nodiscard]] CubeId target_of(const Payload& payload) { return HbmAddress(payload.get_address()).cube(); }

[[nodiscard]] Bytes length_of(const Payload& payload) {
  return Bytes(static_cast<std::int64_t>(payload.get_data_length()));
}

}  // namespace

CubeLinks::CubeLinks(const sc_core::sc_module_name& name, const SystemConfig& config)
    : sc_module(name), config_(config.interconnect), channels_per_cube_(2 * config.pes_per_cube) {
  if (config_.hop_latency < Picoseconds(1)) {
    report_error(report_type::configuration, this->name(), "the latency of a hop must be at least 1 ps");
  }
  TargetPort::Client& requests = *this;
  InitiatorPort::Client& responses = *this;
  for (std::int64_t id = 0; id < channels_per_cube_ * config.cubes; ++id) {
    ports_.add(("port" + std::to_string(id)).c_str(), requests, id);
  }
  for (std::int64_t id = 0; id < config.cubes; ++id) {
    cubes_.add("memory" + std::to_string(id), responses, config_);
  }
  KERNWAVE_HAS_PROCESS(CubeLinks);
  SC_METHOD(advance);
  sensitive << wake_;
  dont_initialize();
}

std::optional<Picoseconds> CubeLinks::request(TargetPort& port, Payload& payload, Picoseconds at) {
  Request request;
  request.at = at + config_.hop_latency;
  request.port = &port;
  request.payload = &payload;
  if (payload.is_write()) {
    to_stream_.push(request);
  } else {
    request.at = at + way(request);
    to_memory_.push(request);
  }
  wake_at(request.at);
  return at;
}

unsigned CubeLinks::debug_access(TargetPort& /*port*/, Payload& payload) {
  return place(target_of(payload)).memory.socket()->transport_dbg(payload);
}

/// A delta cycle later: a memory may say so inside `advance`.
void CubeLinks::request_accepted(InitiatorPort& /*port*/) { wake_at(now()); }

void CubeLinks::response(InitiatorPort& /*port*/, Payload& payload) { answered(payload, now()); }

bool CubeLinks::response_ahead(InitiatorPort& /*port*/, Payload& payload, Picoseconds at) {
  answered(payload, at);
  return true;
}

void CubeLinks::answered(Payload& payload, Picoseconds at) {
  std::vector<Request>& in_memory = place(target_of(payload)).in_memory;
  const auto found = std::find_if(in_memory.begin(), in_memory.end(),
                                  [&payload](const Request& request) { return request.payload == &payload; });
  Request request = *found;
  *found = in_memory.back();
  in_memory.pop_back();
  auto* extension = payload.get_extension<RegionExtension>();
  if (payload.is_read() && payload.is_response_ok()) {
    request.at = at + config_.hop_latency;
    to_stream_.push(request);
    wake_at(request.at);
  } else {
    Picoseconds last = at;
    if (extension != nullptr) {
      // The data go into the memory no faster than they come. What the link made them wait, the requester's port did
      // not: it sent them when the request left.
      if (payload.is_response_ok()) last = std::max(last, extension->first_data + request.link_time);
      extension->first_data += way(request) - request.link_wait;
      extension->contention += request.link_wait;
    }
    request.at = last + way(request);
    bring_back(request);
  }
}

/// The response arrives at `request.at`: told then, or ahead of it.
void CubeLinks::bring_back(const Request& request) {
  const auto* extension = request.payload->get_extension<RegionExtension>();
  if (extension != nullptr && extension->ahead) return request.port->respond(*request.payload, request.at);
  to_requester_.push(request);
  wake_at(request.at);
}

void CubeLinks::advance() {
  while (to_stream_.due(now())) {
    const Request request = to_stream_.pop();
    request.payload->is_write() ? send_write(request) : send_answer(request);
  }
  while (to_memory_.due(now())) {
    const Request request = to_memory_.pop();
    place(target_of(*request.payload)).arrived.push_back(request);
  }
  for (const auto& cube : cubes_) hand_on(*cube);
  while (to_requester_.due(now())) {
    const Request request = to_requester_.pop();
    request.port->respond(*request.payload);
  }
  for (const auto* queue : {&to_stream_, &to_memory_, &to_requester_}) {
    if (!queue->empty()) wake_at(queue->next());
  }
}

/// Decided a hop after the request came; counted from when it came.
void CubeLinks::send_write(Request request) {
  Cube& cube = place(requester(request));
  const Picoseconds came = request.at - config_.hop_latency;
  const Picoseconds start = std::max(came, cube.link.free_at());
  cube.link.carry(came, length_of(*request.payload));
  cube.sent += length_of(*request.payload);
  const bool streams = request.payload->get_extension<RegionExtension>() != nullptr;
  request.link_wait = start - came;
  request.link_time = cube.link.free_at() - start;
  request.at = (streams ? start : cube.link.free_at()) + way(request);
  to_memory_.push(request);
}

/// Decided a hop after the memory answered; counted from the first data (or, if that is unknown, from the answer).
void CubeLinks::send_answer(Request request) {
  Cube& cube = place(target_of(*request.payload));
  const Picoseconds answered = request.at - config_.hop_latency;
  auto* extension = request.payload->get_extension<RegionExtension>();
  const Picoseconds from = extension != nullptr ? extension->first_data : answered;
  const Picoseconds start = std::max(cube.link.free_at(), from);
  cube.link.carry(from, length_of(*request.payload));
  cube.sent += length_of(*request.payload);
  if (extension != nullptr) {
    extension->first_data += way(request);
    extension->contention = std::max(extension->contention, start - from);
  }
  request.at = std::max(answered, cube.link.free_at()) + way(request);
  bring_back(request);
}

void CubeLinks::hand_on(Cube& cube) {
  while (!cube.arrived.empty() && !cube.memory.busy() && cube.memory.free_at() <= now()) {
    const Request request = cube.arrived.front();
    cube.arrived.pop_front();
    cube.in_memory.push_back(request);
    cube.memory.send(*request.payload);
  }
  if (!cube.arrived.empty() && !cube.memory.busy()) wake_at(cube.memory.free_at());
}

void CubeLinks::wake_at(Picoseconds time) { wake_.notify(to_sc_time(std::max(time - now(), Picoseconds(0)))); }

CubeId CubeLinks::requester(const Request& request) const { return CubeId(request.port->id() / channels_per_cube_); }

/// One way, along the shorter side of the ring.
Picoseconds CubeLinks::way(const Request& request) const {
  const auto cubes = static_cast<std::int64_t>(cubes_.size());
  const std::int64_t there = std::abs(target_of(*request.payload).count() - requester(request).count());
  return config_.hop_latency * std::min(there, cubes - there);
}

}  // namespace kernwave
