// The ledger beside an account of the same transfers that goes wire by wire and line by line, as
// docs/virtual-gpu.md has the links and the events: energies by part and by zone, and the monitors.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <utility>
#include <vector>

#include "draw.hpp"
#include "energy_ledger.hpp"
#include "transitions/wire_by_wire.hpp"
#include "truth.hpp"

namespace ww::sim::gpu {
namespace {

constexpr std::size_t kLine = 64;
constexpr WireWord kOnes{~0ULL, ~0ULL, ~0ULL, ~0ULL, ~0ULL, ~0ULL, ~0ULL, ~0ULL};
// Shares of a trunk's heat in the engine and in the channel's quadrant; the middle has the rest.
constexpr double kInEngine = 0.3;
constexpr double kInQuadrant = 0.3;

struct Line {
  std::array<std::byte, kLine> bytes;
};

// A bus: what its wires hold, and what has changed on them.
struct SlowBus {
  WireWord word = kOnes;
  WireCount changes;
  std::int64_t beats{};
  std::int64_t last_cycle{};
  int since_grant{};

  void drive(const WireWord& to, int stride) {
    changes += count_wire_by_wire(word, to, stride);
    word = to;
  }
  // The first `bytes` of its wires; the others hold.
  void drive_part(const std::byte* bytes, std::size_t count, int stride) {
    WireWord to = word;
    std::memcpy(to.data(), bytes, count);
    drive(to, stride);
  }
};

// Requests and tags beside a link.
struct SlowControl {
  WireWord request{}, tag{};
  WireCount changes;
  std::uint64_t requests{};
  std::uint64_t beats{};  // of replies and writes
};

class Account {
 public:
  explicit Account(const Chip& chip)
      : truth_(chip.truth()),
        channels_(static_cast<std::size_t>(truth_.channels())),
        cus_(static_cast<std::size_t>(chip.architecture().cus_per_engine)),
        stride_(truth_.wires.bit_order == BitOrder::straight ? 0 : truth_.wires.interleave_stride),
        trunks_(2 * truth_.trunks.size()),
        legs_(2 * truth_.legs.size()),
        memory_(channels_),
        controls_(truth_.trunks.size()),
        transactions_(static_cast<std::size_t>(truth_.engines())),
        crossings_(truth_.legs.size() * channels_) {}

  void crossbar(const CrossbarTransfer& transfer) {
    const std::size_t link = transfer.engine * channels_ + transfer.channel;
    const bool read = transfer.kind == TransferKind::read;
    const std::byte* const reply = read ? transfer.payload : transfer.reply;
    request(controls_[link], transfer, reply != nullptr);
    ++transactions_[transfer.engine];
    if (!read) beat(transfer, transfer.payload, 1);
    if (reply != nullptr) beat(transfer, reply, 0);
  }

  void memory(const MemoryTransfer& transfer) {
    SlowBus& bus = memory_[transfer.channel];
    if (transfer.cycle > bus.last_cycle + truth_.wires.park_after_cycles) bus.drive(kOnes, 0);
    for (std::size_t half = 0; half < kLine; half += kLine / 2) {
      bus.drive_part(transfer.payload + half, kLine / 2, 0);
      ++bus.beats;
    }
    bus.last_cycle = std::max(bus.last_cycle, transfer.cycle);
  }

  // Every bus that was used comes to rest; then all is charged.
  LaunchActivity end(std::int64_t cycles, const std::vector<CuActivity>& cus,
                     const std::vector<ChannelActivity>& channels) {
    for (auto* buses : {&trunks_, &legs_}) {
      for (SlowBus& bus : *buses) {
        if (bus.beats != 0) bus.drive(kOnes, stride_);
      }
    }
    for (SlowBus& bus : memory_) {
      if (bus.beats != 0) bus.drive(kOnes, 0);
    }
    LaunchActivity activity;
    activity.payload_bits = payload_bits_;
    activity.capacitance_f.resize(static_cast<std::size_t>(truth_.zones()));
    charge_trunks(activity);
    charge_legs(activity);
    charge_memory(activity, channels);
    charge_cus(activity, cus);
    const double clocks = truth_.events.active_cycle * static_cast<double>(cycles);
    activity.parts_f.clock += clocks;
    for (double& zone : activity.capacitance_f) {
      zone += clocks / static_cast<double>(activity.capacitance_f.size());
    }
    read_monitors(activity.monitors);
    for (const CuActivity& cu : cus) activity.monitors.register_bytes += cu.register_bytes;
    return activity;
  }

