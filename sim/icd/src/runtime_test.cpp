#include "runtime.hpp"

#include <gmock/gmock.h>

#include <cstdlib>

namespace ww::sim::icd {
namespace {

using ::testing::HasSubstr;

// Sets a variable for one test.
class Variable {
 public:
  Variable(const char* name, const char* value) : name_(name) { ::setenv(name, value, 1); }
  ~Variable() { ::unsetenv(name_); }

 private:
  const char* name_;
};

TEST(Settings, DefaultsAreTheW9100WithReplay) {
  const auto settings = settings_from_environment();
  ASSERT_TRUE(settings);
  EXPECT_EQ(settings->chip.chip, "w9100");
  EXPECT_TRUE(settings->options.replay);
}

TEST(Settings, EveryVariableIsRead) {
  const Variable chip("WIREWATT_CHIP", "random");
  const Variable seed("WIREWATT_CHIP_SEED", "18446744073709551615");
  const Variable chip_class("WIREWATT_CHIP_CLASS", "strong");
  const Variable noise("WIREWATT_NOISE_SEED", "5");
  const Variable threads("WIREWATT_THREADS", "2");
  const Variable replay("WIREWATT_REPLAY", "0");
  const auto settings = settings_from_environment();
  ASSERT_TRUE(settings) << settings.error().text();
  EXPECT_EQ(settings->chip.chip, "random");
  EXPECT_EQ(settings->chip.seed, ~std::uint64_t{0});
  EXPECT_EQ(settings->chip.chip_class, gpu::ChipClass::strong);
  EXPECT_EQ(settings->options.noise_seed, 5u);
  EXPECT_EQ(settings->options.threads, 2u);
  EXPECT_FALSE(settings->options.replay);
}

TEST(Settings, BadValuesNameTheVariableAndTheValue) {
  for (const auto& [name, value] :
       {std::pair{"WIREWATT_CHIP_SEED", "-1"}, std::pair{"WIREWATT_CHIP_CLASS", "weird"},
        std::pair{"WIREWATT_THREADS", "two"}, std::pair{"WIREWATT_REPLAY", "2"},
        std::pair{"WIREWATT_NOISE_SEED", "1x"}}) {
    const Variable variable(name, value);
    const auto settings = settings_from_environment();
    ASSERT_FALSE(settings) << name;
    EXPECT_THAT(settings.error().text(), HasSubstr(name));
    EXPECT_THAT(settings.error().text(), HasSubstr(value));
  }
}

}  // namespace
}  // namespace ww::sim::icd
