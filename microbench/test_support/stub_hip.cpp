// A libamdhip64 for tests, over the virtual GPU: what HIP's runtime does with a code object and
// packed arguments really happens. A package of several devices has them at PCI buses 3, 4, ...;
// each has its own modules, and reaches another's memory once peer access is enabled. Errors stick
// from a fault on until hipSetDevice chooses the device again, as a lost context does until the
// process ends.
//
// WW_STUB_HIP_CHIP names the virtual chip, or its file (w9100).
//
// WW_STUB_HIP_TARGET names another target than the chip's, which the device shows. wirewatt's own
// kernels for it are executed as those for the chip's target.
//
// WW_STUB_HIP_CARDS lists other devices instead, on which nothing runs, as lines of
// "PCI TARGET NAME". They are there to be chosen from.
//
// WW_STUB_HIP_FAULT says what the first allocation does instead: hang, crash, exit.
//
// WW_STUB_HIP_PEERS says how devices reach each other's memory: xgmi (the default), pcie, none.
// HIP_VISIBLE_DEVICES lists the devices that there are, as for AMD's runtime.
//
// WW_STUB_HIP_COUNTERS names a file that gets the counters of all dispatches at the program's end,
// as rocprof v1 writes them.
//
// WW_STUB_HIP_JITTER_US, _LATE and _RAMP_MS make the times between events those of real cards: with
// so much noise (standard deviation), that share of them 15 us too long, and a clock that climbs
// from 0.3 of its rate for so long from the first work on. WW_STUB_HIP_SEED seeds them.
//
// With chip_clock.cpp before the C library and WW_STUB_HIP_TREE naming a tree of kernel files
// (fake_amd_tree.hpp), the program lives in the chip's time, and the chip's sensor is what those
// files show.
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "card_files.hpp"
#include "other_target.hpp"
#include "ww/binpatch/code_object.hpp"
#include "ww/core/split_mix.hpp"
#include "ww/sim/gpu/virtual_gpu.hpp"

namespace {

using namespace ww;
using TheCard = microbench::testing::ProcessCard<sim::gpu::VirtualGpu>;

constexpr int success = 0;
constexpr int invalid_value = 1;
constexpr int out_of_memory = 2;
constexpr int kInvalidDevice = 101;
constexpr int kInvalidImage = 200;
constexpr int kPeerAccessUnsupported = 217;
constexpr int not_found = 500;
constexpr int kIllegalAddress = 700;
constexpr int peer_access_already_enabled = 704;
constexpr unsigned kMaxWorkItems = 256;

struct Module {
  binpatch::CodeObject object;
  sim::gpu::ProgramId program{};
  int device{};
};
struct Function {
  Module* module{};
  const binpatch::Kernel* kernel{};
};
struct Event {
  std::int64_t time_ns{};
};

double number_of(const char* variable) {
  const char* set = std::getenv(variable);
  return set != nullptr ? std::atof(set) : 0;
}

// Times between events as a real card's would be. The chip itself keeps its own time.
class Events {
 public:
  static Events& of_process() {
    static Events events;
    return events;
  }
  float milliseconds(std::int64_t time_ns) {
    constexpr double kIdleClock = 0.3;
    constexpr double kLateMs = 0.015;
    double shown = static_cast<double>(time_ns) * 1e-6;
    if (worked_ms_ < ramp_ms_) shown /= kIdleClock + (1 - kIdleClock) * worked_ms_ / ramp_ms_;
    worked_ms_ += shown;
    if (late_ > 0 && random_.unit() < late_) shown += kLateMs;
    if (jitter_ms_ > 0) shown += jitter_ms_ * random_.normal();
    return static_cast<float>(std::max(shown, 1e-4));
  }

