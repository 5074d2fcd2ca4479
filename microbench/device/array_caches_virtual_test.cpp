// What the caches of shader arrays do with a campaign's loads, asked on a virtual chip. One chip a
// process: WW_TEST_CHIP and WW_TEST_SEED choose it, WW_TEST_GL1 says what must come out.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>

#include "caches/array_caches.hpp"
#include "device/device.hpp"

namespace ww::microbench {
namespace {

std::string setting(const char* variable, const char* otherwise) {
  const char* set = std::getenv(variable);
  return set != nullptr ? set : otherwise;
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
  EXPECT_EQ(to_string(verdict.kind), setting("WW_TEST_GL1", "passed_by")) << verdict.reason;
}

}  // namespace
}  // namespace ww::microbench
