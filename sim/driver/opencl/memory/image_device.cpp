#include "opencl/memory/image_device.hpp"

#include <algorithm>
#include <cstring>
#include <optional>
#include <span>

#include "common/runtime/device_language.hpp"
#include "opencl/object/entry_call.hpp"
#include "ww/sim/gpu/image.hpp"

namespace ww::sim::driver {
namespace {

using gpu::ChannelOrder;
using gpu::ChannelType;
using gpu::ImageKind;

template <class Name, class Ours>
struct Pair {
  Name name;
  Ours ours;
};

constexpr Pair<cl_channel_order, ChannelOrder> kOrders[] = {
    {CL_R, ChannelOrder::r},
    {CL_A, ChannelOrder::a},
    {CL_RG, ChannelOrder::rg},
    {CL_RA, ChannelOrder::ra},
    {CL_RGB, ChannelOrder::rgb},
    {CL_RGBA, ChannelOrder::rgba},
    {CL_BGRA, ChannelOrder::bgra},
    {CL_ARGB, ChannelOrder::argb},
    {CL_INTENSITY, ChannelOrder::intensity},
    {CL_LUMINANCE, ChannelOrder::luminance}};

constexpr Pair<cl_channel_type, ChannelType> kTypes[] = {
    {CL_SNORM_INT8, ChannelType::snorm_int8},
    {CL_SNORM_INT16, ChannelType::snorm_int16},
    {CL_UNORM_INT8, ChannelType::unorm_int8},
    {CL_UNORM_INT16, ChannelType::unorm_int16},
    {CL_UNORM_SHORT_565, ChannelType::unorm_short_565},
    {CL_UNORM_SHORT_555, ChannelType::unorm_short_555},
    {CL_UNORM_INT_101010, ChannelType::unorm_int_101010},
    {CL_SIGNED_INT8, ChannelType::signed_int8},
    {CL_SIGNED_INT16, ChannelType::signed_int16},
    {CL_SIGNED_INT32, ChannelType::signed_int32},
    {CL_UNSIGNED_INT8, ChannelType::unsigned_int8},
    {CL_UNSIGNED_INT16, ChannelType::unsigned_int16},
    {CL_UNSIGNED_INT32, ChannelType::unsigned_int32},
    {CL_HALF_FLOAT, ChannelType::half_float},
    {CL_FLOAT, ChannelType::single_float}};

constexpr Pair<cl_mem_object_type, ImageKind> kKinds[] = {
    {CL_MEM_OBJECT_IMAGE1D, ImageKind::image_1d},
    {CL_MEM_OBJECT_IMAGE1D_ARRAY, ImageKind::image_1d_array},
    {CL_MEM_OBJECT_IMAGE1D_BUFFER, ImageKind::image_1d_buffer},
    {CL_MEM_OBJECT_IMAGE2D, ImageKind::image_2d},
    {CL_MEM_OBJECT_IMAGE2D_ARRAY, ImageKind::image_2d_array},
    {CL_MEM_OBJECT_IMAGE3D, ImageKind::image_3d}};

constexpr Pair<cl_addressing_mode, gpu::Addressing> kAddressings[] = {
    {CL_ADDRESS_NONE, gpu::Addressing::none},
    {CL_ADDRESS_CLAMP_TO_EDGE, gpu::Addressing::clamp_to_edge},
    {CL_ADDRESS_CLAMP, gpu::Addressing::clamp},
    {CL_ADDRESS_REPEAT, gpu::Addressing::repeat},
    {CL_ADDRESS_MIRRORED_REPEAT, gpu::Addressing::mirrored_repeat}};

// The table's other half; the callers' names are all in it, or checked by is_supported.
template <class Name, class Ours, std::size_t N>
std::optional<Ours> find(const Pair<Name, Ours> (&table)[N], Name name) {
  const auto* found =
      std::find_if(table, table + N, [&](const auto& pair) { return pair.name == name; });
  return found != table + N ? std::optional(found->ours) : std::nullopt;
}

std::optional<gpu::ImageFormat> format_of(const cl_image_format& format) {
  const auto order = find(kOrders, format.image_channel_order);
  const auto type = find(kTypes, format.image_channel_data_type);
  if (!order || !type) return std::nullopt;
  return gpu::ImageFormat{*order, *type};
}

cl_image_format name_of(const gpu::ImageFormat& format) {
  const auto* order = std::find_if(std::begin(kOrders), std::end(kOrders),
                                   [&](const auto& pair) { return pair.ours == format.order; });
  const auto* type = std::find_if(std::begin(kTypes), std::end(kTypes),
                                  [&](const auto& pair) { return pair.ours == format.type; });
  return {order->name, type->name};
}

gpu::ImageLayout layout_of(const ImageState& image, std::uint64_t address) {
  const auto at = [&](std::size_t axis) { return static_cast<std::uint32_t>(image.extent[axis]); };
  gpu::ImageLayout layout;
  layout.kind = *find(kKinds, image.type);
  layout.format = *format_of(image.format);
  layout.width = at(0);
  layout.row_pitch = image.device.row;
  layout.slice_pitch = image.device.row;
  layout.address = address;
  switch (layout.kind) {
    case ImageKind::image_1d:
    case ImageKind::image_1d_buffer: break;
    case ImageKind::image_1d_array: layout.layers = at(1); break;
    default:
      layout.height = at(1);
      layout.slice_pitch = image.device.slice;
      (layout.kind == ImageKind::image_3d ? layout.depth : layout.layers) = at(2);
  }
  return layout;
}

// Puts a descriptor into device memory; where.
Created<std::uint64_t> place(std::span<const std::uint32_t> descriptor, cl_int failure) {
  auto& gpu = Runtime::get().powered_gpu();
  const auto address = gpu.allocate(descriptor.size_bytes());
  if (!address) return refuse(failure);
  if (gpu.write(*address, std::as_bytes(descriptor))) return *address;
  (void)gpu.release(*address);
  return refuse(failure);
}

}  // namespace

bool device_has_images() {
  const auto& architecture = Runtime::get().powered_gpu().chip().architecture();
  return device_language(architecture.gfx_target).images;
}

std::vector<cl_image_format> supported_formats(cl_mem_object_type type) {
  std::vector<cl_image_format> formats;
  for (const gpu::ImageFormat& format : gpu::image_formats()) {
    if (gpu::supported(*find(kKinds, type), format)) formats.push_back(name_of(format));
  }
  return formats;
}

bool is_supported(const ImageState& image) {
  const auto format = format_of(image.format);
  return format && gpu::supported(*find(kKinds, image.type), *format);
}

std::uint64_t lay_out(ImageState& image) {
  image.device.row = gpu::image_row_pitch(*find(kKinds, image.type), *format_of(image.format),
                                          static_cast<std::uint32_t>(image.extent[0]));
  image.device.slice = image.device.row * image.extent[1];
  return gpu::image_bytes(layout_of(image, 0));
}

Created<std::uint64_t> place_image_descriptor(const ImageState& image, std::uint64_t address) {
  const auto descriptor = gpu::image_descriptor(
      layout_of(image, address), Runtime::get().powered_gpu().chip().architecture().gfx_target);
  if (!descriptor) {
    print_line("an image cannot be described to the device: " + descriptor.error().text());
    return refuse(CL_MEM_OBJECT_ALLOCATION_FAILURE);
  }
  return place(*descriptor, CL_MEM_OBJECT_ALLOCATION_FAILURE);
}

Created<std::uint64_t> place_sampler_descriptor(const _cl_sampler& sampler) {
  const auto descriptor = gpu::sampler_descriptor(
      sampler.normalized != CL_FALSE, *find(kAddressings, sampler.addressing),
      sampler.filter == CL_FILTER_LINEAR ? gpu::Filter::linear : gpu::Filter::nearest);
  return place(descriptor, CL_OUT_OF_RESOURCES);
}

std::array<std::byte, 16> element_of(const cl_image_format& format, const void* color) {
  std::array<std::uint32_t, 4> channels{};
  std::memcpy(channels.data(), color, sizeof channels);
  const auto ours = *format_of(format);
  std::array<std::byte, 16> element{};
  gpu::write_texel(ours, channels, std::span(element).first(gpu::bytes_per_texel(ours)));
  return element;
}

}  // namespace ww::sim::driver
