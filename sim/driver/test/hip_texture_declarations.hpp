// Declares the parts of HIP's headers for arrays, textures and surfaces that the tests need,
// written out as in hip_declarations.hpp.
#pragma once

#include "hip_declarations.hpp"

using hipArray_t = struct hipArray*;
using hipArray_const_t = const struct hipArray*;
// NOLINTNEXTLINE(bugprone-reserved-identifier): the name in HIP's header
using hipTextureObject_t = struct __hip_texture*;
// NOLINTNEXTLINE(bugprone-reserved-identifier): the name in HIP's header
using hipSurfaceObject_t = struct __hip_surface*;

constexpr int hipChannelFormatKindSigned = 0;
constexpr int hipChannelFormatKindUnsigned = 1;
constexpr int hipChannelFormatKindFloat = 2;
struct hipChannelFormatDesc {
  int x, y, z, w;
  int f;
};

constexpr int HIP_AD_FORMAT_UNSIGNED_INT8 = 0x01;
constexpr int HIP_AD_FORMAT_HALF = 0x10;
constexpr int HIP_AD_FORMAT_FLOAT = 0x20;
struct HIP_ARRAY_DESCRIPTOR {
  size_t Width, Height;
  int Format;
  unsigned NumChannels;
};
struct HIP_ARRAY3D_DESCRIPTOR {
  size_t Width, Height, Depth;
  int Format;
  unsigned NumChannels, Flags;
};

// Kinds of memory as HIP 6 numbers them.
constexpr int hipMemoryTypeHost = 1;
constexpr int hipMemoryTypeDevice = 2;
constexpr int hipMemoryTypeArray = 10;
struct hip_Memcpy2D {
  size_t srcXInBytes, srcY;
  int srcMemoryType;
  const void* srcHost;
  void* srcDevice;
  hipArray_t srcArray;
  size_t srcPitch;
  size_t dstXInBytes, dstY;
  int dstMemoryType;
  void* dstHost;
  void* dstDevice;
  hipArray_t dstArray;
  size_t dstPitch;
  size_t WidthInBytes, Height;
};

constexpr int hipResourceTypeArray = 0;
constexpr int hipResourceTypeMipmappedArray = 1;
constexpr int hipResourceTypeLinear = 2;
constexpr int hipResourceTypePitch2D = 3;
struct hipResourceDesc {
  int resType;
  union {
    struct {
      hipArray_t array;
    } array;
    struct {
      void* devPtr;
      hipChannelFormatDesc desc;
      size_t sizeInBytes;
    } linear;
    struct {
      void* devPtr;
      hipChannelFormatDesc desc;
      size_t width, height, pitchInBytes;
    } pitch2D;
  } res;
};
struct HIP_RESOURCE_DESC {
  int resType;
  union {
    struct {
      hipArray_t hArray;
    } array;
    struct {
      void* devPtr;
      int format;
      unsigned numChannels;
      size_t sizeInBytes;
    } linear;
    struct {
      void* devPtr;
      int format;
      unsigned numChannels;
      size_t width, height, pitchInBytes;
    } pitch2D;
    int reserved[32];
  } res;
  unsigned flags;
};

