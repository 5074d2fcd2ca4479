#include "ww/microbench/homes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>

#include "device/topology_probe.hpp"
#include "host/pinning.hpp"
#include "latency/homes_of_lines.hpp"
#include "ww/core/json_reader.hpp"

namespace ww::microbench {
namespace {

// The bits of each mask, which people read more easily.
std::vector<std::vector<int>> bits_of(const std::vector<std::uint64_t>& masks) {
  std::vector<std::vector<int>> bits;
  for (const std::uint64_t mask : masks) {
    auto& row = bits.emplace_back();
    for (int bit = 0; bit < 64; ++bit) {
      if ((mask >> bit & 1U) != 0) row.push_back(bit);
    }
  }
  return bits;
}

Result<LatencyMap> measure(Prober& prober, const std::vector<TopologyPlace>& places,
                           const std::vector<std::uint32_t>& offsets, unsigned at_once) {
  std::vector<LatencyTable> tables;
  for (int repeat = 0; repeat < kLatencyRepeats; ++repeat) {
    WW_ASSIGN(table, prober.latencies(places, offsets, at_once));
    tables.push_back(std::move(table));
    prober.progress(0.5 + 0.5 * (repeat + 1) / kLatencyRepeats);
  }
  return latency_map(tables);
}

}  // namespace

int shifted_channel(const AddressMap& map, int channel, std::uint32_t constant) {
  if (map.form == AddressMap::Form::modulo) {
    return (channel + static_cast<int>(constant)) % map.channels;
  }
  return channel ^ static_cast<int>(constant);
}

int Homes::channel_of(std::uint64_t offset) const {
  const std::size_t page = offset / kHomePage;
  return shifted_channel(address, address.channel_of(offset % kHomePage), page_channel[page]);
}

int Homes::home_of(std::uint64_t offset) const {
  const int channel = channel_of(offset);
  for (std::size_t h = 0; h < channels.size(); ++h) {
    if (std::ranges::find(channels[h], channel) != channels[h].end()) return static_cast<int>(h);
  }
  return -1;
}

std::vector<std::vector<int>> Homes::order() const {
  std::vector<std::vector<int>> orders;
  for (const auto& row : ticks) {
    auto& order = orders.emplace_back(row.size());
    std::iota(order.begin(), order.end(), 0);
    std::ranges::stable_sort(order, {},
                             [&row](int home) { return row[static_cast<std::size_t>(home)]; });
  }
  return orders;
}

nlohmann::json to_json(const Homes& homes) {
  return {{"found", homes.found},
          {"reason", homes.reason},
          {"channels", homes.channels},
          {"ticks", homes.ticks},
          {"noise_ticks", homes.noise_ticks},
          {"order", homes.order()},
          {"separation", homes.separation},
          {"margin", homes.margin},
          {"page_channel", homes.page_channel},
          {"confidence", homes.confidence},
          {"checked", homes.checked},
          {"form", homes.address.form == AddressMap::Form::modulo ? "modulo" : "xor_of_bits"},
          {"hash_masks", homes.address.masks},
          {"hash_bits", bits_of(homes.address.masks)},
          {"channel_count", homes.address.channels},
          {"foretold", homes.address.predicted_share},
          {"interleave_bytes", homes.address.interleave_bytes}};
}

Result<Homes> homes_from_json(const nlohmann::json& json) {
  Homes homes;
  const JsonReader reader(json, "homes");
  std::string form;
  reader.read("found", homes.found);
  reader.read("reason", homes.reason);
  LatencyTable channels;
  reader.read("channels", channels);
  for (const auto& home : channels) {
    auto& members = homes.channels.emplace_back();
    for (const double channel : home) members.push_back(static_cast<int>(channel));
  }
  reader.read("ticks", homes.ticks);
  reader.read("noise_ticks", homes.noise_ticks);
  reader.read("separation", homes.separation);
  reader.read("margin", homes.margin);
  reader.read("page_channel", homes.page_channel);
  reader.read("confidence", homes.confidence);
  reader.read("checked", homes.checked);
  reader.read("form", form);
  reader.read("hash_masks", homes.address.masks);
  reader.read("channel_count", homes.address.channels);
  reader.read("foretold", homes.address.predicted_share);
  reader.read("interleave_bytes", homes.address.interleave_bytes);
  if (homes.address.interleave_bytes < 1 || homes.address.channels < 1) {
    reader.refuse("interleave_bytes", "must be positive, as must be channel_count");
  }
  WW_TRY(reader.status());
  homes.address.found = true;
  homes.address.form = form == "modulo" ? AddressMap::Form::modulo : AddressMap::Form::xor_of_bits;
  return homes;
}

Result<HomeMemory> discover_homes(ComputeHost& host, std::size_t pages,
                                  const std::function<void(double)>& progress) {
  const HostFacts facts = host.facts();
  WW_ASSIGN(pinning, make_pinning(facts.target));
  HomeMemory memory;
  memory.pages = pages;
  Prober prober(host, pinning.get(), progress, pages);
  WW_TRY(prober.set_up());
  WW_ASSIGN(places, prober.places(facts.compute_units));
  memory.places = std::move(places);
  prober.progress(0.1);
  WW_ASSIGN(address, prober.address());
  prober.progress(0.5);
  if (!address.found) {
    memory.homes.address = std::move(address);
    memory.homes.reason = "the channels were not found: " + memory.homes.address.reason;
    return memory;
  }
  const HomeLines lines = home_lines(address, pages);
  WW_ASSIGN(latency, measure(prober, memory.places, lines.all(), lines_at_once(address)));
  memory.homes = homes_of_lines(address, memory.places, lines, latency);
  memory.aligned = prober.aligned();
  memory.address = prober.address_of_region();
  memory.buffer = prober.take_region();
  return memory;
}

Result<std::vector<std::uint32_t>> lines_of_home(const HomeMemory& memory, int home,
                                                 std::size_t page, std::size_t count,
                                                 std::size_t run_bytes) {
  const Homes& homes = memory.homes;
  const auto& channels = homes.channels[static_cast<std::size_t>(home)];
  const std::size_t interleave = static_cast<std::size_t>(homes.address.interleave_bytes);
  const std::size_t step = std::min(run_bytes, interleave);
  std::vector<std::vector<std::uint32_t>> of_channel(channels.size());
  for (std::uint64_t offset = 0; offset < kHomePage; offset += step) {
    const std::uint64_t at = page * kHomePage + offset;
    const auto found = std::ranges::find(channels, homes.channel_of(at));
    if (found == channels.end()) continue;
    of_channel[static_cast<std::size_t>(found - channels.begin())].push_back(
        static_cast<std::uint32_t>(memory.aligned + at));
  }
  std::vector<std::uint32_t> lines;
  for (std::size_t i = 0; lines.size() < count; ++i) {
    const auto& from = of_channel[i % channels.size()];
    const std::size_t next = i / channels.size();
    if (next >= from.size()) {
      return fail(ErrorCode::out_of_range,
                  fmt::format("a page has {} runs of {} B on a channel of home {}; {} in all are "
                              "wanted",
                              from.size(), step, home, count));
    }
    lines.push_back(from[next]);
  }
  return lines;
}

}  // namespace ww::microbench
