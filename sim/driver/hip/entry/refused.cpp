// Entry points of HIP's public headers that the virtual GPU does not have: each says its name once
// on stderr and fails with hipErrorNotSupported. A program that only links to one still runs. The
// arguments do not matter: the caller clears what it passed.
#include "hip/rtc/rtc.hpp"
#include "hip/session/session.hpp"

#define WW_HIP_REFUSED(name)    \
  WW_HIP_EXPORT int name() {    \
    return refuse_entry(#name); \
  }
#define WW_HIPRTC_REFUSED(name)             \
  WW_HIP_EXPORT int name() {                \
    static_cast<void>(refuse_entry(#name)); \
    return kRtcInternalError;               \
  }

namespace ww::sim::driver::hip {

WW_HIP_REFUSED(hipBindTextureToMipmappedArray)
WW_HIP_REFUSED(hipChooseDeviceR0000)
WW_HIP_REFUSED(hipCtxDisablePeerAccess)
WW_HIP_REFUSED(hipCtxEnablePeerAccess)
WW_HIP_REFUSED(hipCtxGetApiVersion)
WW_HIP_REFUSED(hipCtxGetCacheConfig)
WW_HIP_REFUSED(hipCtxGetFlags)
WW_HIP_REFUSED(hipCtxSetCacheConfig)
WW_HIP_REFUSED(hipCtxSetSharedMemConfig)
WW_HIP_REFUSED(hipCtxSynchronize)
WW_HIP_REFUSED(hipDestroyExternalMemory)
WW_HIP_REFUSED(hipDestroyExternalSemaphore)
WW_HIP_REFUSED(hipDrvGraphMemcpyNodeGetParams)
WW_HIP_REFUSED(hipDrvGraphMemcpyNodeSetParams)
WW_HIP_REFUSED(hipEnableActivityCallback)
WW_HIP_REFUSED(hipExtDisableLogging)
WW_HIP_REFUSED(hipExtEnableLogging)
WW_HIP_REFUSED(hipExtSetLoggingParams)
WW_HIP_REFUSED(hipExternalMemoryGetMappedBuffer)
WW_HIP_REFUSED(hipExternalMemoryGetMappedMipmappedArray)
WW_HIP_REFUSED(hipFreeMipmappedArray)
WW_HIP_REFUSED(hipGLGetDevices)
WW_HIP_REFUSED(hipGetDevicePropertiesR0000)
WW_HIP_REFUSED(hipGetMipmappedArrayLevel)
WW_HIP_REFUSED(hipGraphAddBatchMemOpNode)
WW_HIP_REFUSED(hipGraphAddExternalSemaphoresSignalNode)
WW_HIP_REFUSED(hipGraphAddExternalSemaphoresWaitNode)
WW_HIP_REFUSED(hipGraphBatchMemOpNodeGetParams)
WW_HIP_REFUSED(hipGraphBatchMemOpNodeSetParams)
WW_HIP_REFUSED(hipGraphExecBatchMemOpNodeSetParams)
WW_HIP_REFUSED(hipGraphExecExternalSemaphoresSignalNodeSetParams)
WW_HIP_REFUSED(hipGraphExecExternalSemaphoresWaitNodeSetParams)
WW_HIP_REFUSED(hipGraphExternalSemaphoresSignalNodeGetParams)
WW_HIP_REFUSED(hipGraphExternalSemaphoresSignalNodeSetParams)
WW_HIP_REFUSED(hipGraphExternalSemaphoresWaitNodeGetParams)
WW_HIP_REFUSED(hipGraphExternalSemaphoresWaitNodeSetParams)
WW_HIP_REFUSED(hipGraphInstantiateWithParams_spt)
WW_HIP_REFUSED(hipGraphicsGLRegisterBuffer)
WW_HIP_REFUSED(hipGraphicsGLRegisterImage)
WW_HIP_REFUSED(hipGraphicsMapResources)
WW_HIP_REFUSED(hipGraphicsResourceGetMappedPointer)
WW_HIP_REFUSED(hipGraphicsSubResourceGetMappedArray)
WW_HIP_REFUSED(hipGraphicsUnmapResources)
WW_HIP_REFUSED(hipGraphicsUnregisterResource)
WW_HIP_REFUSED(hipImportExternalMemory)
WW_HIP_REFUSED(hipImportExternalSemaphore)
WW_HIP_REFUSED(hipInitActivityCallback)
WW_HIP_REFUSED(hipIpcCloseMemHandle)
WW_HIP_REFUSED(hipIpcGetEventHandle)
WW_HIP_REFUSED(hipIpcGetMemHandle)
WW_HIP_REFUSED(hipIpcOpenEventHandle)
WW_HIP_REFUSED(hipIpcOpenMemHandle)
WW_HIP_REFUSED(hipKernelGetAttribute)
WW_HIP_REFUSED(hipKernelGetParamInfo)
WW_HIP_REFUSED(hipKernelSetAttribute)
WW_HIP_REFUSED(hipLibraryGetManaged)
WW_HIP_REFUSED(hipLinkAddData)
WW_HIP_REFUSED(hipLinkAddFile)
WW_HIP_REFUSED(hipLinkComplete)
WW_HIP_REFUSED(hipLinkCreate)
WW_HIP_REFUSED(hipLinkDestroy)
WW_HIP_REFUSED(hipMallocMipmappedArray)
WW_HIP_REFUSED(hipMemExportToShareableHandle)
WW_HIP_REFUSED(hipMemGetDefaultMemPool)
WW_HIP_REFUSED(hipMemGetHandleForAddressRange)
WW_HIP_REFUSED(hipMemGetMemPool)
WW_HIP_REFUSED(hipMemImportFromShareableHandle)
WW_HIP_REFUSED(hipMemMapArrayAsync)
WW_HIP_REFUSED(hipMemPoolExportPointer)
WW_HIP_REFUSED(hipMemPoolExportToShareableHandle)
WW_HIP_REFUSED(hipMemPoolImportFromShareableHandle)
WW_HIP_REFUSED(hipMemPoolImportPointer)
WW_HIP_REFUSED(hipMemSetMemPool)
WW_HIP_REFUSED(hipMemcpy3DBatchAsync)
WW_HIP_REFUSED(hipMemcpy3DPeer)
WW_HIP_REFUSED(hipMemcpy3DPeerAsync)
WW_HIP_REFUSED(hipMemcpyBatchAsync)
WW_HIP_REFUSED(hipMemsetD2D16)
WW_HIP_REFUSED(hipMemsetD2D16Async)
WW_HIP_REFUSED(hipMemsetD2D32)
WW_HIP_REFUSED(hipMemsetD2D32Async)
WW_HIP_REFUSED(hipMemsetD2D8)
WW_HIP_REFUSED(hipMemsetD2D8Async)
WW_HIP_REFUSED(hipMipmappedArrayCreate)
WW_HIP_REFUSED(hipMipmappedArrayDestroy)
WW_HIP_REFUSED(hipMipmappedArrayGetLevel)
WW_HIP_REFUSED(hipOccupancyAvailableDynamicSMemPerBlock)
WW_HIP_REFUSED(hipRegisterActivityCallback)
WW_HIP_REFUSED(hipRegisterApiCallback)
WW_HIP_REFUSED(hipRemoveActivityCallback)
WW_HIP_REFUSED(hipRemoveApiCallback)
WW_HIP_REFUSED(hipSetValidDevices)
WW_HIP_REFUSED(hipSignalExternalSemaphoresAsync)
WW_HIP_REFUSED(hipStreamBatchMemOp)
WW_HIP_REFUSED(hipStreamCopyAttributes)
WW_HIP_REFUSED(hipStreamGetAttribute)
WW_HIP_REFUSED(hipStreamGetId)
WW_HIP_REFUSED(hipStreamSetAttribute)
WW_HIP_REFUSED(hipStreamUpdateCaptureDependencies_v2)
WW_HIP_REFUSED(hipStreamWaitValue32)
WW_HIP_REFUSED(hipStreamWaitValue64)
WW_HIP_REFUSED(hipStreamWriteValue32)
WW_HIP_REFUSED(hipStreamWriteValue64)
WW_HIP_REFUSED(hipTexRefGetBorderColor)
WW_HIP_REFUSED(hipTexRefGetMipMappedArray)
WW_HIP_REFUSED(hipTexRefGetMipmapFilterMode)
WW_HIP_REFUSED(hipTexRefGetMipmapLevelBias)
WW_HIP_REFUSED(hipTexRefGetMipmapLevelClamp)
WW_HIP_REFUSED(hipTexRefSetBorderColor)
WW_HIP_REFUSED(hipTexRefSetMipmapFilterMode)
WW_HIP_REFUSED(hipTexRefSetMipmapLevelBias)
WW_HIP_REFUSED(hipTexRefSetMipmapLevelClamp)
WW_HIP_REFUSED(hipTexRefSetMipmappedArray)
WW_HIP_REFUSED(hipWaitExternalSemaphoresAsync)

#ifdef WW_WITHOUT_HIP_MORE
#define WW_HIP_MORE WW_HIP_REFUSED
#define WW_HIPRTC_MORE WW_HIPRTC_REFUSED
#include "hip/entry/more.inl"
#endif

}  // namespace ww::sim::driver::hip

#undef WW_HIP_REFUSED
#undef WW_HIPRTC_REFUSED
