#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>

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

TEST(Selftest, RefusesAFileThatIsNotThere) {
  const TemporaryFolder folder;
  const auto missing =
      run({wirewatt(), "selftest", "--replay", (folder.path() / "none.wwst").string()});
  EXPECT_EQ(missing.exit_code, 2) << missing.err;
}

}  // namespace
}  // namespace ww::e2e
