#include "memory/io_dies.hpp"

#include "caches/behind_l2.hpp"

namespace ww::sim::gpu::exec {
namespace {

// Four lines of a block of 256 B, and 128 blocks to each slice's next.
std::size_t in_slice(std::uint32_t line) {
  return std::size_t{line >> 9U} << 2U | (line & 3U);
}

}  // namespace

IoDies::IoDies(const Architecture& architecture)
    : architecture_(architecture),
      cache_(architecture.infinity_cache_bytes, architecture.infinity_cache_ways,
             MemoryHome::kSlices),
      slice_line_time_(
          line_time(architecture, architecture.infinity_cache_bytes_per_clock_per_slice)),
      memory_line_time_(line_time(architecture, architecture.memory_bytes_per_clock_per_channel)),
      link_line_time_(line_time(architecture, architecture.io_die_link_bytes_per_clock)) {}

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
  const MemoryHome home = memory_home(std::uint64_t{line} * 64);
  const auto slice = static_cast<std::size_t>(home.slice());
  const int at = architecture_.io_die_of(die);
  const InfinityCache::Access access = cache_.read(line, slice, in_slice(line));
  ++activity_.reads[static_cast<std::size_t>(die)][static_cast<std::size_t>(home.io_die)];
  std::int64_t served = take(slice_free_[slice], cycle * kCycleFraction, slice_line_time_);
  std::int64_t latency = architecture_.infinity_cache_cycles;
  if (!access.hit) {
    ++activity_.memory_reads[static_cast<std::size_t>(home.io_die)];
    served = take(memory_free_[slice], served, memory_line_time_);
    latency = architecture_.memory_cycles;
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
  const MemoryHome home = memory_home(std::uint64_t{line} * 64);
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
