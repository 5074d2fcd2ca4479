#include "common/runtime/settings.hpp"

#include <gmock/gmock.h>

#include <cstdlib>

#include "ww/core/atomic_file.hpp"
#include "ww/core/temporary_folder.hpp"

namespace ww::sim::driver::settings_test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

// Sets a variable for one test.
class Variable {
 public:
  Variable(const char* name, const char* value) : name_(name) { ::setenv(name, value, 1); }
  ~Variable() { ::unsetenv(name_); }

 private:
  const char* name_;
};

TEST(Settings, DefaultsAreTheW9100WithAllShortcuts) {
  const auto settings = settings_from_environment();
  ASSERT_TRUE(settings);
  EXPECT_EQ(settings->chip.chip, "w9100");
  EXPECT_EQ(settings->options.speed, gpu::Speed::all);
}

TEST(Settings, EveryVariableIsRead) {
  const Variable chip("WIREWATT_CHIP", "random");
  const Variable seed("WIREWATT_CHIP_SEED", "18446744073709551615");
  const Variable chip_class("WIREWATT_CHIP_CLASS", "strong");
  const Variable noise("WIREWATT_NOISE_SEED", "5");
  const Variable threads("WIREWATT_THREADS", "2");
  const Variable speed("WIREWATT_SPEED", "none");
  const Variable watchdog("WIREWATT_WATCHDOG_MCYCLES", "50000");
  const auto settings = settings_from_environment();
  ASSERT_TRUE(settings) << settings.error().text();
  EXPECT_EQ(settings->chip.chip, "random");
  EXPECT_EQ(settings->chip.seed, ~std::uint64_t{0});
  EXPECT_EQ(settings->chip.chip_class, gpu::ChipClass::strong);
  EXPECT_EQ(settings->options.noise_seed, 5u);
  EXPECT_EQ(settings->options.threads, 2u);
  EXPECT_EQ(settings->options.speed, gpu::Speed::none);
  EXPECT_EQ(settings->options.watchdog_cycles, 50'000'000'000);
  EXPECT_EQ(settings->options.watchdog_instructions, 50'000'000'000U);
}

TEST(Settings, BadValuesNameTheVariableAndTheValue) {
  for (const auto& [name, value] :
       {std::pair{"WIREWATT_CHIP_SEED", "-1"}, std::pair{"WIREWATT_CHIP_CLASS", "weird"},
        std::pair{"WIREWATT_THREADS", "two"}, std::pair{"WIREWATT_SPEED", "fast"},
        std::pair{"WIREWATT_NOISE_SEED", "1x"}}) {
    const Variable variable(name, value);
    const auto settings = settings_from_environment();
    ASSERT_FALSE(settings) << name;
    EXPECT_THAT(settings.error().text(), HasSubstr(name));
    EXPECT_THAT(settings.error().text(), HasSubstr(value));
  }
}

TEST(TimingMode, IsChosenWithItsNetworkAndSettings) {
  const Variable mode("WIREWATT_MODE", "timing");
  const Variable network("WIREWATT_NETWORK", "mesh-adaptive");
  const auto folder = ScratchFolder::create("timing").value();
  const auto file = folder.path() / "system.toml";
  ASSERT_TRUE(write_file_atomically(file, "[system]\nmshrs = 3\n"));
  DriverSettings wanted;
  wanted.timing = file;
  wanted.timing_keys = {"vcs=6", "memory_nodes=1,7,8,14", "adaptive=", "packet_trace=/a=b;c"};
  wanted.timing_report = "/tmp/report-%p.json";
  wanted.approx_threshold = 12.5;
  const auto passed = ScopedDriverSettings::apply(wanted).value();
  const auto settings = settings_from_environment();
  ASSERT_TRUE(settings) << settings.error().text();
  ASSERT_TRUE(settings->timing);
  EXPECT_EQ(settings->timing->network, "mesh-adaptive");
  EXPECT_EQ(settings->timing->settings, "[system]\nmshrs = 3\n");
  EXPECT_EQ(settings->timing->origin, file);
  EXPECT_EQ(settings->timing->threshold_percent, 12.5);
  const std::vector<std::pair<std::string, std::string>> expected{
      {"vcs", "6"}, {"memory_nodes", "1,7,8,14"}, {"adaptive", ""}, {"packet_trace", "/a=b;c"}};
  EXPECT_EQ(settings->timing->keys, expected);
  EXPECT_EQ(settings->passed.timing_report.find("%p"), std::string::npos);
}

TEST(TimingMode, RefusesWhatIsNoKeyWithAValue) {
  const Variable mode("WIREWATT_MODE", "timing");
  for (const char* text : {"vcs", "=6", ""}) {
    DriverSettings wanted;
    wanted.timing_keys = {text};
    const auto passed = ScopedDriverSettings::apply(wanted).value();
    const auto settings = settings_from_environment();
    ASSERT_FALSE(settings) << text;
    EXPECT_THAT(settings.error().text(), HasSubstr("timing_keys"));
  }
}

TEST(TimingMode, IsNotTheDefault) {
  const auto settings = settings_from_environment();
  ASSERT_TRUE(settings);
  EXPECT_FALSE(settings->timing);
}

TEST(TimingMode, ItsSettingsMeanNothingWithoutItAndAreRefused) {
  const auto refusal_of = [](const DriverSettings& wanted) {
    const auto passed = ScopedDriverSettings::apply(wanted).value();
    const auto settings = settings_from_environment();
    return settings ? std::string() : settings.error().text();
  };
  DriverSettings wanted;
  wanted.timing = "system.toml";
  EXPECT_THAT(refusal_of(wanted), AllOf(HasSubstr("timing"), HasSubstr("WIREWATT_MODE")));
  wanted = {};
  wanted.timing_keys = {"vcs=6"};
  EXPECT_THAT(refusal_of(wanted), AllOf(HasSubstr("timing_keys"), HasSubstr("WIREWATT_MODE")));
  wanted = {};
  wanted.timing_report = "report.json";
  EXPECT_THAT(refusal_of(wanted), AllOf(HasSubstr("timing_report"), HasSubstr("WIREWATT_MODE")));
  wanted = {};
  wanted.approx_threshold = 5;
  EXPECT_THAT(refusal_of(wanted), AllOf(HasSubstr("approx_threshold"), HasSubstr("WIREWATT_MODE")));
  const Variable network("WIREWATT_NETWORK", "mesh");
  EXPECT_THAT(refusal_of({}), AllOf(HasSubstr("WIREWATT_NETWORK"), HasSubstr("WIREWATT_MODE")));
}

TEST(TimingMode, RefusesAnotherModeAndAMissingFile) {
  {
    const Variable mode("WIREWATT_MODE", "warp");
    const auto settings = settings_from_environment();
    ASSERT_FALSE(settings);
    EXPECT_THAT(settings.error().text(), HasSubstr("WIREWATT_MODE"));
  }
  const Variable mode("WIREWATT_MODE", "timing");
  DriverSettings wanted;
  wanted.timing = "/no/such/file.toml";
  const auto passed = ScopedDriverSettings::apply(wanted).value();
  EXPECT_FALSE(settings_from_environment());
}

TEST(Approximations, AreReadByArgumentAndByBuffer) {
  const auto rules = parse_approximations({"scale.in:float32", "blur.0:uint8", "#3:int32"});
  ASSERT_TRUE(rules) << rules.error().text();
  ASSERT_EQ(rules->size(), 3U);
  EXPECT_EQ((*rules)[0].kernel, "scale");
  EXPECT_EQ((*rules)[0].argument, "in");
  EXPECT_EQ((*rules)[1].argument, "0");
  EXPECT_EQ((*rules)[2].buffer, 3U);
  EXPECT_TRUE(parse_approximations({})->empty());
}

TEST(Approximations, ThatCannotBeReadAreRefusedWithTheirText) {
  for (const char* text : {"scale.in", "scale.in:double", "scale:float32", ".in:float32",
                           "scale.:float32", "#0:int32", "#x:int32", ""}) {
    const auto rules = parse_approximations({text});
    ASSERT_FALSE(rules) << text;
    EXPECT_THAT(rules.error().text(), HasSubstr("approx"));
  }
}

}  // namespace
}  // namespace ww::sim::driver::settings_test
