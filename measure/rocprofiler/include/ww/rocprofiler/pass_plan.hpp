// Which counters can be counted together.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace ww::rocprofiler {

// Counters of one instance of a block that can run at once: 4 of TCP, TCC and GL2C on gfx9 to gfx12
// (aqlprofile's block tables). A library may abort in the first launch where it gets more.
inline constexpr std::size_t kCountersPerBlock = 4;

// "TCC" of "TCC_EA_RDREQ_sum".
[[nodiscard]] std::string_view block_of(std::string_view counter);
// The hardware counter behind a sum over its instances: "TCC_EA_RDREQ" of "TCC_EA_RDREQ_sum".
[[nodiscard]] std::string_view base_of(std::string_view counter);

// Sets of counters, each for one run of the program, in the order of `counters`. A counter goes
// into the first set in which its block has a place.
[[nodiscard]] std::vector<std::vector<std::string>> plan_passes(
    const std::vector<std::string>& counters, std::size_t per_block = kCountersPerBlock);

}  // namespace ww::rocprofiler
