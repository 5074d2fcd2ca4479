// Sums up the counts of timing mode, per launch and over all.
#include <fmt/format.h>

#include <cstdio>
#include <ctime>
#include <span>

#include "machine/timing/address_use.hpp"
#include "machine/timing/timed_memory.hpp"

namespace ww::sim::gpu::timing {
namespace {

double process_cpu_seconds() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

PacketCount& operator+=(PacketCount& sum, const PacketCount& other) {
  sum.packets += other.packets;
  sum.flits += other.flits;
  return sum;
}

// Counts; what is derived from them follows in derive().
void add_stats(TimingStats& sum, const TimingStats& one) {
  sum.launches += one.launches;
  sum.cycles += one.cycles;
  sum.network_cycles += one.network_cycles;
  sum.wave_instructions += one.wave_instructions;
  sum.l1_accesses += one.l1_accesses;
  sum.l1_hits += one.l1_hits;
  sum.l1_merged += one.l1_merged;
  sum.l2_accesses += one.l2_accesses;
  sum.l2_hits += one.l2_hits;
  sum.l2_merged += one.l2_merged;
  sum.read_requests += one.read_requests;
  sum.write_requests += one.write_requests;
  sum.atomic_requests += one.atomic_requests;
  sum.write_backs += one.write_backs;
  sum.recalls += one.recalls;
  sum.invalidations += one.invalidations;
  sum.l1_stores += one.l1_stores;
  sum.read_replies += one.read_replies;
  sum.write_replies += one.write_replies;
  sum.atomic_replies += one.atomic_replies;
  sum.approximable_replies += one.approximable_replies;
  sum.changed_replies += one.changed_replies;
  sum.output_full_cycles += one.output_full_cycles;
  sum.mshr_full_cycles += one.mshr_full_cycles;
  sum.dram_reads += one.dram_reads;
  sum.dram_writes += one.dram_writes;
  sum.dram_row_hits += one.dram_row_hits;
  sum.cpu_s += one.cpu_s;
  // Launches follow one another: cycles add up, routers and links stay what they are.
  power::append(sum.events, one.events);
}

double ratio(std::uint64_t a, std::uint64_t b) {
  return b == 0 ? 0.0 : static_cast<double>(a) / static_cast<double>(b);
}

}  // namespace

std::array<std::uint64_t, 3> TimedMemory::dram_counts() const {
  std::array<std::uint64_t, 3> counts{};
  for (const MemoryNode& node : nodes_) {
    counts[0] += node.dram().reads();
    counts[1] += node.dram().writes();
    counts[2] += node.dram().row_hits();
  }
  return counts;
}

void TimedMemory::begin_stats() {
  stats_ = {};
  sums_.requests.clear();
  sums_.replies.clear();
  sums_.request_transit = sums_.reply_transit = 0;
  sums_.round_trip = sums_.round_trips = sums_.occupancy = 0;
  events_before_ = network_->events();
  dram_before_ = dram_counts();
  cpu_before_ = process_cpu_seconds();
}

void TimedMemory::derive(TimingStats& stats, Sums& sums) const {
  stats.request_latency = sums.requests.mean();
  stats.request_latency_p99 = sums.requests.quantile(0.99);
  stats.reply_latency = sums.replies.mean();
  stats.reply_latency_p99 = sums.replies.quantile(0.99);
  stats.request_transit = ratio(sums.request_transit, sums.requests.count());
  stats.reply_transit = ratio(sums.reply_transit, sums.replies.count());
  stats.round_trip = ratio(sums.round_trip, sums.round_trips);
  stats.output_occupancy = ratio(sums.occupancy, stats.network_cycles * nodes_.size());
  stats.flits_per_node_cycle =
      ratio(stats.events.ejected_flits,
            stats.network_cycles * static_cast<std::uint64_t>(net::node_count(config_.network)));
  if (const auto energy = power::account(stats.events, energy_)) stats.energy = *energy;
}

void TimedMemory::look_for_addresses(const exec::LaunchState& launch) {
  if (stats_.approximable_replies == 0 || warned_.contains(launch.kernel)) return;
  using binpatch::isa::Generation;
  const auto generation = launch.isa == exec::Isa::gfx900    ? Generation::gfx900
                          : launch.isa == exec::Isa::gfx90a  ? Generation::gfx90a
                          : launch.isa == exec::Isa::gfx942  ? Generation::gfx940
                          : launch.isa == exec::Isa::gfx1030 ? Generation::gfx1030
                          : launch.isa == exec::Isa::gfx1100 ? Generation::gfx1100
                                                             : Generation::gfx7;
  const std::span<const std::byte> code(memory_.host(launch.code_address),
                                        std::size_t{launch.code_dwords} * 4);
  const auto use = find_address_use(code, generation, launch.entry, approximable_loads_);
  if (!use) return;
  warned_.insert(launch.kernel);
  report_.warnings.push_back(fmt::format(
      "kernel {} computes the address of a global access (code offset {:#x}) from data declared "
      "approximable: pointers and indices must arrive exact",
      launch.kernel, *use * 4));
  fmt::print(stderr, "wirewatt: {}\n", report_.warnings.back());
}

void TimedMemory::end_launch(const Cus& cus, const exec::LaunchState& launch, std::int64_t cycles,
                             std::uint64_t instructions) {
  look_for_addresses(launch);
  // The network lives through the launch's last cycles too.
  const Cycles end{static_cast<std::uint64_t>(base_ + clock_.forth(cycles))};
  while (network_->now() < end) {
    const Cycles before = network_->now();
    network_->skip_to(end);
    if (network_->now() == before) network_->tick();
  }
  stats_.launches = 1;
  stats_.cycles = static_cast<std::uint64_t>(cycles);
  stats_.network_cycles = network_->now().value() - static_cast<std::uint64_t>(base_);
  stats_.wave_instructions = instructions;
  for (const auto& cu : cus) {
    stats_.l1_accesses += cu->counters.l1_accesses;
    stats_.l1_hits += cu->counters.l1_hits;
  }
  const auto dram = dram_counts();
  stats_.dram_reads = dram[0] - dram_before_[0];
  stats_.dram_writes = dram[1] - dram_before_[1];
  stats_.dram_row_hits = dram[2] - dram_before_[2];
  stats_.events = network_->events() - events_before_;
  stats_.cpu_s = process_cpu_seconds() - cpu_before_;
  for (std::size_t i = 0; i < nodes_.size(); ++i) channels_[i] = nodes_[i].activity();
  derive(stats_, sums_);
  report_.dispatches.push_back({launch.kernel, stats_});

  all_sums_.requests += sums_.requests;
  all_sums_.replies += sums_.replies;
  all_sums_.request_transit += sums_.request_transit;
  all_sums_.reply_transit += sums_.reply_transit;
  all_sums_.round_trip += sums_.round_trip;
  all_sums_.round_trips += sums_.round_trips;
  all_sums_.occupancy += sums_.occupancy;
  add_stats(report_.total, stats_);
  derive(report_.total, all_sums_);
}

}  // namespace ww::sim::gpu::timing
