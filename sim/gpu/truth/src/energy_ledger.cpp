// The accounting of dynamic energy: what crossed each wire, in order, and what else switched.
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "energy_ledger.hpp"
#include "transitions/transitions.hpp"
#include "truth.hpp"
#include "ww/sim/gpu/io_die_way.hpp"

namespace ww::sim::gpu {
namespace {

constexpr std::size_t kLine = 64;  // bytes
constexpr int kWires = 512;        // payload wires of a crossbar link: 64 bytes a beat
constexpr int kMemoryWires = 256;  // L2 to memory controller: 32 bytes a beat
// Where a trunk's heat goes: its repeaters lie along the way.
constexpr double kTrunkInEngine = 0.3;
constexpr double kTrunkInQuadrant = 0.3;

// A payload bus with its use so far. It rests at ones when idle for long, and for a moment each
// time the arbiter lets go of it.
struct Lane {
  Bus bus;
  std::int64_t last_cycle;
  std::int64_t beats;
  std::int32_t beats_to_regrant;

  // Most lanes have no use in a launch: their 300 bytes are not looked at.
  [[nodiscard]] TransitionCounts counts() const {
    return beats != 0 ? bus.counts() : TransitionCounts{};
  }
  void reset(std::int32_t regrant) {
    bus.word = kParkedWord;
    bus.toggles = bus.adjacent = bus.opposite = {};
    last_cycle = 0;
    beats = 0;
    beats_to_regrant = regrant;
  }
};

// Toggles a bit of what crossed payload buses.
struct ToggleRate {
  double toggles{}, bits{};
  void add(const Lane& lane) {
    toggles += static_cast<double>(lane.counts().toggles);
    bits += static_cast<double>(lane.beats) * kWires;
  }
  // Random data's where nothing crossed.
  [[nodiscard]] double value() const { return bits > 0 ? toggles / bits : 0.5; }
};

// Energy by data of this toggle rate, relative to that by random data.
double by_values(double share, double toggle_rate) {
  return 1 + share * (2 * toggle_rate - 1);
}

// The narrow wires that run beside a link's payload.
struct Control {
  Bus wires;  // as BusDriver::control has it
  std::int64_t requests;
  std::uint32_t sequence;

  [[nodiscard]] TransitionCounts counts() const {
    return requests != 0 ? wires.counts() : TransitionCounts{};
  }
};

// Returns each engine's compute unit that is nearest to the middle of the L2, where the trunks of
// the published floorplan end.
std::vector<Point> hubs_of(const Geometry& geometry) {
  Point l2{};
  for (const Point& channel : geometry.l2_channels) {
    l2.x_mm += channel.x_mm / static_cast<double>(geometry.l2_channels.size());
    l2.y_mm += channel.y_mm / static_cast<double>(geometry.l2_channels.size());
  }
  std::vector<Point> hubs;
  for (const auto& places : geometry.compute_units) {
    hubs.push_back(*std::ranges::min_element(
        places, {}, [&l2](Point place) { return manhattan_mm(place, l2); }));
  }
  return hubs;
}

class EnergyLedger final : public ActivityObserver {
 public:
  explicit EnergyLedger(const Chip& chip)
      : chip_(chip),
        truth_(chip_.truth()),
        engines_(static_cast<std::size_t>(truth_.engines())),
        channels_(static_cast<std::size_t>(truth_.channels())),
        cus_(static_cast<std::size_t>(chip_.architecture().cus_per_engine)),
        drive_(bus_driver(
            truth_.wires.bit_order == BitOrder::straight ? 0 : truth_.wires.interleave_stride)),
        drive_memory_(bus_driver(0)),
        replies_(engines_ * channels_),
        writes_(engines_ * channels_),
        controls_(engines_ * channels_),
        reply_legs_(engines_ * cus_),
        write_legs_(engines_ * cus_),
        memory_(channels_),
        crossed_(engines_),
        crossings_(engines_ * cus_ * channels_) {
    for (auto* lanes : {&replies_, &writes_, &reply_legs_, &write_legs_, &memory_}) {
      for (Lane& lane : *lanes) lane.reset(truth_.wires.regrant_beats);
    }
    if (!truth_.published.hidden) hubs_ = hubs_of(truth_.published.geometry);
    const WireTruth& wires = truth_.wires;
    if (!wires.pair_extra_f.empty()) shared_extra_f_ = std::ranges::min(wires.pair_extra_f);
    shared_hop_ = wires.hop_after_mm > 0 &&
                  std::ranges::all_of(truth_.trunks, [&wires](const Truth::Link& link) {
                    return link.length_mm > wires.hop_after_mm;
                  });
  }

