// Tables of routes for any graph, and the proof that one cannot deadlock.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <map>
#include <optional>
#include <queue>
#include <set>

#include "network/graph/graph.hpp"

namespace ww::sim::net::graph {
namespace {

constexpr std::uint32_t kFar = kNoWay;

using LinksOf = std::vector<std::vector<const Wiring::Link*>>;  // [router]

LinksOf links_from(const Wiring& wiring) {
  LinksOf of(wiring.routers);
  for (const Wiring::Link& link : wiring.links) {
    of[link.from.number()].push_back(&link);
  }
  return of;
}
LinksOf links_to(const Wiring& wiring) {
  LinksOf of(wiring.routers);
  for (const Wiring::Link& link : wiring.links) {
    of[link.to.number()].push_back(&link);
  }
  return of;
}

std::uint16_t output_of(const Wiring::Link& link) {
  return static_cast<std::uint16_t>(link.output.number());
}

}  // namespace

namespace {

// Dijkstra's search from `start`: distances, and the link by which a way leaves it.
struct Reached {
  std::vector<std::uint32_t> distance;
  std::vector<const Wiring::Link*> first;
};
Reached search(const LinksOf& from, std::uint32_t start) {
  Reached reached{std::vector<std::uint32_t>(from.size(), kFar),
                  std::vector<const Wiring::Link*>(from.size())};
  using Entry = std::pair<std::uint32_t, std::uint32_t>;  // distance, router
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> open;
  reached.distance[start] = 0;
  open.push({0, start});
  while (!open.empty()) {
    const auto [so_far, router] = open.top();
    open.pop();
    if (so_far != reached.distance[router]) {
      continue;
    }
    std::vector<const Wiring::Link*> next = from[router];
    std::stable_sort(next.begin(), next.end(),
                     [](const auto* a, const auto* b) { return a->to < b->to; });
    for (const Wiring::Link* link : next) {
      const std::uint32_t to = link->to.number();
      const std::uint32_t distance = so_far + static_cast<std::uint32_t>(link->delay);
      if (distance < reached.distance[to]) {
        reached.distance[to] = distance;
        reached.first[to] = router == start ? link : reached.first[router];
        open.push({distance, to});
      }
    }
  }
  return reached;
}

}  // namespace

Routes minimal_routes(const Wiring& wiring) {
  Routes routes(wiring.routers, 1, 1);
  const LinksOf from = links_from(wiring);
  for (std::uint32_t start = 0; start < wiring.routers; ++start) {
    const Reached reached = search(from, start);
    for (std::uint32_t to = 0; to < wiring.routers; ++to) {
      if (reached.first[to] != nullptr) {
        routes.at(0, RouterId(start), RouterId(to)).output = output_of(*reached.first[to]);
      }
    }
  }
  return routes;
}

std::vector<std::uint32_t> distances(const Wiring& wiring) {
  std::vector<std::uint32_t> all;
  const LinksOf from = links_from(wiring);
  for (std::uint32_t start = 0; start < wiring.routers; ++start) {
    const std::vector<std::uint32_t> row = search(from, start).distance;
    all.insert(all.end(), row.begin(), row.end());
  }
  return all;
}

Routes up_down_routes(const Wiring& wiring) {
  // Ranks: distance from the root, then number. A link to a lower rank goes up.
  std::vector<std::uint32_t> level(wiring.routers, kFar);
  const LinksOf from = links_from(wiring);
  const LinksOf to = links_to(wiring);
  for (std::uint32_t root = 0; root < wiring.routers; ++root) {  // of each part of the graph
    if (level[root] != kFar) {
      continue;
    }
    std::queue<std::uint32_t> open;
    level[root] = 0;
    open.push(root);
    while (!open.empty()) {
      const std::uint32_t router = open.front();
      open.pop();
      const auto reach = [&](std::uint32_t next) {
        if (level[next] == kFar) {
          level[next] = level[router] + 1;
          open.push(next);
        }
      };
      for (const Wiring::Link* link : from[router]) {
        reach(link->to.number());
      }
      for (const Wiring::Link* link : to[router]) {
        reach(link->from.number());
      }
    }
  }
  const auto goes_up = [&](const Wiring::Link& link) {
    const std::uint32_t a = link.from.number();
    const std::uint32_t b = link.to.number();
    return std::pair(level[b], b) < std::pair(level[a], a);
  };
  constexpr std::uint32_t kUp = 0;    // phases: it may still go up,
  constexpr std::uint32_t kDown = 1;  // it has gone down
  Routes routes(wiring.routers, 2, 1);
  for (std::uint32_t target = 0; target < wiring.routers; ++target) {
    // Backwards from the target over states (router, phase).
    std::vector<std::uint32_t> left(2 * std::size_t{wiring.routers}, kFar);
    const auto state = [](std::uint32_t router, std::uint32_t phase) {
      return 2 * std::size_t{router} + phase;
    };
    std::queue<std::pair<std::uint32_t, std::uint32_t>> open;
    for (const std::uint32_t phase : {kUp, kDown}) {
      left[state(target, phase)] = 0;
      open.push({target, phase});
    }
    while (!open.empty()) {
      const auto [router, phase] = open.front();
      open.pop();
      for (const Wiring::Link* link : to[router]) {
        const bool up = goes_up(*link);
        if (up != (phase == kUp)) {
          continue;  // behind a link up one may go up, behind a link down one may not
        }
        const std::uint32_t before = link->from.number();
        for (const std::uint32_t earlier : {kUp, kDown}) {
          if (earlier == kDown && up) {
            continue;
          }
          std::uint32_t& of = left[state(before, earlier)];
          if (of == kFar) {
            of = left[state(router, phase)] + 1;
            open.push({before, earlier});
          }
        }
      }
    }
    for (std::uint32_t here = 0; here < wiring.routers; ++here) {
      for (const std::uint32_t phase : {kUp, kDown}) {
        std::uint32_t best = kFar;
        Routes::Step& step = routes.at(phase, RouterId(here), RouterId(target));
        for (const Wiring::Link* link : from[here]) {
          const bool up = goes_up(*link);
          const std::uint32_t after = up ? kUp : kDown;
          if (phase == kDown && up) {
            continue;
          }
          const std::uint32_t rest = left[state(link->to.number(), after)];
          if (rest < best) {
            best = rest;
            step = {output_of(*link), static_cast<std::uint8_t>(after), 0};
          }
        }
      }
    }
  }
  return routes;
}

Routes dimension_order_routes(const Wiring& wiring, const std::vector<Position>& at) {
  Routes routes(wiring.routers, 1, 1);
  const LinksOf from = links_from(wiring);
  for (std::uint32_t here = 0; here < wiring.routers; ++here) {
    for (std::uint32_t to = 0; to < wiring.routers; ++to) {
      const bool along_x = at[here].x != at[to].x;
      const auto left = [&](std::uint32_t router) {
        return along_x ? std::abs(at[router].x - at[to].x) : std::abs(at[router].y - at[to].y);
      };
      int best = left(here);
      const auto passes = [&](std::uint32_t next) {
        const auto ahead = [&](std::uint32_t router) {
          return along_x ? at[to].x - at[router].x : at[to].y - at[router].y;
        };
        return ahead(here) * ahead(next) < 0;
      };
      for (const Wiring::Link* link : from[here]) {
        const std::uint32_t next = link->to.number();
        const bool stays = along_x ? at[next].y == at[here].y : at[next].x == at[here].x;
        if (stays && left(next) < best && !passes(next)) {
          best = left(next);
          routes.at(0, RouterId(here), RouterId(to)).output = output_of(*link);
        }
      }
    }
  }
  return routes;
}

namespace {

// The channels that wait for channels: a link and a layer of its VCs each.
class Dependencies {
 public:
  Dependencies(const Wiring& wiring, std::uint32_t layers)
      : wiring_(wiring), layers_(layers), waits_for_(wiring.links.size() * layers) {}

