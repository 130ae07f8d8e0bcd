#include "models/memory/cube_router.h"

#include <algorithm>

namespace kernwave {

RouterPort::RouterPort(std::int64_t id, CubeId cube, std::int64_t cubes)
    : cube_(cube),
      cubes_(cubes),
      socket_(("channel" + std::to_string(id)).c_str()),
      hbm_("hbm" + std::to_string(id), *this),
      links_("links" + std::to_string(id), *this) {
  socket_.bind(*this);
}

/// What the protocol forbids is passed on like the rest, for the target to refuse.
tlm::tlm_sync_enum RouterPort::nb_transport_fw(Payload& payload, tlm::tlm_phase& phase, sc_core::sc_time& delay) {
  if (phase != tlm::END_RESP || responding_ == nullptr) return begin_request(payload, phase, delay);
  Way& way = *responding_;
  free_at_ = now() + to_picoseconds(delay);
  end_response();
  return way.socket->nb_transport_fw(payload, phase, delay);
}

tlm::tlm_sync_enum RouterPort::begin_request(Payload& payload, tlm::tlm_phase& phase, sc_core::sc_time& delay) {
  Way& way = way_of(payload);
  const tlm::tlm_sync_enum status = way.socket->nb_transport_fw(payload, phase, delay);
  if (status != tlm::TLM_UPDATED || phase != tlm::BEGIN_RESP) return status;
  const Picoseconds at = now() + to_picoseconds(delay);
  if (may_respond(at)) {
    responding_ = &way;
    return status;
  }
  hold({&way, &payload, at});
  phase = tlm::END_REQ;  // the request phase ends all the same
  return status;
}

tlm::tlm_sync_enum RouterPort::backward(Way& from, Payload& payload, tlm::tlm_phase& phase, sc_core::sc_time& delay) {
  if (phase != tlm::BEGIN_RESP) return socket_->nb_transport_bw(payload, phase, delay);
  const Picoseconds at = now() + to_picoseconds(delay);
  if (may_respond(at)) return respond(from, payload, phase, delay);
  hold({&from, &payload, at});
  return tlm::TLM_ACCEPTED;
}

tlm::tlm_sync_enum RouterPort::respond(Way& from, Payload& payload, tlm::tlm_phase& phase, sc_core::sc_time& delay) {
  responding_ = &from;
  const sc_core::sc_time began = delay;
  const tlm::tlm_sync_enum status = socket_->nb_transport_bw(payload, phase, delay);
  if (status == tlm::TLM_ACCEPTED) return status;
  // One that is acknowledged where it begins holds up nobody, however far ahead of time that is.
  if (delay > began) free_at_ = now() + to_picoseconds(delay);
  end_response();
  return status;
}

void RouterPort::end_response() {
  responding_ = nullptr;
  if (!held_.empty()) deliver_when_free();
}

void RouterPort::deliver_when_free() { deliver_.notify(to_sc_time(std::max(free_at_ - now(), Picoseconds(0)))); }

void RouterPort::hold(const Held& response) {
  response.payload->acquire();
  held_.push_back(response);
  if (responding_ == nullptr) deliver_when_free();
}

void RouterPort::deliver_held() {
  if (held_.empty() || responding_ != nullptr) return;  // woken for nothing: the end of that response wakes again
  if (free_at_ > now()) return deliver_when_free();
  const Held held = held_.front();
  held_.pop_front();
  tlm::tlm_phase phase = tlm::BEGIN_RESP;
  sc_core::sc_time delay = to_sc_time(std::max(held.at - now(), Picoseconds(0)));
  if (respond(*held.from, *held.payload, phase, delay) != tlm::TLM_ACCEPTED) {
    phase = tlm::END_RESP;  // which its way has been waiting for since it was held
    held.from->socket->nb_transport_fw(*held.payload, phase, delay);
  }
  held.payload->release();
}

CubeRouter::CubeRouter(const sc_core::sc_module_name& name, CubeId cube, std::int64_t cubes, std::int64_t ports)
    : sc_module(name) {
  for (std::int64_t id = 0; id < ports; ++id) ports_.add(id, cube, cubes);
}

}  // namespace kernwave