 private:
  void request(SlowControl& control, const CrossbarTransfer& transfer, bool answered) {
    const std::uint64_t sequence = ++control.requests & 0xFF;
    const std::uint64_t cu = transfer.cu;
    const WireWord request{transfer.address / kLine | cu << 40 |
                           static_cast<std::uint64_t>(transfer.kind) << 46 | sequence << 48};
    control.changes += count_wire_by_wire(control.request, request, 0);
    control.request = request;
    if (!answered) return;
    const WireWord tag{cu | sequence << 6};
    control.changes += count_wire_by_wire(control.tag, tag, 0);
    control.tag = tag;
  }

  // Over a trunk and a leg. direction 0: towards the L1.
  void beat(const CrossbarTransfer& transfer, const std::byte* payload, std::size_t direction) {
    const std::size_t link = transfer.engine * channels_ + transfer.channel;
    const std::size_t leg = transfer.engine * cus_ + transfer.cu;
    for (SlowBus* bus : {&trunks_[2 * link + direction], &legs_[2 * leg + direction]}) {
      const bool idle = transfer.cycle > bus->last_cycle + truth_.wires.park_after_cycles;
      if (idle || ++bus->since_grant == truth_.wires.regrant_beats) {
        bus->drive(kOnes, stride_);
        bus->since_grant = 0;
      }
      bus->drive_part(payload, transfer.bytes, stride_);
      bus->last_cycle = std::max(bus->last_cycle, transfer.cycle);
      ++bus->beats;
    }
    ++controls_[link].beats;
    ++crossings_[leg * channels_ + transfer.channel];
    payload_bits_ += 8U * transfer.bytes;
  }

  [[nodiscard]] double wires_f(const SlowBus& bus) const {
    return bus.changes.capacitance_f(truth_.wires.ground_f_per_mm, truth_.wires.coupling_f_per_mm);
  }
  // A wire's transition between quiet neighbours [F/mm].
  [[nodiscard]] double lone_f() const {
    return truth_.wires.ground_f_per_mm / 2 + truth_.wires.coupling_f_per_mm;
  }
  // How many stand every `pitch_mm` along a trunk.
  [[nodiscard]] double stand_along(double length_mm, double pitch_mm) const {
    const double count = pitch_mm > 0 ? length_mm / pitch_mm : 0;
    return truth_.wires.whole_flops ? std::floor(count) : count;
  }

