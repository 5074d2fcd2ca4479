// Multistage topologies: butterfly, fat tree; and the dragonfly.
#include <fmt/format.h>

#include <string>

#include "network/graph/floorplan.hpp"
#include "network/graph/topologies.hpp"

namespace ww::sim::net::graph {
namespace {

// Nodes as a power of the radix.
struct Stages {
  std::uint32_t radix{};
  std::uint32_t count{};       // of stages
  std::uint32_t per_stage{1};  // routers: radix^(count - 1)
};
Stages stages_of(const NetworkConfig& config) {
  Stages stages{static_cast<std::uint32_t>(config.own<GraphConfig>().radix), 1};
  const auto nodes = static_cast<std::uint32_t>(node_count(config));
  for (std::uint32_t reached = stages.radix; reached < nodes; reached *= stages.radix) {
    ++stages.count;
    stages.per_stage *= stages.radix;
  }
  return stages;
}

std::uint32_t power_of(std::uint32_t base, std::uint32_t exponent) {
  std::uint32_t power = 1;
  while (exponent-- > 0) {
    power *= base;
  }
  return power;
}

std::uint16_t port_number(std::uint32_t port) {
  return static_cast<std::uint16_t>(port);
}

}  // namespace

Status check_radix(const NetworkConfig& config) {
  const Stages stages = stages_of(config);
  if (stages.radix * stages.per_stage != static_cast<std::uint32_t>(node_count(config))) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("{} nodes are not a power of radix = {}: {} has radix x radix x ... of "
                            "them",
                            node_count(config), stages.radix, config.network),
                "radix");
  }
  if (stages.count * stages.per_stage > kMaxRouters) {
    return fail(ErrorCode::out_of_range,
                fmt::format("radix = {} makes {} routers, more than a table of routes takes: {}",
                            stages.radix, stages.count * stages.per_stage, kMaxRouters),
                "radix");
  }
  return {};
}

// Dally and Towles, ch. 4. Stage s of router number s * per_stage + address; the digit of the
// destination that a stage looks at names its output. Routers of one address lie together, in the
// middle of the address's nodes, as in the drawing from which Kim, Dally and Abts (ISCA 2007)
// flatten a butterfly.
Topology butterfly(const NetworkConfig& config) {
  const Stages stages = stages_of(config);
  const auto place = [&](std::uint32_t address) {
    return middle_of(config, {address * stages.radix, stages.radix});
  };
  const std::uint32_t routers = stages.count * stages.per_stage;
  const std::uint32_t last = (stages.count - 1) * stages.per_stage;
  GraphBuilder builder(routers);
  for (std::uint32_t node = 0; node < stages.radix * stages.per_stage; ++node) {
    builder.add_node(node / stages.radix, last + node / stages.radix, 1);
  }
  for (std::uint32_t stage = 1; stage < stages.count; ++stage) {
    const std::uint32_t shift = power_of(stages.radix, stages.count - 1 - stage);
    for (std::uint32_t address = 0; address < stages.per_stage; ++address) {
      for (std::uint32_t port = 0; port < stages.radix; ++port) {
        // The digit that this stage settles comes from the port, and goes to it.
        const std::uint32_t digit = address / shift % stages.radix;
        const std::uint32_t before = address - digit * shift + port * shift;
        builder.add_link_at(
            (stage - 1) * stages.per_stage + before, digit, stage * stages.per_stage + address,
            port, {.delay = config.link_delay, .pitches = distance(place(before), place(address))});
      }
    }
  }
  Routes routes(routers, 1, 1);
  for (std::uint32_t stage = 0; stage + 1 < stages.count; ++stage) {
    const std::uint32_t shift = power_of(stages.radix, stages.count - 2 - stage);
    for (std::uint32_t address = 0; address < stages.per_stage; ++address) {
      for (std::uint32_t to = 0; to < stages.per_stage; ++to) {
        routes.at(0, RouterId(stage * stages.per_stage + address), RouterId(last + to)).output =
            port_number(to / shift % stages.radix);
      }
    }
  }
  return {builder.take(), std::move(routes)};
}

