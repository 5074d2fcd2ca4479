// Stages of several cycles, and speculation. A stage is not pipelined, as BookSim's is not: it
// works in batches and serves whoever waits when the last batch has ended.
#pragma once

#include <algorithm>
#include <cstdint>

#include "vc_router/router.hpp"

namespace ww::sim::net {

template <class S>
class Stages {
 public:
  using R = Router<S>;

  // One cycle of `router`, by its own clock, whose `open` outputs can take a flit. route(input VC)
  // answers request_vc() for a head, take_vc(grant) and traverse(winner) carry out what was
  // matched. False when the router has nothing left to do.
  template <class Rules, class Route, class TakeVc, class Traverse>
  bool step(std::int64_t now, const Rules& rules, R& router, typename S::Ports open,
            const Route& route, const TakeVc& take_vc, const Traverse& traverse) {
    const VcRouterConfig& config = rules.config();
    const bool switch_waits =
        router.holds_active_flits() || (config.speculative && router.wants_vcs());
    if (!routing_runs_ && router.awaits_routes()) {
      routing_runs_ = true;
      being_routed_ = router.take_awaiting();
      routing_due_ = now + config.routing_delay - 1;
    }
    if (!switch_runs_ && switch_waits) {
      switch_runs_ = true;
      winners_held_ = 0;
      router.template allocate_switch<true>(
          rules, router.bidders(), open,
          [&](typename R::Winner winner) { winners_[winners_held_++] = winner; });
      switch_due_ = now + config.sw_alloc_delay - 1;
    }
    if (!vc_runs_ && router.wants_vcs()) {
      vc_runs_ = true;
      grants_held_ = 0;
      router.allocate_vcs(rules,
                          [&](typename R::VcGrant grant) { grants_[grants_held_++] = grant; });
      vc_due_ = now + config.vc_alloc_delay - 1;
    }
    if (vc_runs_ && now >= vc_due_) {
      vc_runs_ = false;
      std::for_each_n(grants_.begin(), grants_held_, take_vc);
    }
    if (routing_runs_ && now >= routing_due_) {
      routing_runs_ = false;
      for_each_bit<PortVc>(being_routed_, route);
    }
    if (switch_runs_ && now >= switch_due_) {
      switch_runs_ = false;
      std::for_each_n(winners_.begin(), winners_held_, [&](typename R::Winner winner) {
        if (!winner.speculative || router.guessed_right(rules, winner)) {
          traverse(winner);
        }
      });
    }
    return router.holds_active_flits() || router.wants_vcs() || router.awaits_routes() ||
           routing_runs_ || vc_runs_ || switch_runs_;
  }

  // A batch of grants is under way: what it grants must stay requested.
  [[nodiscard]] bool allocates_vcs() const { return vc_runs_; }

  // Cycles until a flit that has just won the switch is sent. The crossbar takes what has won by
  // its next start; outputs then send one flit every `interval` cycles.
  [[nodiscard]] int send_delay(std::int64_t now, PortId output, int st_delay, int interval) {
    if (crossbar_start_ <= now) {
      crossbar_start_ = std::max(now + 1, crossbar_start_ + st_delay);
    }
    std::int64_t& last = last_send_[output];
    last = std::max(crossbar_start_ + st_delay - 1, last + interval);
    return static_cast<int>(last - now);
  }

 private:
  typename S::Mask being_routed_{};
  bool routing_runs_{};
  bool vc_runs_{};
  bool switch_runs_{};
  std::size_t grants_held_{};
  std::size_t winners_held_{};
  std::int64_t routing_due_{};
  std::int64_t vc_due_{};
  std::int64_t switch_due_{};
  std::int64_t crossbar_start_{-1};
  std::array<typename R::VcGrant, static_cast<std::size_t>(S::room_vcs)> grants_{};
  std::array<typename R::Winner, static_cast<std::size_t>(S::room_ports)> winners_{};
  IdArray<PortId, std::int64_t, S::room_ports> last_send_{};
};

}  // namespace ww::sim::net
