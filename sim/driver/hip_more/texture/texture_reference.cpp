// Texture references: variables of the program's that stand for a texture, which calls bind to
// memory. The host's variable holds the settings. Kernels read the object's handle from the
// device's variable of the same name, which binding writes.
#include <map>
#include <memory>
#include <string>

#include "hip/memory/memory_table.hpp"
#include "hip/module/module.hpp"
#include "hip/session/device_pointer.hpp"
#include "hip_more/texture/texture.hpp"

extern "C" int hipModuleGetGlobal(void**, std::size_t*, void*, const char*);

namespace ww::sim::driver::hip {
namespace {

// The host's side of a module's variable, which only hipModuleGetTexRef makes.
struct ModuleReference {
  TextureReference reference{};
  void* module{};
  std::string name;
};

// References by module and name, so that each is made once.
std::map<std::pair<void*, std::string>, std::unique_ptr<ModuleReference>>& module_references() {
  static auto& all = *new std::map<std::pair<void*, std::string>, std::unique_ptr<ModuleReference>>;
  return all;
}

const ModuleReference* of_module(const TextureReference* reference) {
  for (const auto& [key, each] : module_references()) {
    if (&each->reference == reference) return each.get();
  }
  return nullptr;
}

// Where the device has the reference. Takes the lock. Errors: kInvalidSymbol, and kInvalidHandle
// once the module is gone.
int find_on_device(const TextureReference* reference, DeviceVariable& found) {
  if (reference == nullptr) return finish(kInvalidValue);
  void* module = nullptr;
  std::string name;
  const int code = guarded([&]() -> int {
    if (const ModuleReference* named = of_module(reference); named != nullptr) {
      module = named->module;
      name = named->name;
      return kSuccess;
    }
    const auto variable = variable_of_symbol(reference);
    if (!variable) return variable.error();
    found = *variable;
    return kSuccess;
  });
  if (code != kSuccess || module == nullptr) return code;
  void* address = nullptr;
  const int failed = hipModuleGetGlobal(&address, &found.size, module, name.c_str());
  found.address = address_of(address);
  return failed;
}

TextureDescriptor sampling_of(const TextureReference& reference) {
  TextureDescriptor sampling{};
  sampling.address_mode = reference.address_mode;
  sampling.filter_mode = reference.filter_mode;
  sampling.read_mode = reference.read_mode;
  sampling.srgb = reference.srgb;
  sampling.normalized = reference.normalized;
  sampling.max_anisotropy = reference.max_anisotropy;
  sampling.mipmap_level_bias = reference.mipmap_level_bias;
  sampling.min_mipmap_level = reference.min_mipmap_level;
  sampling.max_mipmap_level = reference.max_mipmap_level;
  return sampling;
}

int unbind(TextureReference& reference) {
  if (find_texture(reference.object) != nullptr) {
    static_cast<void>(destroy_texture(reference.object));
  }
  reference.object = nullptr;
  return kSuccess;
}

// Binds the reference to what `make` returns: a texture without its sampling.
template <class Make>
int bind(const TextureReference* constant, Make&& make) {
  DeviceVariable variable;
  if (const int code = find_on_device(constant, variable); code != kSuccess) return code;
  return guarded_work([&]() -> int {
    if (variable.size != sizeof(TextureReference)) return kInvalidSymbol;
    // HIP's calls take it as constant and change it.
    auto& reference = const_cast<TextureReference&>(*constant);
    tl::expected<Texture, int> wanted = make(reference);
    if (!wanted) return wanted.error();
    wanted->sampling = sampling_of(reference);
    const auto handle = make_texture(*wanted);
    if (!handle) return handle.error();
    // The old binding goes last: without a new one, kernels still read the old one's handle.
    TextureReference bound = reference;
    bound.object = *handle;
    if (!device().write(variable.address, std::as_bytes(std::span(&bound, 1)))) {
      static_cast<void>(destroy_texture(*handle));
      return kInvalidSymbol;
    }
    static_cast<void>(unbind(reference));
    reference.object = *handle;
    return kSuccess;
  });
}

// Images begin at multiples of an alignment. What lies before the program's memory is the offset
// that kernels have to add; where the program does not ask for it, there must be none.
tl::expected<std::size_t, int> offset_of(const void* pointer, std::size_t* offset) {
  if (pointer == nullptr) return tl::unexpected<int>(kInvalidValue);
  const std::size_t found = address_of(pointer) % gpu::kImageAlignment;
  if (found != 0 && offset == nullptr) return tl::unexpected<int>(kInvalidValue);
  if (offset != nullptr) *offset = found;
  return found;
}

void* moved_back(const void* pointer, std::size_t bytes) {
  return device_pointer(address_of(pointer) - bytes);
}

tl::expected<Texture, int> linear_texture(const void* pointer, const ChannelDescriptor& descriptor,
                                          std::size_t bytes, std::size_t* offset) {
  const auto before = offset_of(pointer, offset);
  if (!before) return tl::unexpected<int>(before.error());
  // HIP's default for a program that gives no size.
  if (bytes == UINT32_MAX) {
    const auto address = address_of(pointer);
    const auto memory = find_allocation(address);
    if (!memory) return tl::unexpected<int>(kInvalidValue);
    bytes = memory->address + memory->bytes - address;
  }
  if (bytes > SIZE_MAX - *before) return tl::unexpected<int>(kInvalidValue);
  Texture texture;
  texture.resource.type = kResourceLinear;
  texture.resource.linear = {moved_back(pointer, *before), descriptor, bytes + *before};
  texture.byte_offset = *before;
  return texture;
}

tl::expected<Texture, int> pitch_texture(const void* pointer, const ChannelDescriptor& descriptor,
                                         const Extent& size, std::size_t pitch,
                                         std::size_t* offset) {
  const auto format = element_format(descriptor, false);
  if (!format) return tl::unexpected<int>(format.error());
  const auto before = offset_of(pointer, offset);
  if (!before) return tl::unexpected<int>(before.error());
  const std::size_t more = *before / gpu::bytes_per_texel(*format);
  if (size.width > SIZE_MAX - more) return tl::unexpected<int>(kInvalidValue);
  Texture texture;
  texture.resource.type = kResourcePitch2d;
  texture.resource.pitch_2d = {moved_back(pointer, *before), descriptor, size.width + more,
                               size.height, pitch};
  texture.byte_offset = *before;
  return texture;
}

tl::expected<Texture, int> array_texture(const void* array,
                                         tl::expected<gpu::ImageFormat, int> format) {
  if (!format) return tl::unexpected<int>(format.error());
  Texture texture;
  texture.resource.type = kResourceArray;
  texture.resource.array = const_cast<void*>(array);
  texture.format = *format;
  return texture;
}

bool reads_normalized(const TextureReference& reference) {
  return reference.read_mode == kReadNormalizedFloat;
}

// The channels of a reference whose elements the program has named by hipTexRefSetFormat.
tl::expected<ChannelDescriptor, int> descriptor_of(int format, unsigned channels) {
  if (!element_format(format, channels, false)) return tl::unexpected<int>(kInvalidValue);
  return channel_descriptor(format, channels);
}

// A call that only changes or reads the host's variable.
template <class Body>
int with_reference(const TextureReference* reference, Body&& body) {
  return guarded([&]() -> int { return reference == nullptr ? kInvalidValue : body(); });
}

// A call that asks what a reference is bound to.
template <class Body>
int with_bound(const TextureReference* reference, Body&& body) {
  return with_reference(reference, [&]() -> int {
    const Texture* texture = find_texture(reference->object);
    return texture == nullptr ? kInvalidValue : body(*texture);
  });
}

}  // namespace

WW_HIP_EXPORT int hipBindTexture(std::size_t* offset, const TextureReference* reference,
                                 const void* pointer, const ChannelDescriptor* descriptor,
                                 std::size_t bytes) {
  return bind(reference, [&](const TextureReference&) -> tl::expected<Texture, int> {
    if (descriptor == nullptr) return tl::unexpected<int>(kInvalidValue);
    return linear_texture(pointer, *descriptor, bytes, offset);
  });
}
WW_HIP_EXPORT int hipBindTexture2D(std::size_t* offset, const TextureReference* reference,
                                   const void* pointer, const ChannelDescriptor* descriptor,
                                   std::size_t width, std::size_t height, std::size_t pitch) {
  return bind(reference, [&](const TextureReference&) -> tl::expected<Texture, int> {
    if (descriptor == nullptr) return tl::unexpected<int>(kInvalidValue);
    return pitch_texture(pointer, *descriptor, {width, height, 1}, pitch, offset);
  });
}
WW_HIP_EXPORT int hipBindTextureToArray(const TextureReference* reference, const void* array,
                                        const ChannelDescriptor* descriptor) {
  return bind(reference, [&](const TextureReference& settings) -> tl::expected<Texture, int> {
    if (descriptor == nullptr) return tl::unexpected<int>(kInvalidValue);
    return array_texture(array, element_format(*descriptor, reads_normalized(settings)));
  });
}
WW_HIP_EXPORT int hipUnbindTexture(const TextureReference* reference) {
  return with_reference(reference,
                        [&] { return unbind(const_cast<TextureReference&>(*reference)); });
}
WW_HIP_EXPORT int hipGetTextureAlignmentOffset(std::size_t* offset,
                                               const TextureReference* reference) {
  return with_bound(reference, [&](const Texture& texture) -> int {
    if (offset == nullptr) return kInvalidValue;
    *offset = texture.byte_offset;
    return kSuccess;
  });
}
WW_HIP_EXPORT int hipGetTextureReference(const TextureReference** reference, const void* symbol) {
  return guarded([&]() -> int {
    if (reference == nullptr) return kInvalidValue;
    const auto variable = variable_of_symbol(symbol);
    if (!variable) return variable.error();
    *reference = static_cast<const TextureReference*>(symbol);
    return kSuccess;
  });
}
WW_HIP_EXPORT int hipModuleGetTexRef(TextureReference** reference, void* module, const char* name) {
  if (reference == nullptr || name == nullptr) return finish(kInvalidValue);
  std::size_t bytes = 0;
  void* address = nullptr;
  if (const int bad = hipModuleGetGlobal(&address, &bytes, module, name); bad != kSuccess) {
    return bad;
  }
  return guarded([&]() -> int {
    if (bytes != sizeof(TextureReference)) return kNotFound;
    auto& made = module_references()[{module, name}];
    if (made == nullptr) made = std::make_unique<ModuleReference>();
    made->module = module;
    made->name = name;
    *reference = &made->reference;
    return kSuccess;
  });
}

WW_HIP_EXPORT int hipTexRefSetArray(TextureReference* reference, const void* array,
                                    unsigned flags) {
  return bind(reference, [&](TextureReference& settings) -> tl::expected<Texture, int> {
    constexpr unsigned kOverrideFormat = 1;
    const Array* found = find_array(array);
    if (found == nullptr || flags != kOverrideFormat) return tl::unexpected<int>(kInvalidValue);
    settings.format = found->header.format;
    settings.channels = static_cast<int>(found->header.channels);
    return array_texture(
        array, element_format(settings.format, found->header.channels, reads_normalized(settings)));
  });
}
WW_HIP_EXPORT int hipTexRefSetAddress(std::size_t* offset, TextureReference* reference,
                                      void* pointer, std::size_t bytes) {
  return bind(reference, [&](const TextureReference& settings) -> tl::expected<Texture, int> {
    const auto descriptor =
        descriptor_of(settings.format, static_cast<unsigned>(settings.channels));
    if (!descriptor) return tl::unexpected<int>(descriptor.error());
    return linear_texture(pointer, *descriptor, bytes, offset);
  });
}
WW_HIP_EXPORT int hipTexRefSetAddress2D(TextureReference* reference, const ArrayDescriptor* size,
                                        void* pointer, std::size_t pitch) {
  return bind(reference, [&](const TextureReference&) -> tl::expected<Texture, int> {
    if (size == nullptr) return tl::unexpected<int>(kInvalidValue);
    const auto descriptor = descriptor_of(size->format, size->channels);
    if (!descriptor) return tl::unexpected<int>(descriptor.error());
    return pitch_texture(pointer, *descriptor, {size->width, size->height, 1}, pitch, nullptr);
  });
}
WW_HIP_EXPORT int hipTexRefSetFormat(TextureReference* reference, int format, int channels) {
  return with_reference(reference, [&]() -> int {
    if (!element_format(format, static_cast<unsigned>(channels), false)) return kInvalidValue;
    reference->format = format;
    reference->channels = channels;
    return kSuccess;
  });
}
WW_HIP_EXPORT int hipTexRefSetFlags(TextureReference* reference, unsigned flags) {
  return with_reference(reference, [&]() -> int {
    reference->read_mode =
        (flags & kFlagReadAsInteger) != 0 ? kReadElementType : kReadNormalizedFloat;
    reference->normalized = (flags & kFlagNormalizedCoordinates) != 0 ? 1 : 0;
    reference->srgb = (flags & kFlagSrgb) != 0 ? 1 : 0;
    return kSuccess;
  });
}
WW_HIP_EXPORT int hipTexRefSetFilterMode(TextureReference* reference, int mode) {
  return with_reference(reference, [&]() -> int {
    if (mode != kFilterPoint && mode != kFilterLinear) return kInvalidValue;
    reference->filter_mode = mode;
    return kSuccess;
  });
}
WW_HIP_EXPORT int hipTexRefSetAddressMode(TextureReference* reference, int dimension, int mode) {
  return with_reference(reference, [&]() -> int {
    if (dimension < 0 || dimension > 2 || mode < kAddressWrap || mode > kAddressBorder) {
      return kInvalidValue;
    }
    reference->address_mode[static_cast<std::size_t>(dimension)] = mode;
    return kSuccess;
  });
}
WW_HIP_EXPORT int hipTexRefSetMaxAnisotropy(TextureReference* reference, unsigned most) {
  return with_reference(reference, [&]() -> int {
    reference->max_anisotropy = most;
    return kSuccess;
  });
}
WW_HIP_EXPORT int hipTexRefGetAddress(void** pointer, const TextureReference* reference) {
  return with_bound(reference, [&](const Texture& texture) -> int {
    const ResourceDescriptor& resource = texture.resource;
    if (pointer == nullptr || resource.type == kResourceArray) return kInvalidValue;
    *pointer =
        resource.type == kResourceLinear ? resource.linear.pointer : resource.pitch_2d.pointer;
    return kSuccess;
  });
}
WW_HIP_EXPORT int hipTexRefGetArray(void** array, const TextureReference* reference) {
  return with_bound(reference, [&](const Texture& texture) -> int {
    if (array == nullptr || texture.resource.type != kResourceArray) return kInvalidValue;
    *array = texture.resource.array;
    return kSuccess;
  });
}
WW_HIP_EXPORT int hipTexRefGetFormat(int* format, int* channels,
                                     const TextureReference* reference) {
  return with_reference(reference, [&]() -> int {
    if (format == nullptr || channels == nullptr) return kInvalidValue;
    *format = reference->format;
    *channels = reference->channels;
    return kSuccess;
  });
}
WW_HIP_EXPORT int hipTexRefGetFlags(unsigned* flags, const TextureReference* reference) {
  return with_reference(reference, [&]() -> int {
    if (flags == nullptr) return kInvalidValue;
    *flags = (reads_normalized(*reference) ? 0 : kFlagReadAsInteger) |
             (reference->normalized != 0 ? kFlagNormalizedCoordinates : 0) |
             (reference->srgb != 0 ? kFlagSrgb : 0);
    return kSuccess;
  });
}
WW_HIP_EXPORT int hipTexRefGetFilterMode(int* mode, const TextureReference* reference) {
  return with_reference(reference, [&]() -> int {
    if (mode == nullptr) return kInvalidValue;
    *mode = reference->filter_mode;
    return kSuccess;
  });
}
WW_HIP_EXPORT int hipTexRefGetAddressMode(int* mode, const TextureReference* reference,
                                          int dimension) {
  return with_reference(reference, [&]() -> int {
    if (mode == nullptr || dimension < 0 || dimension > 2) return kInvalidValue;
    *mode = reference->address_mode[static_cast<std::size_t>(dimension)];
    return kSuccess;
  });
}
WW_HIP_EXPORT int hipTexRefGetMaxAnisotropy(int* most, const TextureReference* reference) {
  return with_reference(reference, [&]() -> int {
    if (most == nullptr) return kInvalidValue;
    *most = static_cast<int>(reference->max_anisotropy);
    return kSuccess;
  });
}

}  // namespace ww::sim::driver::hip
