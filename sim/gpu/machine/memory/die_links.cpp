#include "machine/memory/die_links.hpp"

#include <algorithm>

#include "machine/caches/behind_l2.hpp"
#include "machine/compute_unit/device_memory.hpp"
#include "machine/compute_unit/memory_operation.hpp"

namespace ww::sim::gpu::exec {

DieLinks::DieLinks(const Architecture& architecture, const DeviceMemory& memory)
    : architecture_(architecture),
      memory_(memory),
      channels_(architecture.channel_map, architecture.l2_channels,
                architecture.channel_interleave_bytes),
      lines_of_block_(static_cast<std::uint32_t>(architecture.channel_interleave_bytes /
                                                 architecture.line_bytes)),
      links_(static_cast<std::uint32_t>(architecture.xgmi_links)),
      memory_line_time_(line_time(architecture, architecture.memory_bytes_per_clock_per_channel)),
      link_line_time_(line_time(architecture, architecture.xgmi_bytes_per_clock_per_link)),
      memory_free_(static_cast<std::size_t>(architecture.dies * architecture.l2_channels)) {}

void DieLinks::begin_launch() {
  std::ranges::fill(memory_free_, 0);
  free_ = {};
  activity_ = {};
}

std::int64_t DieLinks::drained(std::int64_t cycle) const {
  std::int64_t last = *std::ranges::max_element(memory_free_);
  for (const auto& links : free_) last = std::max(last, *std::ranges::max_element(links));
  return std::max(cycle, last / kCycleFraction);
}

int DieLinks::domain(int die, std::uint32_t line) const {
  const int home = memory_.home(line_address(line));
  return home == DeviceMemory::kNowhere ? architecture_.domain_of_die(die) : home;
}

std::int64_t& DieLinks::memory_free(int die, std::uint32_t line) {
  return memory_free_[static_cast<std::size_t>(die * architecture_.l2_channels) +
                      channels_.channel(line / lines_of_block_)];
}

std::int64_t DieLinks::read(int die, std::uint32_t line, std::int64_t cycle) {
  const int home = domain(die, line);
  const std::int64_t served =
      take(memory_free(home, line), cycle * kCycleFraction, memory_line_time_);
  ++activity_.memory_reads[static_cast<std::size_t>(home)];
  const std::int64_t latency = memory_latency(architecture_, line, cycle);
  if (home == die) return served / kCycleFraction + latency;
  const std::size_t link = link_of(line);
  ++activity_.xgmi_reads[link];
  // The data crosses from the home to the die.
  const std::int64_t crossed =
      take(free_[static_cast<std::size_t>(home)][link], served, link_line_time_);
  return crossed / kCycleFraction + latency + architecture_.xgmi_cycles;
}

void DieLinks::write(int die, std::uint32_t line, std::int64_t cycle) {
  const int home = domain(die, line);
  std::int64_t there = cycle * kCycleFraction;
  if (home != die) {
    const std::size_t link = link_of(line);
    ++activity_.xgmi_writes[link];
    there = take(free_[static_cast<std::size_t>(die)][link], there, link_line_time_);
  }
  ++activity_.memory_writes[static_cast<std::size_t>(home)];
  take(memory_free(home, line), there, memory_line_time_);
}

}  // namespace ww::sim::gpu::exec