  void begin_launch() override {
    if (!at_rest_) {  // the last launch did not come to its end
      find_used();
      reset_used();
    }
    at_rest_ = false;
    crossed_.assign(engines_, {});
    behind_ = {};
  }

  void crossbar(const CrossbarTransfer& transfer) override { cross(transfer, 1, 0); }

  void crossbar_lines(const CrossbarTransfer& first, unsigned lines, std::int64_t cycles) override {
    cross(first, lines, cycles);
  }

  void memory(const MemoryTransfer& transfer) override { memory_transfers({&transfer, 1}); }

  void memory_transfers(std::span<const MemoryTransfer> transfers) override {
    constexpr std::size_t kMax = 8;
    Lane& lane = memory_[transfers.front().channel];
    while (!transfers.empty()) {
      if (transfers.front().cycle > lane.last_cycle + truth_.wires.park_after_cycles) {
        drive_memory_.one(lane.bus, kParkedWord.data());
      }
      // Takes as many transfers as come before the bus is idle for long.
      const void* payloads[kMax];
      unsigned count = 0;
      do {
        payloads[count] = transfers[count].payload;
        lane.last_cycle = std::max(lane.last_cycle, transfers[count].cycle);
        ++count;
      } while (count < std::min(kMax, transfers.size()) &&
               transfers[count].cycle <= lane.last_cycle + truth_.wires.park_after_cycles);
      drive_memory_.halves(lane.bus, payloads, count);
      lane.beats += 2 * static_cast<std::int64_t>(count);
      transfers = transfers.subspan(count);
    }
  }

  void io_dies(const IoDieActivity& behind) override { behind_ = behind; }

  LaunchActivity end_launch(std::int64_t cycles, std::span<const CuActivity> cus,
                            std::span<const ChannelActivity> channels) override;

 private:
  // Small launches use few wires.
  void find_used();
  // Crossbar lanes that were used, and others beside them, then memory's.
  template <class F, class G>
  void for_used_lanes(F&& of_crossbar, G&& of_memory) {
    for (const std::size_t link : used_links_) {
      of_crossbar(replies_[link]);
      of_crossbar(writes_[link]);
    }
    for (const std::size_t leg : used_legs_) {
      of_crossbar(reply_legs_[leg]);
      of_crossbar(write_legs_[leg]);
    }
    for (const std::size_t channel : used_memory_) of_memory(memory_[channel]);
  }
  // Resets the used state to that before the first launch.
  void reset_used();

  // `lines` transfers of whole lines that lie in a row, `apart` cycles one after the other, or one
  // of any size.
  void cross(const CrossbarTransfer& transfer, unsigned lines, std::int64_t apart) {
    const std::size_t link = transfer.engine * channels_ + transfer.channel;
    const std::size_t leg = transfer.engine * cus_ + transfer.cu;
    if (transfer.from_gl1) {
      near_beats(reply_legs_[leg], transfer, lines, apart);
      return;
    }
    const bool is_read = transfer.kind == TransferKind::read;
    Control& control = controls_[link];
    crossed_[transfer.engine].transactions += lines;
    control.requests += lines;
    const std::byte* reply = is_read ? transfer.payload : transfer.reply;
    const std::uint64_t cu = transfer.cu & 0x3FU;
    ControlRun run{.request = (transfer.address >> 6 & 0xFFFFFFFFFFULL) | cu << 40 |
                              static_cast<std::uint64_t>(transfer.kind) << 46,
                   .tag = cu,
                   .sequence = control.sequence + 1,
                   .answered = reply != nullptr};
    control.sequence += lines;
    for (unsigned left = lines; left != 0; left -= run.count) {
      run.count = std::min(left, ControlRun::kMax);
      drive_.control(control.wires, run);
      run.request += run.count;
      run.sequence += run.count;
    }
    std::uint64_t& crossings = crossings_[leg * channels_ + transfer.channel];
    if (!is_read) {
      beats(writes_[link], write_legs_[leg], transfer, transfer.payload, lines, apart);
      crossings += lines;
    }
    if (reply != nullptr) {
      beats(replies_[link], reply_legs_[leg], transfer, reply, lines, apart);
      crossings += lines;
    }
  }

