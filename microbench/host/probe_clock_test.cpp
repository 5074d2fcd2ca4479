// The kernels that time loads, on a clock that wraps. Their own text is compiled for the host, with
// a clock of as many bits as the target's.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "host/pinning.hpp"
#include "ww/kernels/sources.hpp"

namespace ww::microbench::probe_on_host {

using uint = std::uint32_t;
using ulong = std::uint64_t;

// Variables behind the macros below.
ulong host_time = 0;
ulong host_clock_mask = 0;
uint probe_clock_mask = 0;

constexpr uint kFetchTicks = 500;
constexpr uint kPlace = 5;

uint get_local_id(uint) {
  return 0;
}
uint atomic_inc(uint* counter) {
  return (*counter)++;
}
uint fetch(const uint* at) {
  host_time += kFetchTicks;
  return *at;
}

#define __kernel
#define __global
#define __constant const
#define __local
#define __attribute__(list)
#define WW_READ_PLACE(id) const uint id = kPlace
#define WW_CLOCK(t) t = host_time & host_clock_mask
#define WW_CLOCK_MASK probe_clock_mask
#define WW_USE(x) (void)(x)
#define WW_HIDE(x) (void)(x)
#define WW_UNIFORM(x) (x)
#define WW_FETCH(p) fetch(p)
#define WW_LOAD(p) fetch(p)
#define WW_WAVE_SIZE 1
#include "../../kernels/cl/chase.cl"
#include "../../kernels/cl/probe.cl"
#undef __kernel
#undef __global
#undef __constant
#undef __local
#undef __attribute__
#undef WW_READ_PLACE
#undef WW_CLOCK
#undef WW_CLOCK_MASK
#undef WW_USE
#undef WW_HIDE
#undef WW_UNIFORM
#undef WW_FETCH
#undef WW_LOAD
#undef WW_WAVE_SIZE

struct Target {
  const char* name;
  unsigned clock_bits;
};

class ProbeClock : public ::testing::TestWithParam<Target> {
 protected:
  // The mask that the host writes into the kernels for the target, and a clock of its bits.
  void SetUp() override {
    const auto pinning = make_pinning(GetParam().name);
    ASSERT_TRUE(pinning) << pinning.error().text();
    kernels::Macros macros;
    macros.target = (*pinning)->target();
    EXPECT_EQ(macros.target.clock_bits, GetParam().clock_bits);
    const auto text = kernels::program_text(kernels::find_source("probe").value(), macros);
    ASSERT_TRUE(text) << text.error().text();
    const std::string name = "#define WW_CLOCK_MASK ";
    const auto at = text->find(name);
    ASSERT_NE(at, std::string::npos);
    probe_clock_mask = static_cast<uint>(std::stoul(text->substr(at + name.size())));
    host_clock_mask = (ulong{1} << GetParam().clock_bits) - 1;
  }
};

// SHADER_CYCLES has 20 bits on gfx10.3 and gfx11.
TEST_P(ProbeClock, GivesTimesAcrossItsWrap) {
  // The second line is timed while the clock wraps.
  constexpr uint kHops = 16;
  host_time = host_clock_mask + 1 - 2 * kFetchTicks - kHops * kFetchTicks - kFetchTicks / 2;
  std::vector<uint> buffer(64, 0);
  const std::vector<uint> offsets{0, 16, 32};
  std::vector<uint> ticks(3), ticket(2);
  probe(buffer.data(), offsets.data(), 3, kHops, 0xFF, kPlace, ticket.data(), ticks.data(), 1);
  EXPECT_GT(host_time, host_clock_mask);
  for (const uint time : ticks) EXPECT_EQ(time, kHops * kFetchTicks);
  EXPECT_EQ(ticket[1], kPlace);
}

TEST_P(ProbeClock, TimesSingleLoadsAcrossItsWrap) {
  // The third of four timed loads is under way while the clock wraps.
  host_time = host_clock_mask + 1 - 2 * kFetchTicks - kFetchTicks / 2;
  const std::vector<uint> ring{1, 2, 0};
  std::vector<uint> ticks(4), output(1);
  chase(ring.data(), ring.data(), 0, 0, 4, 0, ticks.data(), output.data());
  EXPECT_GT(host_time, host_clock_mask);
  for (const uint time : ticks) EXPECT_EQ(time, kFetchTicks);
  EXPECT_EQ(output[0], 1U);
}

// Without the mask the tests above fail where the clock has fewer bits than a word.
TEST_P(ProbeClock, WouldGiveWrongTimesWithoutItsMask) {
  probe_clock_mask = ~uint{0};
  host_time = host_clock_mask + 1 - 2 * kFetchTicks - kFetchTicks / 2;
  const std::vector<uint> ring{1, 2, 0};
  std::vector<uint> ticks(4), output(1);
  chase(ring.data(), ring.data(), 0, 0, 4, 0, ticks.data(), output.data());
  EXPECT_EQ(ticks[0], kFetchTicks);
  const bool wraps = GetParam().clock_bits < 32;
  EXPECT_EQ(ticks[2], wraps ? kFetchTicks - (uint{1} << GetParam().clock_bits) : kFetchTicks);
}

INSTANTIATE_TEST_SUITE_P(Targets, ProbeClock,
                         ::testing::Values(Target{"gfx1030", 20}, Target{"gfx1100", 20},
                                           Target{"gfx1151", 20}, Target{"gfx90a", 32},
                                           Target{"gfx1010", 32}),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace ww::microbench::probe_on_host