  void charge_trunks(LaunchActivity& activity) {
    const WireTruth& wires = truth_.wires;
    const auto engines = static_cast<std::size_t>(truth_.engines());
    const auto quadrants = static_cast<std::size_t>(truth_.quadrants());
    for (std::size_t link = 0; link < controls_.size(); ++link) {
      const SlowControl& control = controls_[link];
      const Truth::Link& trunk = truth_.trunks[link];
      const std::size_t engine = link / channels_;
      const auto quadrant = static_cast<std::size_t>(truth_.quadrant_of_channel[link % channels_]);
      double payload = 0;
      double shared = 0;
      for (const std::size_t direction : {0U, 1U}) {
        const SlowBus& bus = trunks_[2 * link + direction];
        const auto toggles = static_cast<double>(bus.changes.toggles);
        const auto beats = static_cast<double>(bus.beats);
        payload += trunk.length_mm * trunk.scale * wires_f(bus);
        payload += stand_along(trunk.length_mm, wires.flop_pitch_mm) *
                   (wires.flop_data_f * toggles + wires.flop_clock_f * 512 * beats);
        payload += stand_along(trunk.length_mm, wires.stage_pitch_mm) *
                   (wires.stage_data_f * toggles + wires.stage_beat_f * beats);
        if (wires.hop_after_mm > 0 && trunk.length_mm > wires.hop_after_mm) {
          payload += wires.hop_data_f * toggles + wires.hop_clock_f * 512 * beats;
        }
      }
      const auto beats = static_cast<double>(control.beats);
      double beside =
          trunk.length_mm * trunk.scale *
          (control.changes.capacitance_f(wires.ground_f_per_mm, wires.coupling_f_per_mm) +
           lone_f() * (wires.strobe_transitions * beats +
                       wires.request_strobes * static_cast<double>(control.requests)));
      if (!wires.pair_extra_f.empty()) {
        // The cheapest pair's extra is what all pairs take.
        const double least = *std::ranges::min_element(wires.pair_extra_f);
        beside += (wires.pair_extra_f[engine * quadrants + quadrant] - least) * beats;
        shared += least * beats;
      }
      const double all = payload + beside + shared;
      activity.parts_f.crossbar_wires += payload;
      activity.parts_f.crossbar_control += beside;
      activity.parts_f.crossbar_arbiters += shared;
      activity.capacitance_f[engine] += kInEngine * all;
      activity.capacitance_f[engines + quadrant] += kInQuadrant * all;
      activity.capacitance_f.back() += (1 - kInEngine - kInQuadrant) * all;
    }
  }

  void charge_legs(LaunchActivity& activity) {
    for (std::size_t i = 0; i < legs_.size(); ++i) {
      const Truth::Link& leg = truth_.legs[i / 2];
      const double energy = leg.length_mm * leg.scale *
                            (wires_f(legs_[i]) + lone_f() * truth_.wires.strobe_transitions *
                                                     static_cast<double>(legs_[i].beats));
      activity.parts_f.crossbar_wires += energy;
      activity.capacitance_f[i / 2 / cus_] += energy;
    }
    for (std::size_t engine = 0; engine < transactions_.size(); ++engine) {
      const double energy = truth_.events.transaction * truth_.engine_scale[engine] *
                            static_cast<double>(transactions_[engine]);
      activity.parts_f.crossbar_arbiters += energy;
      activity.capacitance_f[engine] += energy;
    }
  }

  void charge_memory(LaunchActivity& activity, const std::vector<ChannelActivity>& channels) {
    for (std::size_t channel = 0; channel < channels_; ++channel) {
      const Truth::Link& link = truth_.memory_links[channel];
      const auto beats = static_cast<double>(memory_[channel].beats);
      // Half as many wires as a crossbar link has, and half the strobes.
      const double energy =
          link.length_mm * link.scale *
          (wires_f(memory_[channel]) + lone_f() * truth_.wires.strobe_transitions / 2 * beats);
      std::vector<const SlowBus*> links;
      for (std::size_t engine = 0; engine < transactions_.size(); ++engine) {
        const std::size_t trunk = 2 * (engine * channels_ + channel);
        links.insert(links.end(), {&trunks_[trunk], &trunks_[trunk + 1]});
      }
      const ChannelActivity& use = channels[channel];
      const double bank = truth_.slice_scale[channel] *
                          (1 + truth_.events.sram_value_share * (2 * toggle_rate(links) - 1)) *
                          (truth_.events.l2_access * static_cast<double>(use.accesses) +
                           truth_.events.l2_miss * static_cast<double>(use.misses) +
                           truth_.events.l2_miss * static_cast<double>(use.writebacks));
      activity.parts_f.l2_memory += energy;
      activity.parts_f.caches += bank;
      const auto quadrant = static_cast<std::size_t>(truth_.quadrant_of_channel[channel]);
      activity.capacitance_f[transactions_.size() + quadrant] += energy + bank;
    }
  }