  // The payload over a leg alone.
  void near_beats(Lane& leg, const CrossbarTransfer& transfer, unsigned lines, std::int64_t apart) {
    for (unsigned i = 0; i < lines; ++i) {
      const std::int64_t cycle = transfer.cycle + i * apart;
      prepare(leg, cycle);
      drive_.one(leg.bus, transfer.payload + i * kLine);
      leg.last_cycle = std::max(leg.last_cycle, cycle);
      ++leg.beats;
    }
  }

  // The payload over a trunk and a leg.
  void beats(Lane& trunk, Lane& leg, const CrossbarTransfer& transfer, const std::byte* payload,
             unsigned lines, std::int64_t apart) {
    crossed_[transfer.engine].payload_bits += std::uint64_t{transfer.bytes} * 8 * lines;
    std::int64_t cycle = transfer.cycle;
    if (transfer.bytes != kLine) {
      const std::size_t bytes = std::min<std::size_t>(transfer.bytes, kLine);
      part_of_beat(trunk, payload, bytes, cycle);
      part_of_beat(leg, payload, bytes, cycle);
      return;
    }
    while (lines != 0) {
      prepare(trunk, cycle);
      prepare(leg, cycle);
      unsigned run = std::min({lines, before_regrant(trunk), before_regrant(leg)});
      if (apart > truth_.wires.park_after_cycles) run = 1;
      drive_.both(trunk.bus, leg.bus, payload, run);
      const std::int64_t last = cycle + (run - 1) * apart;
      for (Lane* lane : {&trunk, &leg}) {
        lane->last_cycle = std::max(lane->last_cycle, last);
        lane->beats += run;
        lane->beats_to_regrant -= static_cast<std::int32_t>(run - 1);
      }
      lines -= run;
      payload += run * kLine;
      cycle = last + apart;
    }
  }

  // Wires without payload hold.
  void part_of_beat(Lane& lane, const std::byte* payload, std::size_t bytes, std::int64_t cycle) {
    prepare(lane, cycle);
    drive_.part(lane.bus, payload, bytes);
    lane.last_cycle = std::max(lane.last_cycle, cycle);
    ++lane.beats;
  }

  // Prepares a beat: the bus has come to rest if it was idle for long or is granted anew.
  void prepare(Lane& lane, std::int64_t cycle) {
    const bool idle = cycle > lane.last_cycle + truth_.wires.park_after_cycles;
    if (idle || --lane.beats_to_regrant == 0) {
      drive_.one(lane.bus, kParkedWord.data());
      lane.beats_to_regrant = truth_.wires.regrant_beats;
    }
  }
  // Beats from this one on, without a grant between them.
  static unsigned before_regrant(const Lane& lane) {
    return lane.beats_to_regrant > 0 ? static_cast<unsigned>(lane.beats_to_regrant)
                                     : std::numeric_limits<unsigned>::max();
  }

