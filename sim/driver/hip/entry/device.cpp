// The device: how many, which, what it is, and waiting for it.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "hip/memory/memory_table.hpp"
#include "hip/session/session.hpp"
#include "hip/stream/stream.hpp"

namespace ww::sim::driver::hip {
namespace {

constexpr int kMaxBlocksAcross = 65536;  // in y and z
constexpr int kTextureAlign = 256;
constexpr int kMaxTexels = gpu::kMaxImageWidth;  // across and down
constexpr int kMaxSlices = gpu::kMaxImageDepth;
constexpr int kMaxLinearTexels = gpu::kMaxImageBufferWidth;
static_assert(gpu::kMaxImageWidth == gpu::kMaxImageHeight);
constexpr int kRegistersPerCu = 65536;  // 32-bit, of the four SIMDs' files, for a wave's lanes each
constexpr int kSteadyCounterKhz = 100'000;  // s_memrealtime
constexpr int kConstantBytes = 0x7fff'ffff;
// hipSetDeviceFlags: how to wait; pinned memory that kernels see; private memory that stays.
constexpr unsigned kScheduleFlags = 0x7;
constexpr unsigned kKnownDeviceFlags = kScheduleFlags | 0x8 | 0x10;

int clamped(std::int64_t value) {
  return static_cast<int>(std::clamp<std::int64_t>(value, 0, INT32_MAX));
}

// Facts about the chip for both layouts of the properties and the attributes.
struct Facts {
  std::string name;
  std::string architecture;  // "gfx90a:sramecc+:xnack-"
  int major{}, minor{};
  std::size_t memory{};
  int lds{}, cus{}, l2{}, clock_khz{}, counter_khz{}, memory_clock_khz{}, bus_bits{},
      threads_per_cu{};
  int warp{};  // work-items of a wave as compilers choose them
};

Facts facts() {
  const gpu::Architecture& arch = device().chip().architecture();
  Facts facts;
  facts.name = "wirewatt virtual " + arch.name;
  facts.architecture = arch.gfx_target;
  if (arch.gfx_target == "gfx90a") facts.architecture += ":sramecc+:xnack-";
  // "gfx90a": the last two digits are minor version and stepping.
  const std::string digits = arch.gfx_target.substr(3);
  facts.major = digits.size() > 3 ? std::stoi(digits.substr(0, 2)) : digits[0] - '0';
  facts.minor = digits[digits.size() - 2] - '0';
  facts.memory = static_cast<std::size_t>(arch.memory_bytes_of_device());
  facts.lds = clamped(arch.lds_bytes_per_cu);
  facts.cus = arch.compute_units_of_device();
  facts.l2 = clamped(arch.l2_bytes);
  double clock_hz = 1e9;
  for (const DvfsState& state : arch.dvfs) clock_hz = std::max(clock_hz, state.clock_hz);
  facts.clock_khz = static_cast<int>(clock_hz / 1000);
  // clock64() counts the cycles of the clock that the chip runs at now.
  facts.counter_khz = facts.clock_khz;
  if (!arch.dvfs.empty()) {
    const auto now = static_cast<std::size_t>(device().dvfs_state());
    facts.counter_khz = static_cast<int>(arch.dvfs.at(now).clock_hz / 1000);
  }
  // A double data rate of a bus of 64 bits a channel gives the chip's memory bandwidth.
  facts.bus_bits = 64 * arch.l2_channels;
  facts.memory_clock_khz =
      static_cast<int>(arch.memory_bytes_per_clock_per_channel * clock_hz / (2 * 8) / 1000);
  facts.warp = arch.gfx_target.starts_with("gfx1") ? 32 : 64;
  facts.threads_per_cu = facts.warp * arch.simds_per_cu * arch.waves_per_simd;
  return facts;
}

void copy_text(char (&target)[256], const std::string& text) {
  std::memset(target, 0, sizeof target);
  std::memcpy(target, text.data(), std::min(text.size(), sizeof target - 1));
}

// Dies with links are PCI devices of their own. Partitions are one, which ROCm numbers in the
// function's digit.
struct PciPlace {
  int bus{};
  int function{};
};

PciPlace pci_place(int ordinal) {
  const bool linked = device().chip().architecture().xgmi_links != 0;
  return linked ? PciPlace{ordinal, 0} : PciPlace{0, ordinal};
}

std::string pci_address(int ordinal) {
  const PciPlace place = pci_place(ordinal);
  return fmt::format("0000:{:02x}:00.{}", place.bus, place.function);
}

constexpr std::size_t kUuidBytes = 16;

void write_uuid(void* target, int ordinal) {
  const std::string text = fmt::format("wirewatt-gpu-{:03}", ordinal);
  static_assert(std::string_view("wirewatt-gpu-000").size() == kUuidBytes);
  std::memcpy(target, text.data(), kUuidBytes);
}

// Whether a cooperative launch may name all devices that there are: their grids meet only where
// there is one.
bool cooperates_with_all() {
  return device().chip().architecture().devices == 1;
}

// Fills the members that both layouts of the properties have.
template <class Properties>
void fill_common(Properties& properties, int ordinal) {
  const Facts known = facts();
  std::memset(&properties, 0, sizeof properties);
  copy_text(properties.name, known.name);
  copy_text(properties.gcnArchName, known.architecture);
  properties.totalGlobalMem = known.memory;
  properties.sharedMemPerBlock = static_cast<std::size_t>(known.lds);
  properties.regsPerBlock = kRegistersPerCu;
  properties.warpSize = known.warp;
  properties.maxThreadsPerBlock = int{kMaxBlockThreads};
  std::ranges::fill(properties.maxThreadsDim, int{kMaxBlockThreads});
  properties.maxGridSize[0] = INT32_MAX;
  properties.maxGridSize[1] = properties.maxGridSize[2] = kMaxBlocksAcross;
  properties.clockRate = known.clock_khz;
  properties.memoryClockRate = known.memory_clock_khz;
  properties.memoryBusWidth = known.bus_bits;
  properties.totalConstMem = kConstantBytes;
  properties.major = known.major;
  properties.minor = known.minor;
  properties.multiProcessorCount = known.cus;
  properties.l2CacheSize = known.l2;
  properties.maxThreadsPerMultiProcessor = known.threads_per_cu;
  properties.clockInstructionRate = known.counter_khz;
  properties.pciBusID = pci_place(ordinal).bus;
  properties.arch = kArchFeatures;
  properties.maxSharedMemoryPerMultiProcessor = static_cast<std::size_t>(known.lds);
  properties.canMapHostMemory = 1;
  properties.managedMemory = device().host_at_device_addresses() ? 1 : 0;
  properties.concurrentManagedAccess = properties.managedMemory;
  properties.cooperativeLaunch = 1;
  properties.cooperativeMultiDeviceLaunch = cooperates_with_all() ? 1 : 0;
  properties.memPitch = INT32_MAX;
  properties.textureAlignment = properties.texturePitchAlignment = kTextureAlign;
  properties.ECCEnabled = 1;
  if (!has_images()) return;
  properties.maxTexture1D = kMaxTexels;
  properties.maxTexture1DLinear = kMaxLinearTexels;
  std::ranges::fill(properties.maxTexture2D, kMaxTexels);
  properties.maxTexture3D[0] = properties.maxTexture3D[1] = kMaxTexels;
  properties.maxTexture3D[2] = kMaxSlices;
}

template <class Properties, class More>
int properties_of(Properties* properties, int ordinal, More&& more) {
  return guarded([&]() -> int {
    if (properties == nullptr) return kInvalidValue;
    if (!is_ordinal(ordinal)) return kInvalidDevice;
    fill_common(*properties, ordinal);
    more(*properties);
    return kSuccess;
  });
}

// hipDeviceAttribute_t, as far as the answer is not 0.
enum Attribute : int {
  kEccEnabled = 0,
  kCanMapHostMemory = 3,
  kClockRate = 5,
  kConcurrentKernels = 8,
  kConcurrentManagedAccess = 9,
  kCooperativeLaunch = 10,
  kCooperativeMultiDeviceLaunch = 11,
  kHostNativeAtomicSupported = 15,
  kL2CacheSize = 19,
  kComputeCapabilityMajor = 23,
  kManagedMemory = 24,
  kMaxBlocksPerMultiprocessor = 25,
  kMaxBlockDimX = 26,
  kMaxBlockDimZ = 28,
  kMaxGridDimX = 29,
  kMaxGridDimY = 30,
  kMaxGridDimZ = 31,
  kMaxSurface1D = 32,
  kMaxSurface2D = 34,
  kMaxSurface3D = 36,
  kMaxTexture1DWidth = 39,
  kMaxTexture1DLinear = 41,
  kMaxTexture2DWidth = 43,
  kMaxTexture2DHeight = 44,
  kMaxTexture3DWidth = 49,
  kMaxTexture3DHeight = 50,
  kMaxTexture3DDepth = 51,
  kMaxThreadsDim = 55,
  kMaxThreadsPerBlock = 56,
  kMaxThreadsPerMultiprocessor = 57,
  kMaxPitch = 58,
  kMemoryBusWidth = 59,
  kMemoryClockRate = 60,
  kComputeCapabilityMinor = 61,
  kMultiprocessorCount = 63,
  kPciBusId = 67,
  kMaxRegistersPerBlock = 71,
  kMaxRegistersPerMultiprocessor = 72,
  kMaxSharedMemoryPerBlock = 74,
  kSharedMemPerBlockOptin = 75,
  kSharedMemPerMultiprocessor = 76,
  kStreamPrioritiesSupported = 78,
  kTextureAlignment = 81,
  kTexturePitchAlignment = 82,
  kTotalConstantMemory = 83,
  kTotalGlobalMem = 84,
  kUnifiedAddressing = 85,
  kWarpSize = 87,
  kMemoryPoolsSupported = 88,
  kVirtualMemoryManagementSupported = 89,
  kLastCommonAttribute = 95,
  kClockInstructionRate = 10000,
  kArch = 10001,
  kMaxSharedMemoryPerMultiprocessor = 10002,
  kIsLargeBar = 10011,
  kImageSupport = 10014,
  kPhysicalMultiprocessorCount = 10015,
  kFineGrainSupport = 10016,
  kWallClockRate = 10017,
  kLastAmdAttribute = 10025,
};

// Attributes of devices of other makers, of limits that no kernel meets here, and of things that
// the virtual GPU does not have, are 0.
int attribute(int name, int ordinal) {
  const Facts known = facts();
  switch (name) {
    case kEccEnabled:
    case kCanMapHostMemory:
    case kConcurrentKernels:
    case kCooperativeLaunch:
    case kStreamPrioritiesSupported:
    case kMemoryPoolsSupported:
    case kVirtualMemoryManagementSupported:
    case kIsLargeBar: return 1;
    case kCooperativeMultiDeviceLaunch: return cooperates_with_all() ? 1 : 0;
    case kConcurrentManagedAccess:
    case kHostNativeAtomicSupported:  // host and device do not meet: kernels run inside calls
    case kManagedMemory:
    case kUnifiedAddressing:
    case kFineGrainSupport: return device().host_at_device_addresses() ? 1 : 0;
    case kClockRate: return known.clock_khz;
    case kL2CacheSize: return known.l2;
    case kComputeCapabilityMajor: return known.major;
    case kComputeCapabilityMinor: return known.minor;
    case kMaxBlocksPerMultiprocessor: return known.threads_per_cu / known.warp;
    case kMaxGridDimX: return INT32_MAX;
    case kMaxGridDimY:
    case kMaxGridDimZ: return kMaxBlocksAcross;
    case kMaxThreadsDim:
    case kMaxThreadsPerBlock: return int{kMaxBlockThreads};
    case kMaxThreadsPerMultiprocessor: return known.threads_per_cu;
    case kMaxPitch: return INT32_MAX;
    case kMemoryBusWidth: return known.bus_bits;
    case kMemoryClockRate: return known.memory_clock_khz;
    case kMultiprocessorCount:
    case kPhysicalMultiprocessorCount: return known.cus;
    case kMaxRegistersPerBlock:
    case kMaxRegistersPerMultiprocessor: return kRegistersPerCu;
    case kMaxSharedMemoryPerBlock:
    case kSharedMemPerBlockOptin:
    case kSharedMemPerMultiprocessor:
    case kMaxSharedMemoryPerMultiprocessor: return known.lds;
    case kTextureAlignment:
    case kTexturePitchAlignment: return kTextureAlign;
    case kImageSupport: return has_images() ? 1 : 0;
    case kMaxSurface1D:
    case kMaxSurface2D:
    case kMaxSurface3D:
    case kMaxTexture1DWidth:
    case kMaxTexture2DWidth:
    case kMaxTexture2DHeight:
    case kMaxTexture3DWidth:
    case kMaxTexture3DHeight: return has_images() ? kMaxTexels : 0;
    case kMaxTexture1DLinear: return has_images() ? kMaxLinearTexels : 0;
    case kMaxTexture3DDepth: return has_images() ? kMaxSlices : 0;
    case kTotalConstantMemory: return kConstantBytes;
    case kTotalGlobalMem: return clamped(static_cast<std::int64_t>(known.memory));
    case kWarpSize: return known.warp;
    case kClockInstructionRate: return known.counter_khz;
    case kWallClockRate: return kSteadyCounterKhz;
    case kPciBusId: return pci_place(ordinal).bus;
    case kArch: return static_cast<int>(kArchFeatures);
    default: return name >= kMaxBlockDimX && name <= kMaxBlockDimZ ? int{kMaxBlockThreads} : 0;
  }
}

// hipDeviceP2PAttr, and what joins the devices of a package (HSA_AMD_LINK_INFO_TYPE_XGMI).
constexpr int kPeerRank = 0;
constexpr int kPeerArrays = 3;
constexpr int kLinkXgmi = 4;

// Which device may use whose memory, as programs asked for it. Kernels reach all of it anyway.
std::set<std::pair<int, int>>& peers() {
  static auto& pairs = *new std::set<std::pair<int, int>>;
  return pairs;
}

// Flags by device.
std::map<int, unsigned>& device_flags() {
  static auto& flags = *new std::map<int, unsigned>;
  return flags;
}

int check_peer(int peer, unsigned flags = 0) {
  if (!is_ordinal(peer) || peer == chosen_device()) return kInvalidDevice;
  return flags == 0 ? kSuccess : kInvalidValue;
}

}  // namespace

WW_HIP_EXPORT int hipInit(unsigned flags) {
  return guarded([&]() -> int { return flags == 0 ? kSuccess : kInvalidValue; });
}
WW_HIP_EXPORT int hipGetDeviceCount(int* count) {
  return guarded([&]() -> int {
    if (count == nullptr) return kInvalidValue;
    *count = device().chip().architecture().devices;
    return kSuccess;
  });
}
WW_HIP_EXPORT int hipGetDevice(int* ordinal) {
  return guarded([&]() -> int {
    if (ordinal == nullptr) return kInvalidValue;
    *ordinal = chosen_device();
    return kSuccess;
  });
}
WW_HIP_EXPORT int hipSetDevice(int ordinal) {
  return guarded([&]() -> int {
    if (!is_ordinal(ordinal)) return kInvalidDevice;
    chosen_device() = ordinal;
    return kSuccess;
  });
}
WW_HIP_EXPORT int hipDeviceGet(int* handle, int ordinal) {
  return guarded([&]() -> int {
    if (handle == nullptr) return kInvalidValue;
    if (!is_ordinal(ordinal)) return kInvalidDevice;
    *handle = ordinal;
    return kSuccess;
  });
}
WW_HIP_EXPORT int hipDeviceSynchronize() {
  return guarded_work([](Entry& entry) -> int {
    if (const int bad = refuse_in_any_capture(); bad != kSuccess) return bad;
    wait_for_host_functions(entry);
    return device_error();
  });
}
WW_HIP_EXPORT int hipDeviceReset() {
  return guarded([]() -> int {
    forget_of_other_rooms(chosen_device());
    if (device().chip().architecture().devices == 1) reset_modules();
    reset_streams(chosen_device());
    reset_events(chosen_device());
    reset_arrays(chosen_device());
    reset_registered(chosen_device());
    reset_memory(chosen_device());
    reset_heap(chosen_device());
    device_flags().erase(chosen_device());
    device_error() = kSuccess;
    return kSuccess;
  });
}
WW_HIP_EXPORT int hipGetDeviceProperties(DeviceProperties5* properties, int ordinal) {
  return properties_of(properties, ordinal, [](DeviceProperties5& p) {
    p.gcnArch = p.major * 100 + p.minor * 10;
    p.concurrentKernels = 1;
    p.isLargeBar = 1;
  });
}
WW_HIP_EXPORT int hipGetDevicePropertiesR0600(DeviceProperties6* properties, int ordinal) {
  return properties_of(properties, ordinal, [ordinal](DeviceProperties6& p) {
    static_assert(sizeof p.uuid == kUuidBytes);
    write_uuid(p.uuid, ordinal);
    p.concurrentKernels = 1;
    p.isLargeBar = 1;
    p.unifiedAddressing = p.managedMemory;
    p.hostNativeAtomicSupported = p.managedMemory;
    p.sharedMemPerMultiprocessor = p.sharedMemPerBlock;
    p.sharedMemPerBlockOptin = p.sharedMemPerBlock;
    p.regsPerMultiprocessor = kRegistersPerCu;
    p.maxBlocksPerMultiProcessor = p.maxThreadsPerMultiProcessor / p.warpSize;
    p.streamPrioritiesSupported = 1;
    p.memoryPoolsSupported = 1;
  });
}
WW_HIP_EXPORT int hipChooseDevice(int* ordinal, const void* properties) {
  return guarded([&]() -> int {
    if (ordinal == nullptr || properties == nullptr) return kInvalidValue;
    *ordinal = 0;
    return kSuccess;
  });
}
WW_HIP_EXPORT int hipChooseDeviceR0600(int* ordinal, const void* properties) {
  return hipChooseDevice(ordinal, properties);
}
WW_HIP_EXPORT int hipDeviceGetAttribute(int* value, int name, int ordinal) {
  return guarded([&]() -> int {
    if (value == nullptr) return kInvalidValue;
    if (!is_ordinal(ordinal)) return kInvalidDevice;
    const bool known = (name >= 0 && name <= kLastCommonAttribute) ||
                       (name >= kClockInstructionRate && name <= kLastAmdAttribute);
    if (!known) return kInvalidValue;
    *value = attribute(name, ordinal);
    return kSuccess;
  });
}
WW_HIP_EXPORT int hipDeviceGetName(char* name, int size, int ordinal) {
  return guarded([&]() -> int {
    if (name == nullptr || size <= 0) return kInvalidValue;
    if (!is_ordinal(ordinal)) return kInvalidDevice;
    const std::string text = facts().name;
    const std::size_t kept = std::min(text.size(), static_cast<std::size_t>(size) - 1);
    std::memcpy(name, text.data(), kept);
    name[kept] = '\0';
    return kSuccess;
  });
}
WW_HIP_EXPORT int hipDeviceGetUuid(void* uuid, int ordinal) {
  return guarded([&]() -> int {
    if (uuid == nullptr) return kInvalidValue;
    if (!is_ordinal(ordinal)) return kInvalidDevice;
    write_uuid(uuid, ordinal);
    return kSuccess;
  });
}
// Writes as much as there is room for; too little room is an error.
WW_HIP_EXPORT int hipDeviceGetPCIBusId(char* text, int size, int ordinal) {
  return guarded([&]() -> int {
    if (text == nullptr || size <= 0) return kInvalidValue;
    if (!is_ordinal(ordinal)) return kInvalidDevice;
    const std::string address = pci_address(ordinal);
    const std::size_t kept = std::min(address.size(), static_cast<std::size_t>(size) - 1);
    std::memcpy(text, address.data(), kept);
    text[kept] = '\0';
    return kept == address.size() ? kSuccess : kInvalidValue;
  });
}
WW_HIP_EXPORT int hipDeviceGetByPCIBusId(int* ordinal, const char* text) {
  return guarded([&]() -> int {
    if (ordinal == nullptr || text == nullptr) return kInvalidValue;
    for (int one = 0; is_ordinal(one); ++one) {
      if (pci_address(one) != text) continue;
      *ordinal = one;
      return kSuccess;
    }
    return kInvalidDevice;
  });
}
WW_HIP_EXPORT int hipDeviceComputeCapability(int* major, int* minor, int ordinal) {
  return guarded([&]() -> int {
    if (major == nullptr || minor == nullptr) return kInvalidValue;
    if (!is_ordinal(ordinal)) return kInvalidDevice;
    *major = facts().major;
    *minor = facts().minor;
    return kSuccess;
  });
}
WW_HIP_EXPORT int hipDeviceTotalMem(std::size_t* bytes, int ordinal) {
  return guarded([&]() -> int {
    if (bytes == nullptr) return kInvalidValue;
    if (!is_ordinal(ordinal)) return kInvalidDevice;
    *bytes = facts().memory;
    return kSuccess;
  });
}
WW_HIP_EXPORT int hipDeviceCanAccessPeer(int* can, int ordinal, int peer) {
  return guarded([&]() -> int {
    if (can == nullptr) return kInvalidValue;
    if (!is_ordinal(ordinal) || !is_ordinal(peer)) return kInvalidDevice;
    *can = ordinal != peer ? 1 : 0;
    return kSuccess;
  });
}
WW_HIP_EXPORT int hipDeviceGetP2PAttribute(int* value, int attribute, int from, int to) {
  return guarded([&]() -> int {
    if (value == nullptr) return kInvalidValue;
    if (!is_ordinal(from) || !is_ordinal(to) || from == to) return kInvalidDevice;
    if (attribute < kPeerRank || attribute > kPeerArrays) return kInvalidValue;
    *value = attribute == kPeerRank ? kLinkXgmi : 1;
    return kSuccess;
  });
}
WW_HIP_EXPORT int hipExtGetLinkTypeAndHopCount(int from, int to, std::uint32_t* type,
                                               std::uint32_t* hops) {
  return guarded([&]() -> int {
    if (type == nullptr || hops == nullptr || from == to) return kInvalidValue;
    if (from < 0 || to < 0) return kInvalidValue;
    if (!is_ordinal(from) || !is_ordinal(to)) return kInvalidDevice;
    *type = kLinkXgmi;
    *hops = 1;
    return kSuccess;
  });
}
WW_HIP_EXPORT int hipDeviceEnablePeerAccess(int peer, unsigned flags) {
  return guarded([&]() -> int {
    if (const int bad = check_peer(peer, flags); bad != kSuccess) return bad;
    const bool is_new = peers().emplace(chosen_device(), peer).second;
    return is_new ? kSuccess : kPeerAccessAlreadyEnabled;
  });
}
WW_HIP_EXPORT int hipDeviceDisablePeerAccess(int peer) {
  return guarded([&]() -> int {
    return peers().erase({chosen_device(), peer}) != 0 ? kSuccess : kPeerAccessNotEnabled;
  });
}
WW_HIP_EXPORT int hipDriverGetVersion(int* version) {
  return guarded([&]() -> int {
    if (version == nullptr) return kInvalidValue;
    // major * 10^7 + minor * 10^5 + patch
    *version = hip_major() < 6 ? 50'200'000 : hip_major() * 10'000'000;
    return kSuccess;
  });
}
WW_HIP_EXPORT int hipRuntimeGetVersion(int* version) {
  return hipDriverGetVersion(version);
}
// How the host waits: there is nothing to wait for, but programs may ask again.
WW_HIP_EXPORT int hipSetDeviceFlags(unsigned flags) {
  return guarded([&]() -> int {
    const unsigned how = flags & kScheduleFlags;
    if ((flags & ~kKnownDeviceFlags) != 0 || std::popcount(how) > 1) return kInvalidValue;
    device_flags()[chosen_device()] = how;
    return kSuccess;
  });
}
WW_HIP_EXPORT int hipGetDeviceFlags(unsigned* flags) {
  return guarded([&]() -> int {
    if (flags == nullptr) return kInvalidValue;
    *flags = device_flags()[chosen_device()];
    return kSuccess;
  });
}
// Hints that AMD's devices do not take.
WW_HIP_EXPORT int hipDeviceSetCacheConfig(int config) {
  return guarded(
      [&]() -> int { return config < 0 || config > kLastCacheConfig ? kInvalidValue : kSuccess; });
}
WW_HIP_EXPORT int hipDeviceSetSharedMemConfig(int config) {
  return guarded(
      [&]() -> int { return config < 0 || config > kLastBankConfig ? kInvalidValue : kSuccess; });
}
WW_HIP_EXPORT int hipDeviceGetCacheConfig(int* config) {
  return guarded([&]() -> int {
    if (config == nullptr) return kInvalidValue;
    *config = 0;  // no preference
    return kSuccess;
  });
}
WW_HIP_EXPORT int hipDeviceGetSharedMemConfig(int* config) {
  return guarded([&]() -> int {
    if (config == nullptr) return kInvalidValue;
    *config = kBanksOfFourBytes;
    return kSuccess;
  });
}
WW_HIP_EXPORT int hipDeviceGetTexture1DLinearMaxWidth(std::size_t* elements,
                                                      const ChannelDescriptor* element,
                                                      int ordinal) {
  return guarded([&]() -> int {
    if (elements == nullptr || element == nullptr) return kInvalidValue;
    if (!is_ordinal(ordinal)) return kInvalidDevice;
    const int bytes =
        (element->bits[0] + element->bits[1] + element->bits[2] + element->bits[3]) / 8;
    if (bytes <= 0) return kInvalidValue;
    const int most = has_images() ? kMaxLinearTexels : 0;
    *elements = static_cast<std::size_t>(most / bytes);
    return kSuccess;
  });
}
WW_HIP_EXPORT int hipProfilerStart() {
  return guarded([] { return int{kSuccess}; });
}
WW_HIP_EXPORT int hipProfilerStop() {
  return guarded([] { return int{kSuccess}; });
}

}  // namespace ww::sim::driver::hip
