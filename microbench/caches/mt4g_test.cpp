// Our JSON beside the files that MT4G wrote on a real card.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "ww/microbench/topology.hpp"

namespace ww::microbench {
namespace {

using nlohmann::json;

CacheLevel full_level() {
  CacheLevel level;
  level.latency = {true, "", 124, 124, 125, 0.5, 512};
  level.size_bytes = {16384.0, "", 0.97};
  level.line_bytes = {64.0, "", 0.98};
  level.fetch_bytes = {64.0, "", 0.99};
  level.read_gib_s = {4000.0, "", 0};
  level.write_gib_s = {2400.0, "", 0};
  level.miss_penalty_cycles = 164.5;
  return level;
}

// Returns the topology of the virtual GPU of the class of MI210.
Topology topology() {
  Topology topology;
  topology.device = "virtual:mi210";
  topology.driver = "1.0";
  topology.target = "gfx90a";
  topology.is_virtual = true;
  for (int cu = 0; cu < 104; ++cu) topology.places.push_back({cu / 13, cu % 13, 0});
  topology.reported_by_driver.l2_bytes = 8 << 20;
  topology.reported_by_driver.memory_bytes = std::int64_t{64} << 30;
  topology.reported_by_driver.constant_bytes = 65536;
  topology.reported_by_driver.local_bytes = 65536;
  topology.reported_by_driver.largest_group = 1024;
  topology.reported_by_driver.clock_hz = 1'700'000'000;
  Caches caches;
  caches.l1 = caches.l2 = full_level();
  caches.scalar_l1 = full_level();
  caches.scalar_l1.read_gib_s = caches.scalar_l1.write_gib_s = {};
  caches.scalar_l1.latency = caches.shared.latency = {true, "", 48, 48, 48, 0.5, 512};
  caches.memory.latency = {true, "", 740, 684, 1208, 186, 2048};
  caches.memory.read_gib_s = {1085.0, "", 0};
  caches.memory.write_gib_s = {967.0, "", 0};
  topology.caches = caches;
  return topology;
}

std::set<std::string> keys_of(const json& document) {
  std::set<std::string> keys;
  const json flat = document.flatten();
  for (const auto& [pointer, value] : flat.items()) {
    // The members of lists are no keys.
    std::string key = pointer;
    while (key.find_first_not_of("0123456789", key.rfind('/') + 1) == std::string::npos) {
      key.erase(key.rfind('/'));
    }
    keys.insert(key);
  }
  return keys;
}

// A key of MT4G's files of AMD cards that wirewatt never writes, as a JSON pointer ("/meta/os"),
// and why. A key that ends in "/" stands for all below it.
struct Gap {
  std::string_view key;
  std::string_view reason;
};

const std::vector<Gap>& gaps() {
  constexpr std::string_view kHip = "an attribute of HIP's alone; it is not measured";
  constexpr std::string_view kBuild = "describes MT4G's own build and host";
  static const std::vector<Gap> all{
      {"/compute/concurrentKernels", kHip},
      {"/compute/maxBlocksPerMultiProcessor", kHip},
      {"/compute/maxThreadsPerMultiProcessor", kHip},
      {"/compute/regsPerBlock", kHip},
      {"/compute/regsPerMultiProcessor", kHip},
      {"/compute/supportsCooperativeLaunch", kHip},
      {"/general/asicRevision", kHip},
      {"/memory/l1/amountPerMultiprocessor", "no probe counts a compute unit's L1 caches"},
      {"/memory/l1/globalL1CacheSupported", kHip},
      {"/memory/l1/localL1CacheSupported", kHip},
      {"/memory/l2/persistingL2CacheMaxSize/", kHip},
      {"/memory/main/memoryBusWidth/", kHip},
      {"/memory/main/memoryClockRate/", kHip},
      {"/memory/scalarL1/sharedBetween", "no probe runs on two compute units at once"},
      {"/memory/scalarL1/uniqueAmount", "no probe runs on two compute units at once"},
      {"/memory/shared/reservedSharedMemPerBlock/", kHip},
      {"/memory/shared/sharedMemPerMultiProcessor/", kHip},
      {"/meta/gpuCompiler", kBuild},
      {"/meta/hostCompiler", kBuild},
      {"/meta/hostCpu", kBuild},
      {"/meta/os", kBuild},
      {"/meta/runtime", kBuild},
      {"/meta/timestamp", kBuild}};
  return all;
}

bool is_gap(const std::string& key) {
  for (const Gap& gap : gaps()) {
    if (gap.key.ends_with('/') ? key.starts_with(gap.key) : key == gap.key) return true;
  }
  return false;
}

TEST(Mt4g, HasFiguresWhereItsFilesHaveThem) {
  const json written = to_mt4g(topology());
  EXPECT_EQ(written["general"]["computeCapability"], (json{{"major", 9}, {"minor", 0}}));
  EXPECT_EQ(written["general"]["clockRate"], (json{{"unit", "kHz"}, {"value", 1'700'000}}));
  EXPECT_EQ(written["compute"]["multiProcessorCount"], 104);
  EXPECT_EQ(written["compute"]["warpSize"], 64);
  EXPECT_EQ(written["compute"]["numXCDs"], 1);
  EXPECT_EQ(written["compute"]["computeUnitsPerDie"], 104);
  EXPECT_EQ(written["memory"]["l1"]["size"]["size"], 16384);
  EXPECT_EQ(written["memory"]["l2"]["size"]["value"], 8 << 20);
  EXPECT_EQ(written["memory"]["main"]["latency"]["p95"], 1208);
  EXPECT_EQ(written["meta"]["virtual"], true);
}

TEST(Mt4g, GivesEachDieItsShare) {
  Topology two = topology();
  two.reported_by_driver.dies = 2;
  const json written = to_mt4g(two);
  EXPECT_EQ(written["compute"]["numXCDs"], 2);
  EXPECT_EQ(written["compute"]["computeUnitsPerDie"], 52);
  EXPECT_EQ(written["memory"]["l2"]["amount"], 2);
}

TEST(Mt4g, LeavesOutWhatWasNotFound) {
  Topology without = topology();
  without.caches->l1.size_bytes = {{}, "loads miss within 1024 B already", 0};
  without.reported_by_driver.memory_bytes.reset();
  const json written = to_mt4g(without);
  EXPECT_FALSE(written["memory"]["l1"].contains("size"));
  EXPECT_FALSE(written["memory"]["main"].contains("totalGlobalMem"));
  without.target = "gfx1030";
  EXPECT_EQ(to_mt4g(without)["general"]["computeCapability"], (json{{"major", 10}, {"minor", 3}}));
  EXPECT_FALSE(to_mt4g(without)["compute"].contains("numSIMDsPerCU"));
}

TEST(Mt4g, HasEveryKeyOfTheRecordedCardThatIsWithinReach) {
  const char* folder = std::getenv("WW_SHARED_DATA");
  std::ifstream file(std::filesystem::path(folder != nullptr ? folder : ".") / "data" / "mt4g" /
                     "AMD_Instinct_MI210.json");
  if (!file) GTEST_SKIP() << "no recordings beside the checkout";
  const auto recorded = keys_of(json::parse(file));
  const auto written = keys_of(to_mt4g(topology()));
  for (const std::string& key : recorded) {
    EXPECT_NE(written.contains(key), is_gap(key))
        << key << (is_gap(key) ? " is written, and listed as out of reach" : " is missing");
  }
  for (const Gap& gap : gaps()) {
    EXPECT_TRUE(std::ranges::any_of(
        recorded, [&gap](const std::string& key) { return key.starts_with(gap.key); }))
        << gap.key << " is no key of the recording";
    EXPECT_FALSE(gap.reason.empty());
  }
}

}  // namespace
}  // namespace ww::microbench
