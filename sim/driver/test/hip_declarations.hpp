// Declares the parts of HIP's headers that the tests' HIP programs need, so that they compile where
// no HIP headers are installed: clang's own keywords do the rest.
#pragma once

#include <stddef.h>
#include <stdint.h>

#if defined(__HIP__)
#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __host__ __attribute__((host))
#define __constant__ __attribute__((constant))
#define __shared__ __attribute__((shared))
#define __managed__ __attribute__((managed))
#define __launch_bounds__(threads) __attribute__((launch_bounds(threads)))
#define WW_BOTH __host__ __device__
#else
#define WW_BOTH
#endif

struct dim3 {
  uint32_t x, y, z;
  WW_BOTH constexpr dim3(uint32_t a = 1, uint32_t b = 1, uint32_t c = 1) : x(a), y(b), z(c) {}
};

using hipError_t = int;
using hipStream_t = struct ihipStream_t*;
using hipEvent_t = struct ihipEvent_t*;
using hipModule_t = struct ihipModule_t*;
using hipFunction_t = struct ihipModuleSymbol_t*;
using hipMemPool_t = struct ihipMemPoolHandle_t*;

using hipGraph_t = struct ihipGraph*;
using hipGraphNode_t = struct hipGraphNode*;
using hipGraphExec_t = struct hipGraphExec*;

struct hipMemsetParams {
  void* dst;
  unsigned elementSize;
  size_t height, pitch;
  unsigned value;
  size_t width;
};
struct hipHostNodeParams {
  void (*fn)(void*);
  void* userData;
};
struct hipPitchedPtr {
  void* ptr;
  size_t pitch, xsize, ysize;
};
struct hipPos {
  size_t x, y, z;
};
struct hipExtent {
  size_t width, height, depth;
};
struct hipMemcpy3DParms {
  void* srcArray;
  hipPos srcPos;
  hipPitchedPtr srcPtr;
  void* dstArray;
  hipPos dstPos;
  hipPitchedPtr dstPtr;
  hipExtent extent;
  int kind;
};

struct hipLaunchParams {
  const void* func;
  dim3 gridDim, blockDim;
  void** args;
  size_t sharedMem;
  hipStream_t stream;
};

struct hipLaunchConfig_t {
  dim3 gridDim, blockDim;
  size_t dynamicSmemBytes;
  hipStream_t stream;
  const void* attrs;
  unsigned numAttrs;
};

constexpr int hipMemcpyHostToHost = 0;
constexpr int hipMemcpyHostToDevice = 1;
constexpr int hipMemcpyDeviceToHost = 2;
constexpr int hipMemcpyDeviceToDevice = 3;
constexpr int hipMemcpyDefault = 4;

