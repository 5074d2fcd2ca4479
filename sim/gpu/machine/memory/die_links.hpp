// Two dies with memory of their own and links between them, as MI250X has them: no I/O die, no
// Infinity Cache. A die's own memory answers as that of a chip of one die. A line of the other die
// crosses a link and is served by that die's memory channel.
//
// Links take turns every 256 bytes (estimated: no source says how). Each is busy for a line's time,
// each way apart.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "machine/memory/i_fabric.hpp"
#include "ww/sim/gpu/channel_map.hpp"
#include "ww/sim/gpu/chip.hpp"

namespace ww::sim::gpu::exec {

class DeviceMemory;

class DieLinks final : public Fabric {
 public:
  static constexpr int kMaxLinks = 4;

  DieLinks(const Architecture& architecture, const DeviceMemory& memory);

  void begin_launch() override;
  std::int64_t read(int die, std::uint32_t line, std::int64_t cycle) override;
  void write(int die, std::uint32_t line, std::int64_t cycle) override;
  [[nodiscard]] std::int64_t drained(std::int64_t cycle) const override;
  [[nodiscard]] int domain(int die, std::uint32_t line) const override;
  [[nodiscard]] std::uint64_t cache_hash() override { return 0; }
  [[nodiscard]] const IoDieActivity& activity() const override { return activity_; }

 private:
  [[nodiscard]] std::size_t link_of(std::uint32_t line) const {
    return line / lines_of_block_ % links_;
  }
  // The memory channel of a die that has the line.
  std::int64_t& memory_free(int die, std::uint32_t line);

  const Architecture& architecture_;
  const DeviceMemory& memory_;
  ChannelLookup channels_;
  std::uint32_t lines_of_block_;
  std::uint32_t links_;
  std::int64_t memory_line_time_;
  std::int64_t link_line_time_;
  std::vector<std::int64_t> memory_free_;                      // [die][channel]
  std::array<std::array<std::int64_t, kMaxLinks>, 2> free_{};  // [die that sends][link]
  IoDieActivity activity_;
};

}  // namespace ww::sim::gpu::exec