// A k-ary n-tree (Petrini and Vanneschi, IPPS 1997). Level 0 has the nodes, and the highest level
// the lowest numbers of routers. Ports: k down, k up; router w of level l and w' of level l + 1 are
// joined where their digits agree but for digit l. The way up is chosen by the digits of the
// destination, so that packets for one node meet early and those for different nodes spread; or it
// is drawn at each router. A router lies in the middle of the nodes below it.
Topology fat_tree(const NetworkConfig& config) {
  const Stages stages = stages_of(config);
  const std::string& ways = config.own<GraphConfig>().ways;
  const std::uint32_t k = stages.radix;
  const std::uint32_t routers = stages.count * stages.per_stage;
  const auto router = [&](std::uint32_t level, std::uint32_t w) {
    return (stages.count - 1 - level) * stages.per_stage + w;
  };
  GraphBuilder builder(routers);
  for (std::uint32_t node = 0; node < k * stages.per_stage; ++node) {
    builder.add_node_at(router(0, node / k), node % k);
  }
  const auto digit = [&](std::uint32_t w, std::uint32_t place) {
    return w / power_of(k, place) % k;
  };
  const auto place = [&](std::uint32_t level, std::uint32_t w) {
    const std::uint32_t below = power_of(k, level + 1);
    return middle_of(config, {w * k / below * below, below});
  };
  for (std::uint32_t level = 0; level + 1 < stages.count; ++level) {
    for (std::uint32_t w = 0; w < stages.per_stage; ++w) {
      // All routers above it have the same nodes below them.
      const Wiring::Link like{.delay = config.link_delay,
                              .pitches = distance(place(level, w), place(level + 1, w))};
      for (std::uint32_t up = 0; up < k; ++up) {
        const std::uint32_t mine = digit(w, level);
        const std::uint32_t above = w - mine * power_of(k, level) + up * power_of(k, level);
        const std::uint32_t low = router(level, w);
        const std::uint32_t high = router(level + 1, above);
        builder.add_link_at(low, k + up, high, mine, like);
        builder.add_link_at(high, mine, low, k + up, like);
      }
    }
  }
  Routes routes(routers, k, 1);
  routes.spread_over(k);  // the phase is the destination's place at its router
  const auto choice =
      ways == "booksim-adaptive" ? Routes::Choice::freer_of_two : Routes::Choice::any;
  for (std::uint32_t level = 0; level < stages.count; ++level) {
    for (std::uint32_t w = 0; w < stages.per_stage; ++w) {
      for (std::uint32_t to = 0; to < stages.per_stage; ++to) {
        if (level == 0 && w == to) {
          continue;
        }
        const RouterId here(router(level, w));
        const RouterId end(router(0, to));
        const bool below = w / power_of(k, level) == to / power_of(k, level);
        if (!below && ways != "fixed") {
          routes.draw_at(here, end, {static_cast<std::uint8_t>(k), 0, choice});
        }
        for (std::uint32_t phase = 0; phase < k; ++phase) {
          const bool by_phase = level == 0 || ways != "fixed";
          const std::uint32_t port = below      ? digit(to, level - 1)
                                     : by_phase ? k + phase
                                                : k + digit(to, level - 1);
          routes.at(phase, here, end) = {port_number(port), static_cast<std::uint8_t>(phase), 0};
        }
      }
    }
  }
  return {builder.take(), std::move(routes)};
}

namespace {

// How the routers of a dragonfly are joined. Ports: nodes, the other routers of the group, other
// groups.
struct Groups {
  std::uint32_t count;
  std::uint32_t size;     // routers of a group
  std::uint32_t nodes;    // of a router
  std::uint32_t globals;  // links of a router to other groups, at the most

  [[nodiscard]] std::uint32_t local_port(std::uint32_t mine, std::uint32_t other) const {
    return nodes + (other < mine ? other : other - 1);
  }
  // Which of a group's links leads to another group: they are dealt out router by router, in the
  // order of the other groups.
  [[nodiscard]] static std::uint32_t link_to(std::uint32_t group, std::uint32_t other) {
    return other < group ? other : other - 1;
  }
  [[nodiscard]] std::uint32_t global_port(std::uint32_t link) const {
    return nodes + size - 1 + link % globals;
  }

