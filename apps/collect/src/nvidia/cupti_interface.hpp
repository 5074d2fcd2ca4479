// The part of CUPTI's range profiler (CUDA 12.8 and later) that is used, in declarations of our
// own. Names, order and types of the members are those of NVIDIA's reference
// (docs.nvidia.com/cupti/api, "CUPTI Range Profiling API", "CUPTI Profiler Host API" and "CUPTI
// Callback API"). A structure begins with its size up to the last member that its user knows, by
// which a newer library reads the structure of an older one.
#pragma once

#include <cstddef>
#include <cstdint>

namespace ww::collect::cupti {

using Status = int;
inline constexpr Status kSuccess = 0;
inline constexpr Status kVirtualized = 33;
inline constexpr Status kNoPrivileges = 35;
inline constexpr Status kOtherSubscriber = 39;
inline constexpr Status kVirtualizedNoPrivileges = 40;

inline constexpr int kRangeProfiler = 0;  // of the profiler's types
inline constexpr int kAutoRange = 1;      // each kernel is a range
inline constexpr int kKernelReplay = 2;   // the library repeats a kernel for each pass

struct Head {
  std::size_t size{};
  void* priv{};
};

struct Initialize {
  Head head;
};
struct ChipName {
  Head head;
  std::size_t device{};
  const char* name{};
};

// --- the host's side: which counters, and what they mean ---

struct HostInitialize {
  Head head;
  int type{};
  const char* chip{};
  const std::uint8_t* availability{};
  void* host{};
};
struct HostEnd {
  Head head;
  void* host{};
};
struct AddMetrics {
  Head head;
  void* host{};
  const char** names{};
  std::size_t count{};
};
struct ConfigSize {
  Head head;
  void* host{};
  std::size_t bytes{};
};
struct ConfigImage {
  Head head;
  void* host{};
  std::size_t bytes{};
  std::uint8_t* image{};
};
struct Passes {
  Head head;
  std::size_t bytes{};
  std::uint8_t* image{};
  std::size_t passes{};
};
struct Evaluate {
  Head head;
  void* host{};
  const std::uint8_t* data{};
  std::size_t bytes{};
  std::size_t range{};
  const char** names{};
  std::size_t count{};
  double* values{};
};

// --- the device's side ---

struct Enable {
  Head head;
  void* context{};
  void* profiler{};
};
struct OfProfiler {  // disable, start
  Head head;
  void* profiler{};
};
struct Stop {
  Head head;
  void* profiler{};
  std::size_t pass{};
  std::size_t nesting{};
  std::uint8_t all_passes{};
};
struct Decode {
  Head head;
  void* profiler{};
  std::size_t dropped{};
};
struct DataSize {
  Head head;
  void* profiler{};
  const char** names{};
  std::size_t count{};
  std::size_t ranges{};
  std::uint32_t nodes{};
  std::size_t bytes{};
};
struct DataImage {
  Head head;
  void* profiler{};
  std::size_t bytes{};
  std::uint8_t* data{};
};
struct SetConfig {
  Head head;
  void* profiler{};
  std::size_t config_bytes{};
  const std::uint8_t* config{};
  std::size_t data_bytes{};
  std::uint8_t* data{};
  int range{};
  int replay{};
  std::size_t ranges{};
  std::uint16_t nestings{};
  std::uint16_t first_nesting{};
  std::size_t pass{};
  std::uint16_t nesting{};
};
struct DataInfo {
  Head head;
  const std::uint8_t* data{};
  std::size_t bytes{};
  std::size_t ranges{};
};

static_assert(offsetof(SetConfig, range) == 56 && offsetof(SetConfig, pass) == 80);
static_assert(offsetof(DataSize, nodes) == 48 && offsetof(DataSize, bytes) == 56);
static_assert(offsetof(Evaluate, values) == 64 && offsetof(HostInitialize, chip) == 24);
static_assert(offsetof(Stop, all_passes) == 40);

// --- callbacks ---

inline constexpr int kDriverApi = 1, kResources = 3;                   // domains
inline constexpr std::uint32_t kContextCreated = 1, kContextEnds = 2;  // of resources
inline constexpr int kEnters = 0;                                      // site of a call

struct CallData {
  int site{};
  const char* function{};
  const void* parameters{};
  void* result{};
  const char* symbol{};  // of a launch: the kernel
  void* context{};
};
struct ResourceData {
  void* context{};
};
using Callback = void (*)(void* user, int domain, std::uint32_t id, const void* data);

}  // namespace ww::collect::cupti
