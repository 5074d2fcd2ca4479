#include "opencl/program/build_options.hpp"

#include <gmock/gmock.h>

namespace ww::sim::driver::build_options_test {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(BuildOptions, SplitsAtSpaceAndKeepsQuotedWordsWhole) {
  const auto words = split_options("  -DA=1\t-D B=\"x y\" '-I/a b' -DS=\\\"t\\\" ");
  ASSERT_TRUE(words);
  EXPECT_THAT(*words, ElementsAre("-DA=1", "-D", "B=x y", "-I/a b", "-DS=\"t\""));
}

TEST(BuildOptions, OpenQuoteIsAnError) {
  EXPECT_FALSE(split_options("-DA=\"x"));
}

TEST(BuildOptions, EmptyTextOptimisesAndKeepsArgumentNames) {
  const auto options = compile_options("");
  ASSERT_TRUE(options);
  EXPECT_THAT(options->words, Contains("-O3"));
  EXPECT_THAT(options->words, Contains("-cl-kernel-arg-info"));
}

TEST(BuildOptions, DisablingOptimisationWins) {
  const auto options = compile_options("-cl-opt-disable -DX");
  ASSERT_TRUE(options);
  EXPECT_THAT(options->words, Contains("-O0"));
  EXPECT_THAT(options->words, Not(Contains("-O3")));
  EXPECT_THAT(options->words, Contains("-DX"));
}

TEST(BuildOptions, ADeviceWithoutImagesHasNoImageFunctions) {
  const auto prelude = compile_options("", device_language("gfx942"))->prelude;
  EXPECT_THAT(prelude, HasSubstr("#define read_imagef(...) the_device_has_no_images()"));
  EXPECT_THAT(prelude, Not(HasSubstr("#define __IMAGE_SUPPORT__ 1")));
  EXPECT_THAT(prelude, HasSubstr("#define cl_khr_fp16 1"));
  EXPECT_THAT(compile_options("", device_language("gfx90a"))->prelude,
              HasSubstr("#define __IMAGE_SUPPORT__ 1"));
}

TEST(BuildOptions, SeparatedMacroAndFolderAreJoined) {
  const auto options = compile_options("-D N=3 -I /usr/include");
  ASSERT_TRUE(options);
  EXPECT_THAT(options->words, Contains("-DN=3"));
  EXPECT_THAT(options->words, Contains("-I/usr/include"));
}

TEST(BuildOptions, LaterLanguageIsRefusedByName) {
  const auto options = compile_options("-cl-std=CL2.0");
  ASSERT_FALSE(options);
  EXPECT_THAT(options.error().message, HasSubstr("-cl-std=CL2.0"));
  EXPECT_TRUE(compile_options("-cl-std=CL1.1"));
}

TEST(BuildOptions, UnknownOptionsAreRefusedByName) {
  for (const char* text : {"-cl-bogus", "-bogus", "bogus", "-D", "-Xclang", "-mcpu=gfx1100"}) {
    const auto options = compile_options(text);
    ASSERT_FALSE(options) << text;
    EXPECT_THAT(options.error().message, HasSubstr(text));
  }
}

TEST(BuildOptions, EveryOptionOfTheStandardIsKnown) {
  for (const char* text : {"-cl-single-precision-constant", "-cl-denorms-are-zero",
                           "-cl-fp32-correctly-rounded-divide-sqrt", "-cl-opt-disable",
                           "-cl-mad-enable", "-cl-no-signed-zeros", "-cl-unsafe-math-optimizations",
                           "-cl-finite-math-only", "-cl-fast-relaxed-math", "-w", "-Werror",
                           "-cl-std=CL1.2", "-cl-kernel-arg-info", "-cl-strict-aliasing"}) {
    EXPECT_TRUE(compile_options(text)) << text;
  }
}

TEST(BuildOptions, DivisionsAreExactUnlessTheProgramAsksForLess) {
  constexpr const char* kExact = "-cl-fp32-correctly-rounded-divide-sqrt";
  EXPECT_THAT(compile_options("")->words, Contains(kExact));
  EXPECT_THAT(compile_options("-cl-mad-enable")->words, Contains(kExact));
  EXPECT_THAT(compile_options("-cl-fast-relaxed-math")->words, Not(Contains(kExact)));
  EXPECT_THAT(compile_options("-cl-unsafe-math-optimizations")->words, Not(Contains(kExact)));
}

TEST(BuildOptions, AnotherVendorsOwnAreIgnored) {
  const auto options = compile_options("-cl-nv-verbose -cl-nv-maxrregcount=32 -DX");
  ASSERT_TRUE(options);
  EXPECT_THAT(options->words, Contains("-DX"));
  EXPECT_THAT(options->words, Not(Contains(HasSubstr("nv"))));
}

TEST(BuildOptions, LinkerKnowsItsOwn) {
  const auto library = link_options("-create-library -enable-link-options");
  ASSERT_TRUE(library);
  EXPECT_TRUE(library->create_library);
  EXPECT_FALSE(link_options("-DX"));
}

}  // namespace
}  // namespace ww::sim::driver::build_options_test
