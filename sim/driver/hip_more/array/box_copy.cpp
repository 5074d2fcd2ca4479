#include "hip_more/array/box_copy.hpp"

#include "hip/stream/stream.hpp"
#include "hip/stream/work.hpp"
#include "hip_more/array/array.hpp"
#include "hip_more/array/copy_sides.hpp"

namespace ww::sim::driver::hip {
namespace {

struct PlacedSide {
  SideKind kind;
  PitchedPointer memory;
  Position at;
};

// Where the box lies in memory. An unsaid pitch or height is that of the box.
tl::expected<PlacedSide, int> side_of(const BoxSide& side, const BoxCopy& box) {
  const auto kind = side_kind(side.memory_type);
  if (!kind) return tl::unexpected<int>(kInvalidValue);
  if (side.x_bytes > SIZE_MAX - box.width_bytes || side.y > SIZE_MAX - box.height ||
      side.z > SIZE_MAX - box.depth) {
    return tl::unexpected<int>(kInvalidValue);
  }
  const std::size_t width = side.x_bytes + box.width_bytes;
  const std::size_t rows = side.y + box.height;
  const Position at{side.x_bytes, side.y, side.z};
  if (*kind == SideKind::array) {
    const Array* array = find_array(side.array);
    if (array == nullptr) return tl::unexpected<int>(kInvalidValue);
    const PitchedPointer memory = memory_of(*array);
    if (width > memory.width || rows > memory.height || side.z + box.depth > slices_of(*array)) {
      return tl::unexpected<int>(kInvalidValue);
    }
    return PlacedSide{*kind, memory, at};
  }
  const std::size_t pitch = side.pitch != 0 ? side.pitch : width;
  const std::size_t height = side.height != 0 ? side.height : rows;
  if (width > pitch || rows > height) return tl::unexpected<int>(kInvalidValue);
  return PlacedSide{
      *kind, {*kind == SideKind::host ? side.host : side.device, pitch, pitch, height}, at};
}

int copy_box(const BoxCopy* wanted, const void* stream) {
  return guarded_work([&]() -> int {
    if (wanted == nullptr) return kInvalidValue;
    if (wanted->width_bytes == 0 || wanted->height == 0 || wanted->depth == 0) return kSuccess;
    auto work = box_work(*wanted);
    if (!work) return work.error();
    return submit(stream, NodeKind::copy, std::move(work->run), std::move(work->parameters));
  });
}

}  // namespace

tl::expected<NodeWork, int> box_work(const BoxCopy& wanted) {
  const auto from = side_of(wanted.from, wanted);
  if (!from) return tl::unexpected<int>(from.error());
  const auto to = side_of(wanted.to, wanted);
  if (!to) return tl::unexpected<int>(to.error());
  const Extent extent{wanted.width_bytes, wanted.height, wanted.depth};
  return copy_work(Memcpy3dParameters{nullptr, from->at, from->memory, nullptr, to->at, to->memory,
                                      extent, kind_between(from->kind, to->kind)});
}

WW_HIP_EXPORT int hipDrvMemcpy3D(const BoxCopy* box) {
  return copy_box(box, nullptr);
}
WW_HIP_EXPORT int hipDrvMemcpy3DAsync(const BoxCopy* box, void* stream) {
  return copy_box(box, stream);
}

}  // namespace ww::sim::driver::hip
