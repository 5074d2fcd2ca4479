// The driver's entry points, under the standard's own names in a namespace of their own: the
// library exports none of them, the loader finds them in the dispatch table.
#pragma once

#include "opencl/object/opencl.hpp"

// Every entry point that the driver implements.
// clang-format off
#define WW_ICD_IMPLEMENTED(X)                 \
  X(clGetPlatformIDs)                         \
  X(clGetPlatformInfo)                        \
  X(clGetDeviceIDs)                           \
  X(clGetDeviceInfo)                          \
  X(clCreateSubDevices)                       \
  X(clRetainDevice)                           \
  X(clReleaseDevice)                          \
  X(clCreateContext)                          \
  X(clCreateContextFromType)                  \
  X(clRetainContext)                          \
  X(clReleaseContext)                         \
  X(clGetContextInfo)                         \
  X(clSetContextDestructorCallback)           \
  X(clCreateCommandQueue)                     \
  X(clCreateCommandQueueWithProperties)       \
  X(clRetainCommandQueue)                     \
  X(clReleaseCommandQueue)                    \
  X(clGetCommandQueueInfo)                    \
  X(clSetCommandQueueProperty)                \
  X(clFlush)                                  \
  X(clFinish)                                 \
  X(clCreateBuffer)                           \
  X(clCreateBufferWithProperties)             \
  X(clCreateSubBuffer)                        \
  X(clRetainMemObject)                        \
  X(clReleaseMemObject)                       \
  X(clGetMemObjectInfo)                       \
  X(clSetMemObjectDestructorCallback)         \
  X(clEnqueueReadBuffer)                      \
  X(clEnqueueWriteBuffer)                     \
  X(clEnqueueCopyBuffer)                      \
  X(clEnqueueReadBufferRect)                  \
  X(clEnqueueWriteBufferRect)                 \
  X(clEnqueueCopyBufferRect)                  \
  X(clEnqueueFillBuffer)                      \
  X(clEnqueueMapBuffer)                       \
  X(clEnqueueUnmapMemObject)                  \
  X(clEnqueueMigrateMemObjects)               \
  X(clCreateImage)                            \
  X(clCreateImage2D)                          \
  X(clCreateImage3D)                          \
  X(clCreateImageWithProperties)              \
  X(clGetSupportedImageFormats)               \
  X(clGetImageInfo)                           \
  X(clCreateSampler)                          \
  X(clCreateSamplerWithProperties)            \
  X(clRetainSampler)                          \
  X(clReleaseSampler)                         \
  X(clGetSamplerInfo)                         \
  X(clEnqueueReadImage)                       \
  X(clEnqueueWriteImage)                      \
  X(clEnqueueCopyImage)                       \
  X(clEnqueueCopyImageToBuffer)               \
  X(clEnqueueCopyBufferToImage)               \
  X(clEnqueueMapImage)                        \
  X(clEnqueueFillImage)                       \
  X(clCreateProgramWithSource)                \
  X(clCreateProgramWithBinary)                \
  X(clCreateProgramWithBuiltInKernels)        \
  X(clRetainProgram)                          \
  X(clReleaseProgram)                         \
  X(clBuildProgram)                           \
  X(clCompileProgram)                         \
  X(clLinkProgram)                            \
  X(clUnloadCompiler)                         \
  X(clUnloadPlatformCompiler)                 \
  X(clGetProgramInfo)                         \
  X(clGetProgramBuildInfo)                    \
  X(clCreateKernel)                           \
  X(clCreateKernelsInProgram)                 \
  X(clRetainKernel)                           \
  X(clReleaseKernel)                          \
  X(clSetKernelArg)                           \
  X(clGetKernelInfo)                          \
  X(clGetKernelArgInfo)                       \
  X(clGetKernelWorkGroupInfo)                 \
  X(clEnqueueNDRangeKernel)                   \
  X(clEnqueueTask)                            \
  X(clEnqueueNativeKernel)                    \
  X(clWaitForEvents)                          \
  X(clGetEventInfo)                           \
  X(clCreateUserEvent)                        \
  X(clRetainEvent)                            \
  X(clReleaseEvent)                           \
  X(clSetUserEventStatus)                     \
  X(clSetEventCallback)                       \
  X(clGetEventProfilingInfo)                  \
  X(clEnqueueMarker)                          \
  X(clEnqueueWaitForEvents)                   \
  X(clEnqueueBarrier)                         \
  X(clEnqueueMarkerWithWaitList)              \
  X(clEnqueueBarrierWithWaitList)             \
  X(clGetExtensionFunctionAddress)            \
  X(clGetExtensionFunctionAddressForPlatform)
