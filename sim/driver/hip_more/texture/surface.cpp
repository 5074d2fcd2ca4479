// Surface objects: arrays that kernels read and write by the bytes of a row.
#include <unordered_map>

#include "hip/memory/memory_table.hpp"
#include "hip/session/device_pointer.hpp"
#include "hip_more/texture/texture.hpp"

namespace ww::sim::driver::hip {
namespace {

// hipSurfaceObject_t: the device's address of an image's descriptor. By the device that has it.
std::unordered_map<const void*, int>& surfaces() {
  static auto& all = *new std::unordered_map<const void*, int>;
  return all;
}

void reset_surfaces(int ordinal) {
  std::erase_if(surfaces(), [ordinal](const auto& surface) { return surface.second == ordinal; });
}

int create_surface(void** handle, const ResourceDescriptor* resource) {
  if (handle == nullptr || resource == nullptr) return kInvalidValue;
  if (!has_images()) return refuse_form("a surface on a chip without image instructions");
  if (resource->type != kResourceArray) return kInvalidValue;
  const Array* array = find_array(resource->array);
  if (array == nullptr) return kInvalidValue;
  const auto image = describe(array->layout);
  if (!image) return image.error();
  const auto made = place_descriptors(*image, {});
  if (!made) return made.error();
  forget_at_reset(reset_surfaces);
  surfaces().emplace(*made, chosen_device());
  *handle = *made;
  return kSuccess;
}

int destroy_surface(const void* handle) {
  if (surfaces().erase(handle) == 0) return kInvalidValue;
  return free_memory(address_of(handle));
}

}  // namespace

WW_HIP_EXPORT int hipCreateSurfaceObject(void** handle, const ResourceDescriptor* resource) {
  return guarded_work([&] { return create_surface(handle, resource); });
}
WW_HIP_EXPORT int hipDestroySurfaceObject(void* handle) {
  return guarded([&]() -> int { return handle == nullptr ? kSuccess : destroy_surface(handle); });
}

}  // namespace ww::sim::driver::hip

// HIP 5's headers declare these two as C++ functions, so that programs ask for them by other names.
// NOLINTBEGIN(bugprone-reserved-identifier): the types' names are HIP's, and part of those names
struct __hip_surface;
struct hipResourceDesc;

__attribute__((visibility("default"))) int hipCreateSurfaceObject(__hip_surface** handle,
                                                                  const hipResourceDesc* resource) {
  using ww::sim::driver::hip::ResourceDescriptor;
  void* made = nullptr;
  const int code = ww::sim::driver::hip::hipCreateSurfaceObject(
      handle == nullptr ? nullptr : &made, reinterpret_cast<const ResourceDescriptor*>(resource));
  if (code == 0) *handle = static_cast<__hip_surface*>(made);
  return code;
}
__attribute__((visibility("default"))) int hipDestroySurfaceObject(__hip_surface* handle) {
  return ww::sim::driver::hip::hipDestroySurfaceObject(static_cast<void*>(handle));
}
// NOLINTEND(bugprone-reserved-identifier)
