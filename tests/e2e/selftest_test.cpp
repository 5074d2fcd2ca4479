#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "nvidia/nvidia_stub.hpp"
#include "process.hpp"

namespace ww::e2e {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::Not;

class SelftestOf : public ::testing::TestWithParam<const char*> {};

TEST_P(SelftestOf, AVirtualDeviceIsJudgedAlikeWhenItIsReplayed) {
  const TemporaryFolder folder;
  const std::string file = (folder.path() / "test.wwst").string();
  const auto made = run({wirewatt(), "selftest", "--device", GetParam(), "-o", file, "--json"},
                        {{"HOME", "/home/a-name-of-somebody"}});
  ASSERT_EQ(made.exit_code, 0) << made.err << made.out;
  const auto replayed = run({wirewatt(), "selftest", "--replay", file, "--json"});
  EXPECT_EQ(replayed.exit_code, 0) << replayed.err;
  EXPECT_EQ(replayed.out, made.out);
  const json report = made.json();
  EXPECT_EQ(report["virtual"], true);
  for (const char* part : {"pinning", "latency", "sensor power", "step test", "stream"}) {
    bool good = false;
    for (const json& finding : report["findings"]) {
      good = good || (finding["capability"] == part && finding["verdict"] == "good");
    }
    EXPECT_TRUE(good) << part << ": " << report["findings"].dump(1);
  }
  EXPECT_THAT(made.out, Not(HasSubstr("a-name-of-somebody")));
  const auto size = std::filesystem::file_size(file);
  EXPECT_LT(size, 800'000u);
  std::printf("%s: %.0f kB, %.1f s\n", GetParam(), static_cast<double>(size) * 1e-3,
              report["elapsed_s"].get<double>());
}
INSTANTIATE_TEST_SUITE_P(Chips, SelftestOf, ::testing::Values("virtual:w9100", "virtual:mi210"));

// The cache of a shader array keeps what another array has overwritten: plain loads find it, and
// loads that pass the cache do not.
TEST(Selftest, OfAnRdnaChipTimesItsSleepsAndAsksWhetherLoadsPassTheCaches) {
  const TemporaryFolder folder;
  const std::string file = (folder.path() / "test.wwst").string();
  const auto made =
      run({wirewatt(), "selftest", "--device", "virtual:rx6800", "-o", file, "--json"});
  EXPECT_EQ(made.exit_code, 0) << made.err << made.out;
  const json all = run({wirewatt(), "selftest", "--show", file}).json();
  const json& sleeps = all.at("sleeps");
  ASSERT_EQ(sleeps.value("instruction", ""), "s_sleep") << sleeps;
  ASSERT_EQ(sleeps.at("ticks").size(), 8u);
  for (std::size_t i = 0; i + 1 < 8; ++i) {
    const auto least = [&](std::size_t at) {
      const auto ticks = sleeps.at("ticks").at(at).get<std::vector<double>>();
      return *std::min_element(ticks.begin(), ticks.end());
    };
    EXPECT_LT(least(i), least(i + 1)) << sleeps;
    EXPECT_GE(least(i), 64 * sleeps.at("arguments").at(i).get<double>());
  }
  const json& seen = all.at("visibility");
  EXPECT_EQ(seen.value("absent", "?"), "");
  EXPECT_EQ(seen.at("rounds"), 32);
  EXPECT_NE(seen.at("reader"), seen.at("writer"));
  EXPECT_EQ(seen.at("stale"), 0);
  EXPECT_GT(seen.at("stale_plain"), 0);
  bool good = false;
  const json report = made.json();
  for (const json& finding : report.at("findings")) {
    good =
        good || (finding["capability"] == "loads pass the caches" && finding["verdict"] == "good");
  }
  EXPECT_TRUE(good) << made.out;
  EXPECT_GT(all.at("probes").at("contentions").get<int>(), 50);
}

TEST(Selftest, OfAnNvidiaCardIsJudgedAlikeWhenItIsReplayed) {
  if (NvidiaStub::real_one_here()) GTEST_SKIP() << "an NVIDIA driver is installed here";
  const NvidiaStub card;
  card.configure("");
  const std::string file = card.file("test.wwst");
  const auto made = card.wirewatt_on({"selftest", "--device", "cuda:0", "-o", file, "--json"});
  ASSERT_EQ(made.exit_code, 0) << made.err << made.out;
  const auto replayed = run({wirewatt(), "selftest", "--replay", file, "--json"});
  EXPECT_EQ(replayed.exit_code, 0) << replayed.err;
  EXPECT_EQ(replayed.out, made.out);
  const json report = made.json();
  for (const char* part : {"pinning", "latency", "sensor power", "step test"}) {
    bool good = false;
    for (const json& finding : report["findings"]) {
      good = good || (finding["capability"] == part && finding["verdict"] == "good");
    }
    EXPECT_TRUE(good) << part << ": " << report["findings"].dump(1);
  }
  const auto size = std::filesystem::file_size(file);
  EXPECT_LT(size, 800'000u);
  std::printf("cuda:0 (stub): %.0f kB, %.1f s\n", static_cast<double>(size) * 1e-3,
              report["elapsed_s"].get<double>());
}

// docs/cards.md is what the files that were received say, and nothing else.
TEST(Selftest, PageOfCardsIsThatOfTheFilesThatWereReceived) {
  std::vector<std::string> words{wirewatt(), "selftest", "--cards"};
  std::error_code none;
  for (const auto& entry :
       std::filesystem::directory_iterator(source_folder() / "docs/received", none)) {
    words.push_back(entry.path().string());
  }
  std::sort(words.begin() + 3, words.end());
  const auto page = run(words);
  ASSERT_EQ(page.exit_code, 0) << page.err;
  std::ifstream file(source_folder() / "docs/cards.md");
  const std::string written{std::istreambuf_iterator<char>(file), {}};
  EXPECT_EQ(page.out, written) << "wirewatt selftest --cards docs/received/* > docs/cards.md";
  EXPECT_EQ(run({wirewatt(), "selftest", "file.wwst"}).exit_code, 2);
}

TEST(Selftest, RefusesAFileThatIsNotThere) {
  const TemporaryFolder folder;
  const auto missing =
      run({wirewatt(), "selftest", "--replay", (folder.path() / "none.wwst").string()});
  EXPECT_EQ(missing.exit_code, 2) << missing.err;
}

}  // namespace
}  // namespace ww::e2e
