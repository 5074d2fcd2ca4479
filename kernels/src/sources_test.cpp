#include "ww/kernels/sources.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ww::kernels {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(Sources, AllAreEmbeddedWhole) {
  for (const Source& source : sources()) {
    EXPECT_THAT(std::string(source.text), HasSubstr("void " + std::string(source.name) + "("));
    EXPECT_EQ(source.text.back(), '\n');
  }
}

TEST(Sources, PinnedOnesReadTheirPlaceOnce) {
  for (const Source& source : sources()) {
    std::size_t count = 0;
    for (auto at = source.text.find("WW_READ_PLACE("); at != std::string_view::npos;
         at = source.text.find("WW_READ_PLACE(", at + 1)) {
      ++count;
    }
    EXPECT_EQ(count, source.pinned ? 1u : 0u) << source.name;
  }
}

TEST(Sources, AnUnknownNameListsTheKnownOnes) {
  const auto found = find_source("l3_stream");
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code, ErrorCode::not_found);
  EXPECT_THAT(found.error().message, HasSubstr("l2_stream"));
}

TEST(ProgramText, CarriesTheMarkerAndTheConstraint) {
  const auto text = program_text(*find_source("l2_stream"), {});
  ASSERT_TRUE(text);
  EXPECT_THAT(*text, HasSubstr("0x5EC0DE01u"));
  EXPECT_THAT(*text, HasSubstr("#define WW_PIN_CONSTRAINT \"+s\""));
  EXPECT_THAT(*text, HasSubstr("#define WW_CHANNELS 16u"));
}

TEST(ProgramText, WaitsBySleepOrByNops) {
  const Source source = *find_source("l2_stream");
  Macros macros;
  EXPECT_THAT(*program_text(source, macros), AllOf(HasSubstr("s_sleep"), Not(HasSubstr("s_nop"))));
  macros.wait = Wait::nops;
  EXPECT_THAT(*program_text(source, macros), AllOf(HasSubstr("s_nop"), Not(HasSubstr("s_sleep"))));
}

TEST(ProgramText, OnOtherTargetsNamesNoAmdBuiltin) {
  Macros macros;
  macros.target.dialect = Dialect::portable;
  macros.wait = Wait::nops;
  const auto text = program_text(*find_source("l2_stream"), macros);
  ASSERT_TRUE(text);
  EXPECT_THAT(*text, Not(HasSubstr("amdgcn")));
}

TEST(ProgramText, RefusesSizesThatTheKernelCannotMask) {
  const Source source = *find_source("l2_stream");
  Macros macros;
  macros.stripes = 100;
  EXPECT_THAT(program_text(source, macros).error().message, HasSubstr("WW_STRIPES"));
  macros = {};
  macros.channels = 12;
  EXPECT_THAT(program_text(source, macros).error().message, HasSubstr("WW_CHANNELS"));
  macros = {};
  macros.quadrant_channels = 2;  // 512 B: a wavefront's load would need a second stripe
  EXPECT_THAT(program_text(source, macros).error().message, HasSubstr("WW_QUADRANT_CHANNELS"));
  macros = {};
  macros.group_size = 100;
  EXPECT_THAT(program_text(source, macros).error().message, HasSubstr("WW_GROUP_SIZE"));
  macros = {};
  macros.interleave_bytes = 0;
  EXPECT_THAT(program_text(source, macros).error().message, HasSubstr("WW_INTERLEAVE"));
}

}  // namespace
}  // namespace ww::kernels