  void park_all();
  void charge_trunks(LaunchActivity& activity);
  void charge_legs(LaunchActivity& activity);
  void charge_memory(LaunchActivity& activity, std::span<const ChannelActivity> channels);
  void charge_behind_l2(LaunchActivity& activity) const;
  void charge_cus(LaunchActivity& activity, std::span<const CuActivity> cus);
  void read_monitors(WireMonitors& monitors, std::span<const CuActivity> cus) const;
  struct Lengths {
    std::vector<double> trunk_mm;  // [engine * channels + channel]
    std::vector<double> leg_mm;    // [engine * cus + cu]
  };
  // Returns the lengths; also adds the bits' distances to `monitors`.
  Lengths published_lengths(WireMonitors& monitors) const;
  [[nodiscard]] std::size_t quadrant_zone(std::size_t channel) const {
    return engines_ + static_cast<std::size_t>(truth_.quadrant_of_channel[channel]);
  }
  // How many of what stands every `pitch_mm` along a trunk.
  [[nodiscard]] double along(double length_mm, double pitch_mm) const {
    if (pitch_mm <= 0) return 0;
    return truth_.wires.whole_flops ? std::floor(length_mm / pitch_mm) : length_mm / pitch_mm;
  }
  [[nodiscard]] double event_to_wire(double transitions) const {
    return transitions * (truth_.wires.ground_f_per_mm / 2 + truth_.wires.coupling_f_per_mm);
  }

