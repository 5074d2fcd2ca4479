// HIP's binary interface for arrays, textures and surfaces. Values and layouts are those of
// driver_types.h and texture_types.h of HIP 5.2; later versions have kept them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace ww::sim::driver::hip {

// hipChannelFormatKind.
enum ChannelKind : int {
  kSignedChannels = 0,
  kUnsignedChannels = 1,
  kFloatChannels = 2,
};

// hipChannelFormatDesc.
struct ChannelDescriptor {
  std::array<int, 4> bits;  // of x, y, z and w; 0 where there is no such channel
  int kind;
};

// hipArray_Format.
enum ArrayFormat : int {
  kFormatUint8 = 0x01,
  kFormatUint16 = 0x02,
  kFormatUint32 = 0x03,
  kFormatSint8 = 0x08,
  kFormatSint16 = 0x09,
  kFormatSint32 = 0x0a,
  kFormatHalf = 0x10,
  kFormatFloat = 0x20,
};

inline constexpr unsigned kArrayLayered = 1;
inline constexpr unsigned kArraySurfaceLoadStore = 2;
inline constexpr unsigned kArrayCubemap = 4;
inline constexpr unsigned kArrayTextureGather = 8;

// HIP_ARRAY_DESCRIPTOR and HIP_ARRAY3D_DESCRIPTOR: sizes in elements.
struct ArrayDescriptor {
  std::size_t width;
  std::size_t height;
  int format;
  unsigned channels;
};
struct Array3dDescriptor {
  std::size_t width;
  std::size_t height;
  std::size_t depth;
  int format;
  unsigned channels;
  unsigned flags;
};

// hipArray, which programs may look into up to HIP 5.
struct ArrayHeader {
  void* data;
  ChannelDescriptor descriptor;
  unsigned type;
  unsigned width;
  unsigned height;
  unsigned depth;
  int format;
  unsigned channels;
  bool is_driver;
  unsigned texture_type;
};
static_assert(sizeof(ArrayHeader) == 64);

// hip_Memcpy2D.
struct Memcpy2dSide {
  std::size_t x_bytes;
  std::size_t y;
  int memory_type;
  void* host;
  void* device;
  void* array;
  std::size_t pitch;
};
struct Memcpy2dParameters {
  Memcpy2dSide from;
  Memcpy2dSide to;
  std::size_t width_bytes;
  std::size_t height;
};
static_assert(sizeof(Memcpy2dParameters) == 128);

enum ResourceType : int {
  kResourceArray = 0,
  kResourceMipmappedArray = 1,
  kResourceLinear = 2,
  kResourcePitch2d = 3,
};

// hipResourceDesc.
struct LinearResource {
  void* pointer;
  ChannelDescriptor descriptor;
  std::size_t bytes;
};
struct Pitch2dResource {
  void* pointer;
  ChannelDescriptor descriptor;
  std::size_t width;
  std::size_t height;
  std::size_t pitch;
};
struct ResourceDescriptor {
  int type;
  union {
    void* array;
    LinearResource linear;
    Pitch2dResource pitch_2d;
  };
};
static_assert(sizeof(ResourceDescriptor) == 64);

// HIP_RESOURCE_DESC.
struct DriverLinearResource {
  void* pointer;
  int format;
  unsigned channels;
  std::size_t bytes;
};
struct DriverPitch2dResource {
  void* pointer;
  int format;
  unsigned channels;
  std::size_t width;
  std::size_t height;
  std::size_t pitch;
};
struct DriverResourceDescriptor {
  int type;
  union {
    void* array;
    DriverLinearResource linear;
    DriverPitch2dResource pitch_2d;
    int reserved[32];
  };
  unsigned flags;
};
static_assert(sizeof(DriverResourceDescriptor) == 144);

enum AddressMode : int {
  kAddressWrap = 0,
  kAddressClamp = 1,
  kAddressMirror = 2,
  kAddressBorder = 3,
};
enum FilterMode : int {
  kFilterPoint = 0,
  kFilterLinear = 1,
};
enum ReadMode : int {
  kReadElementType = 0,
  kReadNormalizedFloat = 1,
};

// hipTextureDesc.
struct TextureDescriptor {
  std::array<int, 3> address_mode;
  int filter_mode;
  int read_mode;
  int srgb;
  std::array<float, 4> border_color;
  int normalized;  // coordinates
  unsigned max_anisotropy;
  int mipmap_filter_mode;
  float mipmap_level_bias;
  float min_mipmap_level;
  float max_mipmap_level;
};
static_assert(sizeof(TextureDescriptor) == 64);

inline constexpr unsigned kFlagReadAsInteger = 0x01;
inline constexpr unsigned kFlagNormalizedCoordinates = 0x02;
inline constexpr unsigned kFlagSrgb = 0x10;

// HIP_TEXTURE_DESC.
struct DriverTextureDescriptor {
  std::array<int, 3> address_mode;
  int filter_mode;
  unsigned flags;
  unsigned max_anisotropy;
  int mipmap_filter_mode;
  float mipmap_level_bias;
  float min_mipmap_level;
  float max_mipmap_level;
  std::array<float, 4> border_color;
  int reserved[12];
};
static_assert(sizeof(DriverTextureDescriptor) == 104);

// hipResourceViewDesc, and the beginning of HIP_RESOURCE_VIEW_DESC.
struct ViewDescriptor {
  int format;
  std::size_t width;
  std::size_t height;
  std::size_t depth;
  unsigned first_level;
  unsigned last_level;
  unsigned first_layer;
  unsigned last_layer;
};
struct DriverViewDescriptor {
  ViewDescriptor view;
  unsigned reserved[16];
};
static_assert(sizeof(ViewDescriptor) == 48 && sizeof(DriverViewDescriptor) == 112);

// textureReference: the host's and the device's variable behind `texture<...>`.
struct TextureReference {
  int normalized;
  int read_mode;
  int filter_mode;
  std::array<int, 3> address_mode;
  ChannelDescriptor descriptor;
  int srgb;
  unsigned max_anisotropy;
  int mipmap_filter_mode;
  float mipmap_level_bias;
  float min_mipmap_level;
  float max_mipmap_level;
  void* object;
  int channels;
  int format;
};
static_assert(sizeof(TextureReference) == 88 && offsetof(TextureReference, object) == 72);

}  // namespace ww::sim::driver::hip
