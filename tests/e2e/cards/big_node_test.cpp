// A node of eight AMD cards, faked under /sys in a mount namespace: how many children a look at it
// costs, and how often vendors' libraries are opened.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "process.hpp"
#include "testing/fake_amd_tree.hpp"
#include "testing/fake_cards.hpp"

namespace ww::e2e {
namespace {

namespace fs = std::filesystem;
using measure::testing::FakeCards;

constexpr int kCards = 8;

struct Counted {
  int exit_code{};
  std::size_t children{};
  std::size_t libraries{};  // searches for AMD's two management libraries
  double seconds{};
};

// "exit_code children libraries seconds" of a command on the node, or why not.
std::string look(const std::vector<std::string>& words) {
  const FakeCards cards("/sys");
  for (int i = 0; i < kCards; ++i) {
    char pci[16];
    std::snprintf(pci, sizeof pci, "0000:%02x:00.0", 3 + 16 * i);
    const auto card = cards.add(i, pci, "0x740f");
    FakeCards::write(card / "hwmon/hwmon0/power1_average", "90000000\n");
    FakeCards::write(card / "gpu_metrics", measure::testing::gpu_metrics_v1(3, 1'000'000));
  }
  const TemporaryFolder folder;
  std::vector<std::string> command{wirewatt()};
  command.insert(command.end(), words.begin(), words.end());
  const auto stub = build_folder() / "lib/stubs/libcount_children.so";
  const auto begun = std::chrono::steady_clock::now();
  const auto finished = run(command, {{"LD_PRELOAD", stub.string()},
                                      {"WW_COUNT_CHILDREN", (folder.path() / "count").string()},
                                      {"LD_DEBUG", "libs"},
                                      {"LD_DEBUG_OUTPUT", (folder.path() / "libs").string()}});
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begun;
  std::error_code none;
  const auto children = fs::file_size(folder.path() / "count", none);
  std::size_t libraries = 0;
  for (const auto& entry : fs::directory_iterator(folder.path())) {
    std::ifstream file(entry.path());
    for (std::string line; std::getline(file, line);) {
      const bool found = line.find("find library=libamd_smi") != std::string::npos ||
                         line.find("find library=librocm_smi") != std::string::npos;
      if (found) ++libraries;
    }
  }
  std::ostringstream text;
  text << finished.exit_code << ' ' << (none ? 0 : children) << ' ' << libraries << ' '
       << took.count();
  return text.str();
}

Counted count(const std::vector<std::string>& words, std::string& why_not) {
  Counted counted;
  const auto text = measure::testing::with_own_sysfs([&words] { return look(words); });
  if (!text) {
    why_not = text.error().text();
    return counted;
  }
  std::istringstream numbers(*text);
  numbers >> counted.exit_code >> counted.children >> counted.libraries >> counted.seconds;
  std::printf("%s on %d cards: %zu children, %zu searches for AMD SMI and ROCm SMI, %.2f s\n",
              words.front().c_str(), kCards, counted.children, counted.libraries, counted.seconds);
  return counted;
}

TEST(BigNode, IsListedWithoutVendorsLibraries) {
  std::string why_not;
  const Counted counted = count({"devices", "--json"}, why_not);
  if (!why_not.empty()) GTEST_SKIP() << why_not;
  EXPECT_EQ(counted.exit_code, 0);
  EXPECT_EQ(counted.libraries, 0U);
  EXPECT_GT(counted.children, 0U);
  EXPECT_LE(counted.children, 8U);
}

TEST(BigNode, IsExaminedWithVendorsLibrariesOnOneCard) {
  std::string why_not;
  const Counted counted = count({"doctor", "--device", "gpu:3", "--no-step-test", "--no-counters",
                                 "--no-clock-control", "--json"},
                                why_not);
  if (!why_not.empty()) GTEST_SKIP() << why_not;
  EXPECT_GT(counted.libraries, 0U);
  EXPECT_LE(counted.children, 12U);
}

// No other card's libraries are opened where none is named.
TEST(BigNode, IsExaminedAlikeWithoutADevice) {
  std::string why_not;
  const Counted counted =
      count({"doctor", "--no-step-test", "--no-counters", "--no-clock-control", "--json"}, why_not);
  if (!why_not.empty()) GTEST_SKIP() << why_not;
  EXPECT_EQ(counted.exit_code, 0);
  EXPECT_LE(counted.children, 16U);
}

}  // namespace
}  // namespace ww::e2e