  Chip chip_;
  const Truth& truth_;
  std::size_t engines_, channels_, cus_;
  BusDriver drive_, drive_memory_;
  std::vector<Lane> replies_, writes_;  // [engine * channels + channel]
  std::vector<Control> controls_;
  std::vector<Lane> reply_legs_, write_legs_;  // [engine * cus + cu]
  std::vector<Lane> memory_;                   // [channel]
  // A line of the host's caches each, for engines may be followed by several threads.
  struct alignas(64) Crossed {
    std::int64_t transactions{};
    std::uint64_t payload_bits{};
  };
  std::vector<Crossed> crossed_;          // [engine]
  std::vector<std::uint64_t> crossings_;  // beats, [(engine * cus + cu) * channels + channel]
  IoDieActivity behind_;
  bool at_rest_{true};                   // no wire is used
  std::vector<std::size_t> used_links_;  // in order, as find_used() saw them
  std::vector<std::size_t> used_legs_;
  std::vector<std::size_t> used_memory_;  // channels
  std::vector<Point> hubs_;               // of each engine, by the published floorplan
  // Extra of all pairs, which does not grow with distance, and is no part of L1-L2.
  double shared_extra_f_{};  // of a payload beat
  bool shared_hop_{};
};

void EnergyLedger::find_used() {
  used_links_.clear();
  used_legs_.clear();
  used_memory_.clear();
  for (std::size_t link = 0; link < controls_.size(); ++link) {
    if (controls_[link].requests != 0) used_links_.push_back(link);
  }
  for (std::size_t leg = 0; leg < reply_legs_.size(); ++leg) {
    if (reply_legs_[leg].beats != 0 || write_legs_[leg].beats != 0) used_legs_.push_back(leg);
  }
  for (std::size_t channel = 0; channel < channels_; ++channel) {
    if (memory_[channel].beats != 0) used_memory_.push_back(channel);
  }
}

void EnergyLedger::reset_used() {
  const auto reset = [this](Lane& lane) { lane.reset(truth_.wires.regrant_beats); };
  for_used_lanes(reset, reset);
  for (const std::size_t link : used_links_) controls_[link] = {};
  for (const std::size_t leg : used_legs_) std::fill_n(&crossings_[leg * channels_], channels_, 0);
  at_rest_ = true;
}

// After the launch every bus that was used comes to rest.
void EnergyLedger::park_all() {
  const auto park = [](const BusDriver& drive) {
    return [&drive](Lane& lane) {
      if (lane.beats != 0) drive.one(lane.bus, kParkedWord.data());
    };
  };
  for_used_lanes(park(drive_), park(drive_memory_));
}

void EnergyLedger::charge_trunks(LaunchActivity& activity) {
  const WireTruth& wires = truth_.wires;
  const std::size_t middle = activity.capacitance_f.size() - 1;
  const auto quadrants = static_cast<std::size_t>(truth_.quadrants());
  for (const std::size_t index : used_links_) {
    const std::size_t engine = index / channels_;
    const std::size_t channel = index % channels_;
    const Truth::Link& link = truth_.trunks[index];
    const Control& control = controls_[index];
    double payload = 0;
    double shared = 0;
    double beats = 0;
    const double length = link.length_mm * link.scale;
    const double flops = along(link.length_mm, wires.flop_pitch_mm);
    const double stages = along(link.length_mm, wires.stage_pitch_mm);
    const bool hop = wires.hop_after_mm > 0 && link.length_mm > wires.hop_after_mm;
    for (const Lane* lane : {&replies_[index], &writes_[index]}) {
      const TransitionCounts counts = lane->counts();
      const double clocked = static_cast<double>(lane->beats) * kWires;
      const auto toggles = static_cast<double>(counts.toggles);
      payload += counts.capacitance_f(wires.ground_f_per_mm, wires.coupling_f_per_mm) * length +
                 flops * (wires.flop_data_f * toggles + wires.flop_clock_f * clocked);
      payload += stages * (wires.stage_data_f * toggles +
                           wires.stage_beat_f * static_cast<double>(lane->beats));
      if (hop) {
        (shared_hop_ ? shared : payload) +=
            wires.hop_data_f * toggles + wires.hop_clock_f * clocked;
      }
      beats += static_cast<double>(lane->beats);
    }
    double beside =
        length * (control.counts().capacitance_f(wires.ground_f_per_mm, wires.coupling_f_per_mm) +
                  event_to_wire(wires.strobe_transitions * beats +
                                wires.request_strobes * static_cast<double>(control.requests)));
    if (!wires.pair_extra_f.empty()) {
      const auto quadrant = static_cast<std::size_t>(truth_.quadrant_of_channel[channel]);
      beside += (wires.pair_extra_f[engine * quadrants + quadrant] - shared_extra_f_) * beats;
      shared += shared_extra_f_ * beats;
    }
    const double all = payload + beside + shared;
    activity.capacitance_f[engine] += kTrunkInEngine * all;
    activity.capacitance_f[quadrant_zone(channel)] += kTrunkInQuadrant * all;
    activity.capacitance_f[middle] += (1.0 - kTrunkInEngine - kTrunkInQuadrant) * all;
    activity.parts_f.crossbar_wires += payload;
    activity.parts_f.crossbar_control += beside;
    activity.parts_f.crossbar_arbiters += shared;
  }
}

void EnergyLedger::charge_legs(LaunchActivity& activity) {
  const WireTruth& wires = truth_.wires;
  auto leg = used_legs_.begin();
  for (std::size_t engine = 0; engine < engines_; ++engine) {
    double sum = 0;
    for (; leg != used_legs_.end() && *leg < (engine + 1) * cus_; ++leg) {
      const std::size_t index = *leg;
      for (const Lane* lane : {&reply_legs_[index], &write_legs_[index]}) {
        sum += truth_.legs[index].length_mm * truth_.legs[index].scale *
               (lane->counts().capacitance_f(wires.ground_f_per_mm, wires.coupling_f_per_mm) +
                event_to_wire(wires.strobe_transitions * static_cast<double>(lane->beats)));
      }
    }
    const double control = truth_.events.transaction * truth_.engine_scale[engine] *
                           static_cast<double>(crossed_[engine].transactions);
    activity.capacitance_f[engine] += sum + control;
    activity.parts_f.crossbar_wires += sum;
    activity.parts_f.crossbar_arbiters += control;
  }
}

void EnergyLedger::charge_memory(LaunchActivity& activity,
                                 std::span<const ChannelActivity> channels) {
  const WireTruth& wires = truth_.wires;
  std::vector<ToggleRate> data(channels_);
  for (const std::size_t link : used_links_) {
    data[link % channels_].add(replies_[link]);
    data[link % channels_].add(writes_[link]);
  }
  for (std::size_t channel = 0; channel < channels_; ++channel) {
    const Truth::Link& link = truth_.memory_links[channel];
    const double values = by_values(truth_.events.sram_value_share, data[channel].value());
    const Lane& lane = memory_[channel];
    const double segment =
        link.length_mm * link.scale *
        (lane.counts().capacitance_f(wires.ground_f_per_mm, wires.coupling_f_per_mm) +
         event_to_wire(wires.strobe_transitions * kMemoryWires / kWires *
                       static_cast<double>(lane.beats)));
    double bank = 0;
    if (channel < channels.size()) {
      const ChannelActivity& use = channels[channel];
      bank = truth_.slice_scale[channel] * values *
             (truth_.events.l2_access * static_cast<double>(use.accesses) +
              truth_.events.l2_miss * static_cast<double>(use.misses + use.writebacks));
    }
    activity.capacitance_f[quadrant_zone(channel)] += segment + bank;
    activity.parts_f.l2_memory += segment;
    activity.parts_f.caches += bank;
  }
}

void EnergyLedger::charge_behind_l2(LaunchActivity& activity) const {
  const MemorySideTruth& truth = truth_.memory_side;
  const auto bits = [](std::uint64_t lines) { return 8.0 * kLine * static_cast<double>(lines); };
  const double asked = bits(behind_.reads[0][0] + behind_.writes[0][0]);
  LaunchActivity::Ways& ways = activity.ways_j;
  ways.die_link = asked * truth.die_link_j;
  ways.infinity_cache = asked * truth.infinity_cache_j;
  ways.memory_phy = bits(memory_lines(behind_)) * truth.memory_phy_j;
  activity.rails.aid_j = ways.die_link + ways.infinity_cache + ways.memory_phy;
}

void EnergyLedger::charge_cus(LaunchActivity& activity, std::span<const CuActivity> cus) {
  const EventTruth& events = truth_.events;
  const auto count = [](std::uint64_t value) { return static_cast<double>(value); };
  auto leg = used_legs_.begin();
  for (std::size_t engine = 0; engine < engines_; ++engine) {
    // The values in registers, L1 and ALUs are not observed one by one; they toggle as often as
    // what this engine received did (its legs), or half the time when nothing came.
    ToggleRate data;
    for (; leg != used_legs_.end() && *leg < (engine + 1) * cus_; ++leg) {
      data.add(reply_legs_[*leg]);
    }
    const double toggle_rate = data.value();
    const double alu_values = by_values(events.alu_value_share, toggle_rate);
    const double sram_values = by_values(events.sram_value_share, toggle_rate);
    for (std::size_t cu = 0; cu < cus_ && engine * cus_ + cu < cus.size(); ++cu) {
      const CuActivity& use = cus[engine * cus_ + cu];
      const double registers = 8.0 * count(use.register_bytes) * toggle_rate *
                               truth_.wires.registers_f_per_mm / 2 *
                               truth_.geometry.registers_to_l1_mm;
      const double l1 =
          sram_values *
          (truth_.engine_scale[engine] *
               (events.l1_access * count(use.l1_accesses) + events.l1_hit * count(use.l1_hits)) +
           events.gl1_hit * count(use.gl1_hits) + events.lds_access * count(use.lds_accesses));
      const double vector = events.vector_instruction * count(use.vector_instructions) +
                            events.vector_lane_operation * count(use.vector_lane_operations);
      const double alu = alu_values * vector +
                         events.scalar_instruction * count(use.scalar_instructions) +
                         events.memory_instruction * count(use.memory_instructions);
      const double clock = events.cu_busy_cycle * count(use.busy_cycles) +
                           events.wave_resident_cycle * count(use.resident_wave_cycles);
      activity.capacitance_f[engine] += registers + l1 + alu + clock;
      activity.parts_f.registers_l1 += registers;
      activity.parts_f.caches += l1;
      activity.parts_f.alu += alu;
      activity.parts_f.clock += clock;
    }
  }
}

// Counts of events alone, and published distances: nothing that only the truth knows.
void EnergyLedger::read_monitors(WireMonitors& monitors, std::span<const CuActivity> cus) const {
  const auto add = [](WireMonitors::Bundle& sum, const TransitionCounts& counts, double mm) {
    sum.toggles += counts.toggles;
    sum.adjacent += counts.adjacent;
    sum.opposite += counts.opposite;
    sum.toggle_mm += mm * static_cast<double>(counts.toggles);
    sum.adjacent_mm += mm * static_cast<double>(counts.adjacent);
    sum.opposite_mm += mm * static_cast<double>(counts.opposite);
  };
  const Lengths lengths = published_lengths(monitors);
  std::int64_t beats = 0;
  for (const std::size_t link : used_links_) {
    for (const Lane* lane : {&replies_[link], &writes_[link]}) {
      add(monitors.trunks, lane->counts(), lengths.trunk_mm[link]);
      beats += lane->beats;
    }
    add(monitors.control, controls_[link].counts(), lengths.trunk_mm[link]);
  }
  for (const std::size_t leg : used_legs_) {
    for (const Lane* lane : {&reply_legs_[leg], &write_legs_[leg]}) {
      add(monitors.legs, lane->counts(), lengths.leg_mm[leg]);
    }
  }
  monitors.crossbar_slot_bits = static_cast<std::uint64_t>(beats) * kWires;
  std::int64_t memory_beats = 0;
  for (const std::size_t channel : used_memory_) {
    add(monitors.memory, memory_[channel].counts(), 0);
    memory_beats += memory_[channel].beats;
  }
  monitors.memory_slot_bits = static_cast<std::uint64_t>(memory_beats) * kMemoryWires;
  for (const CuActivity& cu : cus) monitors.register_bytes += cu.register_bytes;
}

// Routes of the published floorplan, cut where an engine's trunks end; links and legs take the mean
// of the beats that crossed them.
EnergyLedger::Lengths EnergyLedger::published_lengths(WireMonitors& monitors) const {
  Lengths lengths{std::vector<double>(controls_.size()), std::vector<double>(reply_legs_.size())};
  if (truth_.published.hidden) return lengths;
  std::vector<double> link_beats(controls_.size());
  const Geometry& geometry = truth_.published.geometry;
  for (const std::size_t leg : used_legs_) {
    const std::size_t engine = leg / cus_;
    const Point place = geometry.compute_units[engine][leg % cus_];
    double leg_beats = 0;
    for (std::size_t channel = 0; channel < channels_; ++channel) {
      const auto beats = static_cast<double>(crossings_[leg * channels_ + channel]);
      if (beats == 0) continue;
      const double mm = manhattan_mm(place, geometry.l2_channels[channel]);
      const double leg_mm = std::min(mm, manhattan_mm(place, hubs_[engine]));
      monitors.crossbar_bit_mm += kWires * beats * mm;
      monitors.leg_bit_mm += kWires * beats * leg_mm;
      lengths.trunk_mm[engine * channels_ + channel] += beats * (mm - leg_mm);
      link_beats[engine * channels_ + channel] += beats;
      lengths.leg_mm[leg] += beats * leg_mm;
      leg_beats += beats;
    }
    if (leg_beats > 0) lengths.leg_mm[leg] /= leg_beats;
  }
  for (std::size_t link = 0; link < link_beats.size(); ++link) {
    if (link_beats[link] > 0) lengths.trunk_mm[link] /= link_beats[link];
  }
  return lengths;
}

LaunchActivity EnergyLedger::end_launch(std::int64_t cycles, std::span<const CuActivity> cus,
                                        std::span<const ChannelActivity> channels) {
  find_used();
  park_all();
  LaunchActivity activity;
  activity.cycles = cycles;
  for (const Crossed& crossed : crossed_) activity.payload_bits += crossed.payload_bits;
  activity.capacitance_f.assign(static_cast<std::size_t>(truth_.zones()), 0.0);
  charge_trunks(activity);
  charge_legs(activity);
  charge_memory(activity, channels);
  charge_behind_l2(activity);
  charge_cus(activity, cus);
  read_monitors(activity.monitors, cus);
  const double clocks = truth_.events.active_cycle * static_cast<double>(cycles);
  for (double& zone : activity.capacitance_f) {
    zone += clocks / static_cast<double>(activity.capacitance_f.size());
  }
  activity.parts_f.clock += clocks;
  reset_used();
  return activity;
}

}  // namespace

std::unique_ptr<ActivityObserver> make_energy_ledger(const Chip& chip) {
  return std::make_unique<EnergyLedger>(chip);
}

}  // namespace ww::sim::gpu