  [[nodiscard]] std::uint32_t channel(std::uint32_t link, std::uint32_t layer) const {
    return link * layers_ + layer;
  }
  void add(std::uint32_t channel, std::uint32_t next) { waits_for_[channel].insert(next); }

  // "router 0 -> 1 -> 2 -> 0"; empty when there is no circle.
  [[nodiscard]] std::string circle() const {
    enum class Mark : char { fresh, open, done };
    std::vector<Mark> marks(waits_for_.size(), Mark::fresh);
    using Iterator = std::set<std::uint32_t>::const_iterator;
    std::vector<std::pair<std::uint32_t, Iterator>> path;  // depth first, without recursion
    for (std::uint32_t start = 0; start < marks.size(); ++start) {
      if (marks[start] != Mark::fresh) {
        continue;
      }
      path.assign(1, {start, waits_for_[start].begin()});
      marks[start] = Mark::open;
      while (!path.empty()) {
        auto& [channel, next] = path.back();
        if (next == waits_for_[channel].end()) {
          marks[channel] = Mark::done;
          path.pop_back();
          continue;
        }
        const std::uint32_t to = *next++;
        if (marks[to] == Mark::open) {
          return text_of(path, to);
        }
        if (marks[to] == Mark::fresh) {
          marks[to] = Mark::open;
          path.push_back({to, waits_for_[to].begin()});
        }
      }
    }
    return {};
  }

 private:
  template <class Path>
  [[nodiscard]] std::string text_of(const Path& path, std::uint32_t first) const {
    std::string text;
    const auto begin = std::find_if(path.begin(), path.end(),
                                    [first](const auto& entry) { return entry.first == first; });
    for (auto entry = begin; entry != path.end(); ++entry) {
      const Wiring::Link& link = wiring_.links[entry->first / layers_];
      text += fmt::format("{} -> ", link.from.number());
      if (entry + 1 == path.end()) {
        text += fmt::format("{}", link.to.number());
      }
    }
    return text;
  }

