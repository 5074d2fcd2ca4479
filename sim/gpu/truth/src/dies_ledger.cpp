#include "dies_ledger.hpp"

#include <algorithm>
#include <vector>

#include "energy_ledger.hpp"
#include "truth.hpp"
#include "ww/sim/gpu/io_die_way.hpp"

namespace ww::sim::gpu {
namespace {

constexpr double kLineBits = 512;

void add(WireMonitors::Bundle& sum, const WireMonitors::Bundle& one) {
  sum.toggles += one.toggles;
  sum.adjacent += one.adjacent;
  sum.opposite += one.opposite;
  sum.toggle_mm += one.toggle_mm;
  sum.adjacent_mm += one.adjacent_mm;
  sum.opposite_mm += one.opposite_mm;
}

void add(WireMonitors& sum, const WireMonitors& one) {
  sum.crossbar_slot_bits += one.crossbar_slot_bits;
  sum.crossbar_bit_mm += one.crossbar_bit_mm;
  sum.leg_bit_mm += one.leg_bit_mm;
  add(sum.trunks, one.trunks);
  add(sum.legs, one.legs);
  add(sum.memory, one.memory);
  add(sum.control, one.control);
  sum.memory_slot_bits += one.memory_slot_bits;
  sum.register_bytes += one.register_bytes;
}

void add(LaunchActivity::Parts& sum, const LaunchActivity::Parts& one) {
  sum.crossbar_wires += one.crossbar_wires;
  sum.crossbar_control += one.crossbar_control;
  sum.registers_l1 += one.registers_l1;
  sum.l2_memory += one.l2_memory;
  sum.caches += one.caches;
  sum.alu += one.alu;
  sum.clock += one.clock;
  sum.crossbar_arbiters += one.crossbar_arbiters;
}

class DiesLedger final : public ActivityObserver {
 public:
  explicit DiesLedger(const Chip& chip)
      : chip_(chip),
        engines_(static_cast<unsigned>(chip.architecture().shader_engines)),
        channels_(static_cast<unsigned>(chip.architecture().l2_channels)),
        cus_(engines_ * static_cast<std::size_t>(chip.architecture().cus_per_engine)) {
    for (int die = 0; die < chip.architecture().dies; ++die) {
      ledgers_.push_back(make_energy_ledger(chip));
    }
  }

  void begin_launch() override {
    io_dies_ = {};
    for (auto& ledger : ledgers_) ledger->begin_launch();
  }
  void crossbar(const CrossbarTransfer& transfer) override {
    CrossbarTransfer own = transfer;
    own.engine = static_cast<std::uint16_t>(transfer.engine % engines_);
    ledgers_[transfer.engine / engines_]->crossbar(own);
  }
  void crossbar_lines(const CrossbarTransfer& first, unsigned lines, std::int64_t cycles) override {
    CrossbarTransfer own = first;
    own.engine = static_cast<std::uint16_t>(first.engine % engines_);
    ledgers_[first.engine / engines_]->crossbar_lines(own, lines, cycles);
  }
  void memory(const MemoryTransfer& transfer) override {
    MemoryTransfer own = transfer;
    own.channel = static_cast<std::uint16_t>(transfer.channel % channels_);
    ledgers_[transfer.channel / channels_]->memory(own);
  }
  void io_dies(const IoDieActivity& activity) override { io_dies_ = activity; }

  LaunchActivity end_launch(std::int64_t cycles, std::span<const CuActivity> cus,
                            std::span<const ChannelActivity> channels) override {
    LaunchActivity all;
    const bool several = chip_.architecture().devices > 1;
    for (std::size_t die = 0; die < ledgers_.size(); ++die) {
      const auto own = part(cus, die, cus_);
      // The clocks of a device that has no launch stand still.
      const bool works = !several || std::ranges::any_of(own, [](const CuActivity& cu) {
        return cu.busy_cycles != 0;
      });
      const LaunchActivity one =
          ledgers_[die]->end_launch(works ? cycles : 0, own, part(channels, die, channels_));
      all.capacitance_f.resize(one.capacitance_f.size());
      std::transform(one.capacitance_f.begin(), one.capacitance_f.end(), all.capacitance_f.begin(),
                     all.capacitance_f.begin(), std::plus<>());
      add(all.parts_f, one.parts_f);
      add(all.monitors, one.monitors);
      all.payload_bits += one.payload_bits;
    }
    all.cycles = cycles;
    all.ways_j = io_die_energy(io_dies_, chip_);
    all.rails = energy_of_rails(all.ways_j);
    return all;
  }

 private:
  template <class T>
  static std::span<const T> part(std::span<const T> all, std::size_t die, std::size_t size) {
    return die * size < all.size()
               ? all.subspan(die * size, std::min(size, all.size() - die * size))
               : std::span<const T>{};
  }

  Chip chip_;
  std::size_t engines_, channels_, cus_;  // of a die
  std::vector<std::unique_ptr<ActivityObserver>> ledgers_;
  IoDieActivity io_dies_;
};

}  // namespace

LaunchActivity::Ways io_die_energy(const IoDieActivity& activity, const Chip& chip) {
  const IoDieTruth& truth = chip.truth().io_dies;
  const auto bits = [](std::uint64_t lines) { return kLineBits * static_cast<double>(lines); };
  if (chip.architecture().xgmi_links != 0) {
    LaunchActivity::Ways ways;
    for (const auto* crossed : {&activity.xgmi_reads, &activity.xgmi_writes}) {
      for (const std::uint64_t count : *crossed) {
        ways.xgmi += bits(count) * chip.truth().xgmi.bit_j;
      }
    }
    return ways;
  }
  const auto lines = lines_by_way(activity, chip.architecture());
  const auto crossed = [&](IoDieWay way) {
    return bits(lines[static_cast<std::size_t>(way)]) * truth.crossing_j(way);
  };
  LaunchActivity::Ways ways;
  for (const std::uint64_t count : lines) {
    ways.compute_die_and_cache += bits(count) * (truth.compute_die_j + truth.infinity_cache_j);
  }
  ways.row_hop = crossed(IoDieWay::row);
  ways.column_hop = crossed(IoDieWay::column);
  ways.across = crossed(IoDieWay::across);
  ways.memory_phy = bits(memory_lines(activity)) * truth.memory_phy_j;
  ways.memory = bits(memory_lines(activity)) * truth.memory_j;
  return ways;
}

LaunchActivity::Rails energy_of_rails(const LaunchActivity::Ways& ways) {
  return {.aid_j = ways.compute_die_and_cache + ways.row_hop + ways.column_hop + ways.across +
                   ways.memory_phy + ways.xgmi,
          .hbm_j = ways.memory};
}

std::unique_ptr<ActivityObserver> make_dies_ledger(const Chip& chip) {
  return std::make_unique<DiesLedger>(chip);
}

}  // namespace ww::sim::gpu
