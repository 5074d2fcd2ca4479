// Tests on a virtual chip how the caches of shader arrays serve a campaign's loads. One chip a
// process: WW_TEST_CHIP and WW_TEST_SEED choose it, WW_TEST_GL1 says what must come out.
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>

#include "caches/array_caches.hpp"
#include "caches/memory_levels.hpp"
#include "device/device.hpp"

namespace ww::microbench {
namespace {

std::string setting(const char* variable, const char* otherwise) {
  const char* set = std::getenv(variable);
  return set != nullptr ? set : otherwise;
}

// A set twice as large as the L2 is slower throughout, where few lines as far apart are not.
void expect_a_step_behind_the_l2(ComputeHost& host, std::int64_t l2_bytes) {
  const std::array<std::int64_t, 2> sets{l2_bytes / 8, 2 * l2_bytes};
  const auto stairs = measure_stairs(host, sets, true);
  ASSERT_TRUE(stairs) << stairs.error().text();
  const auto few = measure_few_lines(host, 16 * l2_bytes);
  ASSERT_TRUE(few) << few.error().text();
  EXPECT_LT(*few, 1.1 * stairs->front().ticks);
  EXPECT_GT(stairs->back().ticks, 1.3 * stairs->front().ticks);
}

TEST(ArrayCachesOnAChip, AreJudgedAsTheyAre) {
  DeviceRequest request;
  request.name = setting("WW_TEST_CHIP", "virtual:rx6800");
  request.chip_seed = std::strtoull(setting("WW_TEST_SEED", "0").c_str(), nullptr, 10);
  const auto device = open_device(request, request.name);
  ASSERT_TRUE(device) << device.error().text();
  const auto evidence = find_array_cache_evidence(*device->host);
  ASSERT_TRUE(evidence) << evidence.error().text();
  const ArrayCacheVerdict verdict = judge_array_caches(*evidence);
  std::printf("%s\n", to_json(*evidence).dump().c_str());
  expect_a_step_behind_the_l2(*device->host, device->chip.l2_bytes);
  EXPECT_EQ(to_string(verdict.kind), setting("WW_TEST_GL1", "passed_by")) << verdict.reason;
}

}  // namespace
}  // namespace ww::microbench