  // Toggles a bit; half the time where nothing came.
  static double toggle_rate(const std::vector<const SlowBus*>& buses) {
    double toggles = 0;
    double bits = 0;
    for (const SlowBus* bus : buses) {
      toggles += static_cast<double>(bus->changes.toggles);
      bits += 512 * static_cast<double>(bus->beats);
    }
    return bits > 0 ? toggles / bits : 0.5;
  }

  void charge_cus(LaunchActivity& activity, const std::vector<CuActivity>& cus) {
    const EventTruth& events = truth_.events;
    for (std::size_t engine = 0; engine < transactions_.size(); ++engine) {
      std::vector<const SlowBus*> replies;
      for (std::size_t cu = 0; cu < cus_; ++cu) replies.push_back(&legs_[2 * (engine * cus_ + cu)]);
      const double rate = toggle_rate(replies);
      for (std::size_t cu = 0; cu < cus_; ++cu) {
        const CuActivity& use = cus[engine * cus_ + cu];
        const auto times = [](double event, std::uint64_t count) {
          return event * static_cast<double>(count);
        };
        const double registers = truth_.wires.registers_f_per_mm / 2 *
                                 truth_.geometry.registers_to_l1_mm * rate *
                                 times(8, use.register_bytes);
        const double caches =
            (1 + events.sram_value_share * (2 * rate - 1)) *
            (truth_.engine_scale[engine] * times(events.l1_access, use.l1_accesses) +
             truth_.engine_scale[engine] * times(events.l1_hit, use.l1_hits) +
             times(events.gl1_hit, use.gl1_hits) + times(events.lds_access, use.lds_accesses));
        const double alu = (1 + events.alu_value_share * (2 * rate - 1)) *
                               (times(events.vector_instruction, use.vector_instructions) +
                                times(events.vector_lane_operation, use.vector_lane_operations)) +
                           times(events.scalar_instruction, use.scalar_instructions) +
                           times(events.memory_instruction, use.memory_instructions);
        const double clock = times(events.cu_busy_cycle, use.busy_cycles) +
                             times(events.wave_resident_cycle, use.resident_wave_cycles);
        activity.parts_f.registers_l1 += registers;
        activity.parts_f.caches += caches;
        activity.parts_f.alu += alu;
        activity.parts_f.clock += clock;
        activity.capacitance_f[engine] += registers + caches + alu + clock;
      }
    }
  }

  static void add(WireMonitors::Bundle& sum, const WireCount& changes, double mm) {
    sum.toggles += static_cast<std::uint64_t>(changes.toggles);
    sum.adjacent += static_cast<std::uint64_t>(changes.adjacent);
    sum.opposite += static_cast<std::uint64_t>(changes.opposite);
    sum.toggle_mm += mm * static_cast<double>(changes.toggles);
    sum.adjacent_mm += mm * static_cast<double>(changes.adjacent);
    sum.opposite_mm += mm * static_cast<double>(changes.opposite);
  }

  // Lengths on the published floorplan, from the compute unit's place to the channel's; the leg's
  // part ends at the compute unit that is nearest to the middle of the L2.
  struct Way {
    double all_mm{}, leg_mm{};
  };
  [[nodiscard]] Way published_way(std::size_t leg, std::size_t channel) const {
    if (truth_.published.hidden) return {};
    const Geometry& geometry = truth_.published.geometry;
    Point middle{};
    for (const Point& point : geometry.l2_channels) {
      middle.x_mm += point.x_mm / static_cast<double>(channels_);
      middle.y_mm += point.y_mm / static_cast<double>(channels_);
    }
    const auto& places = geometry.compute_units[leg / cus_];
    Point hub = places[0];
    for (const Point& place : places) {
      if (manhattan_mm(place, middle) < manhattan_mm(hub, middle)) hub = place;
    }
    const Point& place = places[leg % cus_];
    const double all = manhattan_mm(place, geometry.l2_channels[channel]);
    return {all, std::min(all, manhattan_mm(place, hub))};
  }

