#include "hip/memory/array_table.hpp"

#include <algorithm>

#include "hip/session/device_pointer.hpp"

namespace ww::sim::driver::hip {
namespace {

struct CopySide {
  void* array;
  Position at;
  PitchedPointer memory;
};

// Gives an array's side of a box of elements in bytes; the other side's is in bytes already.
int resolve(CopySide& side, const Extent& extent, std::uint32_t element_bytes) {
  if ((side.array == nullptr) == (side.memory.pointer == nullptr)) return kInvalidValue;
  if (side.array == nullptr) return kSuccess;
  const Array& array = *find_array(side.array);
  const gpu::ImageLayout& layout = array.layout;
  const auto fits = [](std::size_t at, std::size_t count, std::size_t size) {
    return at <= size && count <= size - at;
  };
  if (!fits(side.at.x, extent.width, layout.width) ||
      !fits(side.at.y, extent.height, layout.height) ||
      !fits(side.at.z, extent.depth, slices_of(array))) {
    return kInvalidValue;
  }
  side.memory = memory_of(array);
  side.at.x *= element_bytes;
  side.array = nullptr;
  return kSuccess;
}

}  // namespace

std::unordered_map<const void*, std::unique_ptr<Array>>& arrays() {
  static auto& all = *new std::unordered_map<const void*, std::unique_ptr<Array>>;
  return all;
}

const Array* find_array(const void* handle) {
  const auto found = arrays().find(handle);
  return found == arrays().end() ? nullptr : found->second.get();
}

PitchedPointer memory_of(const Array& array) {
  const gpu::ImageLayout& layout = array.layout;
  return {device_pointer(layout.address), layout.row_pitch,
          std::size_t{layout.width} * gpu::bytes_per_texel(layout.format), layout.height};
}

std::size_t slices_of(const Array& array) {
  return std::max(array.layout.depth, array.layout.layers);
}

tl::expected<Memcpy3dParameters, int> without_arrays(const Memcpy3dParameters& box) {
  if (box.from_array == nullptr && box.to_array == nullptr) return box;
  std::uint32_t element_bytes = 0;
  for (const void* handle : {box.from_array, box.to_array}) {
    if (handle == nullptr) continue;
    const Array* array = find_array(handle);
    if (array == nullptr) return tl::unexpected<int>(kInvalidValue);
    const std::uint32_t bytes = gpu::bytes_per_texel(array->layout.format);
    if (element_bytes != 0 && element_bytes != bytes) return tl::unexpected<int>(kInvalidValue);
    element_bytes = bytes;
  }
  CopySide from{box.from_array, box.from_at, box.from};
  CopySide to{box.to_array, box.to_at, box.to};
  for (CopySide* side : {&from, &to}) {
    if (const int bad = resolve(*side, box.extent, element_bytes); bad != kSuccess) {
      return tl::unexpected<int>(bad);
    }
  }
  Extent extent = box.extent;
  extent.width *= element_bytes;
  return Memcpy3dParameters{nullptr, from.at,   from.memory, nullptr,
                            to.at,   to.memory, extent,      box.kind};
}

void reset_arrays(int ordinal) {
  std::erase_if(arrays(), [ordinal](const auto& array) { return array.second->device == ordinal; });
}

// A description alone, which needs no array.
WW_HIP_EXPORT ChannelDescriptor hipCreateChannelDesc(int x, int y, int z, int w, int kind) {
  return {{x, y, z, w}, kind};
}
}  // namespace ww::sim::driver::hip
