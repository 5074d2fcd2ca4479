// A card that is faked as files, with rocprofiler-sdk as a stub over the virtual GPU, which runs
// what would run on the card.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "process.hpp"
#include "testing/fake_cards.hpp"
#include "ww/measure/profiler.hpp"

namespace ww::e2e {

namespace fs = std::filesystem;

class FakedCard : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!fs::exists(hip_programs())) {
      GTEST_SKIP() << "Debian's packages clang-19 and lld-19 are not installed";
    }
    const measure::testing::FakeCards cards(file("sys"));
    const auto device = cards.add(0, "0000:03:00.0", "0x740f");
    measure::testing::FakeCards::write(device / "hwmon/hwmon0/power1_average",
                                       std::string("40000000\n"));
    measure::testing::FakeCards::write(cards.sysfs() / "class/kfd/kfd/topology/nodes/1/properties",
                                       std::string("simd_count 416\nlocation_id 768\ndomain 0\n"
                                                   "gfx_target_version 90010\n"));
    fs::create_directories(file("rocm/lib"));
  }
  void install_sdk() const {
    const std::string name = "librocprofiler-sdk.so.1";
    fs::copy(build_folder() / "lib/rocprofiler_stub/1" / name, file("rocm/lib/" + name));
    fs::create_symlink(name, file("rocm/lib/librocprofiler-sdk.so"));
  }
  [[nodiscard]] std::string file(const std::string& name) const {
    return (folder_.path() / name).string();
  }
  [[nodiscard]] static std::string hip_programs() {
    return (build_folder() / "bin/hip_programs").string();
  }
  // The program on the virtual GPU, which stands for the card. wirewatt itself has no HIP.
  [[nodiscard]] std::vector<std::string> program(const std::string& name,
                                                 const Environment& more = {}) const {
    std::vector<std::string> words{
        "env",
        "LD_LIBRARY_PATH=" + (build_folder() / "lib/wirewatt/hip").string() + ":" +
            file("rocm/lib"),
        "WIREWATT_CHIP=mi210", "WIREWATT_THREADS=1"};
    for (const auto& [variable, value] : more)
      words.push_back(fmt::format("{}={}", variable, value));
    words.insert(words.end(), {hip_programs(), name});
    return words;
  }
  [[nodiscard]] Finished estimate(const std::vector<std::string>& more) const {
    std::vector<std::string> words{wirewatt(), "estimate", "--json", "--constant", "literature"};
    words.insert(words.end(), more.begin(), more.end());
    return run(
        words,
        {{"WIREWATT_SYSFS", file("sys")}, {"ROCM_PATH", file("rocm")}, {"PATH", "/usr/bin:/bin"}});
  }
  [[nodiscard]] Finished estimate_program(const std::vector<std::string>& words) const {
    std::vector<std::string> more{"--"};
    more.insert(more.end(), words.begin(), words.end());
    return estimate(more);
  }
  // A run's table as rocprofv3 makes it on a card: without the virtual GPU's own counters.
  void keep_counters_of_a_card(const std::string& from, const std::string& to) const {
    const auto counters = measure::mapped_counters("gfx90a");
    std::ifstream rows(from);
    std::ofstream kept(to);
    bool header = true;
    for (std::string row; std::getline(rows, row); header = false) {
      const bool wanted = std::ranges::any_of(counters, [&row](const std::string& counter) {
        return row.find('"' + counter + '"') != std::string::npos;
      });
      if (header || wanted) kept << row << '\n';
    }
  }

  TemporaryFolder folder_;
};

}  // namespace ww::e2e
