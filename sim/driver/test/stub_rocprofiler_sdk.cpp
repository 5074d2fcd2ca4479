// rocprofiler-sdk as tests need it: it counts what the virtual GPU counted, in the layouts, with
// the numbers and with the faults of the releases. It declares nothing of the interface itself, but
// reads and writes bytes at offsets, so that a wrong declaration in wirewatt shows.
//
// WW_STUB_SDK: the release, one of kReleases. WW_STUB_SDK_FAULTS: a list with commas of the faults
// that has_fault() is asked for. WW_STUB_SDK_AGENT: the part that the card says it is, "gfx1151".
// WW_STUB_SDK_ABSENT: a counter that the release does not have.
#include <dlfcn.h>
#include <time.h>
#include <unistd.h>

#include <chrono>

#include "stub_rocprofiler_sdk.hpp"

namespace ww::stub {

Stub& stub() {
  static auto& only = *new Stub;
  return only;
}

namespace {

std::int64_t clock_ns(clockid_t clock) {
  timespec now{};
  ::clock_gettime(clock, &now);
  return now.tv_sec * std::int64_t{1'000'000'000} + now.tv_nsec;
}

// CLOCK_BOOTTIME minus CLOCK_MONOTONIC, as far as this thread can read both without a pause.
std::int64_t boot_offset_ns() {
  std::int64_t offset = 0;
  std::int64_t least = INT64_MAX;
  for (int i = 0; i < 50; ++i) {
    const std::int64_t before = clock_ns(CLOCK_MONOTONIC);
    const std::int64_t boot = clock_ns(CLOCK_BOOTTIME);
    const std::int64_t gap = clock_ns(CLOCK_MONOTONIC) - before;
    if (gap >= least) continue;
    least = gap;
    offset = boot - before - gap / 2;
  }
  return offset;
}

// --- counters
// -------------------------------------------------------------------------------------

void list_counters() {
  Stub& all = stub();
  const std::string_view absent = setting("WW_STUB_SDK_ABSENT");
  for (std::uint32_t i = 0; i < all.abi->counter_count(); ++i) {
    std::string_view name = all.abi->counter_name(i);
    constexpr std::string_view kSum = "_sum";
    if (name.starts_with("WW_") || !name.ends_with(kSum)) continue;
    name.remove_suffix(kSum.size());
    if (name == absent) continue;
    all.counters.push_back({std::string(name), std::string(name.substr(0, name.find('_'))), i});
  }
}

std::uint64_t counter_number(std::size_t counter, bool listed) {
  const bool carries = listed && release().numbers == Numbers::carry_the_agent;
  return counter + 1 + (carries ? kAgentBits : 0);
}

// The counter's place in the list; its size where there is none.
std::size_t counter_of(std::uint64_t number) {
  if (release().numbers == Numbers::carry_the_agent) number &= ~kAgentBits;
  return number == 0 ? stub().counters.size() : number - 1;
}

constexpr int number_shift(Numbers numbers) {
  return numbers == Numbers::narrow ? 24 : 48;
}

std::uint64_t instance_number(std::size_t counter, std::uint32_t instance) {
  return counter_number(counter, false) << number_shift(release().numbers) | instance << 3;
}

}  // namespace

std::size_t append_records(std::vector<char>& out, const std::vector<std::size_t>& counters,
                           const std::vector<double>& values, std::uint64_t dispatch, bool lose) {
  constexpr std::size_t kBytes = 40;
  const std::uint32_t instances = has_fault("many_instances") ? 100 : 8;
  std::vector<std::pair<std::uint64_t, double>> records;
  for (const std::size_t counter : counters) {
    double value = values[stub().counters[counter].of_device];
    if (has_fault("zeros")) value = 0;
    const bool half = has_fault("half_gl2c") && stub().counters[counter].block == "GL2C";
    const std::uint64_t whole_share = static_cast<std::uint64_t>(value) / instances;
    const auto share = static_cast<double>(whole_share);
    for (std::uint32_t instance = 0; instance < instances; ++instance) {
      if (half && instance % 2 == 1) continue;
      if (lose && counter == counters.front() && instance == 5) continue;
      const bool last = instance + 1 == instances;
      records.emplace_back(instance_number(counter, instance),
                           last ? value - share * (instances - 1) : share);
    }
  }
  if (release().version >= 10300) std::ranges::reverse(records);
  out.assign(records.size() * kBytes, 0);
  for (std::size_t i = 0; i < records.size(); ++i) {
    char* record = out.data() + i * kBytes;
    put(record, 0, records[i].first);
    put(record, 8, records[i].second);
    put(record, 16, dispatch);
    put(record, 32, kAgent);
  }
  return records.size();
}

namespace {

// --- launches
// -------------------------------------------------------------------------------------

void consume() {
  Stub& all = stub();
  std::unique_lock lock(all.mutex);
  while (true) {
    all.changed.wait(lock, [&] { return all.ending || !all.waiting.empty(); });
    if (all.waiting.empty()) return;
    auto next = std::move(all.waiting.front());
    all.waiting.pop_front();
    lock.unlock();
    if (has_fault("late")) std::this_thread::sleep_for(std::chrono::milliseconds(50));
    all.on_records(next.dispatch, next.records.data(), next.count, 0, all.record_data);
    lock.lock();
  }
}

template <class Record>
void hand_over_symbol(std::size_t at, const void* payload) {
  Record record;
  put(record.bytes.data(), at, 10);
  put(record.bytes.data(), at + 4, 2);
  put(record.bytes.data(), at + 8, 1);
  put(record.bytes.data(), at + 16, payload);
  const auto callback = reinterpret_cast<void (*)(Record, void*, void*)>(stub().on_code_object);
  std::uint64_t user_data = 0;
  callback(record, &user_data, stub().code_object_data);
}

std::uint64_t kernel_number(const std::string& name) {
  Stub& all = stub();
  const auto [kernel, is_new] = all.kernels.try_emplace(name, all.kernels.size() + 100);
  if (is_new && all.on_code_object != nullptr && !has_fault("unnamed")) {
    const std::string symbol = name + ".kd";
    Bytes<64> payload;
    put(payload.bytes.data(), 0, std::uint64_t{64});
    put(payload.bytes.data(), 8, kernel->second);
    put(payload.bytes.data(), 24, symbol.c_str());
    if (release().first_generation()) {
      hand_over_symbol<TracingOfGeneration0>(32, payload.bytes.data());
    } else {
      hand_over_symbol<TracingOfGeneration1>(40, payload.bytes.data());
    }
  }
  return kernel->second;
}

void launched(const ww_vgpu_launch* launch) {
  Stub& all = stub();
  if (::getpid() != all.process || all.ending) return;
  ww_vgpu_dispatch ran{};
  if (all.abi->dispatch(launch->dispatch, &ran) != 0) return;
  std::vector<double> values(all.abi->counter_count());
  if (all.abi->dispatch_counters(launch->dispatch, values.data(),
                                 static_cast<std::uint32_t>(values.size())) != 0) {
    return;
  }
  device_launched(values);
  if (all.on_dispatch == nullptr) return;
  DispatchData data;
  char* bytes = data.bytes.data();
  put(bytes, 0, std::uint64_t{168});
  put(bytes, 40, std::uint64_t{72});
  put(bytes, 48, kAgent);
  put(bytes, 56, std::uint64_t{1});
  put(bytes, 64, kernel_number(ran.kernel));
  put(bytes, 72, launch->dispatch + 1);
  put(bytes, 88, std::array{static_cast<std::uint32_t>(launch->workgroup_size), 1U, 1U});
  put(bytes, 100, std::array{static_cast<std::uint32_t>(launch->grid_size), 1U, 1U});
  Handle config = 0;
  std::uint64_t user_data = 0;
  all.on_dispatch(data, &config, &user_data, all.dispatch_data);
  if (config == 0) return;
  const auto counted = all.configs.find(config);
  if (counted == all.configs.end()) misused("a launch got a configuration that was never made");
  // As if the chip's clock had begun at the last start of the machine.
  static const std::int64_t offset = boot_offset_ns();
  put(bytes, 24, ran.start_ns + offset);
  put(bytes, 32, ran.end_ns + offset);
  if (has_fault("lost") && launch->dispatch % 3 == 1) return;
  Stub::Records records{data, {}, 0};
  records.count = append_records(records.records, counted->second, values, launch->dispatch + 1,
                                 has_fault("lost_instance") && launch->dispatch % 2 == 0);
  const std::lock_guard lock(all.mutex);
  all.waiting.push_back(std::move(records));
  if (!all.consumer.joinable()) all.consumer = std::thread(consume);
  all.changed.notify_all();
}

// --- tools
// ----------------------------------------------------------------------------------------

void finalize() {
  Stub& all = stub();
  if (::getpid() != all.process) return;
  {
    const std::lock_guard lock(all.mutex);
    all.ending = true;
    all.changed.notify_all();
  }
  if (all.consumer.joinable()) all.consumer.join();
  end_device_counting();
  for (void* result : all.finalizers) {
    const auto end = get<void (*)(void*)>(result, 16);
    if (end != nullptr) end(get<void*>(result, 24));
  }
}

// Paths of ROCP_TOOL_LIBRARIES as the library reads them: what follows the last colon is lost.
std::vector<std::string> tool_paths() {
  std::string_view list = setting("ROCP_TOOL_LIBRARIES");
  if (list.empty()) return {};
  if (list.find(':') == std::string_view::npos) return {std::string(list)};
  std::vector<std::string> paths;
  for (auto colon = list.find(':'); colon != std::string_view::npos; colon = list.find(':')) {
    if (colon > 0) paths.emplace_back(list.substr(0, colon));
    list.remove_prefix(colon + 1);
  }
  return paths;
}

void add_tool(void* symbol, std::uint32_t priority) {
  const auto configure =
      reinterpret_cast<void* (*)(std::uint32_t, const char*, std::uint32_t, void*)>(symbol);
  Bytes<24> client;
  const bool first = release().first_generation();
  if (!first) put(client.bytes.data(), 0, std::uint64_t{24});
  void* result = configure(release().version, "stub", priority, client.bytes.data());
  if (result == nullptr) return;
  if (!first && get<std::uint64_t>(client.bytes.data(), 0) != 24) {
    misused("the tool's name lies over the size of its structure");
  }
  const char* name = get<const char*>(client.bytes.data(), first ? 0 : 8);
  if (name == nullptr || std::strlen(name) == 0) misused("the tool has no name");
  stub().finalizers.push_back(result);
  const auto initialize = get<int (*)(void*, void*)>(result, 8);
  if (initialize != nullptr) initialize(nullptr, get<void*>(result, 24));
}

}  // namespace
}  // namespace ww::stub

using namespace ww::stub;  // NOLINT(google-build-using-namespace): the entries below are its own

WW_STUB_EXPORT int rocprofiler_set_api_table(const char* name, std::uint64_t, std::uint64_t,
                                             void** tables, std::uint64_t count) {
  if (std::string_view(name) != WW_VGPU_TOOL_TABLE_NAME || count != 1) return kError;
  Stub& all = stub();
  auto* table = static_cast<ww_vgpu_tool_table*>(tables[0]);
  all.abi = table->get_abi(WW_VGPU_ABI_VERSION);
  if (all.abi == nullptr) return kError;
  list_counters();
  if (has_fault("eperm")) std::fprintf(stderr, "Device 0 could not be locked: EPERM\n");
  if (has_fault("ebusy")) std::fprintf(stderr, "Device 0 could not be locked: EBUSY\n");
  std::atexit(finalize);
  std::uint32_t tools = 0;
  for (const std::string& path : tool_paths()) {
    void* library = ::dlopen(path.c_str(), RTLD_LAZY | RTLD_LOCAL);
    if (library == nullptr) misused(::dlerror());
    void* symbol = ::dlsym(library, "rocprofiler_configure");
    if (symbol != nullptr) add_tool(symbol, tools++);
  }
  if (void* symbol = ::dlsym(RTLD_DEFAULT, "rocprofiler_configure")) add_tool(symbol, tools++);
  all.configured = true;
  table->launched = launched;
  return kSuccess;
}

WW_STUB_EXPORT Status rocprofiler_get_version(std::uint32_t* major, std::uint32_t* minor,
                                              std::uint32_t* patch) {
  *major = release().version / 10000;
  *minor = release().version % 10000 / 100;
  *patch = release().version % 100;
  return kSuccess;
}

WW_STUB_EXPORT const char* rocprofiler_get_status_string(Status status) {
  switch (status) {
    case kSuccess: return "success";
    case kHsaNotLoaded: return "HSA is not loaded yet";
    case kFinalized: return "the library has ended";
    case kIncompatibleAbi: return "incompatible ABI";
    case kConflict: return "another service of this kind is configured";
    case kExceedsHardwareLimit: return "exceeds the hardware's limit";
    case kPermissionDenied: return "permission denied";
    default: return "error";
  }
}

WW_STUB_EXPORT Status rocprofiler_create_context(Handle* context) {
  if (*context != 0) return kError;
  *context = ++stub().contexts;
  return kSuccess;
}

WW_STUB_EXPORT Status rocprofiler_start_context(Handle context) {
  stub().started[context] = true;
  return start_device(context);
}

WW_STUB_EXPORT Status rocprofiler_stop_context(Handle context) {
  if (has_fault("hang_on_stop")) std::this_thread::sleep_for(std::chrono::hours(1));
  stub().started[context] = false;
  return kSuccess;
}

WW_STUB_EXPORT Status rocprofiler_query_available_agents(int version,
                                                         Status (*callback)(int, const void**,
                                                                            std::size_t, void*),
                                                         std::size_t size, void* data) {
  if (version != 1 || size > release().agent_bytes) return kIncompatibleAbi;
  static const std::string name = [] {
    const auto asked = setting("WW_STUB_SDK_AGENT");
    return std::string(asked.empty() ? stub().abi->chip_info()->target : asked);
  }();
  static Bytes<400> gpu, cpu;
  for (auto [agent, type] : {std::pair(&cpu, 1U), std::pair(&gpu, 2U)}) {
    char* bytes = agent->bytes.data();
    put(bytes, 0, std::uint64_t{release().agent_bytes});
    put(bytes, 8, kAgent + (type == 2 ? 0 : 1));
    put(bytes, 16, type);
    put(bytes, 108, std::uint32_t{0x300});
    put(bytes, 248, name.c_str());
    put(bytes, 264, type == 2 ? "virtual GPU behind a stub" : "processor");
    put(bytes, 280, std::uint32_t{type == 2 ? 4U : 0U});
  }
  const void* agents[] = {&cpu, &gpu};
  return callback(version, agents, 2, data);
}

WW_STUB_EXPORT Status rocprofiler_iterate_agent_supported_counters(
    Handle agent, Status (*callback)(Handle, Handle*, std::size_t, void*), void* data) {
  if (agent != kAgent) return kError;
  std::vector<Handle> numbers(stub().counters.size());
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = counter_number(i, true);
  return callback(agent, numbers.data(), numbers.size(), data);
}

WW_STUB_EXPORT Status rocprofiler_query_counter_info(Handle number, int version, void* info) {
  const std::size_t counter = counter_of(number);
  if (version != 1 || counter >= stub().counters.size()) return kError;
  put(info, 0, number);
  put(info, 8, stub().counters[counter].name.c_str());
  put(info, 24, stub().counters[counter].block.c_str());
  return kSuccess;
}

WW_STUB_EXPORT Status rocprofiler_query_record_counter_id(std::uint64_t instance, Handle* number) {
  *number = instance >> number_shift(release().numbers);
  return kSuccess;
}

// Renamed in 1.0.
#if WW_STUB_GENERATION == 0
#define WW_CREATE_CONFIG rocprofiler_create_profile_config
#else
#define WW_CREATE_CONFIG rocprofiler_create_counter_config
#endif
WW_STUB_EXPORT Status WW_CREATE_CONFIG(Handle agent, Handle* numbers, std::size_t count,
                                       Handle* config) {
  if (*config != 0) misused("a new configuration would extend another one");
  if (agent != kAgent) return kError;
  if (has_fault("denied")) return kPermissionDenied;
  std::map<std::string, int> of_block;
  std::vector<std::size_t> counters;
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t counter = counter_of(numbers[i]);
    if (counter >= stub().counters.size()) return kError;
    counters.push_back(counter);
    const int most = has_fault("two_a_block") ? 2 : 4;
    if (++of_block[stub().counters[counter].block] > most) return kExceedsHardwareLimit;
  }
  *config = stub().configs.size() + 1;
  stub().configs[*config] = counters;
  return kSuccess;
}

WW_STUB_EXPORT Status rocprofiler_configure_callback_tracing_service(Handle, int kind, const int*,
                                                                     std::size_t, void* callback,
                                                                     void* data) {
  if (kind != 10) return kError;
  stub().on_code_object = callback;
  stub().code_object_data = data;
  return kSuccess;
}

WW_STUB_EXPORT Status rocprofiler_configure_callback_dispatch_counting_service(
    Handle context, DispatchCallback on_dispatch, void* dispatch_data, RecordCallback on_records,
    void* record_data) {
  if (has_fault("conflict") || stub().on_dispatch != nullptr) return kConflict;
  stub().dispatch_context = context;
  stub().on_dispatch = on_dispatch;
  stub().on_records = on_records;
  stub().dispatch_data = dispatch_data;
  stub().record_data = record_data;
  return kSuccess;
}