  void read_monitors(WireMonitors& monitors) const {
    for (std::size_t link = 0; link < controls_.size(); ++link) {
      // The trunk's mean length over the beats that crossed it.
      double beats = 0;
      double beats_mm = 0;
      for (std::size_t cu = 0; cu < cus_; ++cu) {
        const std::size_t leg = link / channels_ * cus_ + cu;
        const Way way = published_way(leg, link % channels_);
        const auto crossed = static_cast<double>(crossings_[leg * channels_ + link % channels_]);
        monitors.crossbar_bit_mm += 512 * crossed * way.all_mm;
        monitors.leg_bit_mm += 512 * crossed * way.leg_mm;
        beats += crossed;
        beats_mm += crossed * (way.all_mm - way.leg_mm);
      }
      monitors.crossbar_slot_bits += 512 * static_cast<std::uint64_t>(beats);
      const double mm = beats > 0 ? beats_mm / beats : 0;
      add(monitors.trunks, trunks_[2 * link].changes, mm);
      add(monitors.trunks, trunks_[2 * link + 1].changes, mm);
      add(monitors.control, controls_[link].changes, mm);
    }
    for (std::size_t leg = 0; leg < legs_.size() / 2; ++leg) {
      double beats = 0;
      double beats_mm = 0;
      for (std::size_t channel = 0; channel < channels_; ++channel) {
        const auto crossed = static_cast<double>(crossings_[leg * channels_ + channel]);
        beats += crossed;
        beats_mm += crossed * published_way(leg, channel).leg_mm;
      }
      add(monitors.legs, legs_[2 * leg].changes, beats > 0 ? beats_mm / beats : 0);
      add(monitors.legs, legs_[2 * leg + 1].changes, beats > 0 ? beats_mm / beats : 0);
    }
    for (const SlowBus& bus : memory_) {
      add(monitors.memory, bus.changes, 0);
      monitors.memory_slot_bits += 256 * static_cast<std::uint64_t>(bus.beats);
    }
  }

