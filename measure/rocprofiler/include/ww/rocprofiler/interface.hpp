// The part of rocprofiler-sdk's C interface that wirewatt calls, declared here: no release of it is
// needed to build, and one build serves the releases 0.5, 0.6 and 1.0 to 1.3. Names, values and
// layouts are facts of the interface (ROCm/rocprofiler-sdk and ROCm/rocm-systems, headers of
// 0.5.0, 0.6.0, 1.0.0 and of August 2025). Structures that a later release makes larger are read up
// to the size that all of them have.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace ww::rocprofiler {

// 10000 * major + 100 * minor + patch, as the library hands it to rocprofiler_configure.
inline constexpr std::uint32_t kMajorStep = 10000;
inline constexpr std::uint32_t kMinorStep = 100;
[[nodiscard]] constexpr bool is_first_generation(std::uint32_t version) {
  return version < kMajorStep;
}

// Handles are structures of one 64-bit word, passed by value; 0 is none.
struct ContextId {
  std::uint64_t handle{};
};
struct AgentId {
  std::uint64_t handle{};
};
struct CounterId {
  std::uint64_t handle{};
};
struct ConfigId {
  std::uint64_t handle{};
};
struct BufferId {
  std::uint64_t handle{};
};
using InstanceId = std::uint64_t;  // of a counter: its number and the place of one instance
union UserData {
  std::uint64_t value;
  void* pointer;
};

using Status = int;
enum StatusCode : int {
  kSuccess = 0,
  kHsaNotLoaded = 22,    // a context starts once HSA is up
  kOutOfResources = 29,  // more records than there is room for
  kExceedsHardwareLimit = 38,
};

inline constexpr int kAgentInfoVersion0 = 1;
inline constexpr int kCounterInfoVersion0 = 1;
inline constexpr std::uint32_t kGpuAgent = 2;
inline constexpr int kCodeObjectTracing = 10;     // a kind of callback
inline constexpr int kKernelSymbolOperation = 2;  // of it
inline constexpr int kLoadPhase = 1;
inline constexpr int kDiscardPolicy = 1;  // of a full buffer
inline constexpr int kNoFlags = 0;        // a sample is returned at once

// The first 296 bytes of an agent, which every release has. A library refuses a larger size than
// its own, so this is the size to ask for.
struct Agent {
  std::uint64_t size;
  AgentId id;
  std::uint32_t type;
  std::array<std::byte, 80> unused_a;
  std::uint32_t gfx_target_version;  // 90010: gfx90a
  std::uint16_t vendor_id, device_id;
  std::uint32_t location_id;
  std::uint32_t domain;
  std::array<std::byte, 132> unused_b;
  const char* name;  // "gfx90a"
  const char* vendor_name;
  const char* product_name;
  const char* model_name;
  std::uint32_t node_id;
  std::int32_t logical_node_id;
  std::int32_t logical_node_type_id;
  std::uint32_t padding;
};
inline constexpr std::size_t kAgentSize = 296;

struct Size3 {
  std::uint32_t x, y, z;
};
struct DispatchInfo {
  std::uint64_t size;
  AgentId agent;
  std::uint64_t queue;
  std::uint64_t kernel;
  std::uint64_t dispatch;
  std::uint32_t private_bytes, group_bytes;
  Size3 workgroup, grid;
  std::array<std::byte, 56> reserved;
};
// Passed by value, so on the stack, where its size does not move the other arguments.
struct DispatchData {
  std::uint64_t size;
  std::array<std::uint64_t, 2> correlation;
  std::uint64_t start_ns, end_ns;  // CLOCK_BOOTTIME
  DispatchInfo info;
};
struct CounterRecord {
  InstanceId id;
  double value;
  std::uint64_t dispatch;
  UserData user_data;
  AgentId agent;
};
struct CounterInfo {  // version 0
  CounterId id;
  const char* name;
  const char* description;
  const char* block;
  const char* expression;
  std::uint64_t flags;
};

// As large as the largest release's. Where the operation and the payload are depends on it.
struct TracingRecord {
  std::array<std::uint64_t, 8> words;
};
struct TracedOperation {
  int kind{}, operation{}, phase{};
  const void* payload{};
};
// Generation 0 has them from byte 32 on, and generation 1 from byte 40 on.
[[nodiscard]] TracedOperation operation_of(const TracingRecord& record, std::uint32_t version);
struct KernelSymbol {
  std::uint64_t size;
  std::uint64_t kernel;
  std::uint64_t code_object;
  const char* name;  // ends in ".kd"
};

// The name of a tool has its place at byte 0 in generation 0 and at byte 8, behind a size, in
// generation 1.
void set_client_name(void* client_id, std::uint32_t version, const char* name);

struct ToolResult {
  std::size_t size;
  int (*initialize)(void* fini, void* data);  // fini is never called
  void (*finalize)(void* data);
  void* data;
};

using AgentsCallback = Status (*)(int version, const void** agents, std::size_t count, void* data);
using CountersCallback = Status (*)(AgentId agent, CounterId* counters, std::size_t count,
                                    void* data);
using DispatchCallback = void (*)(DispatchData dispatch, ConfigId* config, UserData* user_data,
                                  void* data);
using RecordCallback = void (*)(DispatchData dispatch, CounterRecord* records, std::size_t count,
                                UserData user_data, void* data);
using BufferCallback = void (*)(ContextId context, BufferId buffer, void** headers,
                                std::size_t count, void* data, std::uint64_t dropped);
using SetConfig = Status (*)(ContextId context, ConfigId config);
// Called within start_context, to choose what is counted.
using StartCallback = void (*)(ContextId context, AgentId agent, SetConfig set_config, void* data);
using TracingCallback = void (*)(TracingRecord record, UserData* user_data, void* data);

static_assert(sizeof(Agent) == kAgentSize && offsetof(Agent, gfx_target_version) == 100 &&
              offsetof(Agent, location_id) == 108 && offsetof(Agent, domain) == 112 &&
              offsetof(Agent, name) == 248 && offsetof(Agent, product_name) == 264 &&
              offsetof(Agent, node_id) == 280 && offsetof(Agent, logical_node_type_id) == 288);
static_assert(sizeof(DispatchInfo) == 128 && offsetof(DispatchInfo, kernel) == 24 &&
              offsetof(DispatchInfo, workgroup) == 48 && offsetof(DispatchInfo, grid) == 60);
static_assert(sizeof(DispatchData) == 168 && offsetof(DispatchData, start_ns) == 24 &&
              offsetof(DispatchData, info) == 40);
static_assert(sizeof(CounterRecord) == 40 && offsetof(CounterRecord, agent) == 32);
static_assert(sizeof(CounterInfo) == 48 && offsetof(CounterInfo, flags) == 40);
static_assert(sizeof(TracingRecord) == 64 && sizeof(KernelSymbol) == 32 &&
              sizeof(ToolResult) == 32);

}  // namespace ww::rocprofiler