  // The output on the shortest way.
  struct Way {
    std::uint16_t output{};
    bool crosses{};  // to another group
  };
  [[nodiscard]] Way way(std::uint32_t here, std::uint32_t to) const {
    const std::uint32_t mine = here % size;
    if (here / size == to / size) {
      return {port_number(local_port(mine, to % size)), false};
    }
    const std::uint32_t link = link_to(here / size, to / size);
    const bool crosses = link / globals == mine;
    return {port_number(crosses ? global_port(link) : local_port(mine, link / globals)), crosses};
  }
};

// Routes to the router with the link to the group, over it, to the router of the destination. Layer
// 1 begins behind the link between groups.
Routes shortest_routes(const Groups& groups) {
  const std::uint32_t routers = groups.count * groups.size;
  Routes routes(routers, 2, 2);
  for (std::uint32_t phase = 0; phase < 2; ++phase) {
    const auto same = static_cast<std::uint8_t>(phase);
    for (std::uint32_t here = 0; here < routers; ++here) {
      for (std::uint32_t to = 0; to < routers; ++to) {
        Routes::Step& step = routes.at(phase, RouterId(here), RouterId(to));
        if (here == to) {
          step.layer = same;
          continue;
        }
        const Groups::Way way = groups.way(here, to);
        const bool same_group = here / groups.size == to / groups.size;
        step = same_group ? Routes::Step{way.output, same, same}
                          : Routes::Step{way.output, static_cast<std::uint8_t>(way.crosses), 0};
      }
    }
  }
  return routes;
}

// Routes with detours by a router of another group (UGAL), in BookSim's layers: 0 for the detour, 1
// from there to the link to the last group, 2 over that link and behind it, and for packets that
// stay in their group. In these a detour uses a group's links with layer 0 where it begins and
// where it ends, so that such detours may wait for each other in a circle over several groups. With
// `layer_for_ends` a detour has layer 3 in the group where it ends, and no circle is left: what
// waits for a channel holds one that comes before it in the order 0 within a group, 0 between
// groups, 3, 1, 2 between groups, 2 within a group.
Routes detour_routes(const Groups& groups, bool layer_for_ends) {
  constexpr std::uint8_t kEntered = 0;
  constexpr std::uint8_t kDetour = 1;
  constexpr std::uint8_t kBehind = 2;   // it has passed the detour's router
  constexpr std::uint8_t kCrossed = 3;  // it has come to its last group
  const std::uint32_t routers = groups.count * groups.size;
  Routes routes(routers, 4, layer_for_ends ? 4 : 3);
  const std::uint8_t at_detours_end = layer_for_ends ? 3 : 0;
  // [phase]: layers within the group of the destination, and on the way to it
  const std::uint8_t near[] = {2, at_detours_end, 1, 2};
  const std::uint8_t far[] = {1, 0, 1};
  for (std::uint32_t here = 0; here < routers; ++here) {
    for (std::uint32_t to = 0; to < routers; ++to) {
      const bool same_group = here / groups.size == to / groups.size;
      for (const std::uint8_t phase : {kEntered, kDetour, kBehind, kCrossed}) {
        Routes::Step& step = routes.at(phase, RouterId(here), RouterId(to));
        if (here == to) {
          step.layer = near[phase];
        } else if (same_group) {
          step = {groups.way(here, to).output, phase, near[phase]};
        } else if (phase != kCrossed) {
          const Groups::Way way = groups.way(here, to);
          const bool arrives = way.crosses && phase != kDetour;
          step = {way.output, arrives ? kCrossed : phase, arrives ? near[kCrossed] : far[phase]};
        }
      }
    }
  }
  std::vector<Position> at;
  std::vector<RouterId> nodes;
  for (std::uint32_t router = 0; router < routers; ++router) {
    at.push_back({static_cast<int>(router % groups.size), static_cast<int>(router / groups.size)});
    nodes.insert(nodes.end(), groups.nodes, RouterId(router));
  }
  routes.make_detours(Detours(Detours::Kind::ugal_groups, static_cast<int>(groups.nodes),
                              std::move(at), std::move(nodes), kBehind));
  return routes;
}

}  // namespace

// Kim et al., ISCA 2008. A group is a row of routers, and groups lie above each other.
Topology dragonfly(const NetworkConfig& config) {
  const auto size = static_cast<std::uint32_t>(config.width);
  const auto count = static_cast<std::uint32_t>(config.height);
  const Groups groups{count, size, static_cast<std::uint32_t>(config.concentration),
                      (count - 1 + size - 1) / size};
  GraphBuilder builder(count * size);
  for (std::uint32_t node = 0; node < count * size * groups.nodes; ++node) {
    builder.add_node_at(node / groups.nodes, node % groups.nodes);
  }
  const Tile tile = tile_of(config.concentration);
  // Between routers of their groups.
  const auto pitches = [&](std::uint32_t one, std::uint32_t in, std::uint32_t other,
                           std::uint32_t of) {
    const auto place = [&](std::uint32_t router, std::uint32_t group) {
      return Place{1.0 * tile.columns * router, 1.0 * tile.rows * group};
    };
    return distance(place(one, in), place(other, of));
  };
  for (std::uint32_t group = 0; group < count; ++group) {
    for (std::uint32_t one = 0; one < size; ++one) {
      for (std::uint32_t other = 0; other < size; ++other) {
        if (one != other) {
          builder.add_link_at(
              group * size + one, groups.local_port(one, other), group * size + other,
              groups.local_port(other, one),
              {.delay = config.link_delay, .pitches = pitches(one, group, other, group)});
        }
      }
    }
    for (std::uint32_t other = 0; other < count; ++other) {
      if (other != group) {
        const std::uint32_t out = Groups::link_to(group, other);
        const std::uint32_t in = Groups::link_to(other, group);
        const std::uint32_t from = out / groups.globals;
        const std::uint32_t to = in / groups.globals;
        builder.add_link_at(group * size + from, groups.global_port(out), other * size + to,
                            groups.global_port(in),
                            {.delay = config.own<GraphConfig>().global_delay,
                             .pitches = pitches(from, group, to, other)});
      }
    }
  }
  const std::string& ways = config.own<GraphConfig>().ways;
  const bool detours = ways == "ugal" || ways == "booksim-ugal";
  Routes routes = detours ? detour_routes(groups, ways == "ugal") : shortest_routes(groups);
  if (ways != "fixed") {
    routes.draw_entry_vcs();
    routes.leave_by_layer();
  }
  return {builder.take(), std::move(routes)};
}

}  // namespace ww::sim::net::graph
