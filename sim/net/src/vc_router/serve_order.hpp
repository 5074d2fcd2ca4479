// The order in which BookSim 2's routers serve their queues. It decides nothing but the order of
// the random numbers that heads draw for their ways, so that only such networks keep it.
//
// A router has two queues (Jiang et al., ISPASS 2013): heads that want a VC, and input VCs that
// want the switch. Each cycle serves all of a queue. Who gets nothing stays where it was, and so
// does an input VC whose next flit follows at once. Heads that got their VC go in front of the
// second queue.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "vc_router/ids.hpp"

namespace ww::sim::net {

class ServeOrder {
 public:
  ServeOrder(std::uint32_t routers, std::uint32_t input_vcs) : routers_(routers) {
    for (Queues& queues : routers_) {
      for (auto* list :
           {&queues.new_heads, &queues.new_bids, &queues.heads, &queues.bids, &queues.granted}) {
        list->reserve(input_vcs);
      }
    }
  }

  // A flit has come to an empty input VC: a head that wants a VC, or a flit of an earlier head.
  void arrive(RouterId router, PortVc input_vc, bool is_head) {
    Queues& queues = routers_[router];
    (is_head ? queues.new_heads : queues.new_bids).push_back(input_vc);
  }

  // Puts this cycle's arrivals into their places, by input. Call before the allocators.
  void begin_cycle(RouterId router) {
    Queues& queues = routers_[router];
    append_sorted(queues.new_heads, queues.heads);
    append_sorted(queues.new_bids, queues.bids);
  }

  void grant(RouterId router, PortVc input_vc) { routers_[router].granted.push_back(input_vc); }
  // Moves the granted heads to the front of the bids; call after all grants of a cycle.
  void end_grants(RouterId router) {
    Queues& queues = routers_[router];
    const auto is_granted = [&](PortVc input_vc) { return contains(queues.granted, input_vc); };
    const auto left = std::stable_partition(queues.heads.begin(), queues.heads.end(), is_granted);
    queues.bids.insert(queues.bids.begin(), queues.heads.begin(), left);
    queues.heads.erase(queues.heads.begin(), left);
    queues.granted.clear();
  }

  // Puts the winners of a router's switch into the order in which they are served.
  template <class Winner>
  void sort(RouterId router, std::span<Winner> winners) const {
    const std::vector<PortVc>& bids = routers_[router].bids;
    const auto place = [&](const Winner& winner) {
      return std::find(bids.begin(), bids.end(), PortVc(winner.winner.input_vc)) - bids.begin();
    };
    std::sort(winners.begin(), winners.end(),
              [&](const Winner& a, const Winner& b) { return place(a) < place(b); });
  }

  // A flit has left through the switch; `more`: another one is behind it.
  void depart(RouterId router, PortVc input_vc, bool tail, bool more) {
    Queues& queues = routers_[router];
    if (tail || !more) {
      std::erase(queues.bids, input_vc);
    }
    if (tail && more) {
      queues.heads.push_back(input_vc);
    }
  }

 private:
  struct Queues {
    std::vector<PortVc> new_heads, new_bids;  // of this cycle
    std::vector<PortVc> heads, bids;
    std::vector<PortVc> granted;  // of this cycle
  };

  [[nodiscard]] static bool contains(const std::vector<PortVc>& list, PortVc input_vc) {
    return std::find(list.begin(), list.end(), input_vc) != list.end();
  }
  static void append_sorted(std::vector<PortVc>& from, std::vector<PortVc>& to) {
    std::sort(from.begin(), from.end(), [](PortVc a, PortVc b) { return a.number() < b.number(); });
    to.insert(to.end(), from.begin(), from.end());
    from.clear();
  }

  IdVector<RouterId, Queues> routers_;
};

}  // namespace ww::sim::net
