// Multistage topologies: butterfly, fat tree; and the dragonfly.
#include <fmt/format.h>

#include <string>

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
// destination that a stage looks at names its output.
Topology butterfly(const NetworkConfig& config) {
  const Stages stages = stages_of(config);
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
        builder.add_link_at((stage - 1) * stages.per_stage + before, digit,
                            stage * stages.per_stage + address, port, {.delay = config.link_delay});
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
// is drawn at each router.
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
  const Wiring::Link like{.delay = config.link_delay};
  for (std::uint32_t level = 0; level + 1 < stages.count; ++level) {
    for (std::uint32_t w = 0; w < stages.per_stage; ++w) {
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

// Kim et al., ISCA 2008, minimal routing: to the router with the link to the group, over it, to the
// router of the destination. Layer 1 begins behind the link between groups.
Topology dragonfly(const NetworkConfig& config) {
  const auto groups = static_cast<std::uint32_t>(config.height);
  const auto size = static_cast<std::uint32_t>(config.width);
  const auto nodes = static_cast<std::uint32_t>(config.concentration);
  const std::uint32_t globals = (groups - 1 + size - 1) / size;  // of a router, at the most
  // Ports: nodes, the other routers of the group, other groups.
  const auto local_port = [&](std::uint32_t mine, std::uint32_t other) {
    return nodes + (other < mine ? other : other - 1);
  };
  // Which of a group's links leads to another group: they are dealt out router by router, in the
  // order of the other groups.
  const auto link_to = [](std::uint32_t group, std::uint32_t other) {
    return other < group ? other : other - 1;
  };
  const auto global_port = [&](std::uint32_t link) { return nodes + size - 1 + link % globals; };
  GraphBuilder builder(groups * size);
  for (std::uint32_t node = 0; node < groups * size * nodes; ++node) {
    builder.add_node_at(node / nodes, node % nodes);
  }
  const Wiring::Link local{.delay = config.link_delay};
  const Wiring::Link global{.delay = config.own<GraphConfig>().global_delay};
  for (std::uint32_t group = 0; group < groups; ++group) {
    for (std::uint32_t one = 0; one < size; ++one) {
      for (std::uint32_t other = 0; other < size; ++other) {
        if (one != other) {
          builder.add_link_at(group * size + one, local_port(one, other), group * size + other,
                              local_port(other, one), local);
        }
      }
    }
    for (std::uint32_t other = 0; other < groups; ++other) {
      if (other != group) {
        const std::uint32_t out = link_to(group, other);
        const std::uint32_t in = link_to(other, group);
        builder.add_link_at(group * size + out / globals, global_port(out),
                            other * size + in / globals, global_port(in), global);
      }
    }
  }
  Routes routes(groups * size, 2, 2);
  if (config.own<GraphConfig>().ways != "fixed") {
    routes.draw_entry_vcs();
    routes.leave_by_layer();
  }
  for (std::uint32_t phase = 0; phase < 2; ++phase) {
    for (std::uint32_t here = 0; here < groups * size; ++here) {
      for (std::uint32_t to = 0; to < groups * size; ++to) {
        const std::uint32_t mine = here % size;
        Routes::Step& step = routes.at(phase, RouterId(here), RouterId(to));
        const auto same = static_cast<std::uint8_t>(phase);
        if (here == to) {
          step.layer = same;
          continue;
        }
        if (here / size == to / size) {
          step = {port_number(local_port(mine, to % size)), same, same};
          continue;
        }
        const std::uint32_t link = link_to(here / size, to / size);
        const bool crosses = link / globals == mine;
        step = {port_number(crosses ? global_port(link) : local_port(mine, link / globals)),
                static_cast<std::uint8_t>(crosses ? 1 : 0), 0};
      }
    }
  }
  return {builder.take(), std::move(routes)};
}

}  // namespace ww::sim::net::graph
