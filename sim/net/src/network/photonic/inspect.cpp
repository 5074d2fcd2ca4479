// Reports a photonic network's parts and counts, and checks that every packet is still there.
#include <fmt/format.h>

#include <bit>

#include "network/photonic/photonic.hpp"

namespace ww::sim::net::photonic {

// Everything that is lit, tuned and passed by, from the keys_.
power::PhotonicStructure Photonic::structure() const {
  const auto stations = static_cast<std::uint32_t>(layout_.stations());
  const auto llc = static_cast<std::uint32_t>(std::popcount(layout_.llc_mask()));
  const std::uint32_t sm = stations - llc;
  power::PhotonicStructure structure;
  structure.core_hz = keys_.core_mhz * 1e6;
  structure.optical_hz = keys_.optical_mhz * 1e6;
  structure.stations = stations;
  structure.waveguide_wavelengths = static_cast<std::uint32_t>(keys_.waveguide_wavelengths);
  structure.pass_mm = layout_.pass_mm();
  structure.pass_bends = static_cast<std::uint32_t>(keys_.bends_per_pitch) * (stations - 1);
  if (prior_) {
    // An SWMR and an MWSR link for each LLC station, each with light of its own; the token
    // waveguide. Rings: a writer's and the readers' banks, the writers' and a reader's.
    const auto wide = static_cast<std::uint32_t>(keys_.prior_wavelengths);
    structure.data_units = 2 * llc;
    structure.overhead_units = 1;
    structure.unit_wavelengths = wide;
    structure.splitters = structure.data_units;
    structure.rings = 2 * llc * wide * (1 + sm) + 2 * sm * llc;
    return structure;
  }
  structure.data_units = static_cast<std::uint32_t>(keys_.power_units);
  structure.overhead_units = static_cast<std::uint32_t>(keys_.overhead_units);
  structure.unit_wavelengths = static_cast<std::uint32_t>(keys_.nc_wavelengths);
  structure.splitters = structure.data_units;
  // NC: every station writes and one reads, or reads where it does not write; C: an SM station
  // writes, the others read; a modulator and a detector for every token; a prediction bit each way.
  structure.rings = stations * static_cast<std::uint32_t>(keys_.nc_wavelengths) * stations +
                    sm * static_cast<std::uint32_t>(keys_.c_wavelengths) * sm +
                    2 * stations * (stations + structure.data_units) + 2 * stations;
  return structure;
}

power::NetworkEvents Photonic::events() const {
  power::NetworkEvents events = net_events_;
  events.cycles = static_cast<std::uint64_t>(now_);
  events.routers = static_cast<std::uint64_t>(layout_.stations());
  events.links = 2 * static_cast<std::uint64_t>(node_count(config_));
  events.toggles_counted = config_.count_toggles;
  events.reply_buffer_flits = reply_buffers_.flits();
  events.photonic = light_events_;
  power::PhotonicEvents& light = events.photonic;
  light.core_cycles = events.cycles;
  light.halted_cycles = static_cast<std::uint64_t>(halted_before(now_));
  light.held_unit_optical_cycles +=
      static_cast<std::uint64_t>(std::popcount(held_power_)) * static_cast<std::uint64_t>(light_);
  light.busy_station_optical_cycles += busy_stations_ * static_cast<std::uint64_t>(light_);
  const std::uint64_t lit =
      prior_ ? light.structure.data_units
             : static_cast<std::uint64_t>(std::popcount(free_power_ | held_power_));
  light.lit_unit_cycles += lit * static_cast<std::uint64_t>(now_ - lit_since_);
  if (config_.network == "ps-gpuopt" && keys_.predictor == "perfect") {
    light.lit_unit_cycles = in_core_cycles(light.held_unit_optical_cycles);
  }
  return events;
}

// Every writer and reader; where a link has many writers or readers, each pair counts for itself.
std::vector<LinkUse> Photonic::link_use() const {
  std::vector<LinkUse> all;
  const int stations = layout_.stations();
  for (int from = 0; from < stations; ++from) {
    for (int to = 0; to < stations; ++to) {
      if (from != to) {
        all.push_back({static_cast<std::uint32_t>(layout_.router_at(from)),
                       static_cast<std::uint32_t>(layout_.router_at(to)),
                       link_flits_[static_cast<std::size_t>(from * stations + to)], 0});
      }
    }
  }
  return all;
}

Status Photonic::check_conservation() const {
  std::uint64_t found = entering_.size() + arriving_.size() + local_.size();
  const auto copies = [&](std::uint32_t packet) {
    std::uint64_t count = 0;
    for (; packet != kNoPacket; packet = next_copy_[packet]) {
      ++count;
    }
    return count;
  };
  for (std::size_t i = 0; i < entering_.size(); ++i) {
    found += copies(entering_[i].packet) - 1;
  }
  for (int node = 0; node < node_count(config_); ++node) {
    for (int message_class = 0; message_class < config_.classes; ++message_class) {
      found += store_.length(static_cast<std::uint32_t>(node), message_class);
    }
  }
  std::uint64_t holds_data = 0;
  int holds_power = 0;
  for (int position = 0; position < layout_.stations(); ++position) {
    const Station& station = stations_[static_cast<std::size_t>(position)];
    for (std::size_t lane = 0; lane < station.lanes.size(); ++lane) {
      for (std::uint32_t packet = station.lanes[lane].front; packet != kNoPacket;
           packet = next_in_lane_[packet]) {
        found += copies(packet);
      }
      const State state = station.lanes[lane].state;
      if (lane > 0 && (state == State::sends || (data_first_ && state == State::wants_power))) {
        const std::uint64_t link = std::uint64_t{1} << (lane - 1);
        if (((holds_data | free_data_) & link) != 0) {
          return fail(ErrorCode::bad_data,
                      fmt::format("two stations hold data token {}", lane - 1));
        }
        holds_data |= link;
      }
    }
    holds_power += station.held;
  }
  events_.for_each([&](const Event& event) { found += event.kind == Kind::arrived ? 1 : 0; });
  if (found != store_.inside()) {
    return fail(ErrorCode::bad_data,
                fmt::format("{} packets are inside, {} are somewhere", store_.inside(), found));
  }
  if ((holds_data | free_data_) != (std::uint64_t{1} << layout_.stations()) - 1) {
    return fail(ErrorCode::bad_data, "a data token is lost");
  }
  if (holds_power != std::popcount(held_power_) || (free_power_ & held_power_) != 0) {
    return fail(ErrorCode::bad_data, "a power token is lost, or two stations hold it");
  }
  if (!prior_ && std::popcount(free_power_ | held_power_) < units_) {
    return fail(ErrorCode::bad_data, "fewer power tokens than lasers are lit");
  }
  return {};
}

// While all lasers are dark: up to the next prediction, which sees the message, to the one after it
// where its entry of the power table was 0, and to the epoch that follows.
std::int64_t Photonic::longest_darkness() const {
  constexpr std::int64_t kEpochs = 3;
  return control_ ? kEpochs * keys_.epoch : 0;
}

std::optional<Stuck> Photonic::stuck(Cycles patience) const {
  if (store_.inside() == 0 ||
      now_ - last_progress_ <= static_cast<std::int64_t>(patience.value()) + longest_darkness()) {
    return std::nullopt;
  }
  return Stuck{Stuck::Kind::deadlock,
               fmt::format("no message has moved since cycle {}: {} packets are inside, {} lasers "
                           "are lit",
                           last_progress_, store_.inside(), units_)};
}

}  // namespace ww::sim::net::photonic
