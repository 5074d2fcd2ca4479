// Making, freeing and describing arrays.
#include "hip_more/array/array.hpp"

#include <algorithm>
#include <memory>
#include <optional>

#include "hip/memory/memory_table.hpp"
#include "hip/session/device_pointer.hpp"

namespace ww::sim::driver::hip {
namespace {

using gpu::ChannelType;
using gpu::ImageKind;

struct Format {
  ArrayFormat name;
  int bits;
  ChannelKind kind;
  ChannelType type;
  ChannelType normalized;
};
constexpr Format kFormats[] = {
    {kFormatUint8, 8, kUnsignedChannels, ChannelType::unsigned_int8, ChannelType::unorm_int8},
    {kFormatUint16, 16, kUnsignedChannels, ChannelType::unsigned_int16, ChannelType::unorm_int16},
    {kFormatUint32, 32, kUnsignedChannels, ChannelType::unsigned_int32,
     ChannelType::unsigned_int32},
    {kFormatSint8, 8, kSignedChannels, ChannelType::signed_int8, ChannelType::snorm_int8},
    {kFormatSint16, 16, kSignedChannels, ChannelType::signed_int16, ChannelType::snorm_int16},
    {kFormatSint32, 32, kSignedChannels, ChannelType::signed_int32, ChannelType::signed_int32},
    {kFormatHalf, 16, kFloatChannels, ChannelType::half_float, ChannelType::half_float},
    {kFormatFloat, 32, kFloatChannels, ChannelType::single_float, ChannelType::single_float}};

std::optional<gpu::ChannelOrder> order_of(unsigned channels) {
  switch (channels) {
    case 1: return gpu::ChannelOrder::r;
    case 2: return gpu::ChannelOrder::rg;
    case 4: return gpu::ChannelOrder::rgba;
    default: return std::nullopt;
  }
}

// HIP gives dimensions that an array lacks as 0, and a 1D array's layers as its depth.
tl::expected<gpu::ImageLayout, int> layout_of(const Array3dDescriptor& wanted) {
  const auto& [width, height, depth, format, channels, flags] = wanted;
  const auto element = element_format(format, channels, false);
  if (!element) return tl::unexpected<int>(element.error());
  const bool layered = (flags & kArrayLayered) != 0;
  const std::size_t most_across = height == 0 ? 1 : std::size_t{gpu::kMaxImageHeight};
  const std::size_t most_deep = layered ? gpu::kMaxImageLayers : gpu::kMaxImageDepth;
  if (width == 0 || width > gpu::kMaxImageWidth || height > most_across || depth > most_deep ||
      (layered ? depth == 0 : height == 0 && depth != 0)) {
    return tl::unexpected<int>(kInvalidValue);
  }
  gpu::ImageLayout layout;
  layout.format = *element;
  layout.width = static_cast<std::uint32_t>(width);
  layout.height = static_cast<std::uint32_t>(std::max<std::size_t>(height, 1));
  if (layered) {
    layout.kind = height == 0 ? ImageKind::image_1d_array : ImageKind::image_2d_array;
    layout.layers = static_cast<std::uint32_t>(depth);
  } else if (depth != 0) {
    layout.kind = ImageKind::image_3d;
    layout.depth = static_cast<std::uint32_t>(depth);
  } else {
    layout.kind = height == 0 ? ImageKind::image_1d : ImageKind::image_2d;
  }
  layout.row_pitch = gpu::image_row_pitch(layout.kind, layout.format, layout.width);
  layout.slice_pitch = layout.row_pitch * layout.height;
  return layout;
}

int make_array(void** handle, const Array3dDescriptor& wanted, bool is_driver) {
  constexpr unsigned kKnownFlags =
      kArrayLayered | kArraySurfaceLoadStore | kArrayCubemap | kArrayTextureGather;
  if (handle == nullptr || (wanted.flags & ~kKnownFlags) != 0) return kInvalidValue;
  if (!has_images()) return refuse_form("an array on a chip without image instructions");
  // tex2Dgather takes planes alone.
  if ((wanted.flags & kArrayTextureGather) != 0 && (wanted.height == 0 || wanted.depth != 0)) {
    return kInvalidValue;
  }
  auto layout = layout_of(wanted);
  if (!layout) return layout.error();
  if ((wanted.flags & kArrayCubemap) != 0) {
    const bool six_squares = wanted.width == wanted.height && wanted.depth % 6 == 0;
    if (!six_squares || wanted.depth == 0) return kInvalidValue;
    return refuse_form("a cubemap array");
  }
  const auto address = allocate_memory(gpu::image_bytes(*layout), MemoryKind::array, 0);
  if (!address) return address.error();
  layout->address = *address;
  auto made = std::make_unique<Array>();
  made->header.data = device_pointer(*address);
  made->header.descriptor = channel_descriptor(wanted.format, wanted.channels);
  made->header.width = static_cast<unsigned>(wanted.width);
  made->header.height = static_cast<unsigned>(wanted.height);
  made->header.depth = static_cast<unsigned>(wanted.depth);
  made->header.format = wanted.format;
  made->header.channels = wanted.channels;
  made->header.is_driver = is_driver;
  made->layout = *layout;
  made->flags = wanted.flags;
  made->device = chosen_device();
  *handle = &made->header;
  arrays().emplace(*handle, std::move(made));
  return kSuccess;
}

int make_array(void** handle, const ChannelDescriptor* descriptor, const Extent& extent,
               unsigned flags) {
  if (descriptor == nullptr) return kInvalidValue;
  const auto element = element_name(*descriptor);
  if (!element) return element.error();
  return make_array(
      handle,
      {extent.width, extent.height, extent.depth, element->format, element->channels, flags},
      false);
}

int free_array(const void* handle) {
  if (handle == nullptr) return kInvalidValue;
  const auto found = arrays().find(handle);
  if (found == arrays().end()) return kContextIsDestroyed;
  const int code = free_memory(found->second->layout.address);
  arrays().erase(found);
  return code;
}

}  // namespace

tl::expected<ElementName, int> element_name(const ChannelDescriptor& descriptor) {
  const auto& bits = descriptor.bits;
  unsigned channels = 0;
  while (channels < bits.size() && bits[channels] != 0) ++channels;
  const bool even =
      std::all_of(bits.begin(), bits.begin() + channels,
                  [&](int each) { return each == bits[0]; }) &&
      std::all_of(bits.begin() + channels, bits.end(), [](int each) { return each == 0; });
  const auto* format = std::ranges::find_if(kFormats, [&](const Format& each) {
    return each.bits == bits[0] && each.kind == descriptor.kind;
  });
  if (!even || !order_of(channels) || format == std::end(kFormats)) {
    return tl::unexpected<int>(kInvalidValue);
  }
  return ElementName{format->name, channels};
}

tl::expected<gpu::ImageFormat, int> element_format(int format, unsigned channels, bool normalized) {
  const auto order = order_of(channels);
  const auto* found = std::ranges::find(kFormats, format, &Format::name);
  if (!order || found == std::end(kFormats)) return tl::unexpected<int>(kInvalidValue);
  return gpu::ImageFormat{*order, normalized ? found->normalized : found->type};
}

tl::expected<gpu::ImageFormat, int> element_format(const ChannelDescriptor& descriptor,
                                                   bool normalized) {
  const auto element = element_name(descriptor);
  if (!element) return tl::unexpected<int>(element.error());
  return element_format(element->format, element->channels, normalized);
}

ChannelDescriptor channel_descriptor(int format, unsigned channels) {
  const auto* found = std::ranges::find(kFormats, format, &Format::name);
  ChannelDescriptor descriptor{{}, found->kind};
  std::fill_n(descriptor.bits.begin(), channels, found->bits);
  return descriptor;
}

WW_HIP_EXPORT int hipMallocArray(void** array, const ChannelDescriptor* descriptor,
                                 std::size_t width, std::size_t height, unsigned flags) {
  return guarded_work([&] { return make_array(array, descriptor, {width, height, 0}, flags); });
}
WW_HIP_EXPORT int hipMalloc3DArray(void** array, const ChannelDescriptor* descriptor, Extent extent,
                                   unsigned flags) {
  return guarded_work([&] { return make_array(array, descriptor, extent, flags); });
}
WW_HIP_EXPORT int hipArrayCreate(void** array, const ArrayDescriptor* wanted) {
  return guarded_work([&]() -> int {
    if (wanted == nullptr) return kInvalidValue;
    return make_array(
        array, {wanted->width, wanted->height, 0, wanted->format, wanted->channels, 0}, true);
  });
}
WW_HIP_EXPORT int hipArray3DCreate(void** array, const Array3dDescriptor* wanted) {
  return guarded_work([&]() -> int {
    if (wanted == nullptr) return kInvalidValue;
    return make_array(array, *wanted, true);
  });
}
WW_HIP_EXPORT int hipFreeArray(void* array) {
  return guarded([&] { return free_array(array); });
}
WW_HIP_EXPORT int hipArrayDestroy(void* array) {
  return hipFreeArray(array);
}
WW_HIP_EXPORT int hipArrayGetInfo(ChannelDescriptor* descriptor, Extent* extent, unsigned* flags,
                                  void* handle) {
  return guarded([&]() -> int {
    const Array* array = find_array(handle);
    if (array == nullptr) return kInvalidHandle;
    const ArrayHeader& header = array->header;
    if (descriptor != nullptr) *descriptor = header.descriptor;
    if (extent != nullptr) *extent = {header.width, header.height, header.depth};
    if (flags != nullptr) *flags = array->flags;
    return kSuccess;
  });
}
WW_HIP_EXPORT int hipArrayGetDescriptor(ArrayDescriptor* descriptor, void* handle) {
  return guarded([&]() -> int {
    const Array* array = find_array(handle);
    if (descriptor == nullptr) return kInvalidValue;
    if (array == nullptr) return kInvalidHandle;
    const ArrayHeader& header = array->header;
    *descriptor = {header.width, header.height, header.format, header.channels};
    return kSuccess;
  });
}
WW_HIP_EXPORT int hipArray3DGetDescriptor(Array3dDescriptor* descriptor, void* handle) {
  return guarded([&]() -> int {
    const Array* array = find_array(handle);
    if (descriptor == nullptr) return kInvalidValue;
    if (array == nullptr) return kInvalidHandle;
    const ArrayHeader& header = array->header;
    *descriptor = {header.width,  header.height,   header.depth,
                   header.format, header.channels, array->flags};
    return kSuccess;
  });
}
WW_HIP_EXPORT int hipGetChannelDesc(ChannelDescriptor* descriptor, const void* handle) {
  return guarded([&]() -> int {
    const Array* array = find_array(handle);
    if (descriptor == nullptr) return kInvalidValue;
    if (array == nullptr) return kInvalidHandle;
    *descriptor = array->header.descriptor;
    return kSuccess;
  });
}

}  // namespace ww::sim::driver::hip
