// Images and samplers: the device has none (CL_DEVICE_IMAGE_SUPPORT is false), so that no image
// object can exist; calls that make one say CL_INVALID_OPERATION, calls that take one say that it
// is no memory object.
#include "api.hpp"
#include "memory.hpp"
#include "objects.hpp"
#include "runtime.hpp"

namespace ww::sim::icd::api {
namespace {

template <class Handle>
Handle no_images(cl_context context, cl_int* errcode_ret) {
  return created<Handle>(errcode_ret, [&](Entry&) -> Created<Handle> {
    return refuse(valid(context) ? CL_INVALID_OPERATION : CL_INVALID_CONTEXT);
  });
}

cl_int no_image_command(cl_command_queue queue) {
  return guarded([&](Entry&) -> cl_int {
    return valid(queue) ? CL_INVALID_MEM_OBJECT : CL_INVALID_COMMAND_QUEUE;
  });
}

}  // namespace

cl_mem CL_API_CALL clCreateImage(cl_context context, cl_mem_flags, const cl_image_format*,
                                 const cl_image_desc*, void*, cl_int* errcode_ret) {
  return no_images<cl_mem>(context, errcode_ret);
}

cl_mem CL_API_CALL clCreateImage2D(cl_context context, cl_mem_flags, const cl_image_format*,
                                   std::size_t, std::size_t, std::size_t, void*,
                                   cl_int* errcode_ret) {
  return no_images<cl_mem>(context, errcode_ret);
}

cl_mem CL_API_CALL clCreateImage3D(cl_context context, cl_mem_flags, const cl_image_format*,
                                   std::size_t, std::size_t, std::size_t, std::size_t, std::size_t,
                                   void*, cl_int* errcode_ret) {
  return no_images<cl_mem>(context, errcode_ret);
}

cl_mem CL_API_CALL clCreateImageWithProperties(cl_context context, const cl_mem_properties*,
                                               cl_mem_flags, const cl_image_format*,
                                               const cl_image_desc*, void*, cl_int* errcode_ret) {
  return no_images<cl_mem>(context, errcode_ret);
}

cl_int CL_API_CALL clGetSupportedImageFormats(cl_context context, cl_mem_flags flags,
                                              cl_mem_object_type type, cl_uint count,
                                              cl_image_format* formats, cl_uint* format_count) {
  return guarded([&](Entry&) -> cl_int {
    if (!valid(context)) return CL_INVALID_CONTEXT;
    const bool image = type >= CL_MEM_OBJECT_IMAGE2D && type <= CL_MEM_OBJECT_IMAGE1D_BUFFER;
    if (!image || !flags_are_sound(flags)) return CL_INVALID_VALUE;
    if (formats != nullptr && count == 0) return CL_INVALID_VALUE;
    if (format_count != nullptr) *format_count = 0;
    return CL_SUCCESS;
  });
}

cl_int CL_API_CALL clGetImageInfo(cl_mem, cl_image_info, std::size_t, void*, std::size_t*) {
  return CL_INVALID_MEM_OBJECT;
}

cl_sampler CL_API_CALL clCreateSampler(cl_context context, cl_bool, cl_addressing_mode,
                                       cl_filter_mode, cl_int* errcode_ret) {
  return no_images<cl_sampler>(context, errcode_ret);
}

cl_sampler CL_API_CALL clCreateSamplerWithProperties(cl_context context,
                                                     const cl_sampler_properties*,
                                                     cl_int* errcode_ret) {
  return no_images<cl_sampler>(context, errcode_ret);
}

cl_int CL_API_CALL clRetainSampler(cl_sampler) {
  return CL_INVALID_SAMPLER;
}
cl_int CL_API_CALL clReleaseSampler(cl_sampler) {
  return CL_INVALID_SAMPLER;
}
cl_int CL_API_CALL clGetSamplerInfo(cl_sampler, cl_sampler_info, std::size_t, void*, std::size_t*) {
  return CL_INVALID_SAMPLER;
}

cl_int CL_API_CALL clEnqueueReadImage(cl_command_queue queue, cl_mem, cl_bool, const std::size_t*,
                                      const std::size_t*, std::size_t, std::size_t, void*, cl_uint,
                                      const cl_event*, cl_event*) {
  return no_image_command(queue);
}

cl_int CL_API_CALL clEnqueueWriteImage(cl_command_queue queue, cl_mem, cl_bool, const std::size_t*,
                                       const std::size_t*, std::size_t, std::size_t, const void*,
                                       cl_uint, const cl_event*, cl_event*) {
  return no_image_command(queue);
}

cl_int CL_API_CALL clEnqueueCopyImage(cl_command_queue queue, cl_mem, cl_mem, const std::size_t*,
                                      const std::size_t*, const std::size_t*, cl_uint,
                                      const cl_event*, cl_event*) {
  return no_image_command(queue);
}

cl_int CL_API_CALL clEnqueueCopyImageToBuffer(cl_command_queue queue, cl_mem, cl_mem,
                                              const std::size_t*, const std::size_t*, std::size_t,
                                              cl_uint, const cl_event*, cl_event*) {
  return no_image_command(queue);
}

cl_int CL_API_CALL clEnqueueCopyBufferToImage(cl_command_queue queue, cl_mem, cl_mem, std::size_t,
                                              const std::size_t*, const std::size_t*, cl_uint,
                                              const cl_event*, cl_event*) {
  return no_image_command(queue);
}

void* CL_API_CALL clEnqueueMapImage(cl_command_queue queue, cl_mem, cl_bool, cl_map_flags,
                                    const std::size_t*, const std::size_t*, std::size_t*,
                                    std::size_t*, cl_uint, const cl_event*, cl_event*,
                                    cl_int* errcode_ret) {
  const cl_int code = no_image_command(queue);
  if (errcode_ret != nullptr) *errcode_ret = code;
  return nullptr;
}

cl_int CL_API_CALL clEnqueueFillImage(cl_command_queue queue, cl_mem, const void*,
                                      const std::size_t*, const std::size_t*, cl_uint,
                                      const cl_event*, cl_event*) {
  return no_image_command(queue);
}

}  // namespace ww::sim::icd::api
