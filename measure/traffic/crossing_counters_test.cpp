#include "ww/measure/crossing_counters.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace ww::measure {
namespace {

using ::testing::HasSubstr;

CounterDispatch dispatch(const std::string& kernel, std::map<std::string, double> counters) {
  CounterDispatch made;
  made.kernel = kernel;
  made.counters = std::move(counters);
  return made;
}

TEST(CrossingCounters, AddUpTheSectorsThatTheFabricAskedFor) {
  const std::vector dispatches{dispatch("copy", {{"lts__t_sectors_srcunit_ltcfabric.sum", 100}}),
                               dispatch("copy", {{"lts__t_sectors_srcunit_ltcfabric.sum", 50}}),
                               dispatch("none", {})};
  const auto counted = count_crossings(dispatches, "sm_80");
  ASSERT_EQ(counted.kernels.size(), 1u);
  const KernelCrossings& copy = counted.kernels.at("copy");
  EXPECT_EQ(copy.bytes, 4800.0);
  EXPECT_EQ(copy.counted, 2u);
  EXPECT_EQ(copy.uncounted, 0u);
  EXPECT_FALSE(copy.traffic);  // no counter of the tex units
  EXPECT_EQ(counted.unused, "");
}

TEST(CrossingCounters, OfAKernelThatWasCountedInPartKeepTheTrafficOfTheRest) {
  const auto traffic = [](double read, double write, double red) {
    return std::map<std::string, double>{{"lts__t_sectors_srcunit_tex_op_read.sum", read},
                                         {"lts__t_sectors_srcunit_tex_op_write.sum", write},
                                         {"lts__t_sectors_srcunit_tex_op_red.sum", red},
                                         {"lts__t_sectors_srcunit_tex_op_atom.sum", 0}};
  };
  auto with_fabric = traffic(10, 5, 2);
  with_fabric["lts__t_sectors_srcunit_ltcfabric.sum"] = 7;
  std::vector dispatches{dispatch("half", with_fabric), dispatch("half", traffic(100, 0, 0))};
  const KernelCrossings half = count_crossings(dispatches, "sm_80").kernels.at("half");
  EXPECT_EQ(half.bytes, 32.0 * 7);
  EXPECT_EQ(half.traffic, 32.0 * 17);
  EXPECT_FALSE(half.traffic_at_least);
  EXPECT_EQ(half.read_traffic, 32.0 * 10);
  EXPECT_EQ(half.written_traffic, 32.0 * 7);
  EXPECT_EQ(half.uncounted, 1u);
  EXPECT_EQ(half.uncounted_traffic, 32.0 * 100);
  // A lower bound of the rest bounds nothing.
  dispatches[1].counters.erase("lts__t_sectors_srcunit_tex_op_red.sum");
  EXPECT_FALSE(count_crossings(dispatches, "sm_80").kernels.at("half").uncounted_traffic);
}

TEST(CrossingCounters, WhoseMeaningIsNotKnownAreNamedAndNotUsed) {
  const std::vector dispatches{
      dispatch("copy", {{"lts__t_sectors_srcnode_gpc.sum", 100},
                        {"lts__t_requests_srcunit_tex_fabric_total.sum", 3},
                        {"lts__t_requests_srcunit_tex.sum", 3},
                        {"lts__t_sectors_srcunit_tex_op_read.sum", 5}})};
  const auto counted = count_crossings(dispatches, "sm_80");
  EXPECT_TRUE(counted.kernels.empty());
  EXPECT_THAT(counted.unused, HasSubstr("lts__t_sectors_srcnode_gpc.sum: it names the node"));
  EXPECT_THAT(counted.unused, HasSubstr("lts__t_requests_srcunit_tex_fabric_total.sum: it counts"));
  EXPECT_EQ(counted.unused.find("op_read"), std::string::npos);
  EXPECT_EQ(counted.unused.find("srcunit_tex.sum"), std::string::npos);
}

}  // namespace
}  // namespace ww::measure
