// Shared by the parts of the stub of rocprofiler-sdk: its releases, faults, counters and state.
#pragma once

#include <sys/types.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "common/runtime/tool_table.h"

#define WW_STUB_EXPORT extern "C" __attribute__((visibility("default")))

namespace ww::stub {

using Handle = std::uint64_t;
using Status = int;

enum : Status {
  kSuccess = 0,
  kError = 1,
  kContextError = 9,
  kContextNotStarted = 11,
  kConfigurationLocked = 16,
  kIncompatibleAbi = 18,
  kFinalized = 21,
  kHsaNotLoaded = 22,
  kOutOfResources = 29,
  kConflict = 31,
  kExceedsHardwareLimit = 38,
  kPermissionDenied = 40,
};

enum class Numbers {
  plain,            // of a counter in bits 63 to 48, of an instance below
  carry_the_agent,  // in what lists counters, and not in what counts them
  narrow,           // of an instance in fewer bits
};

struct Release {
  std::string_view name;
  std::uint32_t version;
  std::size_t agent_bytes;
  Numbers numbers;
  [[nodiscard]] bool first_generation() const { return version < 10000; }
};
constexpr std::array kReleases = {
    Release{"0.4", 400, 296, Numbers::plain},
    Release{"0.5", 500, 296, Numbers::plain},
    Release{"0.6", 600, 304, Numbers::plain},
    Release{"1.0", 10000, 304, Numbers::plain},
    Release{"1.1", 10100, 312, Numbers::carry_the_agent},
    Release{"1.3", 10300, 344, Numbers::narrow},
    Release{"2.0", 20000, 400, Numbers::narrow},
};

[[noreturn]] inline void misused(const char* what) {
  std::fprintf(stderr, "stub of rocprofiler-sdk: %s\n", what);
  std::abort();
}

inline std::string_view setting(const char* name) {
  const char* text = std::getenv(name);
  return text == nullptr ? std::string_view() : std::string_view(text);
}

inline const Release& release() {
  static const Release& chosen = []() -> const Release& {
    const auto* found = std::ranges::find(kReleases, setting("WW_STUB_SDK"), &Release::name);
    return found == kReleases.end() ? kReleases[WW_STUB_GENERATION == 0 ? 1 : 3] : *found;
  }();
  return chosen;
}

inline bool has_fault(std::string_view fault) {
  std::string_view list = setting("WW_STUB_SDK_FAULTS");
  while (!list.empty()) {
    const auto end = std::min(list.find(','), list.size());
    if (list.substr(0, end) == fault) return true;
    list.remove_prefix(std::min(end + 1, list.size()));
  }
  return false;
}

template <class Value>
void put(void* bytes, std::size_t at, Value value) {
  std::memcpy(static_cast<char*>(bytes) + at, &value, sizeof value);
}

template <class Value>
Value get(const void* bytes, std::size_t at) {
  Value value;
  std::memcpy(&value, static_cast<const char*>(bytes) + at, sizeof value);
  return value;
}

// A structure of so many bytes, which is passed by value.
template <std::size_t Size>
struct alignas(8) Bytes {
  std::array<char, Size> bytes{};
};
using DispatchData = Bytes<168>;
using TracingOfGeneration0 = Bytes<56>;
using TracingOfGeneration1 = Bytes<64>;

constexpr Handle kAgent = 0x7a11;
constexpr std::uint64_t kAgentBits = std::uint64_t{3} << 12;

struct Counter {
  std::string name;           // "TCC_EA_RDREQ"
  std::string block;          // "TCC"
  std::uint32_t of_device{};  // its place in the virtual GPU's list
};

using DispatchCallback = void (*)(DispatchData, Handle*, void*, void*);
using RecordCallback = void (*)(DispatchData, void*, std::size_t, std::uint64_t, void*);

struct Stub {
  std::mutex mutex;
  const ww_vgpu_abi* abi{};
  std::vector<Counter> counters;
  std::map<Handle, std::vector<std::size_t>> configs;
  std::map<std::string, std::uint64_t> kernels;
  Handle contexts{};
  std::map<Handle, bool> started;

  DispatchCallback on_dispatch{};
  RecordCallback on_records{};
  void* dispatch_data{};
  void* record_data{};
  Handle dispatch_context{};
  void* on_code_object{};
  void* code_object_data{};

  // Records that its own thread hands over.
  struct Records {
    DispatchData dispatch;
    std::vector<char> records;
    std::size_t count{};
  };
  std::condition_variable changed;
  std::deque<Records> waiting;
  bool configured{};  // each tool's initialize has returned
  bool ending{};
  std::thread consumer;
  pid_t process{::getpid()};
  std::vector<void*> finalizers;
};

Stub& stub();

// The records of the counters' values: each split over the instances, the rest on the last. With
// `lose`, an instance of the first counter has none. Returns how many records there are.
std::size_t append_records(std::vector<char>& out, const std::vector<std::size_t>& counters,
                           const std::vector<double>& values, std::uint64_t dispatch, bool lose);

// The counting of the whole device (stub_device_counting.cpp). `values` are of a launch, by the
// virtual GPU's list; the status is of a start or a stop, and of contexts without this service it
// is that of any other.
void device_launched(const std::vector<double>& values);
Status start_device(Handle context);
void end_device_counting();

}  // namespace ww::stub
