// Samplers: how kernels read images.
#include "opencl/memory/sampler.hpp"

#include <unordered_set>

#include "common/runtime/runtime.hpp"
#include "opencl/memory/image_device.hpp"
#include "opencl/object/api.hpp"
#include "opencl/object/entry_call.hpp"
#include "opencl/object/info.hpp"

namespace ww::sim::driver {
namespace {

std::unordered_set<const void*>& samplers() {
  static auto& set = *new std::unordered_set<const void*>;
  return set;
}

Created<cl_sampler> make_sampler(cl_context context, cl_bool normalized,
                                 cl_addressing_mode addressing, cl_filter_mode filter) {
  if (!valid(context)) return refuse(CL_INVALID_CONTEXT);
  if (!device_has_images()) return refuse(CL_INVALID_OPERATION);
  if (normalized > CL_TRUE || addressing < CL_ADDRESS_NONE ||
      addressing > CL_ADDRESS_MIRRORED_REPEAT || filter < CL_FILTER_NEAREST ||
      filter > CL_FILTER_LINEAR) {
    return refuse(CL_INVALID_VALUE);
  }
  // OpenCL 1.2, section 6.12.14.1: repeating needs normalised coordinates.
  if (normalized == CL_FALSE && addressing >= CL_ADDRESS_REPEAT) return refuse(CL_INVALID_VALUE);
  auto sampler = std::make_unique<_cl_sampler>();
  sampler->context = Use(context);
  sampler->normalized = normalized;
  sampler->addressing = addressing;
  sampler->filter = filter;
  const auto address = place_sampler_descriptor(*sampler);
  if (!address) return refuse(address.error());
  static std::uint64_t next_serial = 0;
  sampler->descriptor = *address;
  sampler->serial = ++next_serial;
  samplers().insert(sampler.get());
  return sampler.release();
}

}  // namespace

bool known_sampler(const _cl_sampler* sampler) {
  return samplers().contains(sampler);
}

void destroy(cl_sampler sampler) {
  samplers().erase(sampler);
  (void)Runtime::get().powered_gpu().release(sampler->descriptor);
  delete sampler;
}

namespace api {

cl_sampler CL_API_CALL clCreateSampler(cl_context context, cl_bool normalized,
                                       cl_addressing_mode addressing, cl_filter_mode filter,
                                       cl_int* errcode_ret) {
  return created<cl_sampler>(
      errcode_ret, [&](Entry&) { return make_sampler(context, normalized, addressing, filter); });
}

cl_sampler CL_API_CALL clCreateSamplerWithProperties(cl_context context,
                                                     const cl_sampler_properties* properties,
                                                     cl_int* errcode_ret) {
  return created<cl_sampler>(errcode_ret, [&](Entry&) -> Created<cl_sampler> {
    // Defaults where nothing is said (OpenCL 2.0, section 5.7.1).
    cl_sampler_properties normalized = CL_TRUE;
    cl_sampler_properties addressing = CL_ADDRESS_CLAMP;
    cl_sampler_properties filter = CL_FILTER_NEAREST;
    for (const auto* p = properties; p != nullptr && *p != 0; p += 2) {
      switch (p[0]) {
        case CL_SAMPLER_NORMALIZED_COORDS: normalized = p[1]; break;
        case CL_SAMPLER_ADDRESSING_MODE: addressing = p[1]; break;
        case CL_SAMPLER_FILTER_MODE: filter = p[1]; break;
        default: return refuse(CL_INVALID_VALUE);
      }
    }
    if ((normalized | addressing | filter) > UINT32_MAX) return refuse(CL_INVALID_VALUE);
    return make_sampler(context, static_cast<cl_bool>(normalized),
                        static_cast<cl_addressing_mode>(addressing),
                        static_cast<cl_filter_mode>(filter));
  });
}

cl_int CL_API_CALL clRetainSampler(cl_sampler sampler) {
  return guarded([&](Entry&) { return retain_handle(sampler, CL_INVALID_SAMPLER); });
}

cl_int CL_API_CALL clReleaseSampler(cl_sampler sampler) {
  return guarded([&](Entry&) { return release_handle(sampler, CL_INVALID_SAMPLER); });
}

cl_int CL_API_CALL clGetSamplerInfo(cl_sampler sampler, cl_sampler_info name, std::size_t size,
                                    void* value, std::size_t* size_ret) {
  return guarded([&](Entry&) -> cl_int {
    if (!valid(sampler)) return CL_INVALID_SAMPLER;
    const InfoSink sink(size, value, size_ret);
    switch (name) {
      case CL_SAMPLER_REFERENCE_COUNT: return sink.value(sampler->references);
      case CL_SAMPLER_CONTEXT: return sink.value(sampler->context.get());
      case CL_SAMPLER_NORMALIZED_COORDS: return sink.value(sampler->normalized);
      case CL_SAMPLER_ADDRESSING_MODE: return sink.value(sampler->addressing);
      case CL_SAMPLER_FILTER_MODE: return sink.value(sampler->filter);
      default: return CL_INVALID_VALUE;
    }
  });
}

}  // namespace api
}  // namespace ww::sim::driver
