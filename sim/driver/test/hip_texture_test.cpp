// Texture and surface objects as calls see them: what they are made of, and what is refused. What
// kernels read through them is in hip_textures.hip.
#include <gtest/gtest.h>

#include <cstring>
#include <functional>

#include "hip_texture_declarations.hpp"
#include "hip_world.hpp"

namespace ww::sim::driver {
namespace {

constexpr hipChannelFormatDesc kFloats{32, 0, 0, 0, hipChannelFormatKindFloat};

hipResourceDesc array_resource(hipArray_t array) {
  hipResourceDesc resource{};
  resource.resType = hipResourceTypeArray;
  resource.res.array.array = array;
  return resource;
}

hipArray_t plane() {
  hipArray_t array = nullptr;
  EXPECT_EQ(hipMallocArray(&array, &kFloats, 16, 8, 0), 0);
  return array;
}

TEST_F(Hip, TextureObjectsSayWhatTheyWereMadeOf) {
  const hipArray_t array = plane();
  const hipResourceDesc resource = array_resource(array);
  hipTextureDesc how{};
  how.addressMode[0] = hipAddressModeBorder;
  how.filterMode = hipFilterModeLinear;
  how.normalizedCoords = 1;
  hipResourceViewDesc view{};
  view.format = 0x0d;  // one unsigned int
  view.width = 16;
  hipTextureObject_t object = nullptr;
  ASSERT_EQ(hipCreateTextureObject(&object, &resource, &how, &view), 0);
  hipResourceDesc resource_told{};
  hipTextureDesc how_told{};
  hipResourceViewDesc view_told{};
  ASSERT_EQ(hipGetTextureObjectResourceDesc(&resource_told, object), 0);
  ASSERT_EQ(hipGetTextureObjectTextureDesc(&how_told, object), 0);
  ASSERT_EQ(hipGetTextureObjectResourceViewDesc(&view_told, object), 0);
  EXPECT_EQ(resource_told.res.array.array, array);
  // NOLINTNEXTLINE(bugprone-suspicious-memory-comparison): no padding; its floats are copied
  EXPECT_EQ(std::memcmp(&how_told, &how, sizeof how), 0);
  EXPECT_EQ(view_told.format, view.format);
  EXPECT_EQ(view_told.width, view.width);
  // The driver's calls return the same objects in their own words.
  HIP_RESOURCE_DESC driver_resource{};
  HIP_TEXTURE_DESC driver_how{};
  HIP_RESOURCE_VIEW_DESC driver_view{};
  ASSERT_EQ(hipTexObjectGetResourceDesc(&driver_resource, object), 0);
  ASSERT_EQ(hipTexObjectGetTextureDesc(&driver_how, object), 0);
  ASSERT_EQ(hipTexObjectGetResourceViewDesc(&driver_view, object), 0);
  EXPECT_EQ(driver_resource.res.array.hArray, array);
  EXPECT_EQ(driver_how.addressMode[0], hipAddressModeBorder);
  EXPECT_EQ(driver_how.flags, HIP_TRSF_READ_AS_INTEGER | HIP_TRSF_NORMALIZED_COORDINATES);
  EXPECT_EQ(driver_view.view.format, view.format);
  ASSERT_EQ(hipDestroyTextureObject(object), 0);
  EXPECT_EQ(hipGetTextureObjectTextureDesc(&how_told, object), kInvalidValue);
  EXPECT_EQ(hipDestroyTextureObject(object), kInvalidValue);
  EXPECT_EQ(hipDestroyTextureObject(nullptr), 0);

  auto* memory = allocate<float>(64 * 8);
  HIP_RESOURCE_DESC pitched{};
  pitched.resType = hipResourceTypePitch2D;
  pitched.res.pitch2D = {memory, HIP_AD_FORMAT_HALF, 2, 64, 8, 256};
  HIP_TEXTURE_DESC plain{};
  ASSERT_EQ(hipTexObjectCreate(&object, &pitched, &plain, nullptr), 0);
  ASSERT_EQ(hipTexObjectGetResourceDesc(&driver_resource, object), 0);
  EXPECT_EQ(driver_resource.res.pitch2D.format, HIP_AD_FORMAT_HALF);
  EXPECT_EQ(driver_resource.res.pitch2D.numChannels, 2U);
  EXPECT_EQ(driver_resource.res.pitch2D.height, 8U);
  ASSERT_EQ(hipGetTextureObjectTextureDesc(&how_told, object), 0);
  EXPECT_EQ(how_told.readMode, hipReadModeNormalizedFloat);
  ASSERT_EQ(hipTexObjectDestroy(object), 0);
  HIP_RESOURCE_DESC line{};
  line.resType = hipResourceTypeLinear;
  line.res.linear = {memory, HIP_AD_FORMAT_UNSIGNED_INT8, 4, 256};
  ASSERT_EQ(hipTexObjectCreate(&object, &line, &plain, nullptr), 0);
  ASSERT_EQ(hipGetTextureObjectResourceDesc(&resource_told, object), 0);
  EXPECT_EQ(resource_told.res.linear.desc.w, 8);
  ASSERT_EQ(hipTexObjectGetResourceDesc(&driver_resource, object), 0);
  EXPECT_EQ(driver_resource.res.linear.numChannels, 4U);
  ASSERT_EQ(hipTexObjectDestroy(object), 0);
  line.res.linear.format = 0x77;
  EXPECT_EQ(hipTexObjectCreate(&object, &line, &plain, nullptr), kInvalidValue);
  line.resType = 9;
  EXPECT_EQ(hipTexObjectCreate(&object, &line, &plain, nullptr), kInvalidValue);
}

TEST_F(Hip, RefusesTexturesOfWhatIsNoImage) {
  const hipArray_t array = plane();
  auto* memory = allocate<float>(1024);
  const hipTextureDesc how{};
  hipTextureObject_t object = nullptr;
  const auto code = [&](const hipResourceDesc& resource) {
    return hipCreateTextureObject(&object, &resource, &how, nullptr);
  };
  const hipResourceDesc good = array_resource(array);
  EXPECT_EQ(hipCreateTextureObject(nullptr, &good, &how, nullptr), kInvalidValue);
  EXPECT_EQ(hipCreateTextureObject(&object, nullptr, &how, nullptr), kInvalidValue);
  EXPECT_EQ(hipCreateTextureObject(&object, &good, nullptr, nullptr), kInvalidValue);
  EXPECT_EQ(code(array_resource(nullptr)), kInvalidValue);
  const hipArray_t freed = plane();
  ASSERT_EQ(hipFreeArray(freed), 0);
  EXPECT_EQ(code(array_resource(freed)), kInvalidValue);
  hipResourceDesc mipmaps = good;
  mipmaps.resType = hipResourceTypeMipmappedArray;
  EXPECT_EQ(code(mipmaps), kNotSupported);
  hipResourceDesc unknown = good;
  unknown.resType = 4;
  EXPECT_EQ(code(unknown), kInvalidValue);

  const auto linear = [&](void* at, const hipChannelFormatDesc& element, std::size_t bytes) {
    hipResourceDesc resource{};
    resource.resType = hipResourceTypeLinear;
    resource.res.linear = {at, element, bytes};
    return code(resource);
  };
  EXPECT_EQ(linear(memory, kFloats, 4096), 0);
  EXPECT_EQ(linear(memory, kFloats, 4100), kInvalidValue);  // more than there is
  EXPECT_EQ(linear(memory, kFloats, 0), kInvalidValue);
  EXPECT_EQ(linear(memory + 1, kFloats, 64), kInvalidValue);  // no image begins there
  EXPECT_EQ(linear(nullptr, kFloats, 64), kInvalidValue);
  EXPECT_EQ(linear(memory, {32, 32, 32, 0, 2}, 96), kInvalidValue);
  alignas(256) float host[64] = {};
  EXPECT_EQ(linear(host, kFloats, 64), kInvalidValue);

  const auto pitched = [&](std::size_t width, std::size_t height, std::size_t pitch) {
    hipResourceDesc resource{};
    resource.resType = hipResourceTypePitch2D;
    resource.res.pitch2D = {memory, kFloats, width, height, pitch};
    return code(resource);
  };
  EXPECT_EQ(pitched(64, 16, 256), 0);
  EXPECT_EQ(pitched(63, 16, 252), kInvalidValue);  // rows that no image has
  EXPECT_EQ(pitched(65, 8, 256), kInvalidValue);
  EXPECT_EQ(pitched(64, 17, 256), kInvalidValue);  // more than there is
  EXPECT_EQ(pitched(0, 16, 256), kInvalidValue);
  EXPECT_EQ(pitched(64, 0, 256), kInvalidValue);
  EXPECT_EQ(pitched(16385, 1, 65792), kInvalidValue);

  hipResourceViewDesc view{};
  view.format = 0x16;
  hipResourceDesc line{};
  line.resType = hipResourceTypeLinear;
  line.res.linear = {memory, kFloats, 64};
  EXPECT_EQ(hipCreateTextureObject(&object, &line, &how, &view), kInvalidValue);
  EXPECT_EQ(hipCreateTextureObject(&object, &good, &how, &view), 0);
  for (const int format : {0, -1, 0x13, 0x19, 0x22}) {
    view.format = format;
    EXPECT_EQ(hipCreateTextureObject(&object, &good, &how, &view), kInvalidValue) << format;
  }
}

TEST_F(Hip, RefusesSettingsThatATextureCannotHave) {
  const hipArray_t array = plane();
  const hipResourceDesc resource = array_resource(array);
  const auto code = [&](const std::function<void(hipTextureDesc&)>& change) {
    hipTextureDesc how{};
    change(how);
    hipTextureObject_t object = nullptr;
    return hipCreateTextureObject(&object, &resource, &how, nullptr);
  };
  EXPECT_EQ(code([](auto&) {}), 0);
  EXPECT_EQ(code([](auto& how) { how.addressMode[0] = 4; }), kInvalidValue);
  EXPECT_EQ(code([](auto& how) { how.filterMode = 2; }), kInvalidValue);
  EXPECT_EQ(code([](auto& how) { how.readMode = -1; }), kInvalidValue);
  EXPECT_EQ(code([](auto& how) { how.sRGB = 1; }), 0);  // no colour: one channel
  EXPECT_EQ(code([](auto& how) { how.maxAnisotropy = 4; }), kNotSupported);
  EXPECT_EQ(code([](auto& how) { how.maxMipmapLevelClamp = 1; }), kNotSupported);
  EXPECT_EQ(code([](auto& how) { how.borderColor[1] = 1; }), 0);  // without a border
  EXPECT_EQ(code([](auto& how) {
              how.addressMode[0] = hipAddressModeBorder;
              how.borderColor[1] = 1;
            }),
            kNotSupported);
}

TEST_F(Hip, RefusesSurfacesOfWhatIsNoArray) {
  const hipArray_t array = plane();
  hipResourceDesc resource = array_resource(array);
  hipSurfaceObject_t object = nullptr;
  ASSERT_EQ(hipCreateSurfaceObject(&object, &resource), 0);
  EXPECT_EQ(hipDestroySurfaceObject(object), 0);
  EXPECT_EQ(hipDestroySurfaceObject(object), kInvalidValue);
  EXPECT_EQ(hipDestroySurfaceObject(nullptr), 0);
  EXPECT_EQ(hipCreateSurfaceObject(nullptr, &resource), kInvalidValue);
  EXPECT_EQ(hipCreateSurfaceObject(&object, nullptr), kInvalidValue);
  ASSERT_EQ(hipFreeArray(array), 0);
  EXPECT_EQ(hipCreateSurfaceObject(&object, &resource), kInvalidValue);
  resource.resType = hipResourceTypeLinear;
  EXPECT_EQ(hipCreateSurfaceObject(&object, &resource), kInvalidValue);
}

TEST_F(Hip, ForgetsTexturesAndSurfacesWithTheirDevice) {
  const hipResourceDesc resource = array_resource(plane());
  const hipTextureDesc how{};
  hipTextureObject_t texture = nullptr;
  hipSurfaceObject_t surface = nullptr;
  ASSERT_EQ(hipCreateTextureObject(&texture, &resource, &how, nullptr), 0);
  ASSERT_EQ(hipCreateSurfaceObject(&surface, &resource), 0);
  EXPECT_EQ(hipFree(texture), kInvalidValue);
  ASSERT_EQ(hipDeviceReset(), 0);
  hipTextureDesc how_told{};
  EXPECT_EQ(hipGetTextureObjectTextureDesc(&how_told, texture), kInvalidValue);
  EXPECT_EQ(hipDestroyTextureObject(texture), kInvalidValue);
  EXPECT_EQ(hipDestroySurfaceObject(surface), kInvalidValue);
  ASSERT_EQ(hipModuleLoadData(&module_, code_object().data()), 0);
}

TEST_F(Hip, ChecksTheCallsOfTextureReferences) {
  textureReference reference{};
  EXPECT_EQ(hipTexRefSetAddressMode(&reference, 3, 0), kInvalidValue);
  EXPECT_EQ(hipTexRefSetAddressMode(&reference, 1, 7), kInvalidValue);
  EXPECT_EQ(hipTexRefSetAddressMode(nullptr, 0, 0), kInvalidValue);
  EXPECT_EQ(hipTexRefSetAddressMode(&reference, 1, hipAddressModeMirror), 0);
  int mode = -1;
  EXPECT_EQ(hipTexRefGetAddressMode(&mode, &reference, 1), 0);
  EXPECT_EQ(mode, hipAddressModeMirror);
  EXPECT_EQ(hipTexRefSetFilterMode(&reference, 3), kInvalidValue);
  EXPECT_EQ(hipTexRefSetFilterMode(&reference, hipFilterModeLinear), 0);
  EXPECT_EQ(hipTexRefGetFilterMode(&mode, &reference), 0);
  EXPECT_EQ(mode, hipFilterModeLinear);
  EXPECT_EQ(hipTexRefSetFormat(&reference, 0x77, 1), kInvalidValue);
  EXPECT_EQ(hipTexRefSetFormat(&reference, HIP_AD_FORMAT_HALF, 3), kInvalidValue);
  EXPECT_EQ(hipTexRefSetFormat(&reference, HIP_AD_FORMAT_HALF, 4), 0);
  int format = 0, channels = 0;
  EXPECT_EQ(hipTexRefGetFormat(&format, &channels, &reference), 0);
  EXPECT_EQ(format, HIP_AD_FORMAT_HALF);
  EXPECT_EQ(channels, 4);
  EXPECT_EQ(hipTexRefSetMaxAnisotropy(&reference, 3), 0);
  EXPECT_EQ(hipTexRefGetMaxAnisotropy(&mode, &reference), 0);
  EXPECT_EQ(mode, 3);
  // The reference is no variable of the program's device code.
  EXPECT_EQ(hipTexRefSetArray(&reference, plane(), 1), kInvalidSymbol);
  hipArray_t array = nullptr;
  EXPECT_EQ(hipTexRefGetArray(&array, &reference), kInvalidValue);
  EXPECT_EQ(hipUnbindTexture(&reference), 0);
  EXPECT_EQ(hipUnbindTexture(nullptr), kInvalidValue);
  textureReference* found = nullptr;
  EXPECT_EQ(hipModuleGetTexRef(&found, module_, "table"), kNotFound);  // 16 bytes, no reference
  EXPECT_EQ(hipModuleGetTexRef(&found, module_, nullptr), kInvalidValue);
  EXPECT_EQ(hipModuleGetTexRef(nullptr, module_, "table"), kInvalidValue);
  EXPECT_EQ(hipModuleGetTexRef(&found, nullptr, "table"), kInvalidHandle);
}

}  // namespace
}  // namespace ww::sim::driver
