#include "latency/homes_of_lines.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "latency/home_clusters.hpp"

namespace ww::microbench {
namespace {

constexpr double kMinConfidence = 0.98;
constexpr int kProbedLinesOfChannel = 4;

// [place][channel]: the median of a channel's lines.
LatencyTable by_channel(const LatencyTable& lines, const std::vector<std::uint32_t>& offsets,
                        const AddressMap& address) {
  LatencyTable table;
  for (const auto& row : lines) {
    std::vector<std::vector<double>> seen(static_cast<std::size_t>(address.channels));
    for (std::size_t l = 0; l < offsets.size(); ++l) {
      seen[static_cast<std::size_t>(address.channel_of(offsets[l]))].push_back(row[l]);
    }
    auto& out = table.emplace_back();
    for (auto& values : seen) {
      std::ranges::sort(values);
      const std::size_t half = values.size() / 2;
      out.push_back(values.size() % 2 == 1 ? values[half]
                                           : 0.5 * (values[half - 1] + values[half]));
    }
  }
  return table;
}

// [engine][home]: means over CUs and channels.
LatencyTable by_engine(const LatencyTable& channels, const std::vector<TopologyPlace>& places,
                       const std::vector<std::vector<int>>& homes) {
  std::map<int, std::vector<std::size_t>> rows;
  for (std::size_t p = 0; p < places.size(); ++p) rows[places[p].engine].push_back(p);
  LatencyTable table;
  for (const auto& [engine, members] : rows) {
    auto& out = table.emplace_back();
    for (const auto& home : homes) {
      double sum = 0;
      for (const std::size_t p : members) {
        for (const int channel : home) sum += channels[p][static_cast<std::size_t>(channel)];
      }
      out.push_back(sum / static_cast<double>(members.size() * home.size()));
    }
  }
  return table;
}

// Columns from `first` on.
LatencyTable columns(const LatencyTable& table, std::size_t first, std::size_t count) {
  LatencyTable part;
  for (const auto& row : table) {
    const auto begin = row.begin() + static_cast<std::ptrdiff_t>(first);
    part.emplace_back(begin, begin + static_cast<std::ptrdiff_t>(count));
  }
  return part;
}

}  // namespace

std::vector<std::uint32_t> lines_of_channels(const AddressMap& address) {
  std::vector<std::uint32_t> lines;
  std::map<int, int> have;
  const auto wanted = static_cast<std::ptrdiff_t>(kProbedLinesOfChannel) * address.channels;
  // A line each of pieces that lie apart.
  const auto step =
      static_cast<std::uint32_t>(std::max<std::int64_t>(64, address.interleave_bytes));
  for (std::uint32_t offset = 0; offset < kHomePage && std::ssize(lines) < wanted; offset += step) {
    if (have[address.channel_of(offset)]++ < kProbedLinesOfChannel) lines.push_back(offset);
  }
  return lines;
}

HomeLines home_lines(const AddressMap& address, std::size_t pages) {
  HomeLines lines;
  lines.of_channels = lines_of_channels(address);
  for (std::size_t page = 0; page < pages; ++page) {
    lines.of_pages.push_back(lines_of_page(page, address.interleave_bytes));
  }
  return lines;
}

Homes homes_of_lines(const AddressMap& address, const std::vector<TopologyPlace>& places,
                     const HomeLines& lines, const LatencyMap& latency) {
  Homes homes;
  homes.address = address;
  homes.noise_ticks = latency.noise_ticks;
  const LatencyTable channels =
      by_channel(columns(latency.ticks, 0, lines.of_channels.size()), lines.of_channels, address);
  const HomeClusters clusters = cluster_channels(channels, latency.noise_ticks);
  homes.channels = clusters.members;
  homes.separation = clusters.separation;
  homes.margin = clusters.margin;
  if (!clusters.found) {
    homes.reason = clusters.reason;
    return homes;
  }
  homes.ticks = by_engine(channels, places, homes.channels);
  const ChannelProfiles profiles(channels, homes.channels);
  std::size_t at = lines.of_channels.size();
  int right = 0;
  for (const PageLines& page : lines.of_pages) {
    const PageFit fit =
        fit_page(page, columns(latency.ticks, at, page.offsets.size()), address, profiles);
    at += page.offsets.size();
    homes.page_channel.push_back(fit.constant);
    right += fit.right;
    homes.checked += fit.checked;
  }
  homes.confidence = static_cast<double>(right) / std::max(homes.checked, 1);
  homes.found = homes.confidence >= kMinConfidence;
  if (!homes.found) {
    homes.reason = fmt::format("{} of {} lines read like another home than the one predicted",
                               homes.checked - right, homes.checked);
  }
  return homes;
}

}  // namespace ww::microbench
