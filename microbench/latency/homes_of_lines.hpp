// Homes from what was measured: the part of discover_homes that needs no device.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "latency/home_pages.hpp"
#include "latency/latency_map.hpp"
#include "ww/microbench/homes.hpp"

namespace ww::microbench {

// Four lines of every channel, in the first page.
[[nodiscard]] std::vector<std::uint32_t> lines_of_channels(const AddressMap& address);

// Lines measured in one go: lines of all channels on the first page, then lines on every page.
struct HomeLines {
  std::vector<std::uint32_t> of_channels;
  std::vector<PageLines> of_pages;
  [[nodiscard]] std::vector<std::uint32_t> all() const {
    std::vector<std::uint32_t> offsets = of_channels;
    for (const PageLines& page : of_pages) {
      offsets.insert(offsets.end(), page.offsets.begin(), page.offsets.end());
    }
    return offsets;
  }
};
[[nodiscard]] HomeLines home_lines(const AddressMap& address, std::size_t pages);

// `latency`: [place][line] of HomeLines::all().
[[nodiscard]] Homes homes_of_lines(const AddressMap& address,
                                   const std::vector<TopologyPlace>& places, const HomeLines& lines,
                                   const LatencyMap& latency);

}  // namespace ww::microbench
