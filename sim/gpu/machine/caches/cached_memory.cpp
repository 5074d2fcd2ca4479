#include "machine/caches/cached_memory.hpp"

#include <algorithm>

namespace ww::sim::gpu::exec {

CachedMemory::CachedMemory(const Architecture& architecture)
    : architecture_(architecture),
      channels_(architecture.channel_map, architecture.l2_channels,
                architecture.channel_interleave_bytes),
      cache_(architecture.infinity_cache_bytes, architecture.infinity_cache_ways,
             architecture.l2_channels),
      lines_of_block_(static_cast<std::uint32_t>(architecture.channel_interleave_bytes /
                                                 architecture.line_bytes)),
      slice_line_time_(
          line_time(architecture, architecture.infinity_cache_bytes_per_clock_per_slice)),
      memory_line_time_(line_time(architecture, architecture.memory_bytes_per_clock_per_channel)),
      slice_free_(static_cast<std::size_t>(architecture.l2_channels)),
      memory_free_(slice_free_.size()) {}

void CachedMemory::begin_launch() {
  std::ranges::fill(slice_free_, 0);
  std::ranges::fill(memory_free_, 0);
  activity_ = {};
}

CachedMemory::Place CachedMemory::place_of(std::uint32_t line) const {
  const std::uint32_t block = line / lines_of_block_;
  // A row of blocks has as many as there are channels, each block on another channel.
  const std::size_t row = block / static_cast<std::uint32_t>(architecture_.l2_channels);
  return {channels_.channel(block), row * lines_of_block_ + line % lines_of_block_};
}

std::int64_t CachedMemory::read(int, std::uint32_t line, std::int64_t cycle) {
  const Place place = place_of(line);
  const InfinityCache::Access access = cache_.read(line, place.slice, place.line);
  ++activity_.reads[0][0];
  std::int64_t served = take(slice_free_[place.slice], cycle * kCycleFraction, slice_line_time_);
  std::int64_t latency = architecture_.infinity_cache_cycles;
  if (!access.hit) {
    ++activity_.memory_reads[0];
    served = take(memory_free_[place.slice], served, memory_line_time_);
    latency = memory_latency(architecture_, line, cycle);
  }
  if (access.writeback) {
    ++activity_.memory_writes[0];
    take(memory_free_[place.slice], served, memory_line_time_);
  }
  return served / kCycleFraction + latency;
}

void CachedMemory::write(int, std::uint32_t line, std::int64_t cycle) {
  const Place place = place_of(line);
  ++activity_.writes[0][0];
  const std::int64_t served =
      take(slice_free_[place.slice], cycle * kCycleFraction, slice_line_time_);
  if (cache_.write(line, place.slice, place.line).writeback) {
    ++activity_.memory_writes[0];
    take(memory_free_[place.slice], served, memory_line_time_);
  }
}

}  // namespace ww::sim::gpu::exec
