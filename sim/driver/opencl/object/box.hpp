// Boxes in linear memory: rows of bytes, and slices of rows.
#pragma once

#include <array>
#include <cstddef>

namespace ww::sim::driver {

// Three sizes, the first of bytes or of elements.
using Region = std::array<std::size_t, 3>;

[[nodiscard]] inline std::size_t volume(const Region& region) {
  return region[0] * region[1] * region[2];
}

// Bytes from a row, or a slice, to the next.
struct Pitches {
  std::size_t row{};
  std::size_t slice{};
};

struct Box {
  std::size_t offset{};  // of its first byte
  std::size_t end{};     // one past its last byte
  std::size_t row_pitch{};
  std::size_t slice_pitch{};
};

// The box of a region [bytes, rows, slices] at an origin in the same units. The caller has checked
// that it lies in memory.
[[nodiscard]] inline Box box_at(const Region& origin, const Region& region,
                                const Pitches& pitches) {
  const std::size_t offset = origin[2] * pitches.slice + origin[1] * pitches.row + origin[0];
  return {offset,
          offset + (region[2] - 1) * pitches.slice + (region[1] - 1) * pitches.row + region[0],
          pitches.row, pitches.slice};
}

// Do two boxes with the same pitches, whose rows end within their pitch and whose slices within
// theirs, share a byte?
[[nodiscard]] inline bool boxes_meet(const Box& a, const Region& a_region, const Box& b,
                                     const Region& b_region) {
  const auto place = [](const Box& box) {
    return Region{box.offset % box.slice_pitch % box.row_pitch,
                  box.offset % box.slice_pitch / box.row_pitch, box.offset / box.slice_pitch};
  };
  const Region from = place(a);
  const Region to = place(b);
  for (std::size_t i = 0; i < 3; ++i) {
    if (from[i] >= to[i] + b_region[i] || to[i] >= from[i] + a_region[i]) return false;
  }
  return true;
}

// Calls move(offset a, offset b, bytes) for each row of a region in bytes that lies in two boxes;
// stops at the first failure, which is any code but 0.
template <class Move>
int for_each_row(const Box& a, const Box& b, const Region& region, Move move) {
  for (std::size_t slice = 0; slice < region[2]; ++slice) {
    for (std::size_t row = 0; row < region[1]; ++row) {
      const int code = move(a.offset + slice * a.slice_pitch + row * a.row_pitch,
                            b.offset + slice * b.slice_pitch + row * b.row_pitch, region[0]);
      if (code != 0) return code;
    }
  }
  return 0;
}

}  // namespace ww::sim::driver
