// HIP programs that read textures and write surfaces, compared with arithmetic on the host. Compiled
// by clang as any HIP program is. The device library's image functions are what HIP's headers call.
// hip_textures CODE_OBJECT: the second file is this one's device code, which is loaded as a module.
#include "hip_texture_declarations.hpp"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include <algorithm>
#include <vector>

#define CHECK(call)                                                                           \
  do {                                                                                        \
    const hipError_t code = (call);                                                           \
    if (code != 0) {                                                                          \
      fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call, hipGetErrorString(code)); \
      return false;                                                                           \
    }                                                                                         \
  } while (0)

#define EXPECT(condition)                                                    \
  do {                                                                       \
    if (!(condition)) {                                                      \
      fprintf(stderr, "%s:%d: not %s\n", __FILE__, __LINE__, #condition);    \
      return false;                                                          \
    }                                                                        \
  } while (0)

using float2 = float __attribute__((ext_vector_type(2)));
using float4 = float __attribute__((ext_vector_type(4)));
using int2 = int __attribute__((ext_vector_type(2)));
using int4 = int __attribute__((ext_vector_type(4)));
using Words = const unsigned __attribute__((address_space(4)))*;

extern "C" {
__device__ float4 __ockl_image_load_1Db(Words, int);
__device__ float4 __ockl_image_load_1D(Words, int);
__device__ float4 __ockl_image_load_2D(Words, int2);
__device__ void __ockl_image_store_1D(Words, int, float4);
__device__ void __ockl_image_store_2D(Words, int2, float4);
__device__ void __ockl_image_store_3D(Words, int4, float4);
__device__ float4 __ockl_image_sample_1D(Words, Words, float);
__device__ float4 __ockl_image_sample_2D(Words, Words, float2);
__device__ float4 __ockl_image_sample_3D(Words, Words, float4);
__device__ float4 __ockl_image_sample_1Da(Words, Words, float2);
__device__ float4 __ockl_image_sample_2Da(Words, Words, float4);
__device__ float4 __ockl_image_gather4r_2D(Words, Words, float2);
__device__ float4 __ockl_image_gather4a_2D(Words, Words, float2);
}

// As HIP's headers declare it: the compiler takes dimension and read mode from the type.
template <class T, int kDimensions = 1, int kReadMode = 0>
struct __attribute__((device_builtin_texture_type)) texture : public textureReference {
  texture() : textureReference{} {}
};

texture<float, 2> bound_plane;
texture<float, 1> bound_line;
texture<float, 2> module_plane;

namespace {

__device__ unsigned item() {
  return __builtin_amdgcn_workgroup_id_x() * __builtin_amdgcn_workgroup_size_x() +
         __builtin_amdgcn_workitem_id_x();
}
__device__ Words words(const void* object) { return (Words)object; }
constexpr int kSamplerAt = 12;  // HIP_SAMPLER_OBJECT_OFFSET_DWORD

__global__ void fetch(hipTextureObject_t t, const int* at, float4* out) {
  out[item()] = __ockl_image_load_1Db(words(t), at[item()]);
}
__global__ void sample_1d(hipTextureObject_t t, const float4* at, float4* out) {
  out[item()] = __ockl_image_sample_1D(words(t), words(t) + kSamplerAt, at[item()].x);
}
__global__ void sample_2d(hipTextureObject_t t, const float4* at, float4* out) {
  out[item()] = __ockl_image_sample_2D(words(t), words(t) + kSamplerAt, at[item()].xy);
}
__global__ void sample_3d(hipTextureObject_t t, const float4* at, float4* out) {
  out[item()] = __ockl_image_sample_3D(words(t), words(t) + kSamplerAt, at[item()]);
}
__global__ void sample_1d_layers(hipTextureObject_t t, const float4* at, float4* out) {
  out[item()] = __ockl_image_sample_1Da(words(t), words(t) + kSamplerAt, at[item()].xy);
}
__global__ void sample_2d_layers(hipTextureObject_t t, const float4* at, float4* out) {
  out[item()] = __ockl_image_sample_2Da(words(t), words(t) + kSamplerAt, at[item()]);
}
// gfx90a has no such instruction.
__global__ void gather(hipTextureObject_t t, const float4* at, float4* red, float4* alpha) {
#if !defined(__gfx90a__)
  red[item()] = __ockl_image_gather4r_2D(words(t), words(t) + kSamplerAt, at[item()].xy);
  alpha[item()] = __ockl_image_gather4a_2D(words(t), words(t) + kSamplerAt, at[item()].xy);
#endif
}
__global__ void sample_bound_plane(const float4* at, float4* out) {
  const void* t = bound_plane.textureObject;
  out[item()] = __ockl_image_sample_2D(words(t), words(t) + kSamplerAt, at[item()].xy);
}
__global__ void fetch_bound_line(const int* at, float4* out) {
  out[item()] = __ockl_image_load_1Db(words(bound_line.textureObject), at[item()]);
}
__global__ void move_surfaces(hipSurfaceObject_t from, hipSurfaceObject_t to, int width) {
  const int x = static_cast<int>(item()) % width, y = static_cast<int>(item()) / width;
  __ockl_image_store_2D(words(to), int2{y, x}, __ockl_image_load_2D(words(from), int2{x, y}));
}
__global__ void write_line(hipSurfaceObject_t to) {
  const int x = static_cast<int>(item());
  __ockl_image_store_1D(words(to), x, float4{__builtin_bit_cast(float, 3 * x + 1), 0, 0, 0});
}
__global__ void write_box(hipSurfaceObject_t to, int width, int height) {
  const int i = static_cast<int>(item());
  const int4 at{i % width, i / width % height, i / width / height, 0};
  __ockl_image_store_3D(words(to), at, float4{0.5f * static_cast<float>(i), 0, 0, 0});
}

}  // namespace

extern "C" __global__ void sample_module_plane(const float4* at, float4* out) {
  const void* t = module_plane.textureObject;
  out[item()] = __ockl_image_sample_2D(words(t), words(t) + kSamplerAt, at[item()].xy);
}

namespace {

const char* module_file;
bool filters_volumes = true;
bool gathers = true;

template <class T>
struct Device {
  explicit Device(size_t count) { hipMalloc(reinterpret_cast<void**>(&at), count * sizeof(T)); }
  explicit Device(const std::vector<T>& values) : Device(values.size()) {
    hipMemcpy(at, values.data(), values.size() * sizeof(T), hipMemcpyHostToDevice);
  }
  ~Device() { hipFree(at); }
  T* at = nullptr;
};

template <class Launch>
std::vector<float4> read_back(size_t count, Launch launch) {
  const Device<float4> out(count);
  hipMemset(out.at, 0x7b, count * sizeof(float4));
  launch(static_cast<unsigned>(count), out.at);
  std::vector<float4> host(count);
  hipMemcpy(host.data(), out.at, count * sizeof(float4), hipMemcpyDeviceToHost);
  return host;
}

using Sampler = void (*)(hipTextureObject_t, const float4*, float4*);
std::vector<float4> sampled(Sampler kernel, hipTextureObject_t object,
                            const std::vector<float4>& at) {
  const Device<float4> places(at);
  return read_back(at.size(), [&](unsigned count, float4* out) {
    kernel<<<count, 1>>>(object, places.at, out);
  });
}
std::vector<float4> fetched(hipTextureObject_t object, const std::vector<int>& at) {
  const Device<int> places(at);
  return read_back(at.size(), [&](unsigned count, float4* out) {
    fetch<<<count, 1>>>(object, places.at, out);
  });
}

// A box of one float a texel, and what a sampler makes of it: the chip's positions have eight
// fraction bits (Vulkan's subTexelPrecisionBits of AMD's drivers is 8), and nothing lies outside but
// the border's 0.
struct Box {
  int size[3];
  std::vector<float> texels;
  Box(int x, int y, int z) : size{x, y, z} {
    for (int i = 0; i < x * y * z; ++i) texels.push_back(static_cast<float>(i * 37 % 101));
  }
  float texel(const int* at) const {
    for (int axis = 0; axis < 3; ++axis) {
      if (at[axis] < 0 || at[axis] >= size[axis]) return 0;
    }
    return texels[(at[2] * size[1] + at[1]) * size[0] + at[0]];
  }
};

int inside(int texel, int size, int mode) {
  const auto modulo = [](int value, int by) { return (value % by + by) % by; };
  switch (mode) {
    case hipAddressModeWrap: return modulo(texel, size);
    case hipAddressModeMirror: {
      const int at = modulo(texel, 2 * size);
      return at < size ? at : 2 * size - 1 - at;
    }
    case hipAddressModeClamp: return std::min(std::max(texel, 0), size - 1);
    default: return texel;
  }
}

double expected(const Box& box, const hipTextureDesc& how, float4 place, int axes) {
  const bool linear = how.filterMode == hipFilterModeLinear;
  const bool moves = how.normalizedCoords != 0 || how.addressMode[0] == hipAddressModeBorder;
  const int mode = moves ? how.addressMode[0] : hipAddressModeClamp;
  int first[3] = {}, second[3] = {};
  double part[3] = {};
  for (int axis = 0; axis < axes; ++axis) {
    const int size = box.size[axis];
    double at = static_cast<double>(place[axis]) * (how.normalizedCoords != 0 ? size : 1);
    at = linear ? nearbyint(at * 256) / 256 - 0.5 : at;
    const int texel = static_cast<int>(floor(at));
    part[axis] = linear ? at - floor(at) : 0;
    first[axis] = inside(texel, size, mode);
    second[axis] = inside(texel + 1, size, mode);
  }
  double sum = 0;
  for (int corner = 0; corner < 8; ++corner) {
    double weight = 1;
    int at[3];
    for (int axis = 0; axis < 3; ++axis) {
      const bool far = (corner >> axis & 1) != 0;
      at[axis] = far ? second[axis] : first[axis];
      weight *= far ? part[axis] : 1 - part[axis];
    }
    if (weight != 0) sum += weight * box.texel(at);
  }
  return sum;
}

hipArray_t array_of(const Box& box, int axes, unsigned flags = 0) {
  const hipChannelFormatDesc floats{32, 0, 0, 0, hipChannelFormatKindFloat};
  const auto axis = [&](int n) { return static_cast<size_t>(box.size[n]); };
  const hipExtent extent{axis(0), axes > 1 ? axis(1) : 0, axes > 2 || flags != 0 ? axis(2) : 0};
  hipArray_t array = nullptr;
  if (hipMalloc3DArray(&array, &floats, extent, flags) != 0) return nullptr;
  hipMemcpy3DParms copy{};
  copy.srcPtr = {const_cast<float*>(box.texels.data()), axis(0) * 4, axis(0) * 4, axis(1)};
  copy.dstArray = array;
  copy.extent = {axis(0), axis(1), axis(2)};
  copy.kind = hipMemcpyHostToDevice;
  return hipMemcpy3D(&copy) == 0 ? array : nullptr;
}

hipResourceDesc resource_of(hipArray_t array) {
  hipResourceDesc resource{};
  resource.resType = hipResourceTypeArray;
  resource.res.array.array = array;
  return resource;
}

// In steps that are no multiples of a fraction bit, on both sides of every edge.
std::vector<float4> places(const Box& box, int axes, bool normalized) {
  std::vector<float4> all;
  for (int i = 0; i < 500; ++i) {
    float4 place{};
    for (int axis = 0; axis < axes; ++axis) {
      const float size = static_cast<float>(box.size[axis]);
      const float at = fmodf(static_cast<float>(i) * (0.377f + 0.21f * axis), 3 * size) - size;
      place[axis] = normalized ? at / size : at;
    }
    all.push_back(place);
  }
  return all;
}

bool check_sampler(const Box& box, hipArray_t array, int axes, Sampler kernel,
                   const hipTextureDesc& how) {
  const hipResourceDesc resource = resource_of(array);
  hipTextureObject_t object = nullptr;
  CHECK(hipCreateTextureObject(&object, &resource, &how, nullptr));
  const std::vector<float4> at = places(box, axes, how.normalizedCoords != 0);
  const std::vector<float4> got = sampled(kernel, object, at);
  for (size_t i = 0; i < at.size(); ++i) {
    const double want = expected(box, how, at[i], axes);
    if (!(fabs(got[i].x - want) <= 1e-3)) {
      fprintf(stderr, "%d axes, mode %d, filter %d, normalised %d: at (%g %g %g) %g, not %g\n",
              axes, how.addressMode[0], how.filterMode, how.normalizedCoords, at[i].x, at[i].y,
              at[i].z, got[i].x, want);
      return false;
    }
  }
  CHECK(hipDestroyTextureObject(object));
  return true;
}

bool run_samplers() {
  const Box boxes[] = {{19, 1, 1}, {13, 7, 1}, {8, 5, 3}};
  const Sampler kernels[] = {sample_1d, sample_2d, sample_3d};
  for (int axes = 1; axes <= 3; ++axes) {
    const Box& box = boxes[axes - 1];
    const hipArray_t array = array_of(box, axes);
    EXPECT(array != nullptr);
    for (int mode = 0; mode < 4; ++mode) {
      for (int filter = 0; filter < 2; ++filter) {
        for (int normalized = 0; normalized < 2; ++normalized) {
          const hipTextureDesc how{{mode, mode, mode}, filter, 0, 0, {}, normalized};
          if (axes == 3 && filter != 0 && !filters_volumes) {
            const hipResourceDesc resource = resource_of(array);
            hipTextureObject_t object = nullptr;
            EXPECT(hipCreateTextureObject(&object, &resource, &how, nullptr) == 801);
          } else if (!check_sampler(box, array, axes, kernels[axes - 1], how)) {
            return false;
          }
        }
      }
    }
    CHECK(hipFreeArray(array));
  }
  return true;
}

bool run_layers() {
  constexpr unsigned kLayered = 1;
  const Box box(6, 4, 5);
  const hipTextureDesc how{{hipAddressModeClamp}, hipFilterModeLinear, 0, 0, {}, 0};
  for (int axes = 1; axes <= 2; ++axes) {
    const Box used(box.size[0], axes == 2 ? box.size[1] : 1, box.size[2]);
    const hipArray_t array = array_of(used, axes, kLayered);
    EXPECT(array != nullptr);
    const hipResourceDesc resource = resource_of(array);
    hipTextureObject_t object = nullptr;
    CHECK(hipCreateTextureObject(&object, &resource, &how, nullptr));
    std::vector<float4> at, plain;
    for (float4 place : places(used, axes, false)) {
      const float layer = static_cast<float>(at.size() % used.size[2]);
      plain.push_back(float4{place.x, place.y, layer, 0});
      place[axes] = layer;
      at.push_back(place);
    }
    const auto got = sampled(axes == 1 ? sample_1d_layers : sample_2d_layers, object, at);
    for (size_t i = 0; i < at.size(); ++i) {
      const int layer = static_cast<int>(plain[i].z);
      Box one(used.size[0], used.size[1], 1);
      const size_t texels = one.texels.size();
      std::copy_n(used.texels.begin() + static_cast<long>(layer * texels), texels,
                  one.texels.begin());
      EXPECT(fabs(got[i].x - expected(one, how, plain[i], axes)) <= 1e-3);
    }
    CHECK(hipDestroyTextureObject(object));
    CHECK(hipFreeArray(array));
  }
  return true;
}

unsigned bits_of(float value) { return __builtin_bit_cast(unsigned, value); }

// One channel of the four texels that a linear filter would take: lower left, lower right, upper
// right, upper left. Of integers, too.
bool run_gather() {
  if (!gathers) return true;
  constexpr int kWidth = 9, kHeight = 5;
  std::vector<unsigned> texels;
  for (unsigned i = 0; i < kWidth * kHeight; ++i) texels.push_back(i * 2654435761U);
  const hipChannelFormatDesc bytes{8, 8, 8, 8, hipChannelFormatKindUnsigned};
  hipArray_t array = nullptr;
  constexpr unsigned kTextureGather = 8;
  CHECK(hipMallocArray(&array, &bytes, kWidth, kHeight, kTextureGather));
  CHECK(hipMemcpy2DToArray(array, 0, 0, texels.data(), kWidth * 4, kWidth * 4, kHeight,
                           hipMemcpyHostToDevice));
  const hipResourceDesc resource = resource_of(array);
  const Box box(kWidth, kHeight, 1);
  for (int mode = 0; mode < 4; ++mode) {
    // For a point filter the device library would move the place to a texel's edge.
    const hipTextureDesc how{{mode, mode, mode}, hipFilterModeLinear, 0, 0, {}, 1};
    hipTextureObject_t object = nullptr;
    CHECK(hipCreateTextureObject(&object, &resource, &how, nullptr));
    const std::vector<float4> at = places(box, 2, true);
    const Device<float4> device_at(at), alpha(at.size());
    const std::vector<float4> red = read_back(at.size(), [&](unsigned count, float4* out) {
      gather<<<count, 1>>>(object, device_at.at, out, alpha.at);
    });
    std::vector<float4> alphas(at.size());
    CHECK(hipMemcpy(alphas.data(), alpha.at, at.size() * sizeof(float4), hipMemcpyDeviceToHost));
    for (size_t i = 0; i < at.size(); ++i) {
      int x[2], y[2];
      const auto neighbours = [&](float place, int size, int* found) {
        const double texel = nearbyint(static_cast<double>(place) * size * 256) / 256 - 0.5;
        for (int far = 0; far < 2; ++far) {
          found[far] = inside(static_cast<int>(floor(texel)) + far, size, mode);
        }
      };
      neighbours(at[i].x, kWidth, x);
      neighbours(at[i].y, kHeight, y);
      const int order[4][2] = {{0, 1}, {1, 1}, {1, 0}, {0, 0}};
      for (int tap = 0; tap < 4; ++tap) {
        const int column = x[order[tap][0]], row = y[order[tap][1]];
        const bool there = column >= 0 && column < kWidth && row >= 0 && row < kHeight;
        const unsigned texel = there ? texels[row * kWidth + column] : 0;
        EXPECT(bits_of(red[i][tap]) == (texel & 255));
        EXPECT(bits_of(alphas[i][tap]) == texel >> 24);
      }
    }
    CHECK(hipDestroyTextureObject(object));
  }
  CHECK(hipFreeArray(array));
  return true;
}

// Bytes of sRGB colours as light; alpha is none of them.
bool run_colours() {
  std::vector<unsigned> texels;
  for (unsigned i = 0; i < 256; ++i) texels.push_back(i | (255 - i) << 8 | (i / 2) << 16 | i << 24);
  const hipChannelFormatDesc bytes{8, 8, 8, 8, hipChannelFormatKindUnsigned};
  hipArray_t array = nullptr;
  CHECK(hipMallocArray(&array, &bytes, 256, 1, 0));
  CHECK(hipMemcpy2DToArray(array, 0, 0, texels.data(), 1024, 1024, 1, hipMemcpyHostToDevice));
  const hipResourceDesc resource = resource_of(array);
  hipTextureDesc how{{hipAddressModeClamp}, hipFilterModePoint, hipReadModeNormalizedFloat, 1,
                     {}, 0};
  hipTextureObject_t object = nullptr;
  CHECK(hipCreateTextureObject(&object, &resource, &how, nullptr));
  std::vector<float4> at;
  for (int i = 0; i < 256; ++i) at.push_back(float4{static_cast<float>(i) + 0.5f, 0.5f, 0, 0});
  const auto light = [](unsigned byte) {
    const double colour = byte / 255.0;
    return colour <= 0.04045 ? colour / 12.92 : pow((colour + 0.055) / 1.055, 2.4);
  };
  std::vector<float4> got = sampled(sample_2d, object, at);
  for (unsigned i = 0; i < 256; ++i) {
    EXPECT(fabs(got[i].x - light(i)) < 1e-6 && fabs(got[i].y - light(255 - i)) < 1e-6);
    EXPECT(fabs(got[i].z - light(i / 2)) < 1e-6 && fabs(got[i].w - i / 255.0) < 1e-6);
  }
  hipTextureDesc told{};
  CHECK(hipGetTextureObjectTextureDesc(&told, object));
  EXPECT(told.sRGB == 1);
  CHECK(hipDestroyTextureObject(object));
  // Filters mix light, not colours.
  how.filterMode = hipFilterModeLinear;
  CHECK(hipCreateTextureObject(&object, &resource, &how, nullptr));
  for (float4& place : at) place.x += 0.5f;
  got = sampled(sample_2d, object, at);
  for (unsigned i = 0; i < 255; ++i) {
    EXPECT(fabs(got[i].x - (light(i) + light(i + 1)) / 2) < 1e-6);
  }
  CHECK(hipDestroyTextureObject(object));
  how.readMode = hipReadModeElementType;  // no colour is an integer
  EXPECT(hipCreateTextureObject(&object, &resource, &how, nullptr) == 1);
  const Device<unsigned> memory(texels);
  hipResourceDesc line{};
  line.resType = hipResourceTypeLinear;
  line.res.linear = {memory.at, bytes, 1024};
  how.readMode = hipReadModeNormalizedFloat;
  EXPECT(hipCreateTextureObject(&object, &line, &how, nullptr) == 801);
  CHECK(hipFreeArray(array));
  return true;
}

// --- formats: what a read makes of an element's bits ---

struct Format {
  int bits, kind;
};
constexpr Format kFormats[] = {{8, 0}, {16, 0}, {32, 0}, {8, 1}, {16, 1}, {32, 1}, {16, 2}, {32, 2}};

double channel_value(const unsigned char* bytes, const Format& format, bool normalized,
                     bool& as_integer) {
  unsigned raw = 0;
  memcpy(&raw, bytes, static_cast<size_t>(format.bits) / 8);
  as_integer = false;
  if (format.kind == hipChannelFormatKindFloat) {
    _Float16 half;
    float single;
    memcpy(&half, bytes, sizeof half);
    memcpy(&single, bytes, format.bits / 8 == 4 ? sizeof single : 0);
    return format.bits == 16 ? static_cast<double>(half) : static_cast<double>(single);
  }
  const bool is_signed = format.kind == hipChannelFormatKindSigned;
  const double value =
      is_signed ? static_cast<double>(static_cast<int>(raw << (32 - format.bits)) >>
                                      (32 - format.bits))
                : static_cast<double>(raw);
  if (normalized && format.bits < 32) {
    const double most = (is_signed ? (1 << (format.bits - 1)) : (1 << format.bits)) - 1;
    return std::max(value / most, -1.0);
  }
  as_integer = true;
  return value;
}

bool same_channel(float got, double want, bool as_integer, bool is_signed) {
  if (!as_integer) return fabs(got - want) <= fabs(want) * 1e-6;
  const unsigned bits = bits_of(got);
  return want == (is_signed ? static_cast<double>(static_cast<int>(bits)) : static_cast<double>(bits));
}

// Elements whose channels are all different, and floats that are numbers.
std::vector<unsigned char> elements(const Format& format, int channels, int count) {
  std::vector<unsigned char> bytes;
  for (int i = 0; i < count * channels; ++i) {
    unsigned char value[4];
    const unsigned raw = static_cast<unsigned>(i) * 0x9E3779B9u;
    const float number = static_cast<float>(i * 7 - 30) * 0.375f;
    const auto half = static_cast<_Float16>(number);
    const void* from = &raw;
    if (format.kind == hipChannelFormatKindFloat) {
      from = format.bits == 16 ? static_cast<const void*>(&half) : &number;
    }
    memcpy(value, from, static_cast<size_t>(format.bits) / 8);
    bytes.insert(bytes.end(), value, value + format.bits / 8);
  }
  return bytes;
}

bool check_elements(const std::vector<float4>& got, const std::vector<unsigned char>& bytes,
                    const Format& format, int channels, bool normalized) {
  for (size_t i = 0; i < got.size(); ++i) {
    bool as_integer = false;
    for (int c = 0; c < 4; ++c) {
      const size_t at = (i * static_cast<size_t>(channels) + static_cast<size_t>(c)) *
                        static_cast<size_t>(format.bits / 8);
      double want = c == 3 ? 1 : 0;  // of channels that are not there
      if (c < channels) want = channel_value(&bytes[at], format, normalized, as_integer);
      if (!same_channel(got[i][c], want, as_integer, format.kind == 0)) {
        fprintf(stderr, "kind %d of %d bits, normalised %d: element %zu of %d channels, %d: %g, not %g\n",
                format.kind, format.bits, normalized, i, channels, c, got[i][c], want);
        return false;
      }
    }
  }
  return true;
}

bool run_formats() {
  constexpr int kWidth = 9, kHeight = 5;
  for (const Format& format : kFormats) {
    for (const int channels : {1, 2, 4}) {
      const auto bits = [&](int n) { return n <= channels ? format.bits : 0; };
      const hipChannelFormatDesc element{bits(1), bits(2), bits(3), bits(4), format.kind};
      const auto bytes = elements(format, channels, kWidth * kHeight);
      const size_t row = bytes.size() / kHeight;
      hipArray_t array = nullptr;
      CHECK(hipMallocArray(&array, &element, kWidth, kHeight, 0));
      CHECK(hipMemcpy2DToArray(array, 0, 0, bytes.data(), row, row, kHeight, hipMemcpyHostToDevice));
      void* pitched = nullptr;
      size_t pitch = 0;
      CHECK(hipMallocPitch(&pitched, &pitch, row, kHeight));
      CHECK(hipMemcpy2D(pitched, pitch, bytes.data(), row, row, kHeight, hipMemcpyHostToDevice));
      const Device<unsigned char> line(bytes);
      std::vector<float4> at;
      std::vector<int> index;
      for (int i = 0; i < kWidth * kHeight; ++i) {
        at.push_back(float4{static_cast<float>(i % kWidth), static_cast<float>(i / kWidth), 0, 0});
        index.push_back(i);
      }
      for (const int mode : {hipReadModeElementType, hipReadModeNormalizedFloat}) {
        const hipTextureDesc how{{hipAddressModeClamp}, hipFilterModePoint, mode, 0, {}, 0};
        hipResourceDesc resources[3] = {resource_of(array), {}, {}};
        resources[1].resType = hipResourceTypePitch2D;
        resources[1].res.pitch2D = {pitched, element, kWidth, kHeight, pitch};
        resources[2].resType = hipResourceTypeLinear;
        resources[2].res.linear = {line.at, element, bytes.size()};
        for (const hipResourceDesc& resource : resources) {
          hipTextureObject_t object = nullptr;
          CHECK(hipCreateTextureObject(&object, &resource, &how, nullptr));
          const bool linear = resource.resType == hipResourceTypeLinear;
          const auto got = linear ? fetched(object, index) : sampled(sample_2d, object, at);
          if (!check_elements(got, bytes, format, channels, mode == hipReadModeNormalizedFloat)) {
            return false;
          }
          CHECK(hipDestroyTextureObject(object));
        }
      }
      CHECK(hipFreeArray(array));
      CHECK(hipFree(pitched));
    }
  }
  return true;
}

// Behind the end of linear memory there is nothing to read.
bool run_bounds() {
  const Device<float> line(std::vector<float>(100, 3));
  hipResourceDesc resource{};
  resource.resType = hipResourceTypeLinear;
  resource.res.linear = {line.at, {32, 0, 0, 0, hipChannelFormatKindFloat}, 50 * 4};
  const hipTextureDesc how{};
  hipTextureObject_t object = nullptr;
  CHECK(hipCreateTextureObject(&object, &resource, &how, nullptr));
  const auto got = fetched(object, {0, 49, 50, -1, 1 << 30});
  EXPECT(got[0].x == 3 && got[1].x == 3 && got[2].x == 0 && got[3].x == 0 && got[4].x == 0);
  CHECK(hipDestroyTextureObject(object));
  return true;
}

// A view reads elements as other ones of their size.
bool run_views() {
  const Box box(8, 4, 1);
  const hipArray_t array = array_of(box, 2);
  const hipResourceDesc resource = resource_of(array);
  const hipTextureDesc how{};
  constexpr int kUint1 = 0x0d, kUshort2 = 0x08, kFloat2 = 0x17;
  hipResourceViewDesc view{kUint1, 8, 4};
  hipTextureObject_t object = nullptr;
  CHECK(hipCreateTextureObject(&object, &resource, &how, &view));
  const auto words_read = sampled(sample_2d, object, {float4{3, 2, 0, 0}});
  EXPECT(words_read[0].x == box.texels[2 * 8 + 3]);  // the same bits
  CHECK(hipDestroyTextureObject(object));
  view.format = kUshort2;
  CHECK(hipCreateTextureObject(&object, &resource, &how, &view));
  const auto halves = sampled(sample_2d, object, {float4{3, 2, 0, 0}});
  const unsigned bits = bits_of(box.texels[2 * 8 + 3]);
  EXPECT(bits_of(halves[0].x) == (bits & 0xFFFF));
  EXPECT(bits_of(halves[0].y) == bits >> 16);
  CHECK(hipDestroyTextureObject(object));
  view.format = kFloat2;
  EXPECT(hipCreateTextureObject(&object, &resource, &how, &view) == 1);
  CHECK(hipFreeArray(array));
  return true;
}

bool run_references() {
  const Box box(13, 7, 1);
  const hipArray_t array = array_of(box, 2);
  hipChannelFormatDesc element{};
  CHECK(hipGetChannelDesc(&element, array));
  const hipTextureDesc how{{hipAddressModeMirror}, hipFilterModeLinear, 0, 0, {}, 1};
  bound_plane.addressMode[0] = how.addressMode[0];
  bound_plane.filterMode = how.filterMode;
  bound_plane.normalized = 1;
  CHECK(hipBindTextureToArray(&bound_plane, array, &element));
  const std::vector<float4> at = places(box, 2, true);
  const Device<float4> device_at(at);
  const auto check = [&](const std::vector<float4>& got) {
    for (size_t i = 0; i < at.size(); ++i) {
      if (!(fabs(got[i].x - expected(box, how, at[i], 2)) <= 1e-3)) return false;
    }
    return true;
  };
  const auto bound = [&](unsigned count, float4* out) {
    sample_bound_plane<<<count, 1>>>(device_at.at, out);
  };
  EXPECT(check(read_back(at.size(), bound)));
  hipArray_t told = nullptr;
  CHECK(hipTexRefGetArray(&told, &bound_plane));
  EXPECT(told == array);

  // Pitched memory in its place.
  void* pitched = nullptr;
  size_t pitch = 0, offset = 77;
  CHECK(hipMallocPitch(&pitched, &pitch, 13 * 4, 7));
  CHECK(hipMemcpy2D(pitched, pitch, box.texels.data(), 13 * 4, 13 * 4, 7, hipMemcpyHostToDevice));
  CHECK(hipBindTexture2D(&offset, &bound_plane, pitched, &element, 13, 7, pitch));
  EXPECT(offset == 0);
  EXPECT(check(read_back(at.size(), bound)));
  EXPECT(hipTexRefGetArray(&told, &bound_plane) == 1);

  // A binding that fails leaves the one before it, on the host and for kernels.
  const hipTextureObject_t before = bound_plane.textureObject;
  EXPECT(hipBindTexture2D(&offset, &bound_plane, pitched, &element, 13, 700, pitch) == 1);
  bound_plane.maxAnisotropy = 4;
  EXPECT(hipBindTextureToArray(&bound_plane, array, &element) == 801);
  bound_plane.maxAnisotropy = 0;
  void* still = nullptr;
  CHECK(hipTexRefGetAddress(&still, &bound_plane));
  EXPECT(still == pitched && bound_plane.textureObject == before);
  EXPECT(check(read_back(at.size(), bound)));
  CHECK(hipUnbindTexture(&bound_plane));
  EXPECT(bound_plane.textureObject == nullptr);

  // Linear memory that does not begin where an image can.
  const Device<float> line(box.texels);
  CHECK(hipBindTexture(&offset, &bound_line, line.at + 5, &element, UINT32_MAX));
  EXPECT(offset == 20);
  CHECK(hipGetTextureAlignmentOffset(&offset, &bound_line));
  EXPECT(offset == 20);
  const Device<int> index(std::vector<int>{5, 90, 91});
  const auto got = read_back(3, [&](unsigned count, float4* out) {
    fetch_bound_line<<<count, 1>>>(index.at, out);
  });
  EXPECT(got[0].x == box.texels[5] && got[1].x == box.texels[90] && got[2].x == 0);
  EXPECT(hipBindTexture(nullptr, &bound_line, line.at + 5, &element, 16) == 1);
  CHECK(hipBindTexture(nullptr, &bound_line, line.at, &element, 16));
  CHECK(hipUnbindTexture(&bound_line));
  const textureReference* found = nullptr;
  CHECK(hipGetTextureReference(&found, &bound_line));
  EXPECT(found == &bound_line);
  textureReference stranger{};
  EXPECT(hipGetTextureReference(&found, &stranger) == 13);
  EXPECT(hipBindTextureToArray(&stranger, array, &element) == 13);
  EXPECT(hipBindTextureToArray(nullptr, array, &element) == 1);

  // A module's variable, by the calls of HIP's driver.
  hipModule_t module = nullptr;
  CHECK(hipModuleLoad(&module, module_file));
  textureReference* reference = nullptr;
  CHECK(hipModuleGetTexRef(&reference, module, "module_plane"));
  CHECK(hipTexRefSetAddressMode(reference, 0, how.addressMode[0]));
  CHECK(hipTexRefSetFilterMode(reference, how.filterMode));
  CHECK(hipTexRefSetFlags(reference, HIP_TRSF_NORMALIZED_COORDINATES));
  CHECK(hipTexRefSetFormat(reference, HIP_AD_FORMAT_FLOAT, 1));
  CHECK(hipTexRefSetArray(reference, array, 1));
  hipFunction_t function = nullptr;
  CHECK(hipModuleGetFunction(&function, module, "sample_module_plane"));
  const auto launch = [&](unsigned count, float4* out) {
    const float4* in = device_at.at;
    void* arguments[] = {&in, &out};
    hipModuleLaunchKernel(function, count, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr);
  };
  EXPECT(check(read_back(at.size(), launch)));
  const HIP_ARRAY_DESCRIPTOR size{13, 7, HIP_AD_FORMAT_FLOAT, 1};
  CHECK(hipTexRefSetAddress2D(reference, &size, pitched, pitch));
  EXPECT(check(read_back(at.size(), launch)));
  void* address = nullptr;
  CHECK(hipTexRefGetAddress(&address, reference));
  EXPECT(address == pitched);
  unsigned flags = 0;
  CHECK(hipTexRefGetFlags(&flags, reference));
  EXPECT(flags == HIP_TRSF_NORMALIZED_COORDINATES);
  EXPECT(hipModuleGetTexRef(&reference, module, "no_such") == 500);
  textureReference* same = nullptr;
  CHECK(hipModuleGetTexRef(&same, module, "module_plane"));
  EXPECT(same == reference);
  CHECK(hipModuleUnload(module));
  EXPECT(hipTexRefSetArray(reference, array, 1) != 0);
  CHECK(hipFreeArray(array));
  CHECK(hipFree(pitched));
  return true;
}

bool run_surfaces() {
  constexpr int kWidth = 12, kHeight = 7;
  const Box box(kWidth, kHeight, 1);
  const hipArray_t from = array_of(box, 2);
  const hipArray_t to = array_of(Box(kHeight, kWidth, 1), 2);
  const hipResourceDesc from_resource = resource_of(from), to_resource = resource_of(to);
  hipSurfaceObject_t source = nullptr, target = nullptr;
  CHECK(hipCreateSurfaceObject(&source, &from_resource));
  CHECK(hipCreateSurfaceObject(&target, &to_resource));
  move_surfaces<<<kWidth * kHeight, 1>>>(source, target, kWidth);
  float turned[kWidth][kHeight];
  CHECK(hipMemcpy2DFromArray(turned, kHeight * 4, to, 0, 0, kHeight * 4, kWidth,
                             hipMemcpyDeviceToHost));
  for (int y = 0; y < kHeight; ++y) {
    for (int x = 0; x < kWidth; ++x) EXPECT(turned[x][y] == box.texels[y * kWidth + x]);
  }
  CHECK(hipDestroySurfaceObject(source));
  EXPECT(hipDestroySurfaceObject(source) == 1);
  CHECK(hipDestroySurfaceObject(target));

  const hipChannelFormatDesc shorts{16, 0, 0, 0, hipChannelFormatKindSigned};
  hipArray_t line = nullptr;
  CHECK(hipMallocArray(&line, &shorts, 50, 0, 2));
  const hipResourceDesc line_resource = resource_of(line);
  CHECK(hipCreateSurfaceObject(&target, &line_resource));
  write_line<<<50, 1>>>(target);
  short written[50];
  CHECK(hipMemcpyFromArray(written, line, 0, 0, sizeof written, hipMemcpyDeviceToHost));
  for (int i = 0; i < 50; ++i) EXPECT(written[i] == 3 * i + 1);
  CHECK(hipDestroySurfaceObject(target));
  CHECK(hipFreeArray(line));

  const Box empty(6, 5, 4);
  const hipArray_t volume = array_of(empty, 3);
  const hipResourceDesc volume_resource = resource_of(volume);
  CHECK(hipCreateSurfaceObject(&target, &volume_resource));
  write_box<<<6 * 5 * 4, 1>>>(target, 6, 5);
  std::vector<float> read(6 * 5 * 4);
  hipMemcpy3DParms back{};
  back.srcArray = volume;
  back.dstPtr = {read.data(), 6 * 4, 6 * 4, 5};
  back.extent = {6, 5, 4};
  back.kind = hipMemcpyDeviceToHost;
  CHECK(hipMemcpy3D(&back));
  for (size_t i = 0; i < read.size(); ++i) EXPECT(read[i] == 0.5f * static_cast<float>(i));
  CHECK(hipDestroySurfaceObject(target));
  CHECK(hipFreeArray(volume));
  CHECK(hipFreeArray(from));
  CHECK(hipFreeArray(to));
  return true;
}

struct Program {
  const char* name;
  bool (*run)();
};
constexpr Program kPrograms[] = {{"formats", run_formats},   {"samplers", run_samplers},
                                 {"layers", run_layers},     {"bounds", run_bounds},
                                 {"views", run_views},       {"references", run_references},
                                 {"surfaces", run_surfaces}, {"gather", run_gather},
                                 {"colours", run_colours}};

}  // namespace

int main(int count, char** arguments) {
  if (count != 2) return 2;
  module_file = arguments[1];
  int supported = 0;
  constexpr int kImageSupport = 10014;
  constexpr int kArchitectureAt = 396;  // gcnArchName in hipDeviceProp_t
  char properties[792] = {};
  if (hipDeviceGetAttribute(&supported, kImageSupport, 0) != 0) return 3;
  if (supported == 0) {  // CDNA 3 has no image instructions
    const hipChannelFormatDesc floats{32, 0, 0, 0, hipChannelFormatKindFloat};
    hipArray_t array = nullptr;
    printf("no images %s\n", hipMallocArray(&array, &floats, 8, 8, 0) == 801 ? "ok" : "FAILED");
    return 0;
  }
  if (hipGetDeviceProperties(properties, 0) != 0) return 3;
  gathers = filters_volumes = strncmp(properties + kArchitectureAt, "gfx90a", 6) != 0;
  int failed = 0;
  for (const Program& program : kPrograms) {
    const bool good = program.run() && hipDeviceSynchronize() == 0;
    printf("%-10s %s\n", program.name, good ? "ok" : "FAILED");
    failed += good ? 0 : 1;
  }
  return failed != 0;
}