constexpr int hipAddressModeWrap = 0;
constexpr int hipAddressModeClamp = 1;
constexpr int hipAddressModeMirror = 2;
constexpr int hipAddressModeBorder = 3;
constexpr int hipFilterModePoint = 0;
constexpr int hipFilterModeLinear = 1;
constexpr int hipReadModeElementType = 0;
constexpr int hipReadModeNormalizedFloat = 1;
struct hipTextureDesc {
  int addressMode[3];
  int filterMode;
  int readMode;
  int sRGB;
  float borderColor[4];
  int normalizedCoords;
  unsigned maxAnisotropy;
  int mipmapFilterMode;
  float mipmapLevelBias, minMipmapLevelClamp, maxMipmapLevelClamp;
};
constexpr unsigned HIP_TRSF_READ_AS_INTEGER = 1;
constexpr unsigned HIP_TRSF_NORMALIZED_COORDINATES = 2;
struct HIP_TEXTURE_DESC {
  int addressMode[3];
  int filterMode;
  unsigned flags, maxAnisotropy;
  int mipmapFilterMode;
  float mipmapLevelBias, minMipmapLevelClamp, maxMipmapLevelClamp;
  float borderColor[4];
  int reserved[12];
};
struct hipResourceViewDesc {
  int format;
  size_t width, height, depth;
  unsigned firstMipmapLevel, lastMipmapLevel, firstLayer, lastLayer;
};
struct HIP_RESOURCE_VIEW_DESC {
  hipResourceViewDesc view;
  unsigned reserved[16];
};
struct textureReference {
  int normalized, readMode, filterMode;
  int addressMode[3];
  hipChannelFormatDesc channelDesc;
  int sRGB;
  unsigned maxAnisotropy;
  int mipmapFilterMode;
  float mipmapLevelBias, minMipmapLevelClamp, maxMipmapLevelClamp;
  hipTextureObject_t textureObject;
  int numChannels, format;
};

// HIP 5's headers declare these two outside of C, and later ones inside: programs ask for both
// names.
#if !defined(__HIP__)
extern "C" {
#endif
hipError_t hipCreateSurfaceObject(hipSurfaceObject_t*, const hipResourceDesc*);
hipError_t hipDestroySurfaceObject(hipSurfaceObject_t);
#if !defined(__HIP__)
}
#endif