 private:
  double jitter_ms_{number_of("WW_STUB_HIP_JITTER_US") * 1e-3};
  double late_{number_of("WW_STUB_HIP_LATE")};
  double ramp_ms_{number_of("WW_STUB_HIP_RAMP_MS")};
  double worked_ms_{};
  ww::SplitMix random_{static_cast<std::uint64_t>(number_of("WW_STUB_HIP_SEED"))};
};

std::string chip_name() {
  const char* set = std::getenv("WW_STUB_HIP_CHIP");
  return set != nullptr ? set : "w9100";
}

// The target that the device shows; the chip's own where no other is named.
std::string shown_target() {
  const char* set = std::getenv("WW_STUB_HIP_TARGET");
  return set != nullptr ? set : "";
}

struct ListedCard {
  std::string pci, target, name;
};
// Reads WW_STUB_HIP_CARDS; returns nothing where it is not set.
const std::optional<std::vector<ListedCard>>& listed_cards() {
  static const auto cards = []() -> std::optional<std::vector<ListedCard>> {
    const char* set = std::getenv("WW_STUB_HIP_CARDS");
    if (set == nullptr) return {};
    std::vector<ListedCard> found;
    std::istringstream lines(set);
    for (ListedCard card; lines >> card.pci >> card.target >> std::ws;) {
      std::getline(lines, card.name);
      found.push_back(card);
    }
    return found;
  }();
  return cards;
}
const ListedCard* listed_card(int device) {
  const auto& cards = listed_cards();
  return cards ? &cards->at(static_cast<std::size_t>(device)) : nullptr;
}

struct Runtime {
  std::unique_ptr<sim::gpu::VirtualGpu> gpu;
  std::map<void*, std::unique_ptr<Module>> modules;
  std::vector<std::unique_ptr<Function>> functions;
  std::vector<int> devices;           // of the package, by ordinal
  int chosen{};                       // of the package
  std::map<std::uint64_t, int> home;  // of allocations: the package's device
  std::set<std::pair<int, int>> peers;
  int lost{};
};

void write_counters();

// Lists the devices of HIP_VISIBLE_DEVICES; all where it is not set.
std::vector<int> visible_devices(int all) {
  std::vector<int> devices;
  if (const char* set = std::getenv("HIP_VISIBLE_DEVICES"); set != nullptr) {
    std::istringstream list(set);
    for (std::string one; std::getline(list, one, ',');) devices.push_back(std::stoi(one));
  } else {
    for (int device = 0; device < all; ++device) devices.push_back(device);
  }
  return devices;
}

Runtime* runtime() {
  static Runtime* instance = [] {
    auto made = std::make_unique<Runtime>();
    if (listed_cards()) {
      made->devices = visible_devices(static_cast<int>(listed_cards()->size()));
      return made.release();
    }
    auto chip = sim::gpu::Chip::load({.chip = chip_name()});
    sim::gpu::Options options;
    options.threads = 1;
    if (chip) {
      made->devices = visible_devices(chip->architecture().devices);
      if (auto gpu = sim::gpu::VirtualGpu::create(*chip, options)) made->gpu = std::move(*gpu);
    }
    if (made->gpu && std::getenv("WW_STUB_HIP_COUNTERS") != nullptr) std::atexit(write_counters);
    return made.release();  // the driver lives as long as the process
  }();
  return instance;
}

// Writes counters at the end of a program that rocprof (of a test) watches.
void write_counters() {
  const auto& gpu = *runtime()->gpu;
  std::ofstream out(std::getenv("WW_STUB_HIP_COUNTERS"));
  out << "Index,KernelName,gpu-id,queue-id,queue-index,pid,tid,grd,wgr,lds,scr,arch_vgpr,accum_"
         "vgpr,"
         "sgpr,wave_size,sig,obj";
  for (const auto& name : gpu.counter_names()) out << ',' << name;
  out << '\n';
  std::vector<double> values(gpu.counter_names().size());
  for (std::uint64_t id = 0; id < gpu.dispatch_count(); ++id) {
    const auto dispatch = gpu.dispatch(id);
    if (!dispatch || !gpu.counters(id, values)) continue;
    out << id << ",\"" << dispatch->kernel << ".kd\",0,0," << id << ",1,1," << dispatch->grid_size
        << ',' << dispatch->workgroup_size << ",0,0,8,0,16,64,0x0,0x0";
    for (const double value : values) out << ',' << std::to_string(value);
    out << '\n';
  }
}

std::uint64_t address(const void* pointer) {
  return reinterpret_cast<std::uint64_t>(pointer);
}

bool is_ordinal(int device) {
  return device >= 0 && device < static_cast<int>(runtime()->devices.size());
}
int of_package(int ordinal) {
  return runtime()->devices[static_cast<std::size_t>(ordinal)];
}

std::string_view peer_links() {
  const char* set = std::getenv("WW_STUB_HIP_PEERS");
  return set != nullptr ? set : "xgmi";
}

// Whether the chosen device reaches every buffer that the arguments name.
bool reaches_buffers(const binpatch::Kernel& kernel, std::span<const std::byte> kernarg) {
  const Runtime& state = *runtime();
  return std::ranges::none_of(kernel.arguments, [&](const auto& argument) {
    if (argument.value_kind != "global_buffer") return false;
    std::uint64_t at = 0;
    std::memcpy(&at, kernarg.data() + argument.offset, sizeof at);
    const auto after = state.home.upper_bound(at);
    if (after == state.home.begin()) return false;
    const int home = std::prev(after)->second;
    return home != state.chosen && !state.peers.contains({state.chosen, home});
  });
}

// A code object names no size: its section headers end it, as the ELF header says.
std::span<const std::byte> image_of(const void* data) {
  std::uint64_t headers = 0;
  std::uint16_t size = 0;
  std::uint16_t count = 0;
  const auto* bytes = static_cast<const std::byte*>(data);
  std::memcpy(&headers, bytes + 40, 8);
  std::memcpy(&size, bytes + 58, 2);
  std::memcpy(&count, bytes + 60, 2);
  return {bytes, headers + std::uint64_t{size} * count};
}

}  // namespace

