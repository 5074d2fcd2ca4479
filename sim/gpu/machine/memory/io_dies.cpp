#include "machine/memory/io_dies.hpp"

#include <algorithm>

#include "machine/caches/behind_l2.hpp"
#include "machine/compute_unit/device_memory.hpp"
#include "machine/compute_unit/memory_operation.hpp"

namespace ww::sim::gpu::exec {

IoDies::IoDies(const Architecture& architecture, const DeviceMemory* memory)
    : architecture_(architecture),
      memory_(architecture.memory_domains > 1 ? memory : nullptr),
      cache_(architecture.infinity_cache_bytes, architecture.infinity_cache_ways,
             MemoryHome::kSlices),
      slice_line_time_(
          line_time(architecture, architecture.infinity_cache_bytes_per_clock_per_slice)),
      memory_line_time_(line_time(architecture, architecture.memory_bytes_per_clock_per_channel)),
      link_line_time_(line_time(architecture, architecture.io_die_link_bytes_per_clock)) {}

// Four lines of a block of 256 B, and 128 blocks to each slice's next. Where the page chooses the
// I/O die, the two bits of the address that else do so count as well.
std::size_t IoDies::in_slice(std::uint32_t line) const {
  const std::size_t row = line >> 9U;
  const std::size_t block = memory_ == nullptr ? row : row << 2U | (line >> 6U & 3U);
  return block << 2U | (line & 3U);
}

std::int64_t IoDies::drained(std::int64_t cycle) const {
  std::int64_t last =
      std::max(*std::ranges::max_element(slice_free_), *std::ranges::max_element(memory_free_));
  for (const auto& links : link_free_) last = std::max(last, *std::ranges::max_element(links));
  return std::max(cycle, last / kCycleFraction);
}

int IoDies::domain(int die, std::uint32_t line) const {
  const int home = memory_ == nullptr ? DeviceMemory::kNowhere : memory_->home(line_address(line));
  return home == DeviceMemory::kNowhere ? architecture_.domain_of_die(die) : home;
}

MemoryHome IoDies::home_of(int die, std::uint32_t line) const {
  MemoryHome home = memory_home(std::uint64_t{line} * 64);
  if (memory_ != nullptr) home.io_die = domain(die, line);
  return home;
}

void IoDies::begin_launch() {
  slice_free_.fill(0);
  memory_free_.fill(0);
  link_free_ = {};
  activity_ = {};
}

std::int64_t IoDies::cross(int from, int to, std::int64_t at) {
  constexpr int kDies = MemoryHome::kIoDies;
  // The way back round is the shorter one to the neighbour on that side alone.
  const bool backwards = (to - from + kDies) % kDies == 3;
  while (from != to) {
    const auto index = static_cast<std::size_t>(from);
    at = take(link_free_[index][backwards ? 1 : 0], at, link_line_time_);
    from = (from + (backwards ? kDies - 1 : 1)) % kDies;
  }
  return at;
}

std::int64_t IoDies::read(int die, std::uint32_t line, std::int64_t cycle) {
  const MemoryHome home = home_of(die, line);
  const auto slice = static_cast<std::size_t>(home.slice());
  const int at = architecture_.io_die_of(die);
  const InfinityCache::Access access = cache_.read(line, slice, in_slice(line));
  ++activity_.reads[static_cast<std::size_t>(die)][static_cast<std::size_t>(home.io_die)];
  std::int64_t served = take(slice_free_[slice], cycle * kCycleFraction, slice_line_time_);
  std::int64_t latency = architecture_.infinity_cache_cycles;
  if (!access.hit) {
    ++activity_.memory_reads[static_cast<std::size_t>(home.io_die)];
    served = take(memory_free_[slice], served, memory_line_time_);
    latency = memory_latency(architecture_, line, cycle);
  }
  if (access.writeback) {
    ++activity_.memory_writes[static_cast<std::size_t>(home.io_die)];
    take(memory_free_[slice], served, memory_line_time_);
  }
  // The data crosses from the home to the die.
  const std::int64_t back = cross(home.io_die, at, served);
  return back / kCycleFraction + latency +
         std::int64_t{hops(at, home.io_die)} * architecture_.io_die_hop_cycles;
}

void IoDies::write(int die, std::uint32_t line, std::int64_t cycle) {
  const MemoryHome home = home_of(die, line);
  const auto slice = static_cast<std::size_t>(home.slice());
  ++activity_.writes[static_cast<std::size_t>(die)][static_cast<std::size_t>(home.io_die)];
  const std::int64_t there =
      cross(architecture_.io_die_of(die), home.io_die, cycle * kCycleFraction);
  const std::int64_t served = take(slice_free_[slice], there, slice_line_time_);
  if (cache_.write(line, slice, in_slice(line)).writeback) {
    ++activity_.memory_writes[static_cast<std::size_t>(home.io_die)];
    take(memory_free_[slice], served, memory_line_time_);
  }
}

}  // namespace ww::sim::gpu::exec
