#include "ww/sim/driver_settings.hpp"

#include <gmock/gmock.h>

#include <cstdlib>

#include "ww/core/atomic_file.hpp"

namespace ww::sim {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

TEST(DriverSettings, AreTheDefaultsWithoutAFile) {
  const auto settings = read_driver_settings();
  ASSERT_TRUE(settings) << settings.error().text();
  EXPECT_FALSE(settings->progress);
  EXPECT_TRUE(settings->trace_values);
  EXPECT_EQ(settings->live, "");
  EXPECT_TRUE(settings->timing_keys.empty());
  EXPECT_FALSE(settings->approx_threshold);
}

TEST(DriverSettings, AreReadAsTheyWereWritten) {
  DriverSettings wanted;
  wanted.progress = true;
  wanted.trace_values = false;
  wanted.counters_aside = "/a/%p.part";
  wanted.trace_aside = "/b \"quoted\"";
  wanted.live = "/c";
  wanted.mistakes = "/d";
  wanted.sealed_energy = "/e";
  wanted.timing = "/f/vcs=6;x.toml";
  wanted.timing_keys = {"vcs=6", "memory_nodes=1,7", "packet_trace=/x;y"};
  wanted.timing_report = "/g";
  wanted.approx_threshold = 0;
  wanted.approx = {"scale.in:float32", "#3:int32"};
  const auto passed = ScopedDriverSettings::apply(wanted);
  ASSERT_TRUE(passed) << passed.error().text();
  const auto read = read_driver_settings();
  ASSERT_TRUE(read) << read.error().text();
  EXPECT_TRUE(read->progress);
  EXPECT_FALSE(read->trace_values);
  EXPECT_EQ(read->counters_aside, wanted.counters_aside);
  EXPECT_EQ(read->trace_aside, wanted.trace_aside);
  EXPECT_EQ(read->live, wanted.live);
  EXPECT_EQ(read->mistakes, wanted.mistakes);
  EXPECT_EQ(read->sealed_energy, wanted.sealed_energy);
  EXPECT_EQ(read->timing, wanted.timing);
  EXPECT_EQ(read->timing_keys, wanted.timing_keys);
  EXPECT_EQ(read->timing_report, wanted.timing_report);
  EXPECT_EQ(read->approx_threshold, 0);
  EXPECT_EQ(read->approx, wanted.approx);
}

TEST(DriverSettings, HoldUntilTheirObjectGoes) {
  DriverSettings outer;
  outer.live = "/outer";
  const auto passed = ScopedDriverSettings::apply(outer);
  ASSERT_TRUE(passed);
  {
    DriverSettings inner;
    inner.live = "/inner";
    const auto inside = ScopedDriverSettings::apply(inner);
    ASSERT_TRUE(inside);
    EXPECT_EQ(read_driver_settings()->live, "/inner");
  }
  EXPECT_EQ(read_driver_settings()->live, "/outer");
}

// Sets the variable to a file of that content for one test.
class WrittenSettings {
 public:
  explicit WrittenSettings(const std::string& content)
      : folder_(ScratchFolder::create("settings").value()) {
    const auto file = folder_.path() / "driver.toml";
    EXPECT_TRUE(write_file_atomically(file, content));
    ::setenv("WIREWATT_SETTINGS", file.c_str(), 1);
  }
  ~WrittenSettings() { ::unsetenv("WIREWATT_SETTINGS"); }

 private:
  ScratchFolder folder_;
};

TEST(DriverSettings, SayWhichKeyOfWhichLineIsWrong) {
  for (const auto& [content, word] :
       {std::pair{"\nlife = \"/a\"\n", "life"}, std::pair{"\nprogress = 1\n", "progress"},
        std::pair{"\napprox = \"#1:int32\"\n", "approx"},
        std::pair{"\ntiming_keys = [\"vcs=6\", 5]\n", "timing_keys"},
        std::pair{"\napprox_threshold = 101\n", "approx_threshold"},
        std::pair{"\napprox_threshold = nan\n", "approx_threshold"},
        std::pair{"\nlive = \n", "driver.toml"}}) {
    const WrittenSettings written(content);
    const auto settings = read_driver_settings();
    ASSERT_FALSE(settings) << content;
    EXPECT_THAT(settings.error().text(), AllOf(HasSubstr(word), HasSubstr("driver.toml:2")));
  }
}

TEST(DriverSettings, OfAMissingFileAreAnError) {
  ::setenv("WIREWATT_SETTINGS", "/no/such/settings.toml", 1);
  const auto settings = read_driver_settings();
  ::unsetenv("WIREWATT_SETTINGS");
  ASSERT_FALSE(settings);
  EXPECT_THAT(settings.error().text(), HasSubstr("/no/such/settings.toml"));
}

}  // namespace
}  // namespace ww::sim