// clang-format on

// Entry points that belong to later versions or to extensions that the device lacks: each gives
// CL_INVALID_OPERATION, or a null result with that code.
// clang-format off
#define WW_ICD_REFUSED(X)               \
  X(clCreateFromGLBuffer)               \
  X(clCreateFromGLTexture2D)            \
  X(clCreateFromGLTexture3D)            \
  X(clCreateFromGLRenderbuffer)         \
  X(clGetGLObjectInfo)                  \
  X(clGetGLTextureInfo)                 \
  X(clEnqueueAcquireGLObjects)          \
  X(clEnqueueReleaseGLObjects)          \
  X(clGetGLContextInfoKHR)              \
  X(clCreateSubDevicesEXT)              \
  X(clRetainDeviceEXT)                  \
  X(clReleaseDeviceEXT)                 \
  X(clCreateEventFromGLsyncKHR)         \
  X(clCreateFromGLTexture)              \
  X(clCreateFromEGLImageKHR)            \
  X(clEnqueueAcquireEGLObjectsKHR)      \
  X(clEnqueueReleaseEGLObjectsKHR)      \
  X(clCreateEventFromEGLSyncKHR)        \
  X(clCreatePipe)                       \
  X(clGetPipeInfo)                      \
  X(clSVMAlloc)                         \
  X(clSVMFree)                          \
  X(clEnqueueSVMFree)                   \
  X(clEnqueueSVMMemcpy)                 \
  X(clEnqueueSVMMemFill)                \
  X(clEnqueueSVMMap)                    \
  X(clEnqueueSVMUnmap)                  \
  X(clSetKernelArgSVMPointer)           \
  X(clSetKernelExecInfo)                \
  X(clGetKernelSubGroupInfoKHR)         \
  X(clCloneKernel)                      \
  X(clCreateProgramWithIL)              \
  X(clEnqueueSVMMigrateMem)             \
  X(clGetDeviceAndHostTimer)            \
  X(clGetHostTimer)                     \
  X(clGetKernelSubGroupInfo)            \
  X(clSetDefaultDeviceCommandQueue)     \
  X(clSetProgramReleaseCallback)        \
  X(clSetProgramSpecializationConstant)
// clang-format on

// Slots whose type this platform's headers do not know (Direct3D).
// clang-format off
#define WW_ICD_FOREIGN(X)                 \
  X(clGetDeviceIDsFromD3D10KHR)           \
  X(clCreateFromD3D10BufferKHR)           \
  X(clCreateFromD3D10Texture2DKHR)        \
  X(clCreateFromD3D10Texture3DKHR)        \
  X(clEnqueueAcquireD3D10ObjectsKHR)      \
  X(clEnqueueReleaseD3D10ObjectsKHR)      \
  X(clGetDeviceIDsFromD3D11KHR)           \
  X(clCreateFromD3D11BufferKHR)           \
  X(clCreateFromD3D11Texture2DKHR)        \
  X(clCreateFromD3D11Texture3DKHR)        \
  X(clCreateFromDX9MediaSurfaceKHR)       \
  X(clEnqueueAcquireD3D11ObjectsKHR)      \
  X(clEnqueueReleaseD3D11ObjectsKHR)      \
  X(clGetDeviceIDsFromDX9MediaAdapterKHR) \
  X(clEnqueueAcquireDX9MediaSurfacesKHR)  \
  X(clEnqueueReleaseDX9MediaSurfacesKHR)
// clang-format on

namespace ww::sim::driver::api {

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
#define WW_ICD_DECLARE(name) decltype(::name) name;
WW_ICD_IMPLEMENTED(WW_ICD_DECLARE)
#undef WW_ICD_DECLARE
#pragma GCC diagnostic pop

}  // namespace ww::sim::driver::api
