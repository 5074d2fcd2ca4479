// Areas and paths against DSENT's own output, at its rows and between them.
#include "ww/sim/power/router_area.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace ww::sim::power {
namespace {

TEST(RouterArea, IsDsentsOwnAtItsRows) {
  const auto area = router_area(22, {.flit_bits = 128, .ports = 5, .vcs = 5, .vc_buffer = 4});
  ASSERT_TRUE(area);
  // "Area>>Router:Active" of DSENT for this router.
  EXPECT_NEAR(area->total_mm2(), 0.03257926, 2e-5);
  EXPECT_DOUBLE_EQ(area->longest_path_ps, 231.354);
  EXPECT_EQ(area->source, "DSENT Bulk22LVT");
  const auto large = router_area(45, {.flit_bits = 256, .ports = 5, .vcs = 5, .vc_buffer = 4});
  EXPECT_NEAR(large->total_mm2(), 0.3066029, 2e-4);
  const auto small = router_area(11, {.flit_bits = 64, .ports = 5, .vcs = 5, .vc_buffer = 4});
  EXPECT_NEAR(small->total_mm2(), 0.00655495, 1e-5);
}

// Routers that no row has, as DSENT computes them.
TEST(RouterArea, IsNearDsentsBetweenItsRows) {
  const struct {
    double node_nm;
    RouterSize size;
    double buffers, crossbar, allocator, path_ps;
  } cases[] = {
      {22, {96, 6, 3, 6}, 0.02168889, 0.004745664, 0.0004128538, 200.252},
      {32, {128, 10, 8, 4}, 0.186642, 0.08302052, 0.006199072, 382.21},
      {45, {64, 4, 2, 16}, 0.06842598, 0.004528902, 0.000472384, 301.828},
      {11, {256, 7, 6, 8}, 0.0698581, 0.02149929, 0.0003946976, 507.8},
      {22, {512, 5, 4, 8}, 0.1618865, 0.08254555, 0.0003096192, 691.585},
      {22, {128, 32, 4, 8}, 0.2606201, 0.2082177, 0.05859499, 618.546},
  };
  for (const auto& one : cases) {
    const auto area = router_area(one.node_nm, one.size);
    ASSERT_TRUE(area);
    EXPECT_NEAR(area->buffers_mm2 / one.buffers, 1, 0.01) << area->source;
    EXPECT_NEAR(area->crossbar_mm2 / one.crossbar, 1, 0.04) << area->source;
    EXPECT_NEAR(area->switch_allocator_mm2 / one.allocator, 1, 0.45) << area->source;
    EXPECT_NEAR(area->longest_path_ps / one.path_ps, 1, 0.21) << area->source;
  }
}

TEST(RouterArea, LiesBetweenTheNodesOnBothSides) {
  const RouterSize size;
  const auto area = router_area(28, size);
  ASSERT_TRUE(area);
  EXPECT_GT(area->total_mm2(), router_area(22, size)->total_mm2());
  EXPECT_LT(area->total_mm2(), router_area(32, size)->total_mm2());
  EXPECT_NE(area->source.find("28 nm interpolated"), std::string::npos);
  EXPECT_EQ(router_area(7, size).error().context, "node");
  EXPECT_EQ(router_area(22, {.ports = 0}).error().context, "ports");
  EXPECT_EQ(wire_area(65).error().context, "node");
}

TEST(NetworkArea, SumsRoutersAndTheWiresOfLinks) {
  NetworkEvents events;
  events.routers = 16;
  events.links = 48;
  EnergyConfig config;
  config.link_length = Millimetre(2);
  const auto area = network_area(events, config);
  ASSERT_TRUE(area);
  EXPECT_DOUBLE_EQ(area->link_mm, 96);
  // 128 bits of 0.32 um pitch, and repeaters of 0.338 um2 a bit and mm.
  EXPECT_NEAR(area->wiring_mm2, 96 * 128 * 320e-6, 1e-9);
  EXPECT_NEAR(area->repeaters_mm2, 96 * 128 * 0.33792e-6, 1e-9);
  EXPECT_NEAR(area->cells_mm2(), 16 * area->router.total_mm2() + area->repeaters_mm2, 1e-12);
  EXPECT_NEAR(area->link_ps, 2 * 343.169, 1e-9);
  EXPECT_DOUBLE_EQ(area->clock_ps, 1000);
  // A link of a quarter of the width has a quarter of the wires.
  events.sized_links.missing_wires = 96;
  EXPECT_NEAR(network_area(events, config)->link_mm, 96 - 1.5, 1e-9);
  events.overlay.routers = 16;
  const nlohmann::json json = *network_area(events, config);
  EXPECT_LT(json.at("bypass_router_mm2").at("buffers"), json.at("router_mm2").at("buffers"));
  EXPECT_EQ(json.at("bypass_router_mm2").at("crossbar"), json.at("router_mm2").at("crossbar"));
}

}  // namespace
}  // namespace ww::sim::power