extern "C" {
hipError_t hipInit(unsigned);
hipError_t hipGetDeviceCount(int*);
hipError_t hipSetDevice(int);
hipError_t hipGetDevice(int*);
hipError_t hipDeviceCanAccessPeer(int*, int, int);
hipError_t hipDeviceEnablePeerAccess(int, unsigned);
hipError_t hipDeviceDisablePeerAccess(int);
hipError_t hipMemcpyPeer(void*, int, const void*, int, size_t);
hipError_t hipStreamGetDevice(hipStream_t, int*);
hipError_t hipDeviceGetUuid(void*, int);
hipError_t hipDeviceGetPCIBusId(char*, int, int);
hipError_t hipGetDeviceProperties(void*, int);
hipError_t hipGetDevicePropertiesR0600(void*, int);
hipError_t hipDeviceGetAttribute(int*, int, int);
hipError_t hipRuntimeGetVersion(int*);
hipError_t hipDeviceGetLimit(size_t*, int);
hipError_t hipDeviceSetLimit(int, size_t);
hipError_t hipDeviceGetName(char*, int, int);
hipError_t hipDeviceSynchronize();
hipError_t hipConfigureCall(dim3, dim3, size_t, hipStream_t);
hipError_t hipSetupArgument(const void*, size_t, size_t);
hipError_t hipLaunchByPtr(const void*);
hipError_t hipLaunchKernelExC(const hipLaunchConfig_t*, const void*, void**);
hipError_t hipDeviceReset();
hipError_t hipGetLastError();
hipError_t hipPeekAtLastError();
const char* hipGetErrorName(hipError_t);
const char* hipGetErrorString(hipError_t);
hipError_t hipMalloc(void**, size_t);
hipError_t hipFree(void*);
hipError_t hipHostMalloc(void**, size_t, unsigned);
hipError_t hipHostFree(void*);
hipError_t hipHostGetDevicePointer(void**, void*, unsigned);
hipError_t hipHostRegister(void*, size_t, unsigned);
hipError_t hipHostUnregister(void*);
hipError_t hipMallocManaged(void**, size_t, unsigned);
hipError_t hipMallocPitch(void**, size_t*, size_t, size_t);
hipError_t hipMallocAsync(void**, size_t, hipStream_t);
hipError_t hipFreeAsync(void*, hipStream_t);
hipError_t hipDeviceGetDefaultMemPool(hipMemPool_t*, int);
hipError_t hipMemPoolGetAttribute(hipMemPool_t, int, void*);
hipError_t hipMallocFromPoolAsync(void**, size_t, hipMemPool_t, hipStream_t);
hipError_t hipMemGetInfo(size_t*, size_t*);
hipError_t hipMemcpy(void*, const void*, size_t, int);
hipError_t hipMemcpyAsync(void*, const void*, size_t, int, hipStream_t);
hipError_t hipMemcpy2D(void*, size_t, const void*, size_t, size_t, size_t, int);
hipError_t hipMemcpyToSymbol(const void*, const void*, size_t, size_t, int);
hipError_t hipMemcpyFromSymbol(void*, const void*, size_t, size_t, int);
hipError_t hipGetSymbolSize(size_t*, const void*);
hipError_t hipMemset(void*, int, size_t);
hipError_t hipMemset2D(void*, size_t, int, size_t, size_t);
hipError_t hipMemsetD32(void*, int, size_t);
hipError_t hipStreamCreate(hipStream_t*);
hipError_t hipStreamDestroy(hipStream_t);
hipError_t hipStreamSynchronize(hipStream_t);
hipError_t hipStreamQuery(hipStream_t);
hipError_t hipEventQuery(hipEvent_t);
hipError_t hipLaunchHostFunc(hipStream_t, void (*)(void*), void*);
hipError_t hipStreamAddCallback(hipStream_t, void (*)(hipStream_t, hipError_t, void*), void*,
                                unsigned);
hipError_t hipStreamWaitEvent(hipStream_t, hipEvent_t, unsigned);
hipError_t hipEventCreate(hipEvent_t*);
hipError_t hipEventCreateWithFlags(hipEvent_t*, unsigned);
hipError_t hipEventRecord(hipEvent_t, hipStream_t);
hipError_t hipEventSynchronize(hipEvent_t);
hipError_t hipEventElapsedTime(float*, hipEvent_t, hipEvent_t);
hipError_t hipEventDestroy(hipEvent_t);
hipError_t hipModuleLoad(hipModule_t*, const char*);
hipError_t hipModuleLoadData(hipModule_t*, const void*);
hipError_t hipModuleUnload(hipModule_t);
hipError_t hipModuleGetFunction(hipFunction_t*, hipModule_t, const char*);
hipError_t hipModuleGetGlobal(void**, size_t*, hipModule_t, const char*);
hipError_t hipModuleLaunchKernel(hipFunction_t, unsigned, unsigned, unsigned, unsigned, unsigned,
                                 unsigned, unsigned, hipStream_t, void**, void**);
hipError_t hipModuleLaunchCooperativeKernel(hipFunction_t, unsigned, unsigned, unsigned, unsigned,
                                            unsigned, unsigned, unsigned, hipStream_t, void**);
hipError_t hipLaunchCooperativeKernel(const void*, dim3, dim3, void**, unsigned, hipStream_t);
hipError_t hipLaunchCooperativeKernelMultiDevice(hipLaunchParams*, int, unsigned);
hipError_t hipOccupancyMaxActiveBlocksPerMultiprocessor(int*, const void*, int, size_t);
hipError_t hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(int*, hipFunction_t, int, size_t);
hipError_t hipModuleOccupancyMaxPotentialBlockSize(int*, int*, hipFunction_t, size_t, int);
hipError_t hipExtModuleLaunchKernel(hipFunction_t, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t,
                                    uint32_t, size_t, hipStream_t, void**, void**, hipEvent_t,
                                    hipEvent_t, uint32_t);
// hipExtModuleLaunchKernel and hipHccModuleLaunchKernel by the names of the C++ functions that
// HIP's headers declare.
#define WW_LAUNCH_ARGUMENTS "P18ihipModuleSymbol_tjjjjjjmP12ihipStream_tPPvS4_P11ihipEvent_tS6_"
hipError_t ext_module_launch_kernel(
    hipFunction_t, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t, size_t, hipStream_t,
    void**, void**, hipEvent_t, hipEvent_t,
    uint32_t) __asm__("_Z24hipExtModuleLaunchKernel" WW_LAUNCH_ARGUMENTS "j");
hipError_t hcc_module_launch_kernel(
    hipFunction_t, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t, size_t, hipStream_t,
    void**, void**, hipEvent_t,
    hipEvent_t) __asm__("_Z24hipHccModuleLaunchKernel" WW_LAUNCH_ARGUMENTS);
const char* hipKernelNameRefByPtr(const void*, hipStream_t);
const char* hipApiName(uint32_t);
hipError_t hipMemcpy_spt(void*, const void*, size_t, int);
hipError_t hipMemset_spt(void*, int, size_t);
hipError_t hipLaunchKernel_spt(const void*, dim3, dim3, void**, size_t, hipStream_t);
hipError_t hipStreamSynchronize_spt(hipStream_t);
hipError_t hipLaunchKernel(const void*, dim3, dim3, void**, size_t, hipStream_t);
hipError_t hipMalloc3D(hipPitchedPtr*, hipExtent);
hipError_t hipMemset3D(hipPitchedPtr, int, hipExtent);
hipError_t hipMemcpy3D(const hipMemcpy3DParms*);
hipError_t hipMemsetAsync(void*, int, size_t, hipStream_t);
hipError_t hipStreamBeginCapture(hipStream_t, int);
hipError_t hipStreamEndCapture(hipStream_t, hipGraph_t*);
hipError_t hipGraphCreate(hipGraph_t*, unsigned);
hipError_t hipGraphDestroy(hipGraph_t);
hipError_t hipGraphClone(hipGraph_t*, hipGraph_t);
hipError_t hipIpcGetMemHandle(void*, void*);
hipError_t hipGraphGetNodes(hipGraph_t, hipGraphNode_t*, size_t*);
hipError_t hipGraphGetRootNodes(hipGraph_t, hipGraphNode_t*, size_t*);
hipError_t hipGraphAddDependencies(hipGraph_t, const hipGraphNode_t*, const hipGraphNode_t*,
                                   size_t);
hipError_t hipGraphAddEmptyNode(hipGraphNode_t*, hipGraph_t, const hipGraphNode_t*, size_t);
hipError_t hipGraphAddMemcpyNode1D(hipGraphNode_t*, hipGraph_t, const hipGraphNode_t*, size_t,
                                   void*, const void*, size_t, int);
hipError_t hipGraphAddMemsetNode(hipGraphNode_t*, hipGraph_t, const hipGraphNode_t*, size_t,
                                 const hipMemsetParams*);
hipError_t hipGraphAddHostNode(hipGraphNode_t*, hipGraph_t, const hipGraphNode_t*, size_t,
                               const hipHostNodeParams*);
hipError_t hipGraphAddChildGraphNode(hipGraphNode_t*, hipGraph_t, const hipGraphNode_t*, size_t,
                                     hipGraph_t);
hipError_t hipGraphInstantiate(hipGraphExec_t*, hipGraph_t, hipGraphNode_t*, char*, size_t);
hipError_t hipGraphExecDestroy(hipGraphExec_t);
hipError_t hipGraphExecMemsetNodeSetParams(hipGraphExec_t, hipGraphNode_t, const hipMemsetParams*);
hipError_t hipGraphExecUpdate(hipGraphExec_t, hipGraph_t, hipGraphNode_t*, int*);
hipError_t hipGraphLaunch(hipGraphExec_t, hipStream_t);
// NOLINTBEGIN(bugprone-reserved-identifier): the names are HIP's
void** __hipRegisterFatBinary(const void*);
void __hipRegisterFunction(void**, const void*, char*, const char*, unsigned, void*, void*, void*,
                           void*, int*);
void __hipRegisterVar(void**, void*, char*, char*, int, size_t, int, int);
void __hipUnregisterFatBinary(void**);
hipError_t __hipPushCallConfiguration(dim3, dim3, size_t = 0, hipStream_t = nullptr);
hipError_t __hipPopCallConfiguration(dim3*, dim3*, size_t*, hipStream_t*);
// NOLINTEND(bugprone-reserved-identifier)
}

#undef WW_BOTH
