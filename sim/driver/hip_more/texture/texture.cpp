// Texture objects, by the calls of HIP's runtime and of its driver.
#include "hip_more/texture/texture.hpp"

#include <algorithm>
#include <array>
#include <unordered_map>

#include "hip/memory/memory_table.hpp"
#include "hip/session/device_pointer.hpp"

namespace ww::sim::driver::hip {
namespace {

using gpu::ImageKind;

std::unordered_map<const void*, Texture>& textures() {
  static auto& all = *new std::unordered_map<const void*, Texture>;
  return all;
}

void reset_textures(int ordinal) {
  std::erase_if(textures(), [ordinal](const auto& each) { return each.second.device == ordinal; });
}

bool is_allocated(std::uint64_t address, std::uint64_t bytes) {
  const auto found = find_allocation(address);
  return found && bytes <= found->address + found->bytes - address;
}

// hipResourceViewFormat counts the channels of these formats: 1, 2 and 4 of each.
constexpr int kViewOrder[] = {kFormatUint8,  kFormatSint8,  kFormatUint16, kFormatSint16,
                              kFormatUint32, kFormatSint32, kFormatHalf,   kFormatFloat};
constexpr unsigned kViewChannels[] = {1, 2, 4};

// Format of an array's elements in a view. Error kInvalidValue: compressed blocks, or no format.
tl::expected<gpu::ImageFormat, int> view_format(const ViewDescriptor& view, bool normalized) {
  const auto index = static_cast<std::size_t>(view.format) - 1;
  if (view.format < 1 || index >= std::size(kViewOrder) * std::size(kViewChannels)) {
    return tl::unexpected<int>(kInvalidValue);
  }
  return element_format(kViewOrder[index / std::size(kViewChannels)],
                        kViewChannels[index % std::size(kViewChannels)], normalized);
}

bool reads_normalized(const TextureDescriptor& sampling) {
  return sampling.read_mode == kReadNormalizedFloat;
}

tl::expected<gpu::ImageLayout, int> array_layout(const Texture& wanted) {
  const Array* array = find_array(wanted.resource.array);
  if (array == nullptr) return tl::unexpected<int>(kInvalidValue);
  gpu::ImageLayout layout = array->layout;
  const std::uint32_t bytes = gpu::bytes_per_texel(layout.format);
  const auto format = wanted.format ? tl::expected<gpu::ImageFormat, int>(*wanted.format)
                                    : element_format(array->header.format, array->header.channels,
                                                     reads_normalized(wanted.sampling));
  if (!format || gpu::bytes_per_texel(*format) != bytes) return tl::unexpected<int>(kInvalidValue);
  layout.format = *format;
  return layout;
}

tl::expected<gpu::ImageLayout, int> linear_layout(const Texture& wanted) {
  const LinearResource& memory = wanted.resource.linear;
  const auto format = element_format(memory.descriptor, reads_normalized(wanted.sampling));
  if (!format) return tl::unexpected<int>(format.error());
  gpu::ImageLayout layout;
  layout.kind = ImageKind::image_1d_buffer;
  layout.format = *format;
  layout.address = address_of(memory.pointer);
  const std::size_t width = memory.bytes / gpu::bytes_per_texel(*format);
  if (width == 0 || width > gpu::kMaxImageBufferWidth ||
      !is_allocated(layout.address, memory.bytes)) {
    return tl::unexpected<int>(kInvalidValue);
  }
  layout.width = static_cast<std::uint32_t>(width);
  layout.row_pitch = layout.slice_pitch = gpu::image_row_pitch(layout.kind, *format, layout.width);
  return layout;
}

tl::expected<gpu::ImageLayout, int> pitch_layout(const Texture& wanted) {
  const Pitch2dResource& memory = wanted.resource.pitch_2d;
  const auto format = element_format(memory.descriptor, reads_normalized(wanted.sampling));
  if (!format) return tl::unexpected<int>(format.error());
  gpu::ImageLayout layout;
  layout.kind = ImageKind::image_2d;
  layout.format = *format;
  layout.address = address_of(memory.pointer);
  if (memory.width == 0 || memory.width > gpu::kMaxImageWidth || memory.height == 0 ||
      memory.height > gpu::kMaxImageHeight || memory.pitch > UINT32_MAX) {
    return tl::unexpected<int>(kInvalidValue);
  }
  layout.width = static_cast<std::uint32_t>(memory.width);
  layout.height = static_cast<std::uint32_t>(memory.height);
  layout.row_pitch = memory.pitch;
  layout.slice_pitch = memory.pitch * memory.height;
  const std::uint64_t row = std::uint64_t{layout.width} * gpu::bytes_per_texel(*format);
  if (!is_allocated(layout.address, memory.pitch * (memory.height - 1) + row)) {
    return tl::unexpected<int>(kInvalidValue);
  }
  return layout;
}

tl::expected<gpu::ImageLayout, int> layout_of(const Texture& wanted) {
  if (wanted.resource.type == kResourceArray) return array_layout(wanted);
  const bool linear = wanted.resource.type == kResourceLinear;
  const std::uint64_t address =
      address_of(linear ? wanted.resource.linear.pointer : wanted.resource.pitch_2d.pointer);
  if (address == 0 || address % gpu::kImageAlignment != 0) {
    return tl::unexpected<int>(kInvalidValue);
  }
  return linear ? linear_layout(wanted) : pitch_layout(wanted);
}

// Settings that are no settings, and those that the virtual GPU's textures do not have.
int check_settings(const ResourceDescriptor& resource, const TextureDescriptor& sampling) {
  if (resource.type < kResourceArray || resource.type > kResourcePitch2d) return kInvalidValue;
  if (sampling.address_mode[0] < kAddressWrap || sampling.address_mode[0] > kAddressBorder ||
      sampling.filter_mode < kFilterPoint || sampling.filter_mode > kFilterLinear ||
      sampling.read_mode < kReadElementType || sampling.read_mode > kReadNormalizedFloat) {
    return kInvalidValue;
  }
  if (!has_images()) return refuse_form("a texture on a chip without image instructions");
  if (resource.type == kResourceMipmappedArray) return refuse_form("a texture of mipmaps");
  if (sampling.max_anisotropy != 0) return refuse_form("a texture with anisotropic filtering");
  if (sampling.mipmap_level_bias != 0 || sampling.min_mipmap_level != 0 ||
      sampling.max_mipmap_level != 0) {
    return refuse_form("a texture with levels of detail");
  }
  if (sampling.srgb != 0 && resource.type == kResourceLinear) {
    return refuse_form("a texture of sRGB colours in linear memory");
  }
  if (sampling.address_mode[0] == kAddressBorder &&
      std::ranges::any_of(sampling.border_color, [](float each) { return each != 0; })) {
    return refuse_form("a texture with a border that is not 0");
  }
  return kSuccess;
}

// Gives all dimensions the first one's mode, as AMD's runtime does. Wrapping and mirroring need
// normalised coordinates. Linear memory has neither modes nor filters.
gpu::SamplerDescriptor sampler_of(const ResourceDescriptor& resource,
                                  const TextureDescriptor& sampling) {
  const bool normalized = sampling.normalized != 0;
  if (resource.type == kResourceLinear) {
    return gpu::sampler_descriptor(normalized, gpu::Addressing::none, gpu::Filter::nearest);
  }
  gpu::Addressing addressing = gpu::Addressing::clamp_to_edge;
  switch (sampling.address_mode[0]) {
    case kAddressWrap:
      if (normalized) addressing = gpu::Addressing::repeat;
      break;
    case kAddressMirror:
      if (normalized) addressing = gpu::Addressing::mirrored_repeat;
      break;
    case kAddressBorder: addressing = gpu::Addressing::clamp; break;
    default: break;
  }
  return gpu::sampler_descriptor(
      normalized, addressing,
      sampling.filter_mode == kFilterLinear ? gpu::Filter::linear : gpu::Filter::nearest);
}

int create_texture(void** handle, const ResourceDescriptor* resource,
                   const TextureDescriptor* sampling, const ViewDescriptor* view) {
  if (handle == nullptr || resource == nullptr || sampling == nullptr) return kInvalidValue;
  Texture wanted;
  wanted.resource = *resource;
  wanted.sampling = *sampling;
  if (view != nullptr) {
    if (resource->type != kResourceArray && resource->type != kResourceMipmappedArray) {
      return kInvalidValue;
    }
    const auto format = view_format(*view, reads_normalized(*sampling));
    if (!format) return format.error();
    wanted.view = *view;
    wanted.format = *format;
  }
  const auto made = make_texture(wanted);
  if (!made) return made.error();
  *handle = *made;
  return kSuccess;
}

// --- the same in the words of the driver's calls ---

tl::expected<ResourceDescriptor, int> from_driver(const DriverResourceDescriptor& wanted) {
  ResourceDescriptor resource{};
  resource.type = wanted.type;
  switch (wanted.type) {
    case kResourceArray:
    case kResourceMipmappedArray: resource.array = wanted.array; return resource;
    case kResourceLinear: {
      const auto& [pointer, format, channels, bytes] = wanted.linear;
      if (!element_format(format, channels, false)) break;
      resource.linear = {pointer, channel_descriptor(format, channels), bytes};
      return resource;
    }
    case kResourcePitch2d: {
      const auto& [pointer, format, channels, width, height, pitch] = wanted.pitch_2d;
      if (!element_format(format, channels, false)) break;
      resource.pitch_2d = {pointer, channel_descriptor(format, channels), width, height, pitch};
      return resource;
    }
    default: break;
  }
  return tl::unexpected<int>(kInvalidValue);
}

// Converts the resource of a texture that was made, whose elements are known to be right.
DriverResourceDescriptor to_driver(const ResourceDescriptor& resource) {
  DriverResourceDescriptor answer{};
  answer.type = resource.type;
  if (resource.type == kResourceArray) {
    answer.array = resource.array;
  } else if (resource.type == kResourceLinear) {
    const auto& [pointer, descriptor, bytes] = resource.linear;
    const auto name = element_name(descriptor);
    answer.linear = {pointer, name->format, name->channels, bytes};
  } else {
    const auto& [pointer, descriptor, width, height, pitch] = resource.pitch_2d;
    const auto name = element_name(descriptor);
    answer.pitch_2d = {pointer, name->format, name->channels, width, height, pitch};
  }
  return answer;
}

TextureDescriptor from_driver(const DriverTextureDescriptor& wanted) {
  TextureDescriptor sampling{};
  sampling.address_mode = wanted.address_mode;
  sampling.filter_mode = wanted.filter_mode;
  sampling.read_mode =
      (wanted.flags & kFlagReadAsInteger) != 0 ? kReadElementType : kReadNormalizedFloat;
  sampling.srgb = (wanted.flags & kFlagSrgb) != 0 ? 1 : 0;
  sampling.border_color = wanted.border_color;
  sampling.normalized = (wanted.flags & kFlagNormalizedCoordinates) != 0 ? 1 : 0;
  sampling.max_anisotropy = wanted.max_anisotropy;
  sampling.mipmap_filter_mode = wanted.mipmap_filter_mode;
  sampling.mipmap_level_bias = wanted.mipmap_level_bias;
  sampling.min_mipmap_level = wanted.min_mipmap_level;
  sampling.max_mipmap_level = wanted.max_mipmap_level;
  return sampling;
}

DriverTextureDescriptor to_driver(const TextureDescriptor& sampling) {
  DriverTextureDescriptor answer{};
  answer.address_mode = sampling.address_mode;
  answer.filter_mode = sampling.filter_mode;
  answer.flags = (reads_normalized(sampling) ? 0 : kFlagReadAsInteger) |
                 (sampling.normalized != 0 ? kFlagNormalizedCoordinates : 0) |
                 (sampling.srgb != 0 ? kFlagSrgb : 0);
  answer.border_color = sampling.border_color;
  answer.mipmap_filter_mode = sampling.mipmap_filter_mode;
  return answer;
}

// A call that asks for a part of a texture object.
template <class Answer, class Part>
int describe_texture(Answer* answer, const void* handle, Part&& part) {
  return guarded([&]() -> int {
    const Texture* found = find_texture(handle);
    if (answer == nullptr || found == nullptr) return kInvalidValue;
    *answer = part(*found);
    return kSuccess;
  });
}

}  // namespace

tl::expected<void*, int> place_descriptors(const gpu::ImageDescriptor& image,
                                           const gpu::SamplerDescriptor& sampler) {
  // HIP_TEXTURE_OBJECT_SIZE_DWORD; the sampler's part of HIP's headers has room for eight words.
  std::array<std::uint32_t, 20> words{};
  std::ranges::copy(image, words.begin());
  std::ranges::copy(sampler, words.begin() + image.size());
  const auto address = allocate_memory(sizeof words, MemoryKind::array, 0);
  if (!address) return tl::unexpected<int>(address.error());
  if (!device().write(*address, std::as_bytes(std::span(words)))) {
    static_cast<void>(free_memory(*address));
    return tl::unexpected<int>(kOutOfMemory);
  }
  return device_pointer(*address);
}

tl::expected<gpu::ImageDescriptor, int> describe(const gpu::ImageLayout& layout) {
  const auto made = gpu::image_descriptor(layout, device().chip().architecture().gfx_target);
  if (!made) {
    print_line("HIP: an image cannot be described to the device: " + made.error().text());
    return tl::unexpected<int>(kInvalidValue);
  }
  return *made;
}

tl::expected<void*, int> make_texture(const Texture& wanted) {
  if (const int bad = check_settings(wanted.resource, wanted.sampling); bad != kSuccess) {
    return tl::unexpected<int>(bad);
  }
  auto layout = layout_of(wanted);
  if (!layout) return tl::unexpected<int>(layout.error());
  if (wanted.sampling.srgb != 0 && layout->format.order == gpu::ChannelOrder::rgba) {
    // Reads colours as four channels, and fewer as they are, as AMD's runtime does.
    if (layout->format.type != gpu::ChannelType::unorm_int8) {
      return tl::unexpected<int>(kInvalidValue);
    }
    layout->format.order = gpu::ChannelOrder::srgba;
  }
  // AMD's runtime refuses it, as the chip's texture units lack it.
  if (layout->kind == ImageKind::image_3d && wanted.sampling.filter_mode == kFilterLinear &&
      device().chip().architecture().gfx_target == "gfx90a") {
    return tl::unexpected<int>(refuse_form("linear filtering of 3D textures on gfx90a"));
  }
  const auto image = describe(*layout);
  if (!image) return tl::unexpected<int>(image.error());
  const auto handle = place_descriptors(*image, sampler_of(wanted.resource, wanted.sampling));
  if (!handle) return handle;
  forget_at_reset(reset_textures);
  Texture& made = textures()[*handle] = wanted;
  made.device = chosen_device();
  return handle;
}

const Texture* find_texture(const void* handle) {
  const auto found = textures().find(handle);
  return found == textures().end() ? nullptr : &found->second;
}

int destroy_texture(const void* handle) {
  if (handle == nullptr) return kSuccess;
  if (textures().erase(handle) == 0) return kInvalidValue;
  return free_memory(address_of(handle));
}

WW_HIP_EXPORT int hipCreateTextureObject(void** handle, const ResourceDescriptor* resource,
                                         const TextureDescriptor* sampling,
                                         const ViewDescriptor* view) {
  return guarded_work([&] { return create_texture(handle, resource, sampling, view); });
}
WW_HIP_EXPORT int hipDestroyTextureObject(void* handle) {
  return guarded([&]() -> int { return handle == nullptr ? kSuccess : destroy_texture(handle); });
}
WW_HIP_EXPORT int hipGetTextureObjectResourceDesc(ResourceDescriptor* resource, void* handle) {
  return describe_texture(resource, handle, [](const Texture& each) { return each.resource; });
}
WW_HIP_EXPORT int hipGetTextureObjectTextureDesc(TextureDescriptor* sampling, void* handle) {
  return describe_texture(sampling, handle, [](const Texture& each) { return each.sampling; });
}
WW_HIP_EXPORT int hipGetTextureObjectResourceViewDesc(ViewDescriptor* view, void* handle) {
  return describe_texture(view, handle,
                          [](const Texture& each) { return each.view.value_or(ViewDescriptor{}); });
}
WW_HIP_EXPORT int hipTexObjectCreate(void** handle, const DriverResourceDescriptor* resource,
                                     const DriverTextureDescriptor* sampling,
                                     const DriverViewDescriptor* view) {
  return guarded_work([&]() -> int {
    if (resource == nullptr || sampling == nullptr || resource->flags != 0) return kInvalidValue;
    const auto plain_resource = from_driver(*resource);
    if (!plain_resource) return plain_resource.error();
    const TextureDescriptor plain_sampling = from_driver(*sampling);
    return create_texture(handle, &*plain_resource, &plain_sampling,
                          view != nullptr ? &view->view : nullptr);
  });
}
WW_HIP_EXPORT int hipTexObjectDestroy(void* handle) {
  return hipDestroyTextureObject(handle);
}
WW_HIP_EXPORT int hipTexObjectGetResourceDesc(DriverResourceDescriptor* resource, void* handle) {
  return describe_texture(resource, handle,
                          [](const Texture& each) { return to_driver(each.resource); });
}
WW_HIP_EXPORT int hipTexObjectGetTextureDesc(DriverTextureDescriptor* sampling, void* handle) {
  return describe_texture(sampling, handle,
                          [](const Texture& each) { return to_driver(each.sampling); });
}
WW_HIP_EXPORT int hipTexObjectGetResourceViewDesc(DriverViewDescriptor* view, void* handle) {
  return describe_texture(view, handle, [](const Texture& each) {
    return DriverViewDescriptor{each.view.value_or(ViewDescriptor{}), {}};
  });
}

}  // namespace ww::sim::driver::hip
