#include "latency/home_pages.hpp"

#include <algorithm>
#include <limits>

#include "ww/core/split_mix.hpp"

namespace ww::microbench {

PageLines lines_of_page(std::size_t page, std::int64_t interleave_bytes) {
  PageLines lines;
  SplitMix random(page + 1);
  const auto runs = kHomePage / static_cast<std::uint64_t>(interleave_bytes);
  for (std::size_t i = 0; i < kFindingLines + kCheckingLines; ++i) {
    const std::uint64_t run = random.next() % runs;
    lines.offsets.push_back(static_cast<std::uint32_t>(
        page * kHomePage + run * static_cast<std::uint64_t>(interleave_bytes)));
  }
  return lines;
}

ChannelProfiles::ChannelProfiles(const LatencyTable& ticks,
                                 const std::vector<std::vector<int>>& homes)
    : fit_(additive_fit(ticks)), home_(ticks.front().size()) {
  for (std::size_t h = 0; h < homes.size(); ++h) {
    for (const int channel : homes[h])
      home_[static_cast<std::size_t>(channel)] = static_cast<int>(h);
  }
}

double ChannelProfiles::distance(const std::vector<double>& line, int channel) const {
  const auto places = static_cast<double>(line.size());
  double mean = 0;
  for (std::size_t p = 0; p < line.size(); ++p) mean += (line[p] - fit_.row[p]) / places;
  double square = 0;
  for (std::size_t p = 0; p < line.size(); ++p) {
    const double left = line[p] - fit_.row[p] - mean;
    const double off = left - fit_.left[p][static_cast<std::size_t>(channel)];
    square += off * off / places;
  }
  return square;
}

int ChannelProfiles::nearest_home(const std::vector<double>& line) const {
  double least = std::numeric_limits<double>::infinity();
  int nearest = 0;
  for (std::size_t c = 0; c < home_.size(); ++c) {
    const double here = distance(line, static_cast<int>(c));
    if (here < least) {
      least = here;
      nearest = home_[c];
    }
  }
  return nearest;
}

PageFit fit_page(const PageLines& page, const LatencyTable& ticks, const AddressMap& address,
                 const ChannelProfiles& profiles) {
  const auto line = [&ticks](std::size_t l) {
    std::vector<double> profile;
    for (const auto& row : ticks) profile.push_back(row[l]);
    return profile;
  };
  std::vector<double> cost(static_cast<std::size_t>(address.channels));
  for (std::size_t l = 0; l < kFindingLines; ++l) {
    const std::vector<double> profile = line(l);
    const int channel = address.channel_of(page.offsets[l] % kHomePage);
    for (std::size_t k = 0; k < cost.size(); ++k) {
      cost[k] += profiles.distance(
          profile, shifted_channel(address, channel, static_cast<std::uint32_t>(k)));
    }
  }
  PageFit fit;
  fit.constant = static_cast<std::uint32_t>(std::ranges::min_element(cost) - cost.begin());
  for (std::size_t l = kFindingLines; l < page.offsets.size(); ++l) {
    const int channel =
        shifted_channel(address, address.channel_of(page.offsets[l] % kHomePage), fit.constant);
    ++fit.checked;
    fit.right += profiles.nearest_home(line(l)) == profiles.home_of(channel) ? 1 : 0;
  }
  return fit;
}

}  // namespace ww::microbench