extern "C" {

const char* wirewatt_virtual_device() {
  static const std::string chip = chip_name();
  return chip.c_str();
}
int hipInit(unsigned) {
  if (listed_cards()) return success;
  if (!runtime()->gpu) return 100;
  TheCard::attach(*runtime()->gpu, std::getenv("WW_STUB_HIP_TREE"));
  return success;
}
int hipGetDeviceCount(int* count) {
  *count = static_cast<int>(runtime()->devices.size());
  return success;
}
int hipSetDevice(int device) {
  if (!is_ordinal(device)) return kInvalidDevice;
  const int chosen = of_package(device);
  if (chosen == runtime()->chosen) runtime()->lost = 0;
  runtime()->chosen = chosen;
  if (runtime()->gpu) runtime()->gpu->select_device(chosen);
  return success;
}
int hipDeviceGetName(char* name, int size, int device) {
  if (const ListedCard* card = listed_card(device)) {
    std::strncpy(name, card->name.c_str(), static_cast<std::size_t>(size));
    return success;
  }
  const std::string shown = chip_name() == "w9100" ? "AMD FirePro W9100 (stub over the virtual GPU)"
                                                   : "AMD GPU (stub over the virtual GPU)";
  std::strncpy(name, shown.c_str(), static_cast<std::size_t>(size));
  return success;
}
int hipDeviceGetPCIBusId(char* name, int size, int device) {
  if (!is_ordinal(device)) return kInvalidDevice;
  if (const ListedCard* card = listed_card(device)) {
    std::strncpy(name, card->pci.c_str(), static_cast<std::size_t>(size));
    return success;
  }
  std::snprintf(name, static_cast<std::size_t>(size), "0000:%02x:00.0", 3 + of_package(device));
  return success;
}
// hipDeviceAttributeMultiprocessorCount; others are 0.
int hipDeviceGetAttribute(int* value, int attribute, int device) {
  if (!is_ordinal(device)) return kInvalidDevice;
  *value = attribute == 63 && runtime()->gpu
               ? runtime()->gpu->chip().architecture().compute_units_of_device()
               : 0;
  return success;
}
int hipDeviceTotalMem(std::size_t* bytes, int device) {
  if (!is_ordinal(device)) return kInvalidDevice;
  *bytes =
      runtime()->gpu
          ? static_cast<std::size_t>(runtime()->gpu->chip().architecture().memory_bytes_of_device())
          : std::size_t{1} << 30;
  return success;
}
int hipDeviceCanAccessPeer(int* can, int device, int peer) {
  if (!is_ordinal(device) || !is_ordinal(peer)) return kInvalidDevice;
  *can = device != peer && peer_links() != "none" ? 1 : 0;
  return success;
}
int hipDeviceEnablePeerAccess(int peer, unsigned) {
  if (!is_ordinal(peer) || of_package(peer) == runtime()->chosen) return kInvalidDevice;
  if (peer_links() == "none") return kPeerAccessUnsupported;
  const bool is_new = runtime()->peers.emplace(runtime()->chosen, of_package(peer)).second;
  return is_new ? success : peer_access_already_enabled;
}
// hsa_amd_link_info_type_t: 2 is PCIe, 4 is xGMI.
int hipExtGetLinkTypeAndHopCount(int device, int peer, std::uint32_t* type, std::uint32_t* hops) {
  if (!is_ordinal(device) || !is_ordinal(peer)) return kInvalidDevice;
  *type = peer_links() == "pcie" ? 2 : 4;
  *hops = 1;
  return success;
}
int hipDriverGetVersion(int* version) {
  *version = 50221153;
  return success;
}
// Fills in ROCm 6's layout: the architecture's name begins at byte 1160.
int hipGetDevicePropertiesR0600(void* properties, int device) {
  if (!is_ordinal(device)) return kInvalidDevice;
  auto* bytes = static_cast<char*>(properties);
  std::memset(bytes, 0, 1472);
  std::strcpy(bytes, "AMD FirePro gfxless");
  const ListedCard* card = listed_card(device);
  const std::string target = card != nullptr ? card->target
                             : !shown_target().empty()
                                 ? shown_target()
                                 : runtime()->gpu->chip().architecture().gfx_target;
  std::strcpy(bytes + 1160, target.c_str());
  return success;
}
int hipMalloc(void** pointer, std::size_t bytes) {
  if (const char* fault = std::getenv("WW_STUB_HIP_FAULT"); fault != nullptr) {
    const std::string_view what = fault;
    if (what == "hang") {
      for (;;) pause();
    }
    if (what == "crash") std::abort();
    if (what == "exit") _exit(7);
  }
  if (!runtime()->gpu) return out_of_memory;
  if (runtime()->lost != 0) return runtime()->lost;
  const auto made = runtime()->gpu->allocate(bytes);
  if (!made) return out_of_memory;
  // NOLINTNEXTLINE(performance-no-int-to-ptr): the chip's addresses are the program's pointers
  *pointer = reinterpret_cast<void*>(*made);
  runtime()->home[*made] = runtime()->chosen;
  return success;
}
int hipFree(void* pointer) {
  runtime()->home.erase(address(pointer));
  return runtime()->gpu->release(address(pointer)) ? success : invalid_value;
}
int hipMemcpyHtoD(void* to, void* from, std::size_t bytes) {
  if (runtime()->lost != 0) return runtime()->lost;
  TheCard::wait();
  return runtime()->gpu->write(address(to), {static_cast<const std::byte*>(from), bytes})
             ? success
             : invalid_value;
}
int hipMemcpyDtoH(void* to, void* from, std::size_t bytes) {
  if (runtime()->lost != 0) return runtime()->lost;
  TheCard::wait();
  return runtime()->gpu->read(address(from), {static_cast<std::byte*>(to), bytes}) ? success
                                                                                   : invalid_value;
}
int hipModuleLoadData(void** module, const void* image) {
  if (!runtime()->gpu) return kInvalidImage;
  if (runtime()->lost != 0) return runtime()->lost;
  if (std::memcmp(image,
                  "\x7f"
                  "ELF",
                  4) != 0)
    return kInvalidImage;
  std::span<const std::byte> bytes = image_of(image);
  std::vector<std::byte> translated;
  if (!shown_target().empty()) {
    auto other = microbench::testing::as_for_target(
        bytes, shown_target(), runtime()->gpu->chip().architecture().gfx_target);
    if (!other) {
      std::fprintf(stderr, "stub of HIP: %s\n", other.error().text().c_str());
      return kInvalidImage;
    }
    translated = std::move(*other);
    bytes = translated;
  }
  auto object = binpatch::CodeObject::parse(bytes);
  if (!object) return kInvalidImage;
  const auto program = runtime()->gpu->load(*object);
  if (!program) return kInvalidImage;
  auto made = std::make_unique<Module>(Module{std::move(*object), *program, runtime()->chosen});
  *module = made.get();
  runtime()->modules.emplace(*module, std::move(made));
  return success;
}
int hipModuleUnload(void* module) {
  const auto found = runtime()->modules.find(module);
  if (found == runtime()->modules.end()) return invalid_value;
  runtime()->gpu->unload(found->second->program);
  std::erase_if(runtime()->functions,
                [module](const auto& function) { return function->module == module; });
  runtime()->modules.erase(found);
  return success;
}
int hipModuleGetFunction(void** function, void* module, const char* name) {
  const auto found = runtime()->modules.find(module);
  if (found == runtime()->modules.end()) return invalid_value;
  const auto* kernel = found->second->object.find_kernel(name);
  if (kernel == nullptr) return not_found;
  auto made = std::make_unique<Function>(Function{found->second.get(), kernel});
  *function = made.get();
  runtime()->functions.push_back(std::move(made));
  return success;
}
int hipModuleLaunchKernel(void* handle, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                          unsigned by, unsigned bz, unsigned shared, void*, void** params,
                          void** extra) {
  if (runtime()->lost != 0) return runtime()->lost;
  if (params != nullptr || extra == nullptr || extra[0] != reinterpret_cast<void*>(1) ||
      extra[2] != reinterpret_cast<void*>(2) || extra[4] != reinterpret_cast<void*>(3)) {
    return invalid_value;
  }
  const auto* function = static_cast<Function*>(handle);
  if (function->module->device != runtime()->chosen) return kInvalidDevice;
  const auto& kernel = *function->kernel;
  const std::size_t size = *static_cast<std::size_t*>(extra[3]);
  if (bx * by * bz > kMaxWorkItems || size > kernel.kernarg_segment_size) return invalid_value;
  // Hidden arguments of code object version 4 are zero for a launch without an offset.
  std::vector<std::byte> kernarg(kernel.kernarg_segment_size);
  std::memcpy(kernarg.data(), extra[1], size);
  if (!reaches_buffers(kernel, kernarg)) {
    runtime()->lost = kIllegalAddress;  // seen when the queue is waited for
    return success;
  }
  TheCard::begin_work();
  const sim::gpu::Grid grid{3, {gx * bx, gy * by, gz * bz}, {bx, by, bz}};
  const auto done =
      runtime()->gpu->launch(function->module->program, kernel.name, grid, kernarg, shared);
  if (done) return success;
  if (done.error().code == ErrorCode::out_of_range) return invalid_value;
  std::fprintf(stderr, "%s\n", done.error().text().c_str());
  runtime()->lost = kIllegalAddress;  // seen when the queue is waited for
  return success;
}
int hipDeviceSynchronize() {
  TheCard::wait();
  return runtime()->lost;
}
int hipEventCreate(void** event) {
  *event = new Event;
  return success;
}
int hipEventDestroy(void* event) {
  delete static_cast<Event*>(event);
  return success;
}
int hipEventRecord(void* event, void*) {
  static_cast<Event*>(event)->time_ns = runtime()->gpu->now_ns();
  return success;
}
int hipEventElapsedTime(float* milliseconds, void* begin, void* end) {
  *milliseconds = Events::of_process().milliseconds(static_cast<Event*>(end)->time_ns -
                                                    static_cast<Event*>(begin)->time_ns);
  return success;
}
const char* hipGetErrorName(int code) {
  switch (code) {
    case success: return "hipSuccess";
    case invalid_value: return "hipErrorInvalidValue";
    case out_of_memory: return "hipErrorOutOfMemory";
    case kInvalidDevice: return "hipErrorInvalidDevice";
    case kInvalidImage: return "hipErrorInvalidImage";
    case kPeerAccessUnsupported: return "hipErrorPeerAccessUnsupported";
    case peer_access_already_enabled: return "hipErrorPeerAccessAlreadyEnabled";
    case not_found: return "hipErrorNotFound";
    case kIllegalAddress: return "hipErrorIllegalAddress";
    default: return "hipErrorUnknown";
  }
}

}  // extern "C"
