// Declares the parts of HIP's headers for graphs' nodes that the tests need.
#pragma once

#include "hip_declarations.hpp"

using hipUserObject_t = struct hipUserObject*;

struct hipKernelNodeParams {
  dim3 blockDim;
  void** extra;
  void* func;
  dim3 gridDim;
  void** kernelParams;
  unsigned sharedMemBytes;
};
struct hipMemPoolProps {
  int allocType, handleTypes;
  struct {
    int type, id;
  } location;
  void* win32SecurityAttributes;
  size_t maxSize;
  unsigned char reserved[56];
};
struct hipMemAllocNodeParams {
  hipMemPoolProps poolProps;
  const void* accessDescs;
  size_t accessDescCount;
  size_t bytesize;
  void* dptr;
};
struct hipGraphInstantiateParams {
  hipGraphNode_t errNode_out;
  unsigned long long flags;
  int result_out;
  hipStream_t uploadStream;
};
constexpr int hipMemAllocationTypePinned = 1;
constexpr int hipMemLocationTypeDevice = 1;
constexpr unsigned long long hipGraphInstantiateFlagAutoFreeOnLaunch = 1;
constexpr int hipGraphMemAttrUsedMemCurrent = 0;
constexpr int hipGraphMemAttrUsedMemHigh = 1;
constexpr int hipGraphMemAttrReservedMemCurrent = 2;

// Kinds of nodes as HIP 6 numbers them.
constexpr int hipGraphNodeTypeKernel = 0;
constexpr int hipGraphNodeTypeMemcpy = 1;
constexpr int hipGraphNodeTypeMemset = 2;
constexpr int hipGraphNodeTypeHost = 3;
constexpr int hipGraphNodeTypeGraph = 4;
constexpr int hipGraphNodeTypeEmpty = 5;
constexpr int hipGraphNodeTypeWaitEvent = 6;
constexpr int hipGraphNodeTypeEventRecord = 7;
constexpr int hipGraphNodeTypeMemAlloc = 10;
constexpr int hipGraphNodeTypeMemFree = 11;

