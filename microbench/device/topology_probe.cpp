// Probing a device: where wavefronts run, which addresses share a channel, who is near to what.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <map>
#include <set>

#include "channels/contention.hpp"
#include "device/topology_probe.hpp"
#include "host/pinning.hpp"
#include "latency/homes_of_lines.hpp"
#include "latency/latency_map.hpp"
#include "latency/latency_structure.hpp"
#include "ww/core/interrupt.hpp"
#include "ww/kernels/sources.hpp"
#include "ww/microbench/hosts.hpp"
#include "ww/microbench/topology.hpp"

namespace ww::microbench {
namespace {

constexpr std::size_t kRegionBytes = std::size_t{2} << 20;  // a large page
constexpr std::uint32_t kProbeHops = 16;
constexpr std::uint32_t kProbeUnlogged = 0xFFFFFFFFu;
constexpr std::uint32_t kProbePinMarker = 0x5EC0DE01u;

}  // namespace

Result<std::vector<std::byte>> Prober::binary(const char* name, bool pinned) const {
  WW_ASSIGN(source, kernels::find_source(name));
  WW_ASSIGN(text, kernels::program_text(source, macros_));
  WW_ASSIGN(built, host_.build(text, name));
  if (pinned) return pinning_->patch(built, name);
  return built;
}

Result<std::unique_ptr<LoadedKernel>> Prober::kernel(const char* name, bool pinned) const {
  WW_ASSIGN(built, binary(name, pinned));
  return host_.load(built, name);
}

Status Prober::set_up() {
  const std::size_t bytes = (pages_ + 1) * kRegionBytes;
  WW_ASSIGN(region, host_.create_buffer(bytes));
  own_region_ = std::move(region);
  const std::vector<std::byte> zeros(bytes);
  WW_TRY(own_region_->write(0, zeros));
  WW_TRY(set_up_on(*own_region_, 0));
  WW_ASSIGN(contend, kernel("contend", false));
  contend_ = std::move(contend);
  WW_TRY(contend_->set(0, *region_));
  WW_TRY(contend_->set(4, *output_));
  // The address of the buffer decides where the aligned region begins.
  WW_TRY(this->contend(0, 0, 1));
  std::array<std::uint32_t, 2> address{};
  WW_TRY(output_->read(8, std::as_writable_bytes(std::span(address))));
  const std::uint64_t base = std::uint64_t{address[1]} << 32 | address[0];
  aligned_ = (kRegionBytes - base % kRegionBytes) % kRegionBytes;
  address_ = base + aligned_;
  return {};
}

Status Prober::set_up_on(DeviceBuffer& region, std::uint64_t aligned) {
  region_ = &region;
  aligned_ = aligned;
  WW_ASSIGN(output, host_.create_buffer(256));
  output_ = std::move(output);
  return {};
}

Result<double> Prober::contend(std::uint64_t first, std::uint64_t second, std::uint32_t loops) {
  if (interrupted()) return fail(ErrorCode::cancelled, "interrupted");
  WW_TRY(contend_->set(1, word(first)));
  WW_TRY(contend_->set(2, word(second)));
  WW_TRY(contend_->set(3, loops));
  // A wavefront waits for each of its loads: many of them saturate a channel, which this many do
  // whatever the size of the chip.
  constexpr std::size_t kSaturating = 768;
  // Sixteen a compute unit, of which RDNA's places are pairs.
  const std::size_t waves = (is_rdna(host_.facts().target) ? 8 : 4) * groups_;
  WW_ASSIGN(seconds, contend_->time_launch(std::min(waves, kSaturating), macros_.target.wave_size));
  contentions_.push_back({first, second, seconds});
  return seconds;
}

Result<std::vector<std::uint32_t>> Prober::wave_log(int compute_units, bool pinned) {
  WW_ASSIGN(places, kernel("places", pinned));
  const std::size_t groups = static_cast<std::size_t>(compute_units > 0 ? compute_units : 128) * 8;
  std::vector<std::uint32_t> log(groups * waves_per_group(), kProbeUnlogged);
  WW_ASSIGN(memory, host_.create_buffer(log.size() * sizeof(std::uint32_t)));
  WW_TRY(memory->write(0, std::as_bytes(std::span(log))));
  WW_TRY(places->set(0, *memory));
  WW_TRY(places->set(1, std::uint32_t{100}));
  WW_TRY(places->set(2, *output_));
  WW_TRY(places->launch(groups, macros_.group_size));
  WW_TRY(memory->read(0, std::as_writable_bytes(std::span(log))));
  for (std::size_t wave = 0; wave < log.size(); ++wave) {
    if (log[wave] == kProbeUnlogged) {
      return fail(ErrorCode::bad_data, fmt::format("wavefront {} did not report", wave));
    }
  }
  return log;
}

Result<std::vector<TopologyPlace>> Prober::places(int compute_units) {
  WW_ASSIGN(log, wave_log(compute_units, true));
  std::map<std::uint32_t, Place> seen;
  std::size_t unpatched = 0;
  for (std::size_t wave = 0; wave < log.size(); ++wave) {
    unpatched +=
        log[wave] == (static_cast<std::uint32_t>(wave / waves_per_group()) ^ kProbePinMarker) ? 1
                                                                                              : 0;
    WW_ASSIGN(place, pinning_->place(log[wave]));
    seen.emplace(log[wave] & pinning_->place_mask(), place);
  }
  if (unpatched == log.size()) {
    return fail(ErrorCode::bad_data,
                "wavefronts report work-group numbers instead of hardware ids, so the binary is "
                "not pinned");
  }
  if (const auto [least, greatest] = std::ranges::minmax(log); least == greatest) {
    return fail(
        ErrorCode::unsupported,
        fmt::format("all of {} wavefronts read {:#x} as their hardware id, so kernels cannot "
                    "read the register here",
                    log.size(), least));
  }
  if (compute_units > 1 && seen.size() == 1) {
    return fail(
        ErrorCode::unsupported,
        fmt::format("the hardware ids of {} wavefronts on {} compute units name one place, so "
                    "they do not tell places apart",
                    log.size(), compute_units));
  }
  std::vector<TopologyPlace> found;
  found.reserve(seen.size());
  for (const auto& [id, place] : seen) found.push_back({place.engine, place.cu, id});
  std::ranges::sort(found, {},
                    [](const TopologyPlace& place) { return std::pair(place.engine, place.cu); });
  groups_ = found.size() * 4;
  return found;
}

Result<AddressMap> Prober::address() {
  double asked = 0;
  return address_map_by_contention(
      [this](std::uint64_t first, std::uint64_t second, std::uint32_t loops) {
        return contend(first, second, loops);
      },
      [this, &asked] { progress(0.1 + 0.4 * std::min(1.0, ++asked / 500)); });
}

Result<std::vector<std::vector<double>>> Prober::latencies(const std::vector<TopologyPlace>& places,
                                                           const std::vector<std::uint32_t>& lines,
                                                           unsigned lines_at_once) {
  if (probe_ == nullptr) {
    WW_ASSIGN(probe, kernel("probe", true));
    probe_ = std::move(probe);
  }
  std::vector<std::uint32_t> words;
  words.reserve(lines.size());
  for (const std::uint32_t line : lines) words.push_back(line / 4);
  std::vector<std::uint32_t> ticks(lines.size());
  const std::array<std::uint32_t, 2> open{0, 0};
  WW_ASSIGN(offsets, host_.create_buffer(words.size() * 4));
  WW_ASSIGN(result, host_.create_buffer(words.size() * 4));
  WW_ASSIGN(ticket, host_.create_buffer(64));
  std::vector<std::uint32_t> shifted = words;
  for (std::uint32_t& at : shifted) at += static_cast<std::uint32_t>(aligned_ / 4);
  WW_TRY(offsets->write(0, std::as_bytes(std::span(shifted))));
  WW_TRY(probe_->set(0, *region_));
  WW_TRY(probe_->set(1, *offsets));
  WW_TRY(probe_->set(2, static_cast<std::uint32_t>(words.size())));
  WW_TRY(probe_->set(3, kProbeHops / lines_at_once));
  WW_TRY(probe_->set(6, *ticket));
  WW_TRY(probe_->set(7, *result));
  WW_TRY(probe_->set(8, std::uint32_t{lines_at_once}));
  std::vector<std::vector<double>> table;
  for (const TopologyPlace& place : places) {
    if (interrupted()) return fail(ErrorCode::cancelled, "interrupted");
    WW_TRY(probe_->set(4, pinning_->place_mask()));
    WW_TRY(probe_->set(5, place.id));
    std::uint32_t taken = 0;
    for (std::size_t groups = groups_; taken == 0 && groups <= 64 * groups_; groups *= 4) {
      WW_TRY(ticket->write(0, std::as_bytes(std::span(open))));
      WW_TRY(probe_->launch(groups, macros_.target.wave_size));
      WW_TRY(host_.finish());
      WW_TRY(ticket->read(0, std::as_writable_bytes(std::span(&taken, 1))));
    }
    if (taken == 0) {
      return fail(ErrorCode::bad_data, fmt::format("no wavefront came to engine {} CU {} again",
                                                   place.engine, place.cu));
    }
    WW_TRY(result->read(0, std::as_writable_bytes(std::span(ticks))));
    auto& row = table.emplace_back();
    for (const std::uint32_t total : ticks) row.push_back(static_cast<double>(total) / kProbeHops);
  }
  return table;
}

unsigned lines_at_once(const AddressMap& address) {
  constexpr std::int64_t kLineBytes = 64;
  constexpr std::int64_t kMax = 4;  // cycles from one issue of a wavefront to the next
  const auto lines = static_cast<std::uint64_t>(
      std::clamp<std::int64_t>(address.interleave_bytes / kLineBytes, 1, kMax));
  return static_cast<unsigned>(std::bit_floor(lines));
}

namespace {

// Mean over the CUs of each engine and over the lines of each channel.
std::vector<std::vector<double>> by_engine_and_channel(
    const std::vector<std::vector<double>>& table, const std::vector<TopologyPlace>& places,
    const std::vector<int>& engines, const std::vector<std::uint32_t>& lines,
    const AddressMap& address) {
  const auto channels = static_cast<std::size_t>(address.channels);
  std::vector<std::vector<double>> mean(engines.size(), std::vector<double>(channels));
  std::vector<std::vector<double>> count = mean;
  for (std::size_t p = 0; p < places.size(); ++p) {
    const auto engine =
        static_cast<std::size_t>(std::ranges::find(engines, places[p].engine) - engines.begin());
    for (std::size_t l = 0; l < lines.size(); ++l) {
      const auto channel = static_cast<std::size_t>(address.channel_of(lines[l]));
      mean[engine][channel] += table[p][l];
      count[engine][channel] += 1;
    }
  }
  for (std::size_t e = 0; e < mean.size(); ++e) {
    for (std::size_t c = 0; c < channels; ++c) mean[e][c] /= count[e][c];
  }
  return mean;
}

constexpr unsigned kFirstSideBit = 7;
constexpr unsigned kLastSideBit = 20;
constexpr std::size_t side_bases = 15;
constexpr std::size_t kSideChecks = 96;

}  // namespace

std::vector<std::uint32_t> lines_for_sides() {
  std::vector<std::uint32_t> lines;
  std::uint32_t random = 12345;
  const auto next = [&random] {
    random = random * 1664525u + 1013904223u;
    return (random >> 8) * 128u % static_cast<std::uint32_t>(kRegionBytes);
  };
  for (std::size_t i = 0; i < side_bases; ++i) {
    const std::uint32_t base = next();
    lines.push_back(base);
    for (unsigned bit = kFirstSideBit; bit <= kLastSideBit; ++bit) {
      lines.push_back(base ^ (1u << bit));
    }
  }
  for (std::size_t i = 0; i < kSideChecks; ++i) lines.push_back(next());
  return lines;
}

namespace {

// Finds the bits that change a line's side, by the majority of the bases.
void find_line_mask(Sides& sides, const std::vector<std::uint32_t>& lines,
                    const std::vector<int>& side_of_line) {
  constexpr std::size_t row = 2 + kLastSideBit - kFirstSideBit;
  std::uint64_t mask = 0;
  for (unsigned bit = kFirstSideBit; bit <= kLastSideBit; ++bit) {
    std::size_t turned = 0;
    for (std::size_t base = 0; base < side_bases; ++base) {
      const std::size_t at = base * row;
      turned += side_of_line[at] != side_of_line[at + 1 + bit - kFirstSideBit] ? 1 : 0;
    }
    if (2 * turned > side_bases) mask |= std::uint64_t{1} << bit;
  }
  // The constant, by majority; then the share that is predicted among lines that were not timed.
  const auto parity = [mask](std::uint32_t line) { return std::popcount(line & mask) & 1; };
  std::size_t odd = 0;
  for (std::size_t base = 0; base < side_bases; ++base) {
    odd += parity(lines[base * row]) != side_of_line[base * row] ? 1 : 0;
  }
  const int constant = 2 * odd > side_bases ? 1 : 0;
  std::size_t right = 0;
  for (std::size_t l = side_bases * row; l < lines.size(); ++l) {
    right += (parity(lines[l]) ^ constant) == side_of_line[l] ? 1 : 0;
  }
  sides.predicted_line_share = static_cast<double>(right) / static_cast<double>(kSideChecks);
  if (mask != 0 && sides.predicted_line_share >= 0.95) {
    sides.line_mask = mask;
  } else {
    sides.line_reason = fmt::format(
        "no parity of address bits {} to {} foretells a line's side "
        "(best: {:.0f}% of {} lines)",
        kFirstSideBit, kLastSideBit, 100 * sides.predicted_line_share, kSideChecks);
  }
}

}  // namespace

std::vector<int> Topology::engines() const {
  std::set<int> seen;
  for (const TopologyPlace& place : places) seen.insert(place.engine);
  return {seen.begin(), seen.end()};
}

Result<std::vector<WavePlace>> record_wave_places(ComputeHost& host) {
  const HostFacts facts = host.facts();
  WW_ASSIGN(pinning, make_pinning(facts.target));
  Prober prober(host, pinning.get(), {});
  WW_TRY(prober.set_up());
  WW_ASSIGN(unpatched, prober.wave_log(facts.compute_units, false));
  WW_ASSIGN(patched, prober.wave_log(facts.compute_units, true));
  std::vector<WavePlace> waves;
  for (std::size_t i = 0; i < patched.size(); ++i) {
    WW_ASSIGN(place, pinning->place(patched[i]));
    WavePlace wave;
    wave.wave = static_cast<std::uint32_t>(i);
    wave.group = static_cast<std::uint32_t>(i / prober.waves_per_group());
    wave.unpatched = unpatched[i];
    wave.id = patched[i];
    wave.engine = place.engine;
    wave.cu = place.cu;
    waves.push_back(wave);
  }
  return waves;
}

Result<Topology> discover_topology(ComputeHost& host, const std::function<void(double)>& progress,
                                   TopologyReadings* readings) {
  Topology topology;
  const HostFacts facts = host.facts();
  topology.device = facts.device;
  topology.driver = facts.driver;
  topology.target = facts.target;
  topology.reported_by_driver.source = "driver";
  if (facts.compute_units > 0) topology.reported_by_driver.compute_units = facts.compute_units;
  if (facts.l2_bytes > 0) topology.reported_by_driver.l2_bytes = facts.l2_bytes;

  const auto pinning = make_pinning(facts.target);
  topology.pinned = pinning.has_value();
  if (!pinning) topology.pinning_reason = pinning.error().text();
  Prober prober(host, pinning ? pinning->get() : nullptr, progress);
  WW_TRY(prober.set_up());
  const bool has_sides = facts.target.starts_with("sm_");
  if (topology.pinned) {
    auto places = prober.places(facts.compute_units);
    if (places) {
      topology.places = *std::move(places);
    } else if (places.error().code == ErrorCode::unsupported) {
      topology.pinned = false;
      topology.pinning_reason = places.error().text();
    } else {
      return tl::unexpected(places.error());
    }
  }
  if (!topology.pinned) topology.places_reason = topology.pinning_reason;
  prober.progress(0.1);
  auto address = prober.address();
  if (readings != nullptr) readings->contentions = std::move(prober.contentions());
  if (!address) return tl::unexpected(address.error());
  topology.address = *std::move(address);
  prober.progress(0.5);
  if (!topology.pinned) {
    topology.latency.reason = topology.pinning_reason;
    return topology;
  }
  if (dies_repeat_ids(facts.target)) {
    topology.latency.reason =
        "the dies of this part repeat the same hardware ids, so a latency has no one place";
    return topology;
  }
  HomeLines of_homes;
  if (has_sides) {
    topology.lines = lines_for_sides();
  } else if (topology.address.found) {
    of_homes = home_lines(topology.address, 1);
    topology.lines = of_homes.all();
  } else {
    topology.latency.reason = "the channels were not found: " + topology.address.reason;
    return topology;
  }
  std::vector<std::vector<std::vector<double>>> tables;
  std::vector<std::vector<std::vector<double>>> by_place;
  for (int repeat = 0; repeat < kLatencyRepeats; ++repeat) {
    WW_ASSIGN(table, prober.latencies(topology.places, topology.lines,
                                      has_sides ? 1 : lines_at_once(topology.address)));
    if (readings != nullptr) readings->ticks.push_back(table);
    if (has_sides) {
      tables.push_back(std::move(table));
    } else {
      tables.push_back(by_engine_and_channel(table, topology.places, topology.engines(),
                                             of_homes.of_channels, topology.address));
      by_place.push_back(std::move(table));
    }
    prober.progress(0.5 + 0.5 * (repeat + 1) / kLatencyRepeats);
  }
  WW_ASSIGN(latency, latency_map(tables));
  topology.latency = std::move(latency);
  if (has_sides) {
    std::vector<int> side_of_line;
    topology.sides = find_sides(topology.latency, side_of_line);
    topology.structure = latency_structure(topology.latency);
    if (topology.sides->found) find_line_mask(*topology.sides, topology.lines, side_of_line);
  } else {
    WW_ASSIGN(of_places, latency_map(by_place));
    topology.homes = homes_of_lines(topology.address, topology.places, of_homes, of_places);
    topology.structure = latency_structure(of_places);
    topology.lines.clear();  // the columns are channels
  }
  return topology;
}

}  // namespace ww::microbench
