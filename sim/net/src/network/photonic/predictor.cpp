#include "network/photonic/predictor.hpp"

namespace ww::sim::net::photonic {

bool restr_pred(const StationCounts& counts, const PhotonicConfig& keys) {
  const auto received = static_cast<double>(counts.received);
  const auto sent = static_cast<double>(counts.sent);
  const bool must_answer = received >= keys.rt && sent <= keys.alpha * keys.rt;
  const bool has_waited = static_cast<double>(counts.waited) >= keys.wt;
  const bool was_quiet = received <= keys.rt && sent < keys.alpha * received;
  return must_answer || has_waited || was_quiet;
}

bool flex_pred(const StationCounts& counts, const PhotonicConfig& keys) {
  const auto received = static_cast<double>(counts.received);
  const auto pending = static_cast<double>(counts.pending);
  const bool was_asked = received >= keys.alpha * keys.rt;
  const bool has_waited = static_cast<double>(counts.waited) >= keys.alpha * keys.wt;
  const bool has_more =
      pending >= keys.beta * received && (keys.flex_literal || counts.pending > 0);
  return was_asked || has_waited || has_more;
}

}  // namespace ww::sim::net::photonic
