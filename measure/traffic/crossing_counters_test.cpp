#include "ww/measure/crossing_counters.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace ww::measure {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

CounterDispatch dispatch(const std::string& kernel, std::map<std::string, double> counters) {
  CounterDispatch made;
  made.kernel = kernel;
  made.counters = std::move(counters);
  return made;
}

TEST(CrossingCounters, AddUpTheSectorsThatTheFabricAskedFor) {
  const std::vector dispatches{dispatch("copy", {{"lts__t_sectors_srcunit_ltcfabric.sum", 100}}),
                               dispatch("copy", {{"lts__t_sectors_srcunit_ltcfabric.sum", 50}}),
                               dispatch("half", {{"lts__t_sectors_srcunit_ltcfabric.sum", 7}}),
                               dispatch("half", {})};
  // A kernel that was counted in part is not counted.
  const auto counted = count_crossings(dispatches);
  EXPECT_THAT(counted.bytes, ElementsAre(Pair("copy", 4800.0)));
  EXPECT_EQ(counted.unused, "");
}

TEST(CrossingCounters, WhoseMeaningIsNotKnownAreNamedAndNotUsed) {
  const std::vector dispatches{
      dispatch("copy", {{"lts__t_sectors_srcnode_gpc.sum", 100},
                        {"lts__t_requests_srcunit_tex_fabric_total.sum", 3},
                        {"lts__t_requests_srcunit_tex.sum", 3},
                        {"lts__t_sectors_srcunit_tex_op_read.sum", 5}})};
  const auto counted = count_crossings(dispatches);
  EXPECT_TRUE(counted.bytes.empty());
  EXPECT_THAT(counted.unused, HasSubstr("lts__t_sectors_srcnode_gpc.sum: it names the node"));
  EXPECT_THAT(counted.unused, HasSubstr("lts__t_requests_srcunit_tex_fabric_total.sum: it counts"));
  EXPECT_EQ(counted.unused.find("op_read"), std::string::npos);
  EXPECT_EQ(counted.unused.find("srcunit_tex.sum"), std::string::npos);
}

}  // namespace
}  // namespace ww::measure
