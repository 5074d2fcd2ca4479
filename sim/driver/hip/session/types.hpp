// HIP's binary interface, as far as this library serves it: what programs were compiled against.
// Values and layouts are those of hip_runtime_api.h of HIP 5.2 and, where a name ends in 6, of
// HIP 6 and 7.
#pragma once

#include <cstddef>
#include <cstdint>

namespace ww::sim::driver::hip {

enum Code : int {
  kSuccess = 0,
  kInvalidValue = 1,
  kOutOfMemory = 2,
  kNotInitialized = 3,
  kInvalidConfiguration = 9,
  kInvalidPitchValue = 12,
  kInvalidSymbol = 13,
  kInvalidDevicePointer = 17,
  kInvalidMemcpyDirection = 21,
  kMissingConfiguration = 52,
  kInvalidDeviceFunction = 98,
  kNoDevice = 100,
  kInvalidDevice = 101,
  kInvalidImage = 200,
  kInvalidContext = 201,
  kNoBinaryForGpu = 209,
  kUnsupportedLimit = 215,
  kContextAlreadyInUse = 216,
  kPeerAccessUnsupported = 217,
  kFileNotFound = 301,
  kOperatingSystem = 304,
  kInvalidHandle = 400,
  kIllegalState = 401,
  kNotFound = 500,
  kNotReady = 600,
  kIllegalAddress = 700,
  kLaunchOutOfResources = 701,
  kLaunchTimeOut = 702,
  kPeerAccessAlreadyEnabled = 704,
  kPeerAccessNotEnabled = 705,
  kContextIsDestroyed = 709,  // of a stream or an event that is gone, too
  kHostMemoryAlreadyRegistered = 712,
  kHostMemoryNotRegistered = 713,
  kLaunchFailure = 719,
  kCooperativeLaunchTooLarge = 720,
  kNotSupported = 801,
  kStreamCaptureUnsupported = 900,
  kStreamCaptureInvalidated = 901,
  kStreamCaptureMerge = 902,
  kStreamCaptureUnmatched = 903,
  kStreamCaptureUnjoined = 904,
  kStreamCaptureImplicit = 906,
  kCapturedEvent = 907,
  kStreamCaptureWrongThread = 908,
  kGraphExecUpdateFailure = 910,
  kUnknown = 999,
};

struct Dim3 {
  std::uint32_t x{1}, y{1}, z{1};
};

enum MemcpyKind : int {
  kHostToHost = 0,
  kHostToDevice = 1,
  kDeviceToHost = 2,
  kDeviceToDevice = 3,
  kDefaultKind = 4,
  kDeviceToDeviceNoCu = 1024,  // not by compute units
};

inline constexpr std::uint32_t kMaxBlockThreads = 1024;
inline constexpr unsigned kStreamNonBlocking = 1;
inline constexpr unsigned kEventDisableTiming = 2;
inline constexpr unsigned kEventInterprocess = 4;
inline constexpr unsigned kEventReleaseFlags = 0xC000'0000;  // to the device, to the system
inline constexpr unsigned kKnownEventFlags = 0xE000'0007;
inline constexpr unsigned kHostAllocKnownFlags = 0xE000'0007;
inline constexpr unsigned kHostCoherent = 0x4000'0000;
inline constexpr unsigned kHostNonCoherent = 0x8000'0000;
// hipExtMallocWithFlags takes one: default, fine-grained, of a signal, uncached, contiguous.
inline constexpr unsigned kMaxMallocFlag = 4;
inline constexpr unsigned kMallocSignal = 2;
inline constexpr std::size_t kSignalBytes = 8;
inline constexpr unsigned kMemAttachGlobal = 1;
inline constexpr unsigned kMemAttachHost = 2;
inline constexpr unsigned kMemAttachSingle = 4;
inline constexpr int kBanksOfFourBytes = 1;  // hipSharedMemBankSizeFourByte
inline constexpr int kLastBankConfig = 2;    // of hipSharedMemConfig
inline constexpr int kLastCacheConfig = 3;   // of hipFuncCache_t

using StreamCallback = void (*)(void* stream, int status, void* user_data);
using HostFunction = void (*)(void* user_data);

// hipDeviceArch_t: all but funnel shifts, extended barriers, surfaces and launches by kernels, as
// AMD's library says of its devices.
inline constexpr std::uint32_t kArchFeatures = 0xFFFF & ~(1U << 11 | 1U << 13 | 1U << 14);

// hipDeviceProp_t up to HIP 5.7.
struct DeviceProperties5 {
  char name[256];
  std::size_t totalGlobalMem;
  std::size_t sharedMemPerBlock;
  int regsPerBlock;
  int warpSize;
  int maxThreadsPerBlock;
  int maxThreadsDim[3];
  int maxGridSize[3];
  int clockRate;
  int memoryClockRate;
  int memoryBusWidth;
  std::size_t totalConstMem;
  int major;
  int minor;
  int multiProcessorCount;
  int l2CacheSize;
  int maxThreadsPerMultiProcessor;
  int computeMode;
  int clockInstructionRate;
  std::uint32_t arch;
  int concurrentKernels;
  int pciDomainID;
  int pciBusID;
  int pciDeviceID;
  std::size_t maxSharedMemoryPerMultiProcessor;
  int isMultiGpuBoard;
  int canMapHostMemory;
  int gcnArch;
  char gcnArchName[256];
  int integrated;
  int cooperativeLaunch;
  int cooperativeMultiDeviceLaunch;
  int maxTexture1DLinear;
  int maxTexture1D;
  int maxTexture2D[2];
  int maxTexture3D[3];
  unsigned* hdpMemFlushCntl;
  unsigned* hdpRegFlushCntl;
  std::size_t memPitch;
  std::size_t textureAlignment;
  std::size_t texturePitchAlignment;
  int kernelExecTimeoutEnabled;
  int ECCEnabled;
  int tccDriver;
  int cooperativeMultiDeviceUnmatched[4];
  int isLargeBar;
  int asicRevision;
  int managedMemory;
  int directManagedMemAccessFromHost;
  int concurrentManagedAccess;
  int pageableMemoryAccess;
  int pageableMemoryAccessUsesHostPageTables;
};
static_assert(offsetof(DeviceProperties5, gcnArchName) == 396 && sizeof(DeviceProperties5) == 792);

// hipDeviceProp_tR0600.
struct DeviceProperties6 {
  char name[256];
  unsigned char uuid[16];
  char luid[8];
  unsigned luidDeviceNodeMask;
  std::size_t totalGlobalMem;
  std::size_t sharedMemPerBlock;
  int regsPerBlock;
  int warpSize;
  std::size_t memPitch;
  int maxThreadsPerBlock;
  int maxThreadsDim[3];
  int maxGridSize[3];
  int clockRate;
  std::size_t totalConstMem;
  int major;
  int minor;
  std::size_t textureAlignment;
  std::size_t texturePitchAlignment;
  int deviceOverlap;
  int multiProcessorCount;
  int kernelExecTimeoutEnabled;
  int integrated;
  int canMapHostMemory;
  int computeMode;
  int maxTexture1D;
  int maxTexture1DMipmap;
  int maxTexture1DLinear;
  int maxTexture2D[2];
  int maxTexture2DMipmap[2];
  int maxTexture2DLinear[3];
  int maxTexture2DGather[2];
  int maxTexture3D[3];
  int maxTexture3DAlt[3];
  int maxTextureCubemap;
  int maxTexture1DLayered[2];
  int maxTexture2DLayered[3];
  int maxTextureCubemapLayered[2];
  int maxSurface1D;
  int maxSurface2D[2];
  int maxSurface3D[3];
  int maxSurface1DLayered[2];
  int maxSurface2DLayered[3];
  int maxSurfaceCubemap;
  int maxSurfaceCubemapLayered[2];
  std::size_t surfaceAlignment;
  int concurrentKernels;
  int ECCEnabled;
  int pciBusID;
  int pciDeviceID;
  int pciDomainID;
  int tccDriver;
  int asyncEngineCount;
  int unifiedAddressing;
  int memoryClockRate;
  int memoryBusWidth;
  int l2CacheSize;
  int persistingL2CacheMaxSize;
  int maxThreadsPerMultiProcessor;
  int streamPrioritiesSupported;
  int globalL1CacheSupported;
  int localL1CacheSupported;
  std::size_t sharedMemPerMultiprocessor;
  int regsPerMultiprocessor;
  int managedMemory;
  int isMultiGpuBoard;
  int multiGpuBoardGroupID;
  int hostNativeAtomicSupported;
  int singleToDoublePrecisionPerfRatio;
  int pageableMemoryAccess;
  int concurrentManagedAccess;
  int computePreemptionSupported;
  int canUseHostPointerForRegisteredMem;
  int cooperativeLaunch;
  int cooperativeMultiDeviceLaunch;
  std::size_t sharedMemPerBlockOptin;
  int pageableMemoryAccessUsesHostPageTables;
  int directManagedMemAccessFromHost;
  int maxBlocksPerMultiProcessor;
  int accessPolicyMaxWindowSize;
  std::size_t reservedSharedMemPerBlock;
  int hostRegisterSupported;
  int sparseHipArraySupported;
  int hostRegisterReadOnlySupported;
  int timelineSemaphoreInteropSupported;
  int memoryPoolsSupported;
  int gpuDirectRDMASupported;
  unsigned gpuDirectRDMAFlushWritesOptions;
  int gpuDirectRDMAWritesOrdering;
  unsigned memoryPoolSupportedHandleTypes;
  int deferredMappingHipArraySupported;
  int ipcEventSupported;
  int clusterLaunch;
  int unifiedFunctionPointers;
  int reserved[63];
  int hipReserved[32];
  char gcnArchName[256];
  std::size_t maxSharedMemoryPerMultiProcessor;
  int clockInstructionRate;
  std::uint32_t arch;
  unsigned* hdpMemFlushCntl;
  unsigned* hdpRegFlushCntl;
  int cooperativeMultiDeviceUnmatched[4];
  int isLargeBar;
  int asicRevision;
};
static_assert(offsetof(DeviceProperties6, gcnArchName) == 1160 &&
              sizeof(DeviceProperties6) == 1472);

struct FunctionAttributes {
  int binaryVersion;
  int cacheModeCA;
  std::size_t constSizeBytes;
  std::size_t localSizeBytes;
  int maxDynamicSharedSizeBytes;
  int maxThreadsPerBlock;
  int numRegs;
  int preferredShmemCarveout;
  int ptxVersion;
  std::size_t sharedSizeBytes;
};

// hipKernelNodeParams.
struct KernelNodeParameters {
  Dim3 threads;
  void** extra;
  const void* named;  // a host stub or a module's function
  Dim3 blocks;
  void* const* arguments;
  unsigned dynamic_lds;
};

// hipLaunchAttributeID, as far as kernels may have them.
inline constexpr int kAttributeAccessPolicyWindow = 1;
inline constexpr int kAttributeCooperative = 2;
inline constexpr int kAttributePriority = 8;

// hipLaunchParams and hipFunctionLaunchParams.
struct StubLaunch {
  const void* stub;
  Dim3 blocks;
  Dim3 threads;
  void** arguments;
  std::size_t dynamic_lds;
  void* stream;
};
struct FunctionLaunch {
  const void* function;
  Dim3 blocks;
  Dim3 threads;
  unsigned dynamic_lds;
  void* stream;
  void** arguments;
};

// hipMemsetParams: `width` elements of `element_bytes` in each of `height` rows.
struct MemsetParameters {
  void* to;
  unsigned element_bytes;
  std::size_t height;
  std::size_t pitch;
  unsigned value;
  std::size_t width;
};

// hipHostNodeParams.
struct HostNodeParameters {
  HostFunction function;
  void* user_data;
};

// hipMemPoolProps and hipMemAllocNodeParams.
struct PoolProperties {
  int allocation_type;
  int handle_types;
  int location_type;
  int location;  // the device
  void* security;
  std::size_t most_bytes;
  unsigned char reserved[56];
};
struct AllocationNodeParameters {
  PoolProperties pool;
  const void* access;
  std::size_t access_count;
  std::size_t bytes;
  void* pointer;
};
static_assert(sizeof(AllocationNodeParameters) == 120);
inline constexpr int kAllocationPinned = 1;
inline constexpr int kLocationDevice = 1;

// hipMemLocation and hipMemAccessDesc. Access is none (0), to read (1), or to read and write (3).
struct MemoryLocation {
  int type;
  int number;  // of the device
};
struct MemoryAccess {
  MemoryLocation location;
  int access;
};
inline constexpr int kAccessNone = 0;
inline constexpr int kAccessRead = 1;
inline constexpr int kAccessAll = 3;

// hipMemAllocationProp.
struct PhysicalProperties {
  int allocation_type;
  int handle_type;
  MemoryLocation location;
  void* win32_handle;
  unsigned char compression;
  unsigned char gpu_direct;
  unsigned short usage;
};
static_assert(sizeof(PhysicalProperties) == 32);

// hipPitchedPtr, hipPos, hipExtent and hipMemcpy3DParms. Widths are in bytes, but of arrays in
// elements.
struct PitchedPointer {
  void* pointer;
  std::size_t pitch;
  std::size_t width;
  std::size_t height;
};
struct Position {
  std::size_t x, y, z;
};
struct Extent {
  std::size_t width, height, depth;
};
struct Memcpy3dParameters {
  void* from_array;
  Position from_at;
  PitchedPointer from;
  void* to_array;
  Position to_at;
  PitchedPointer to;
  Extent extent;
  int kind;
};
static_assert(sizeof(Memcpy3dParameters) == 160);

struct PointerAttributes {
  int memoryType;
  int device;
  void* devicePointer;
  void* hostPointer;
  int isManaged;
  unsigned allocationFlags;
};

}  // namespace ww::sim::driver::hip
