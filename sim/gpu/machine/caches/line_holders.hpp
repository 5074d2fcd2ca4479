// Implements the snoop filter of a chip of several dies: it knows which dies' L2s have a line, and
// which have bytes of it that memory does not. Without it each miss would search every other L2.
#pragma once

#include <cstdint>

#include "fast/host/host_arena.hpp"

namespace ww::sim::gpu::exec {

class LineHolders {
 public:
  // Mask of dies, the first die's bit the lowest.
  using Dies = std::uint8_t;
  static constexpr int kMaxDies = 8;

  // Covers the first `lines` lines of device memory. Pages of lines that no L2 had cost nothing.
  explicit LineHolders(std::uint64_t lines)
      : lines_(static_cast<Line*>(arena_.allocate(lines * sizeof(Line)))) {}

  [[nodiscard]] Dies present(std::uint32_t line) const { return lines_[line].present; }
  [[nodiscard]] Dies dirty(std::uint32_t line) const { return lines_[line].dirty; }

  void came(std::uint32_t line, Dies die) { lines_[line].present |= die; }
  void left(std::uint32_t line, Dies die) {
    lines_[line].present &= static_cast<Dies>(~die);
    cleaned(line, die);
  }
  void written(std::uint32_t line, Dies die) { lines_[line].dirty |= die; }
  void cleaned(std::uint32_t line, Dies die) { lines_[line].dirty &= static_cast<Dies>(~die); }

 private:
  struct Line {
    Dies present;
    Dies dirty;
  };
  HostArena arena_;
  Line* lines_;
};

}  // namespace ww::sim::gpu::exec
