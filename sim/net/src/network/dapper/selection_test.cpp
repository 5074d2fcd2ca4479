// Walks every (controller, core) path through the maps of the selection units.
#include "network/dapper/selection.hpp"

#include <gtest/gtest.h>

#include <set>
#include <vector>

#include "ww/sim/net/config.hpp"

namespace ww::sim::net {
namespace {

struct Spot {
  Coordinates at;
  Port input{};
};

Port facing(Port output) {
  constexpr std::array kFacing{Port::west, Port::east, Port::north, Port::south, Port::local};
  return kFacing[static_cast<std::size_t>(output)];
}

Coordinates beyond(Coordinates from, Port output) {
  constexpr std::array kX{1, -1, 0, 0, 0};
  constexpr std::array kY{0, 0, 1, -1, 0};
  const auto port = static_cast<std::size_t>(output);
  return {from.x + kX[port], from.y + kY[port]};
}

class Walk {
 public:
  Walk(int width, int height, Coordinates mc) : width_(width), height_(height), mc_(mc) {}

  // Latches that hold a flit one cycle after it left `at` by `outputs`.
  std::vector<Spot> spread(Coordinates at, std::uint8_t outputs) {
    std::vector<Spot> latched;
    for (std::size_t port = 0; port < kPorts; ++port) {
      if ((outputs >> port & 1u) == 0) continue;
      Coordinates here = at;
      for (auto output = static_cast<Port>(port);;) {
        EXPECT_TRUE(drive(here, output)) << "two drivers of one port";
        here = beyond(here, output);
        if (here.x < 0 || here.x >= width_ || here.y < 0 || here.y >= height_) break;
        const Port input = facing(output);
        const PortMap map = select_ports(here, mc_);
        if (map.latched[static_cast<std::size_t>(input)]) latched.push_back({here, input});
        bool goes_on = false;
        for (std::size_t next = 0; next < kPorts; ++next) {
          if (map.from_input[next] == static_cast<std::uint8_t>(input)) {
            output = static_cast<Port>(next);
            goes_on = true;
          }
        }
        if (!goes_on) break;
      }
    }
    return latched;
  }

  // The latches after the x cycle: the row's.
  std::vector<Spot> first_cycle() {
    const PortMap here = select_ports(mc_, mc_);
    std::uint8_t outputs = 0;
    for (std::size_t port = 0; port < kPorts; ++port) {
      if (here.from_input[port] == static_cast<std::uint8_t>(Port::local)) {
        outputs = static_cast<std::uint8_t>(outputs | 1u << port);
      }
    }
    auto latched = spread(mc_, outputs);
    if (here.latched[static_cast<std::size_t>(Port::local)]) {
      latched.push_back({mc_, Port::local});
    }
    return latched;
  }

  [[nodiscard]] std::uint8_t latch_to(const Spot& spot) const {
    return select_ports(spot.at, mc_).latch_to[static_cast<std::size_t>(spot.input)];
  }

 private:
  bool drive(Coordinates at, Port output) {
    return driven_.insert((at.y * width_ + at.x) * 8 + static_cast<int>(output)).second;
  }
  int width_, height_;
  Coordinates mc_;
  std::set<int> driven_;  // output ports of the reply plane, over all cycles of one circuit
};

// The scenario of the core's own router, by where it lies.
int scenario_of(Coordinates core, Coordinates mc) {
  if (core.y == mc.y) return core.x == mc.x ? 1 : 2;
  return core.y > mc.y ? 3 : 4;
}

void every_core_in_three_cycles(int width, int height, Coordinates mc) {
  Walk walk(width, height, mc);
  constexpr std::uint8_t kLocal = 1u << static_cast<int>(Port::local);
  std::vector<int> reached(static_cast<std::size_t>(width * height));
  const auto arrive = [&](const Spot& spot) {
    if ((walk.latch_to(spot) & kLocal) != 0) {
      ++reached[static_cast<std::size_t>(spot.at.y * width + spot.at.x)];
    }
  };
  std::vector<Spot> second;
  for (const Spot& spot : walk.first_cycle()) {
    arrive(spot);  // in the row: it stays in its latch for the second cycle, local in the third
    const auto latched =
        walk.spread(spot.at, static_cast<std::uint8_t>(walk.latch_to(spot) & ~kLocal));
    second.insert(second.end(), latched.begin(), latched.end());
  }
  for (const Spot& spot : second) arrive(spot);
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      const bool self = x == mc.x && y == mc.y;
      EXPECT_EQ(reached[static_cast<std::size_t>(y * width + x)], self ? 0 : 1)
          << "core " << x << "," << y << " from " << mc.x << "," << mc.y;
      EXPECT_EQ(select_ports({x, y}, mc).scenario, scenario_of({x, y}, mc));
    }
  }
}

TEST(SelectionUnit, EveryCoreIsReachedOnceInThreeCycles) {
  for (const auto& [width, height] : {std::pair{4, 4}, {8, 8}, {5, 3}, {1, 4}}) {
    for (int y = 0; y < height; ++y) {
      for (int x = 0; x < width; ++x) {
        every_core_in_three_cycles(width, height, {x, y});
      }
    }
  }
}

TEST(SelectionUnit, FourScenariosConnectAsInThePaper) {
  constexpr auto east = static_cast<std::size_t>(Port::east);
  constexpr auto west = static_cast<std::size_t>(Port::west);
  constexpr auto south = static_cast<std::size_t>(Port::south);
  constexpr auto north = static_cast<std::size_t>(Port::north);
  constexpr auto local = static_cast<std::uint8_t>(Port::local);
  const Coordinates mc{1, 1};
  const PortMap at_mc = select_ports({1, 1}, mc);
  EXPECT_EQ(at_mc.from_input[east], local);
  EXPECT_EQ(at_mc.from_input[west], local);
  EXPECT_TRUE(at_mc.latched[local]);
  const PortMap row = select_ports({3, 1}, mc);
  EXPECT_EQ(row.from_input[west], east);
  EXPECT_EQ(row.from_input[east], west);
  const PortMap below = select_ports({2, 3}, mc);
  EXPECT_EQ(below.from_input[south], north);
  EXPECT_EQ(below.from_input[north], kUnconnected);
  EXPECT_EQ(below.latch_to[north], 1u << local);
  const PortMap above = select_ports({0, 0}, mc);
  EXPECT_EQ(above.from_input[north], south);
  EXPECT_EQ(above.latch_to[south], 1u << local);
}

TEST(Placement, PutsOneControllerInEachRow) {
  EXPECT_EQ(memory_node_in_each_row(4, 4), (std::vector<std::uint32_t>{1, 7, 8, 14}));
  EXPECT_EQ(memory_node_in_each_row(2, 5).size(), 5U);
  EXPECT_EQ(memory_node_in_each_row(1, 3), (std::vector<std::uint32_t>{0, 1, 2}));
}

}  // namespace
}  // namespace ww::sim::net
