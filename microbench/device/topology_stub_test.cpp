// Sides of a partitioned L2 through CUDA's driver API: on the stub libcuda, whose sides are known.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "../test_support/stub_cuda.hpp"
#include "ww/microbench/hosts.hpp"
#include "ww/microbench/topology.hpp"

namespace ww::microbench {
namespace {

namespace stub = testing::stub_cuda;
using ::testing::HasSubstr;

TEST(StubTopology, FindsSidesOfSmsAndTheHashOfLines) {
  auto host = open_host("cuda:0");
  ASSERT_TRUE(host) << host.error().text();
  if ((*host)->facts().device.find("Stub") == std::string::npos) {
    GTEST_SKIP() << "a real CUDA driver is installed here: " << (*host)->facts().device;
  }
  const auto topology = discover_topology(**host, {});
  ASSERT_TRUE(topology) << topology.error().text();
  EXPECT_TRUE(topology->pinned);
  ASSERT_EQ(topology->places.size(), stub::sms);
  ASSERT_TRUE(topology->sides);
  const Sides& sides = *topology->sides;
  ASSERT_TRUE(sides.found) << sides.reason;
  for (std::size_t i = 0; i < topology->places.size(); ++i) {
    const auto sm = static_cast<unsigned>(topology->places[i].engine);
    EXPECT_EQ(sides.side_of_place[i], static_cast<int>(stub::side_of_sm(sm))) << "SM " << sm;
  }
  EXPECT_NEAR(sides.far_ticks - sides.near_ticks, 230.0, 5.0);
  EXPECT_EQ(sides.line_mask, stub::kSideMask) << sides.line_reason;
  EXPECT_EQ(sides.predicted_line_share, 1.0);
  // The stub's channels do not contend.
  EXPECT_FALSE(topology->address.found);
  EXPECT_THAT(topology->address.reason, HasSubstr("no contention"));
}

}  // namespace
}  // namespace ww::microbench
