// Pages: an address hash that reaches beyond a page adds a constant to the channels of each page,
// which a few lines of it show.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "latency/latency_table.hpp"
#include "ww/microbench/homes.hpp"

namespace ww::microbench {

// Lines of a page: some to find its constant with, the rest to check it with.
struct PageLines {
  std::vector<std::uint32_t> offsets;  // from the first page
};
inline constexpr std::size_t kFindingLines = 8;
inline constexpr std::size_t kCheckingLines = 8;
[[nodiscard]] PageLines lines_of_page(std::size_t page, std::int64_t interleave_bytes);

// How long places wait for each channel, less what is their own.
class ChannelProfiles {
 public:
  // `ticks`: [place][channel].
  ChannelProfiles(const LatencyTable& ticks, const std::vector<std::vector<int>>& homes);
  // Mean squared difference of a line's profile (ticks by place) and a channel's.
  [[nodiscard]] double distance(const std::vector<double>& line, int channel) const;
  // The home of the channel that is most like the line.
  [[nodiscard]] int nearest_home(const std::vector<double>& line) const;
  [[nodiscard]] int home_of(int channel) const { return home_[static_cast<std::size_t>(channel)]; }

 private:
  AdditiveFit fit_;
  std::vector<int> home_;  // [channel]
};

struct PageFit {
  std::uint32_t constant{};
  int right{};  // checking lines that read like their home
  int checked{};
};
// `ticks`: [place][line of the page].
[[nodiscard]] PageFit fit_page(const PageLines& page, const LatencyTable& ticks,
                               const AddressMap& address, const ChannelProfiles& profiles);

}  // namespace ww::microbench
