// Copies to and from arrays: of rows, and of bytes in the order of the array's rows.
#include <algorithm>
#include <optional>
#include <vector>

#include "hip/stream/stream.hpp"
#include "hip/stream/work.hpp"
#include "hip_more/array/array.hpp"
#include "hip_more/array/copy_sides.hpp"

namespace ww::sim::driver::hip {
namespace {

// A copy is one box after another, all of which are checked before the first is copied.
using Boxes = std::vector<Memcpy3dParameters>;

struct Side {
  PitchedPointer memory;
  Position at;
};

Memcpy3dParameters box_of(const Side& to, const Side& from, std::size_t width, std::size_t rows,
                          int kind) {
  return {nullptr, from.at, from.memory, nullptr, to.at, to.memory, {width, rows, 1}, kind};
}

// Runs copies between memory that has no arrays any more, or notes them where the stream captures.
template <class Make>
int copy_boxes(const void* stream, Make&& make) {
  return guarded_work([&]() -> int {
    const tl::expected<Boxes, int> boxes = make();
    if (!boxes) return boxes.error();
    std::vector<Work> parts;
    for (const Memcpy3dParameters& box : *boxes) {
      auto part = copy_work(box);
      if (!part) return part.error();
      parts.push_back(std::move(part->run));
    }
    return submit(stream, NodeKind::copy, [parts = std::move(parts)]() -> int {
      for (const Work& part : parts) {
        if (const int code = part(); code != kSuccess) return code;
      }
      return kSuccess;
    });
  });
}

// --- rows ---

Side memory_side(const void* pointer, std::size_t pitch, std::size_t rows) {
  return {{const_cast<void*>(pointer), pitch, pitch, rows}, {}};
}

// A part of an array that has no slices but its first.
std::optional<Side> array_side(const void* handle, std::size_t x_bytes, std::size_t y,
                               std::size_t width, std::size_t rows) {
  const Array* array = find_array(handle);
  if (array == nullptr) return std::nullopt;
  const PitchedPointer memory = memory_of(*array);
  if (x_bytes > memory.width || width > memory.width - x_bytes) return std::nullopt;
  if (y > memory.height || rows > memory.height - y) return std::nullopt;
  return Side{memory, {x_bytes, y, 0}};
}

struct ArrayPlace {
  const void* array;
  std::size_t x_bytes;
  std::size_t y;
};

tl::expected<Boxes, int> rows_to_array(const ArrayPlace& to, const void* from, std::size_t pitch,
                                       std::size_t width, std::size_t rows, int kind) {
  if (from == nullptr) return tl::unexpected<int>(kInvalidValue);
  if (width > pitch) return tl::unexpected<int>(kInvalidPitchValue);
  if (to.array == nullptr) return tl::unexpected<int>(kInvalidHandle);
  const auto side = array_side(to.array, to.x_bytes, to.y, width, rows);
  if (!side) return tl::unexpected<int>(kInvalidValue);
  return Boxes{box_of(*side, memory_side(from, pitch, rows), width, rows, kind)};
}

tl::expected<Boxes, int> rows_from_array(void* to, std::size_t pitch, const ArrayPlace& from,
                                         std::size_t width, std::size_t rows, int kind) {
  if (from.array == nullptr) return tl::unexpected<int>(kInvalidHandle);
  const auto side = array_side(from.array, from.x_bytes, from.y, width, rows);
  if (!side || to == nullptr) return tl::unexpected<int>(kInvalidValue);
  if (width > pitch) return tl::unexpected<int>(kInvalidPitchValue);
  return Boxes{box_of(memory_side(to, pitch, rows), *side, width, rows, kind)};
}

tl::expected<Boxes, int> rows_between_arrays(const ArrayPlace& to, const ArrayPlace& from,
                                             std::size_t width, std::size_t rows, int kind) {
  const auto target = array_side(to.array, to.x_bytes, to.y, width, rows);
  const auto source = array_side(from.array, from.x_bytes, from.y, width, rows);
  if (!target || !source) return tl::unexpected<int>(kInvalidValue);
  return Boxes{box_of(*target, *source, width, rows, kind)};
}

// --- bytes in the order of an array's rows ---

struct Line {
  PitchedPointer memory;  // all rows of all slices
  std::size_t offset;     // of the next byte to copy
  [[nodiscard]] std::size_t left_in_row() const { return memory.width - offset % memory.width; }
  [[nodiscard]] Side next() const {
    return {memory, {offset % memory.width, offset / memory.width, 0}};
  }
};

std::optional<Line> line_of(const void* handle, std::size_t x_bytes, std::size_t y,
                            std::size_t count) {
  const Array* array = find_array(handle);
  if (array == nullptr) return std::nullopt;
  PitchedPointer memory = memory_of(*array);
  memory.height *= slices_of(*array);
  const std::size_t bytes = memory.width * memory.height;
  if (y > memory.height || x_bytes > bytes - y * memory.width) return std::nullopt;
  const std::size_t offset = y * memory.width + x_bytes;
  if (count > bytes - offset) return std::nullopt;
  return Line{memory, offset};
}

// `make` gets the array's side and the offset in plain memory of each piece: an incomplete row, or
// all complete rows.
template <class Make>
Boxes pieces(Line line, std::size_t count, Make&& make) {
  Boxes boxes;
  std::size_t done = 0;
  while (done < count) {
    const std::size_t row = line.memory.width;
    const bool whole = line.left_in_row() == row && count - done >= row;
    const std::size_t width = whole ? row : std::min(count - done, line.left_in_row());
    const std::size_t rows = whole ? (count - done) / row : 1;
    boxes.push_back(make(line.next(), done, width, rows));
    done += width * rows;
    line.offset += width * rows;
  }
  return boxes;
}

tl::expected<Boxes, int> bytes_to_array(const ArrayPlace& to, const void* from, std::size_t count,
                                        int kind) {
  const auto line = line_of(to.array, to.x_bytes, to.y, count);
  if (!line || from == nullptr) return tl::unexpected<int>(kInvalidValue);
  return pieces(*line, count,
                [&](const Side& side, std::size_t at, std::size_t width, std::size_t rows) {
                  const auto* source = static_cast<const std::byte*>(from) + at;
                  return box_of(side, memory_side(source, width, rows), width, rows, kind);
                });
}

tl::expected<Boxes, int> bytes_from_array(void* to, const ArrayPlace& from, std::size_t count,
                                          int kind) {
  const auto line = line_of(from.array, from.x_bytes, from.y, count);
  if (!line || to == nullptr) return tl::unexpected<int>(kInvalidValue);
  return pieces(*line, count,
                [&](const Side& side, std::size_t at, std::size_t width, std::size_t rows) {
                  auto* target = static_cast<std::byte*>(to) + at;
                  return box_of(memory_side(target, width, rows), side, width, rows, kind);
                });
}

// The driver API's copies of bytes end in the row that they begin in.
bool is_in_row(const void* handle, std::size_t offset, std::size_t count) {
  const Array* array = find_array(handle);
  if (array == nullptr) return false;
  const std::size_t row = memory_of(*array).width;
  return offset <= row && count <= row - offset;
}
tl::expected<Boxes, int> row_to_array(const void* to, std::size_t offset, const void* from,
                                      std::size_t count, int kind) {
  if (!is_in_row(to, offset, count)) return tl::unexpected<int>(kInvalidValue);
  return bytes_to_array({to, offset, 0}, from, count, kind);
}
tl::expected<Boxes, int> row_from_array(void* to, const void* from, std::size_t offset,
                                        std::size_t count, int kind) {
  if (!is_in_row(from, offset, count)) return tl::unexpected<int>(kInvalidValue);
  return bytes_from_array(to, {from, offset, 0}, count, kind);
}

tl::expected<Boxes, int> bytes_between_arrays(const ArrayPlace& to, const ArrayPlace& from,
                                              std::size_t count) {
  auto target = line_of(to.array, to.x_bytes, to.y, count);
  auto source = line_of(from.array, from.x_bytes, from.y, count);
  if (!target || !source) return tl::unexpected<int>(kInvalidValue);
  Boxes boxes;
  while (count > 0) {
    const std::size_t width = std::min({count, target->left_in_row(), source->left_in_row()});
    boxes.push_back(box_of(target->next(), source->next(), width, 1, kDeviceToDevice));
    target->offset += width;
    source->offset += width;
    count -= width;
  }
  return boxes;
}

// --- hipMemcpyParam2D ---

tl::expected<Side, int> side_of(const Memcpy2dSide& side, SideKind kind, std::size_t width,
                                std::size_t rows) {
  if (kind == SideKind::array) {
    const auto found = array_side(side.array, side.x_bytes, side.y, width, rows);
    if (!found) return tl::unexpected<int>(kInvalidValue);
    return *found;
  }
  if (side.x_bytes > SIZE_MAX - width) return tl::unexpected<int>(kInvalidValue);
  const std::size_t pitch = side.pitch != 0 ? side.pitch : side.x_bytes + width;
  if (side.x_bytes + width > pitch) return tl::unexpected<int>(kInvalidValue);
  if (side.y > SIZE_MAX - rows) return tl::unexpected<int>(kInvalidValue);
  Side made = memory_side(kind == SideKind::host ? side.host : side.device, pitch, side.y + rows);
  made.at = {side.x_bytes, side.y, 0};
  return made;
}

tl::expected<Boxes, int> rows_of_parameters(const Memcpy2dParameters& wanted) {
  const auto from_kind = side_kind(wanted.from.memory_type);
  const auto to_kind = side_kind(wanted.to.memory_type);
  if (!from_kind || !to_kind) return tl::unexpected<int>(kInvalidValue);
  const auto from = side_of(wanted.from, *from_kind, wanted.width_bytes, wanted.height);
  if (!from) return tl::unexpected<int>(from.error());
  const auto to = side_of(wanted.to, *to_kind, wanted.width_bytes, wanted.height);
  if (!to) return tl::unexpected<int>(to.error());
  return Boxes{
      box_of(*to, *from, wanted.width_bytes, wanted.height, kind_between(*from_kind, *to_kind))};
}

}  // namespace

WW_HIP_EXPORT int hipMemcpy2DToArrayAsync(void* to, std::size_t x, std::size_t y, const void* from,
                                          std::size_t pitch, std::size_t width, std::size_t rows,
                                          int kind, void* stream) {
  return copy_boxes(stream, [&] {
    return rows_to_array({to, x, y}, from, pitch, width, rows, kind);
  });
}
WW_HIP_EXPORT int hipMemcpy2DToArray(void* to, std::size_t x, std::size_t y, const void* from,
                                     std::size_t pitch, std::size_t width, std::size_t rows,
                                     int kind) {
  return hipMemcpy2DToArrayAsync(to, x, y, from, pitch, width, rows, kind, nullptr);
}
WW_HIP_EXPORT int hipMemcpy2DFromArrayAsync(void* to, std::size_t pitch, const void* from,
                                            std::size_t x, std::size_t y, std::size_t width,
                                            std::size_t rows, int kind, void* stream) {
  return copy_boxes(stream, [&] {
    return rows_from_array(to, pitch, {from, x, y}, width, rows, kind);
  });
}
WW_HIP_EXPORT int hipMemcpy2DFromArray(void* to, std::size_t pitch, const void* from, std::size_t x,
                                       std::size_t y, std::size_t width, std::size_t rows,
                                       int kind) {
  return hipMemcpy2DFromArrayAsync(to, pitch, from, x, y, width, rows, kind, nullptr);
}
WW_HIP_EXPORT int hipMemcpy2DArrayToArray(void* to, std::size_t to_x, std::size_t to_y,
                                          const void* from, std::size_t from_x, std::size_t from_y,
                                          std::size_t width, std::size_t rows, int kind) {
  return copy_boxes(nullptr, [&] {
    return rows_between_arrays({to, to_x, to_y}, {from, from_x, from_y}, width, rows, kind);
  });
}
WW_HIP_EXPORT int hipMemcpyToArray(void* to, std::size_t x, std::size_t y, const void* from,
                                   std::size_t count, int kind) {
  return copy_boxes(nullptr, [&] { return bytes_to_array({to, x, y}, from, count, kind); });
}
WW_HIP_EXPORT int hipMemcpyFromArray(void* to, const void* from, std::size_t x, std::size_t y,
                                     std::size_t count, int kind) {
  return copy_boxes(nullptr, [&] { return bytes_from_array(to, {from, x, y}, count, kind); });
}
WW_HIP_EXPORT int hipMemcpyHtoAAsync(void* to, std::size_t offset, const void* from,
                                     std::size_t count, void* stream) {
  return copy_boxes(stream, [&] { return row_to_array(to, offset, from, count, kHostToDevice); });
}
WW_HIP_EXPORT int hipMemcpyHtoA(void* to, std::size_t offset, const void* from, std::size_t count) {
  return hipMemcpyHtoAAsync(to, offset, from, count, nullptr);
}
WW_HIP_EXPORT int hipMemcpyAtoHAsync(void* to, void* from, std::size_t offset, std::size_t count,
                                     void* stream) {
  return copy_boxes(stream, [&] { return row_from_array(to, from, offset, count, kDeviceToHost); });
}
WW_HIP_EXPORT int hipMemcpyAtoH(void* to, void* from, std::size_t offset, std::size_t count) {
  return hipMemcpyAtoHAsync(to, from, offset, count, nullptr);
}
WW_HIP_EXPORT int hipMemcpyDtoA(void* to, std::size_t offset, void* from, std::size_t count) {
  return copy_boxes(nullptr,
                    [&] { return row_to_array(to, offset, from, count, kDeviceToDevice); });
}
WW_HIP_EXPORT int hipMemcpyAtoD(void* to, void* from, std::size_t offset, std::size_t count) {
  return copy_boxes(nullptr,
                    [&] { return row_from_array(to, from, offset, count, kDeviceToDevice); });
}
WW_HIP_EXPORT int hipMemcpyAtoA(void* to, std::size_t to_offset, void* from,
                                std::size_t from_offset, std::size_t count) {
  return copy_boxes(nullptr, [&] {
    return bytes_between_arrays({to, to_offset, 0}, {from, from_offset, 0}, count);
  });
}
WW_HIP_EXPORT int hipMemcpyParam2DAsync(const Memcpy2dParameters* wanted, void* stream) {
  if (wanted == nullptr) return finish(kInvalidValue);
  return copy_boxes(stream, [&] { return rows_of_parameters(*wanted); });
}
WW_HIP_EXPORT int hipMemcpyParam2D(const Memcpy2dParameters* wanted) {
  return hipMemcpyParam2DAsync(wanted, nullptr);
}
WW_HIP_EXPORT int hipDrvMemcpy2DUnaligned(const Memcpy2dParameters* wanted) {
  return hipMemcpyParam2DAsync(wanted, nullptr);
}

}  // namespace ww::sim::driver::hip