  const Truth& truth_;
  std::size_t channels_, cus_;
  int stride_;
  std::vector<SlowBus> trunks_, legs_;  // [link][direction]
  std::vector<SlowBus> memory_;
  std::vector<SlowControl> controls_;
  std::vector<std::uint64_t> transactions_;  // [engine]
  std::vector<std::uint64_t> crossings_;     // beats, [leg][channel]
  std::uint64_t payload_bits_{};
};

// Words as programs have them: some random, some of one byte over and over.
Line line_of(Draw& draw) {
  Line line;
  const bool random = draw.integer(0, 2) != 0;
  const auto byte = static_cast<std::byte>(draw.integer(0, 3) * 0x55);
  for (std::byte& to : line.bytes) to = random ? static_cast<std::byte>(draw.bits()) : byte;
  return line;
}

// Sends equal transfers to both, over few links, so that one follows another on the same wires.
void send(const Chip& chip, std::uint64_t seed, ActivityObserver& ledger, Account& account) {
  Draw draw(seed);
  const Architecture& architecture = chip.architecture();
  const WireTruth& wires = chip.truth().wires;
  std::int64_t cycle = 0;
  for (int i = 0; i < 150; ++i) {
    // Mostly one behind the other, so that buses are granted anew; else up to the last cycle at
    // which none is idle yet, and beyond.
    const int pause = draw.integer(0, 9);
    cycle += pause > 1    ? draw.integer(0, 1)
             : pause == 1 ? wires.park_after_cycles
                          : draw.integer(0, 3 * wires.park_after_cycles);
    const auto channel =
        static_cast<std::uint16_t>(draw.integer(0, 1) * (architecture.l2_channels - 1));
    if (draw.integer(0, 4) == 0) {
      const Line line = line_of(draw);
      const MemoryTransfer transfer{cycle, channel, draw.integer(0, 1) == 0, line.bytes.data()};
      ledger.memory(transfer);
      account.memory(transfer);
      continue;
    }
    std::vector<Line> lines(static_cast<std::size_t>(draw.integer(1, 9)));
    for (Line& line : lines) line = line_of(draw);
    const Line reply = line_of(draw);
    CrossbarTransfer transfer;
    transfer.cycle = cycle;
    transfer.address = draw.bits() >> 18 & ~0x3FULL;
    transfer.engine = static_cast<std::uint16_t>(draw.integer(0, 1));
    transfer.cu =
        static_cast<std::uint16_t>(draw.integer(0, 1) * (architecture.cus_per_engine - 1));
    transfer.channel = channel;
    transfer.kind = static_cast<TransferKind>(draw.integer(0, 2));
    transfer.payload = lines[0].bytes.data();
    const std::int64_t apart =
        draw.integer(0, 3) == 0 ? draw.integer(0, wires.park_after_cycles + 2) : 1;
    if (transfer.kind == TransferKind::atomic || draw.integer(0, 2) == 0) {  // one of any size
      transfer.bytes = static_cast<std::uint8_t>(draw.integer(1, kLine));
      if (transfer.kind == TransferKind::atomic && draw.integer(0, 1) == 0) {
        transfer.reply = reply.bytes.data();
      }
      ledger.crossbar(transfer);
      account.crossbar(transfer);
      continue;
    }
    transfer.bytes = kLine;
    ledger.crossbar_lines(transfer, static_cast<unsigned>(lines.size()), apart);
    for (const Line& line : lines) {
      transfer.payload = line.bytes.data();
      account.crossbar(transfer);
      cycle = transfer.cycle;
      transfer.cycle += apart;
      transfer.address += kLine;
    }
  }
}

// Each count another number, so that none can stand for another.
std::vector<CuActivity> cus_of(const Chip& chip, Draw& draw) {
  std::vector<CuActivity> cus(chip.truth().legs.size());
  for (CuActivity& cu : cus) {
    for (std::uint64_t* count :
         {&cu.busy_cycles, &cu.resident_wave_cycles, &cu.scalar_instructions,
          &cu.vector_instructions, &cu.vector_lane_operations, &cu.memory_instructions,
          &cu.lds_accesses, &cu.l1_accesses, &cu.l1_hits, &cu.gl1_hits, &cu.register_bytes}) {
      *count = draw.bits() % 1000;
    }
  }
  return cus;
}

std::vector<ChannelActivity> channels_of(const Chip& chip, Draw& draw) {
  std::vector<ChannelActivity> channels(static_cast<std::size_t>(chip.truth().channels()));
  for (ChannelActivity& channel : channels) {
    for (std::uint64_t* count :
         {&channel.accesses, &channel.hits, &channel.misses, &channel.writebacks}) {
      *count = draw.bits() % 1000;
    }
  }
  return channels;
}

void expect_near(double fast, double slow, const char* what) {
  EXPECT_NEAR(fast, slow, 1e-9 * std::abs(slow)) << what;
}

void expect_alike(const WireMonitors::Bundle& fast, const WireMonitors::Bundle& slow,
                  const char* what) {
  EXPECT_EQ(fast.toggles, slow.toggles) << what;
  EXPECT_EQ(fast.adjacent, slow.adjacent) << what;
  EXPECT_EQ(fast.opposite, slow.opposite) << what;
  expect_near(fast.toggle_mm, slow.toggle_mm, what);
  expect_near(fast.adjacent_mm, slow.adjacent_mm, what);
  expect_near(fast.opposite_mm, slow.opposite_mm, what);
}

void expect_alike(const Chip& chip, std::uint64_t seed) {
  const auto ledger = make_energy_ledger(chip);
  ledger->begin_launch();
  Account account(chip);
  send(chip, seed, *ledger, account);
  Draw draw(seed);
  const auto cus = cus_of(chip, draw);
  const auto channels = channels_of(chip, draw);
  const LaunchActivity fast = ledger->end_launch(1234, cus, channels);
  const LaunchActivity slow = account.end(1234, cus, channels);
  EXPECT_EQ(fast.payload_bits, slow.payload_bits);
  EXPECT_GT(slow.parts_f.crossbar_wires, 0.0);
  using Parts = LaunchActivity::Parts;
  const std::pair<const char*, double Parts::*> parts[] = {
      {"crossbar_wires", &Parts::crossbar_wires},
      {"crossbar_control", &Parts::crossbar_control},
      {"crossbar_arbiters", &Parts::crossbar_arbiters},
      {"registers_l1", &Parts::registers_l1},
      {"l2_memory", &Parts::l2_memory},
      {"caches", &Parts::caches},
      {"alu", &Parts::alu},
      {"clock", &Parts::clock}};
  for (const auto& [name, part] : parts) expect_near(fast.parts_f.*part, slow.parts_f.*part, name);
  ASSERT_EQ(fast.capacitance_f.size(), slow.capacitance_f.size());
  for (std::size_t zone = 0; zone < slow.capacitance_f.size(); ++zone) {
    SCOPED_TRACE(testing::Message() << "zone " << zone);
    expect_near(fast.capacitance_f[zone], slow.capacitance_f[zone], "zone");
  }
  const WireMonitors& a = fast.monitors;
  const WireMonitors& b = slow.monitors;
  expect_alike(a.trunks, b.trunks, "trunks");
  expect_alike(a.legs, b.legs, "legs");
  expect_alike(a.memory, b.memory, "memory");
  expect_alike(a.control, b.control, "control");
  EXPECT_EQ(a.crossbar_slot_bits, b.crossbar_slot_bits);
  EXPECT_EQ(a.memory_slot_bits, b.memory_slot_bits);
  EXPECT_EQ(a.register_bytes, b.register_bytes);
  expect_near(a.crossbar_bit_mm, b.crossbar_bit_mm, "crossbar_bit_mm");
  expect_near(a.leg_bit_mm, b.leg_bit_mm, "leg_bit_mm");
}

TEST(EnergyLedger, AgreesWithAnAccountWireByWireOnTheBuiltInChips) {
  for (const char* name : {"w9100", "mi210", "rx6800"}) {
    SCOPED_TRACE(name);
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
      expect_alike(Chip::load({.chip = name}).value(), seed);
    }
  }
}

TEST(EnergyLedger, AgreesWithAnAccountWireByWireOnDrawnChips) {
  int interleaved = 0;
  int hops = 0;
  int stages = 0;
  int extra = 0;
  int smooth = 0;
  for (const ChipClass chip_class : {ChipClass::nested, ChipClass::mild, ChipClass::strong}) {
    for (std::uint64_t seed = 1; seed <= 8; ++seed) {
      SCOPED_TRACE(testing::Message() << "seed " << seed << ", class " << to_string(chip_class));
      const Chip chip =
          Chip::load({.chip = "random", .seed = seed, .chip_class = chip_class}).value();
      expect_alike(chip, seed);
      const WireTruth& wires = chip.truth().wires;
      interleaved += wires.bit_order == BitOrder::interleaved ? 1 : 0;
      hops += wires.hop_after_mm > 0 ? 1 : 0;
      stages += wires.stage_pitch_mm > 0 ? 1 : 0;
      extra += wires.pair_extra_f.empty() ? 0 : 1;
      smooth += wires.whole_flops ? 0 : 1;
    }
  }
  EXPECT_GT(std::min({interleaved, hops, stages, extra, smooth}), 0)
      << interleaved << ", " << hops << ", " << stages << ", " << extra << ", " << smooth;
}

}  // namespace
}  // namespace ww::sim::gpu