extern "C" {
// NOLINTNEXTLINE(readability-identifier-length): HIP's own names
hipChannelFormatDesc hipCreateChannelDesc(int x, int y, int z, int w, int f);
hipError_t hipMallocArray(hipArray_t*, const hipChannelFormatDesc*, size_t, size_t, unsigned);
hipError_t hipMalloc3DArray(hipArray_t*, const hipChannelFormatDesc*, hipExtent, unsigned);
hipError_t hipArrayCreate(hipArray_t*, const HIP_ARRAY_DESCRIPTOR*);
hipError_t hipArray3DCreate(hipArray_t*, const HIP_ARRAY3D_DESCRIPTOR*);
hipError_t hipFreeArray(hipArray_t);
hipError_t hipArrayDestroy(hipArray_t);
hipError_t hipArrayGetInfo(hipChannelFormatDesc*, hipExtent*, unsigned*, hipArray_t);
hipError_t hipArrayGetDescriptor(HIP_ARRAY_DESCRIPTOR*, hipArray_t);
hipError_t hipArray3DGetDescriptor(HIP_ARRAY3D_DESCRIPTOR*, hipArray_t);
hipError_t hipGetChannelDesc(hipChannelFormatDesc*, hipArray_const_t);
hipError_t hipMemcpy2DToArray(hipArray_t, size_t, size_t, const void*, size_t, size_t, size_t, int);
hipError_t hipMemcpy2DToArrayAsync(hipArray_t, size_t, size_t, const void*, size_t, size_t, size_t,
                                   int, hipStream_t);
hipError_t hipMemcpy2DFromArray(void*, size_t, hipArray_const_t, size_t, size_t, size_t, size_t,
                                int);
hipError_t hipMemcpy2DFromArrayAsync(void*, size_t, hipArray_const_t, size_t, size_t, size_t,
                                     size_t, int, hipStream_t);
hipError_t hipMemcpy2DToArray_spt(hipArray_t, size_t, size_t, const void*, size_t, size_t, size_t,
                                  int);
hipError_t hipMemcpy2DArrayToArray(hipArray_t, size_t, size_t, hipArray_const_t, size_t, size_t,
                                   size_t, size_t, int);
hipError_t hipMemcpyToArray(hipArray_t, size_t, size_t, const void*, size_t, int);
hipError_t hipMemcpyFromArray(void*, hipArray_const_t, size_t, size_t, size_t, int);
hipError_t hipMemcpyHtoA(hipArray_t, size_t, const void*, size_t);
hipError_t hipMemcpyAtoH(void*, hipArray_t, size_t, size_t);
hipError_t hipMemcpyDtoA(hipArray_t, size_t, void*, size_t);
hipError_t hipMemcpyAtoD(void*, hipArray_t, size_t, size_t);
hipError_t hipMemcpyAtoA(hipArray_t, size_t, hipArray_t, size_t, size_t);
hipError_t hipMemcpyParam2D(const hip_Memcpy2D*);
hipError_t hipGraphAddMemcpyNode(hipGraphNode_t*, hipGraph_t, const hipGraphNode_t*, size_t,
                                 const hipMemcpy3DParms*);
hipError_t hipCreateTextureObject(hipTextureObject_t*, const hipResourceDesc*,
                                  const hipTextureDesc*, const hipResourceViewDesc*);
hipError_t hipDestroyTextureObject(hipTextureObject_t);
hipError_t hipGetTextureObjectResourceDesc(hipResourceDesc*, hipTextureObject_t);
hipError_t hipGetTextureObjectTextureDesc(hipTextureDesc*, hipTextureObject_t);
hipError_t hipGetTextureObjectResourceViewDesc(hipResourceViewDesc*, hipTextureObject_t);
hipError_t hipTexObjectCreate(hipTextureObject_t*, const HIP_RESOURCE_DESC*,
                              const HIP_TEXTURE_DESC*, const HIP_RESOURCE_VIEW_DESC*);
hipError_t hipTexObjectDestroy(hipTextureObject_t);
hipError_t hipTexObjectGetResourceDesc(HIP_RESOURCE_DESC*, hipTextureObject_t);
hipError_t hipTexObjectGetTextureDesc(HIP_TEXTURE_DESC*, hipTextureObject_t);
hipError_t hipTexObjectGetResourceViewDesc(HIP_RESOURCE_VIEW_DESC*, hipTextureObject_t);
hipError_t hipBindTexture(size_t*, const textureReference*, const void*,
                          const hipChannelFormatDesc*, size_t);
hipError_t hipBindTexture2D(size_t*, const textureReference*, const void*,
                            const hipChannelFormatDesc*, size_t, size_t, size_t);
hipError_t hipBindTextureToArray(const textureReference*, hipArray_const_t,
                                 const hipChannelFormatDesc*);
hipError_t hipUnbindTexture(const textureReference*);
hipError_t hipGetTextureAlignmentOffset(size_t*, const textureReference*);
hipError_t hipGetTextureReference(const textureReference**, const void*);
hipError_t hipModuleGetTexRef(textureReference**, hipModule_t, const char*);
hipError_t hipTexRefSetArray(textureReference*, hipArray_const_t, unsigned);
hipError_t hipTexRefSetAddress(size_t*, textureReference*, void*, size_t);
hipError_t hipTexRefSetAddress2D(textureReference*, const HIP_ARRAY_DESCRIPTOR*, void*, size_t);
hipError_t hipTexRefSetFormat(textureReference*, int, int);
hipError_t hipTexRefSetFlags(textureReference*, unsigned);
hipError_t hipTexRefSetFilterMode(textureReference*, int);
hipError_t hipTexRefSetAddressMode(textureReference*, int, int);
hipError_t hipTexRefSetMaxAnisotropy(textureReference*, unsigned);
hipError_t hipTexRefGetAddress(void**, const textureReference*);
hipError_t hipTexRefGetArray(hipArray_t*, const textureReference*);
hipError_t hipTexRefGetFormat(int*, int*, const textureReference*);
hipError_t hipTexRefGetFlags(unsigned*, const textureReference*);
hipError_t hipTexRefGetFilterMode(int*, const textureReference*);
hipError_t hipTexRefGetAddressMode(int*, const textureReference*, int);
hipError_t hipTexRefGetMaxAnisotropy(int*, const textureReference*);
}