extern "C" {
hipError_t hipGraphNodeFindInClone(hipGraphNode_t*, hipGraphNode_t, hipGraph_t);
hipError_t hipGraphNodeGetType(hipGraphNode_t, int*);
hipError_t hipGraphDestroyNode(hipGraphNode_t);
hipError_t hipGraphRemoveDependencies(hipGraph_t, const hipGraphNode_t*, const hipGraphNode_t*,
                                      size_t);
hipError_t hipGraphGetEdges(hipGraph_t, hipGraphNode_t*, hipGraphNode_t*, size_t*);
hipError_t hipGraphNodeGetDependencies(hipGraphNode_t, hipGraphNode_t*, size_t*);
hipError_t hipGraphNodeGetDependentNodes(hipGraphNode_t, hipGraphNode_t*, size_t*);
hipError_t hipGraphNodeSetEnabled(hipGraphExec_t, hipGraphNode_t, unsigned);
hipError_t hipGraphNodeGetEnabled(hipGraphExec_t, hipGraphNode_t, unsigned*);
hipError_t hipGraphChildGraphNodeGetGraph(hipGraphNode_t, hipGraph_t*);
hipError_t hipGraphExecChildGraphNodeSetParams(hipGraphExec_t, hipGraphNode_t, hipGraph_t);
hipError_t hipGraphKernelNodeGetParams(hipGraphNode_t, hipKernelNodeParams*);
hipError_t hipGraphKernelNodeSetParams(hipGraphNode_t, const hipKernelNodeParams*);
hipError_t hipGraphExecKernelNodeSetParams(hipGraphExec_t, hipGraphNode_t,
                                           const hipKernelNodeParams*);
hipError_t hipGraphMemcpyNodeGetParams(hipGraphNode_t, hipMemcpy3DParms*);
hipError_t hipGraphMemcpyNodeSetParams(hipGraphNode_t, const hipMemcpy3DParms*);
hipError_t hipGraphMemcpyNodeSetParams1D(hipGraphNode_t, void*, const void*, size_t, int);
hipError_t hipGraphExecMemcpyNodeSetParams(hipGraphExec_t, hipGraphNode_t, const hipMemcpy3DParms*);
hipError_t hipGraphMemsetNodeGetParams(hipGraphNode_t, hipMemsetParams*);
hipError_t hipGraphMemsetNodeSetParams(hipGraphNode_t, const hipMemsetParams*);
hipError_t hipGraphHostNodeGetParams(hipGraphNode_t, hipHostNodeParams*);
hipError_t hipGraphHostNodeSetParams(hipGraphNode_t, const hipHostNodeParams*);
hipError_t hipGraphExecHostNodeSetParams(hipGraphExec_t, hipGraphNode_t, const hipHostNodeParams*);
hipError_t hipGraphAddMemcpyNodeToSymbol(hipGraphNode_t*, hipGraph_t, const hipGraphNode_t*, size_t,
                                         const void*, const void*, size_t, size_t, int);
hipError_t hipGraphExecMemcpyNodeSetParamsToSymbol(hipGraphExec_t, hipGraphNode_t, const void*,
                                                   const void*, size_t, size_t, int);
hipError_t hipGraphAddMemcpyNodeFromSymbol(hipGraphNode_t*, hipGraph_t, const hipGraphNode_t*,
                                           size_t, void*, const void*, size_t, size_t, int);
hipError_t hipGraphAddEventRecordNode(hipGraphNode_t*, hipGraph_t, const hipGraphNode_t*, size_t,
                                      hipEvent_t);
hipError_t hipGraphEventRecordNodeGetEvent(hipGraphNode_t, hipEvent_t*);
hipError_t hipGraphEventRecordNodeSetEvent(hipGraphNode_t, hipEvent_t);
hipError_t hipGraphExecEventRecordNodeSetEvent(hipGraphExec_t, hipGraphNode_t, hipEvent_t);
hipError_t hipGraphAddEventWaitNode(hipGraphNode_t*, hipGraph_t, const hipGraphNode_t*, size_t,
                                    hipEvent_t);
hipError_t hipGraphEventWaitNodeGetEvent(hipGraphNode_t, hipEvent_t*);
hipError_t hipGraphAddMemAllocNode(hipGraphNode_t*, hipGraph_t, const hipGraphNode_t*, size_t,
                                   hipMemAllocNodeParams*);
hipError_t hipGraphMemAllocNodeGetParams(hipGraphNode_t, hipMemAllocNodeParams*);
hipError_t hipGraphAddMemFreeNode(hipGraphNode_t*, hipGraph_t, const hipGraphNode_t*, size_t,
                                  void*);
hipError_t hipGraphMemFreeNodeGetParams(hipGraphNode_t, void*);
hipError_t hipDeviceGetGraphMemAttribute(int, int, void*);
hipError_t hipDeviceSetGraphMemAttribute(int, int, void*);
hipError_t hipDeviceGraphMemTrim(int);
hipError_t hipGraphInstantiateWithFlags(hipGraphExec_t*, hipGraph_t, unsigned long long);
hipError_t hipGraphInstantiateWithParams(hipGraphExec_t*, hipGraph_t, hipGraphInstantiateParams*);
hipError_t hipGraphExecGetFlags(hipGraphExec_t, unsigned long long*);
hipError_t hipUserObjectCreate(hipUserObject_t*, void*, void (*)(void*), unsigned, unsigned);
hipError_t hipUserObjectRetain(hipUserObject_t, unsigned);
hipError_t hipUserObjectRelease(hipUserObject_t, unsigned);
hipError_t hipGraphRetainUserObject(hipGraph_t, hipUserObject_t, unsigned, unsigned);
hipError_t hipGraphReleaseUserObject(hipGraph_t, hipUserObject_t, unsigned);
hipError_t hipStreamGetCaptureInfo_v2(hipStream_t, int*, unsigned long long*, hipGraph_t*,
                                      const hipGraphNode_t**, size_t*);
hipError_t hipStreamUpdateCaptureDependencies(hipStream_t, hipGraphNode_t*, size_t, unsigned);
}