  const Wiring& wiring_;
  std::uint32_t layers_;
  std::vector<std::set<std::uint32_t>> waits_for_;
};

// Routers that adaptive ways from the entries to `to` may pass.
std::set<RouterId> passed_to(RouterId to, const std::set<RouterId>& entries, const LinksOf& from,
                             const Routes& routes) {
  std::set<RouterId> passed = entries;
  std::vector<RouterId> open(entries.begin(), entries.end());
  while (!open.empty()) {
    const RouterId here = open.back();
    open.pop_back();
    for (const Wiring::Link* link : from[here.number()]) {
      const std::uint32_t beyond = routes.distance(link->to, to);
      const bool nearer = beyond != kNoWay && beyond + static_cast<std::uint32_t>(link->delay) ==
                                                  routes.distance(here, to);
      if (nearer && passed.insert(link->to).second) {
        open.push_back(link->to);
      }
    }
  }
  return passed;
}

}  // namespace

Result<HopTable> check_routes(const Topology& topology, Circles circles) {
  const Wiring& wiring = topology.wiring;
  const Routes& routes = topology.routes;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> link_at;  // (router, output)
  for (std::uint32_t i = 0; i < wiring.links.size(); ++i) {
    const Wiring::Link& link = wiring.links[i];
    link_at[{link.from.number(), link.output.number()}] = i;
  }
  std::set<RouterId> entries;
  std::set<RouterId> exits;
  for (const Wiring::Terminal& terminal : wiring.terminals) {
    entries.insert(terminal.from);
    exits.insert(terminal.to);
  }
  Dependencies dependencies(wiring, routes.layers());
  HopTable hops(std::size_t{wiring.routers} * wiring.routers);
  const std::size_t longest = std::size_t{routes.phases()} * wiring.routers;
  // A packet under way: where it is, the channel that it holds, and the routers that it has passed.
  struct Head {
    RouterId here;
    std::uint32_t phase{};
    std::optional<std::uint32_t> held;
    std::size_t passed{1};
  };
  std::vector<Head> open;
  // Where it draws its way, it may take any.
  const auto come_to = [&](Head head, RouterId to) {
    const bool draws = routes.draws_under_way() || head.passed == 1;
    const Routes::Draw draw = draws ? routes.draw(head.here, to) : Routes::Draw{};
    if (draw.ways == 0) {
      open.push_back(head);
    }
    for (std::uint32_t way = 0; way < draw.ways; ++way) {
      head.phase = draw.first_phase + way;
      open.push_back(head);
    }
  };
  const auto follow = [&](RouterId from, RouterId to, std::uint32_t phase) -> Status {
    come_to({from, phase, {}}, to);
    while (!open.empty()) {
      Head head = open.back();
      open.pop_back();
      if (head.here == to) {
        hops[std::size_t{from.number()} * wiring.routers + to.number()] =
            static_cast<std::uint16_t>(head.passed);
        continue;
      }
      const Routes::Step& step = routes.at(head.phase, head.here, to);
      const auto link = link_at.find({head.here.number(), step.output});
      if (link == link_at.end() || head.passed > longest) {
        return fail(ErrorCode::bad_data,
                    fmt::format("there is {} from router {} to router {}",
                                link == link_at.end() ? "no way" : "no end to the way",
                                from.number(), to.number()),
                    "routing");
      }
      const std::uint32_t channel = dependencies.channel(link->second, step.layer);
      if (head.held) {
        dependencies.add(*head.held, channel);
      }
      come_to({wiring.links[link->second].to, step.phase, channel, head.passed + 1}, to);
    }
    return {};
  };
  const auto follow_all = [&](RouterId from, RouterId to) -> Status {
    // A detour begins in phase 1 and ends in its own.
    const std::uint32_t legs =
        routes.detours() ? std::max(2u, routes.detours()->phase_behind() + 1) : 1;
    for (std::uint32_t phase = 0; phase < std::max(legs, routes.first_phases()); ++phase) {
      WW_TRY(follow(from, to, phase));
    }
    return {};
  };
  if (routes.adaptive()) {
    const LinksOf links = links_from(wiring);
    for (const RouterId to : exits) {
      for (const RouterId from : passed_to(to, entries, links, routes)) {
        WW_TRY(follow_all(from, to));
      }
    }
  } else {
    for (const RouterId from : entries) {
      for (const RouterId to : exits) {
        WW_TRY(follow_all(from, to));
      }
    }
  }
  if (circles == Circles::watch) {
    return hops;
  }
  if (const std::string circle = dependencies.circle(); !circle.empty()) {
    return fail(ErrorCode::bad_data,
                fmt::format("packets could wait for each other in a circle for ever, over the "
                            "routers {}; {} cannot deadlock",
                            circle,
                            routes.detours()    ? "ways = ugal"
                            : routes.adaptive() ? "escape up-down"
                                                : "routing up-down"),
                "routing");
  }
  return hops;
}

}  // namespace ww::sim::net::graph
