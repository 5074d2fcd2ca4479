#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ww/kernels/sources.hpp"

namespace ww::kernels {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

Macros for_ptx() {
  Macros macros;
  macros.target.dialect = Dialect::nvidia;
  macros.target.engine_shift = 0;
  macros.target.engine_mask = 0xFFFFFFFFu;
  macros.target.cu_shift = 0;
  macros.target.cu_mask = 0;
  macros.target.wave_size = 32;
  macros.group_size = kPtxGroupSize;
  macros.unroll = kPtxUnroll;
  return macros;
}

TEST(Ptx, EveryKernelHasItsEntryAndPinnedOnesTheMarkerOnce) {
  for (const Source& source : sources()) {
    const auto text = program_text(source, for_ptx());
    ASSERT_TRUE(text) << text.error().text();
    const auto ptx = ptx_for(source.name, *text);
    ASSERT_TRUE(ptx) << ptx.error().text();
    EXPECT_THAT(*ptx, HasSubstr(".visible .entry " + std::string(source.name) + "("));
    EXPECT_THAT(*ptx, Not(HasSubstr("WW_"))) << source.name;
    std::size_t markers = 0;
    for (auto at = ptx->find(", 1589698049;"); at != std::string::npos;
         at = ptx->find(", 1589698049;", at + 1)) {
      ++markers;
    }
    EXPECT_EQ(markers, source.pinned ? 1u : 0u) << source.name;
  }
}

TEST(Ptx, KeepsTheClocksReadingsAroundTheLoadsThatTheyTime) {
  const auto text = program_text(*find_source("l2_stream"), for_ptx()).value();
  const auto clock = text.find("#define WW_CLOCK(t)");
  ASSERT_NE(clock, std::string::npos);
  EXPECT_THAT(text.substr(clock, text.find('\n', clock) - clock), HasSubstr(R"(: "memory")"));
}

TEST(Ptx, TakesTheHostsValues) {
  Macros macros = for_ptx();
  macros.interleave_bytes = 4096;
  macros.stripes = 512;
  const auto text = program_text(*find_source("l2_stream"), macros).value();
  const auto ptx = ptx_for("l2_stream", text);
  ASSERT_TRUE(ptx) << ptx.error().text();
  EXPECT_THAT(*ptx, HasSubstr(", 4096;"));
  EXPECT_THAT(*ptx, HasSubstr(", 512;"));
}

TEST(Ptx, RefusesValuesThatWereFixedAndOtherPeoplesKernels) {
  Macros macros = for_ptx();
  macros.unroll = 8;
  auto text = program_text(*find_source("l2_stream"), macros).value();
  EXPECT_THAT(ptx_for("l2_stream", text).error().message, HasSubstr("WW_UNROLL = 4"));
  text = "__kernel void l2_stream() {}";
  EXPECT_EQ(ptx_for("l2_stream", text).error().code, ErrorCode::unsupported);
  EXPECT_THAT(ptx_for("l2_stream", text).error().message, HasSubstr("no compiler"));
  EXPECT_EQ(ptx_for("else", text).error().code, ErrorCode::unsupported);
}

}  // namespace
}  // namespace ww::kernels
