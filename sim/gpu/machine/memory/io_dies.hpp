// Models the part behind the L2s of several compute dies: four I/O dies in a ring, on each of them
// two compute dies, 32 slices of the Infinity Cache and the channels of two HBM stacks.
//
// A request of a die enters the I/O die that it stands on, crosses links to its home (no, one or
// two hops), and is served there by the slice, or by memory behind it. Links, slices and channels
// of memory are each busy for a line's time.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "machine/caches/infinity_cache.hpp"
#include "machine/memory/i_fabric.hpp"
#include "ww/sim/gpu/chip.hpp"
#include "ww/sim/gpu/memory_home.hpp"

namespace ww::sim::gpu::exec {

class DeviceMemory;

class IoDies final : public Fabric {
 public:
  // `memory` says where a page is at home if the package has a domain for each I/O die (NPS4); with
  // one domain it may be null.
  explicit IoDies(const Architecture& architecture, const DeviceMemory* memory = nullptr);

  void begin_launch() override;
  std::int64_t read(int die, std::uint32_t line, std::int64_t cycle) override;
  void write(int die, std::uint32_t line, std::int64_t cycle) override;
  [[nodiscard]] std::int64_t drained(std::int64_t cycle) const override;
  [[nodiscard]] int domain(int die, std::uint32_t line) const override;
  // Returns a hash of the Infinity Cache's content.
  [[nodiscard]] std::uint64_t cache_hash() override { return cache_.hash(); }
  [[nodiscard]] const IoDieActivity& activity() const override { return activity_; }

  // Returns the hops on the ring 0-1-2-3-0.
  [[nodiscard]] static int hops(int from, int to) {
    const int apart = (to - from + MemoryHome::kIoDies) % MemoryHome::kIoDies;
    return apart == 3 ? 1 : apart;
  }

 private:
  // Finds a line's home. If I/O dies are domains the address chooses stack and channel alone.
  [[nodiscard]] MemoryHome home_of(int die, std::uint32_t line) const;
  // The line's number among those of its slice.
  [[nodiscard]] std::size_t in_slice(std::uint32_t line) const;
  // The links from one I/O die to another; returns when the first word is there, hops not counted.
  std::int64_t cross(int from, int to, std::int64_t at);

  const Architecture& architecture_;
  const DeviceMemory* memory_;  // null: one domain
  InfinityCache cache_;
  std::int64_t slice_line_time_;
  std::int64_t memory_line_time_;
  std::int64_t link_line_time_;
  std::array<std::int64_t, MemoryHome::kSlices> slice_free_{};
  std::array<std::int64_t, MemoryHome::kSlices> memory_free_{};
  std::array<std::array<std::int64_t, 2>, MemoryHome::kIoDies> link_free_{};  // [from][direction]
  IoDieActivity activity_;
};

}  // namespace ww::sim::gpu::exec
