// A libcuda for tests: it executes the PTX that it is given (ptx_machine.hpp) on the card that
// stub_card.hpp describes; without a config that is one of eight SMs whose L2 has two sides. Errors
// show when the queue is waited for, and stick until the context is retained anew. With the
// config's `count` 2 there are two equal cards, in the order of CUDA, which is not that of NVML.
//
// With chip_clock.cpp before the C library and WW_STUB_CUDA_CHIP set, the program lives in the
// chip's time, and what its board draws goes to the clock, where the stub of NVML reads it.
//
// A launch that is like one before (same kernel, grid and arguments, stores of what was there, no
// clock, no old value of an atomic, and what it read unchanged) is not executed again: it takes as
// long, draws as much, and adds the same counts. Lines that it updates by XOR keep what the first
// one left, as nobody reads them.
#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include "ptx_machine.hpp"
#include "stub_card.hpp"
#include "stub_cuda.hpp"
#include "stub_levels.hpp"
#include "testing/board_step.hpp"
#include "testing/stub_config.hpp"

namespace {

using namespace ww::microbench::testing;
using ww::measure::testing::kFirstBoardBus;
using ww::measure::testing::kSecondBoardBus;
using ww::measure::testing::stub_config;

constexpr int success = 0;
constexpr int invalid_value = 1;
constexpr int out_of_memory = 2;
constexpr int kInvalidDevice = 101;
constexpr int kInvalidContext = 201;
constexpr int kInvalidPtx = 218;
constexpr int not_found = 500;
constexpr int kIllegalAddress = 700;
constexpr int launch_timeout = 702;
constexpr std::size_t memory_bytes = std::size_t{1} << 30;

struct Module {
  std::string ptx;
};
struct Function {
  PtxKernel kernel;
  std::string name;
};
struct Event {
  double seconds{};
};
struct LaunchCost {
  double seconds{};  // in chip time: at the full clock
  double slept_s{};  // in chip time, and not part of the above
  double joules{};   // over idle; in chip time: by what the launch does alone
  PtxWork work;
};
using LaunchKey = std::tuple<void*, std::array<unsigned, 6>, std::vector<std::byte>>;

struct Driver {
  StubCard card{StubCard::from_config()};
  StubLevels levels{card};
  std::array<StubBoard, 2> boards{StubBoard(card, kFirstBoardBus),
                                  StubBoard(card, kSecondBoardBus)};
  std::size_t current{};
  PtxMemory memory;
  std::map<void*, std::unique_ptr<Module>> modules;
  std::vector<std::unique_ptr<Function>> functions;
  double busy_s{};     // of all launches
  double over_idle{};  // energy of all launches [J]
  double slept_s{};
  unsigned launches{};
  int lost{};
  std::map<LaunchKey, LaunchCost> known;
  bool in_chip_time{};
  stub_cuda::Listener listener{};
};
Driver& driver() {
  static auto* instance = new Driver;  // as the process
  return *instance;
}
StubBoard& board() {
  return driver().boards[driver().current];
}

// Slow, so that tests need not execute for long; in chip time faster by chip_speed.
constexpr double kSecondsPerTick = 1e-7;

template <class Function>
Function chip_clock(const char* name) {
  return reinterpret_cast<Function>(dlsym(RTLD_DEFAULT, name));
}

// How the energy of ones differs from that of the card that tests expect: -1 makes random bits
// cheaper than zeros, as on no real card, so that a control fails.
double share_of_ones() {
  static const char* set = std::getenv("WW_STUB_CUDA_ONES");
  return set != nullptr ? std::atof(set) : 1.0;
}

void attach_chip_clock() {
  const auto attach = chip_clock<std::int64_t (*)(void (*)(std::int64_t))>("ww_chip_clock_attach");
  if (driver().in_chip_time || attach == nullptr || std::getenv("WW_STUB_CUDA_CHIP") == nullptr) {
    return;
  }
  const std::int64_t now = attach([](std::int64_t time_ns) {
    for (StubBoard& each : driver().boards) each.rest_until(time_ns);
  });
  for (StubBoard& each : driver().boards) each.start(now);
  driver().in_chip_time = true;
}

void wait_in_chip_time() {
  static const auto advance = chip_clock<void (*)(std::int64_t)>("ww_chip_clock_advance");
  if (driver().in_chip_time) advance(board().busy_until_ns());
}

// Forgets launches that read changed memory, or would change it again: they have to be executed.
void forget_launches(std::uint64_t address) {
  const std::uint64_t block = driver().memory.block_of(address);
  std::erase_if(driver().known, [block](const auto& entry) {
    const PtxWork& work = entry.second.work;
    return block == 0 || work.loaded.contains(block) || work.stored.contains(block);
  });
}

// Adds `times` what a launch added.
void add_again(const PtxWork& work, std::uint32_t times) {
  for (const auto& [address, sum] : work.added) {
    std::uint32_t value = 0;
    std::byte* at = driver().memory.at(address, sizeof value);
    if (at == nullptr) continue;
    std::memcpy(&value, at, sizeof value);
    value += times * sum;
    std::memcpy(at, &value, sizeof value);
  }
}

// Ticks of an atomic, and its energy.
unsigned take_atomic(LaunchCost& cost, unsigned sm, std::uint64_t address, std::uint32_t operand,
                     bool awaited) {
  const StubCard& card = driver().card;
  const double far = card.far_share(sm, address);
  const int ones = std::popcount(operand);
  cost.joules += 32 * card.joules_per_bit + ones * share_of_ones() * card.joules_per_one;
  cost.joules += far * (32 * card.joules_per_crossing_bit + ones * card.joules_per_crossing_one);
  if (!awaited) return static_cast<unsigned>(std::lround(card.reduction_ticks(sm, address)));
  static std::minstd_rand random(7);
  const double jitter = card.jitter_ticks * (static_cast<double>(random()) / random.max());
  return static_cast<unsigned>(std::lround(card.ticks(sm, address) + jitter));
}

// Kernels whose lanes and rounds do the same: some are executed and stand for the rest. The number
// of the argument that says how often a kernel goes round.
std::optional<unsigned> argument_of_loops(const Function& function) {
  if (function.name == "cross") return 3;
  if (function.name == "furnace") return 0;
  const bool streams = function.name == "ladder" || function.name == "bandwidth";
  if (streams && driver().card.l1_bytes > 0) return 4;
  return std::nullopt;
}

// Rounds of four accesses in which a stream goes through all of its set.
std::uint32_t loops_of_a_pass(const Function& function, const PtxLaunch& launch) {
  const std::uint64_t pieces = std::uint64_t{function.kernel.argument(launch, 2)} + 1;
  const std::uint64_t stride = function.kernel.argument(launch, 3);
  return static_cast<std::uint32_t>(std::max<std::uint64_t>(pieces / (4 * stride), 1));
}

// Sums over a launch's threads.
struct Ran {
  double instructions{}, ticks{}, most_ticks{}, slept_ns{};
  double joules{};        // of atomics
  double level_joules{};  // of loads and stores

  void add(const Ran& other, double times) {
    instructions += times * other.instructions;
    ticks += times * other.ticks;
    most_ticks += times * other.most_ticks;
    slept_ns += times * other.slept_ns;
    joules += times * other.joules;
    level_joules += times * other.level_joules;
  }
};

// Executes all of it. Nothing at a fault. What it adds, reads and stores goes to `work`.
std::optional<Ran> run_once(const Function& function, PtxLaunch& launch, PtxWork& work) {
  LaunchCost cost;
  double level_joules = 0;
  launch.atomic = [&cost](unsigned sm, std::uint64_t address, std::uint32_t operand, bool awaited) {
    return take_atomic(cost, sm, address, operand, awaited);
  };
  if (driver().card.l1_bytes > 0) {
    launch.access = [&level_joules](const PtxAccess& access) {
      const auto taken = driver().levels.take(access, driver().memory);
      level_joules += taken.joules;
      return taken.ticks;
    };
  }
  std::string problem;
  PtxWork& done = cost.work;
  if (!function.kernel.run(launch, driver().memory, problem, done)) {
    std::fprintf(stderr, "stub libcuda: %s\n", problem.c_str());
    return std::nullopt;
  }
  work.depends |= done.depends;
  work.loaded.merge(done.loaded);
  work.stored.merge(done.stored);
  work.changed.merge(done.changed);
  for (const auto& [address, sum] : done.added) work.added[address] += sum;
  return Ran{static_cast<double>(done.instructions),
             static_cast<double>(done.ticks),
             static_cast<double>(done.most_ticks),
             static_cast<double>(done.slept_ns),
             cost.joules,
             level_joules};
}

// A stream of many passes through its set: two passes are executed, once the caches are as a launch
// before leaves them, and the second stands for all that follow. What each thread does once, as the
// load of what it stores, is in the first alone.
std::optional<Ran> run_stream(const Function& function, PtxLaunch& launch, PtxWork& work) {
  constexpr unsigned kLoops = 4;  // the argument's number
  const auto set_loops = [&](std::uint32_t loops) {
    std::memcpy(launch.arguments.data() + function.kernel.parameter_offset(kLoops), &loops,
                sizeof loops);
  };
  const std::uint32_t loops = function.kernel.argument(launch, kLoops);
  const std::uint32_t pass = loops_of_a_pass(function, launch);
  if (loops < 2 * pass) return run_once(function, launch, work);
  set_loops(pass);
  if (!run_once(function, launch, work)) return std::nullopt;
  auto one = run_once(function, launch, work);
  set_loops(2 * pass);
  const auto two = run_once(function, launch, work);
  set_loops(loops);
  if (!one || !two) return std::nullopt;
  const double more = static_cast<double>(loops) / pass - 1;
  Ran all = *one;
  all.add(*two, more);
  all.add(*one, -more);
  return all;
}

// Executes a launch. False at a fault.
bool execute(const Function& function, PtxLaunch& launch, LaunchCost& cost) {
  const StubCard& card = driver().card;
  driver().levels.begin_launch();
  double lanes = 1;
  std::uint32_t rounds = 1;
  const auto loops_at = argument_of_loops(function);
  const bool streams = loops_at == 4U;
  if (loops_at) {
    launch.lanes = streams ? 1 : card.lanes;
    lanes = 32.0 / launch.lanes;
    std::uint32_t loops = function.kernel.argument(launch, *loops_at);
    if (!streams && card.loops > 0 && loops > card.loops) {
      rounds = loops / card.loops;
      loops = card.loops;
      std::memcpy(launch.arguments.data() + function.kernel.parameter_offset(*loops_at), &loops,
                  sizeof loops);
    }
  }
  const auto ran =
      streams ? run_stream(function, launch, cost.work) : run_once(function, launch, cost.work);
  if (!ran) return false;
  add_again(cost.work, rounds - 1);
  for (auto& [address, sum] : cost.work.added) sum *= rounds;
  cost.joules = ran->joules + ran->instructions * card.joules_per_instruction;
  cost.joules = (cost.joules * lanes + ran->level_joules) * rounds;
  const double ticks = ran->ticks * rounds;
  if (card.clock_hz > 0) {
    // Every SM has its threads in flight at once, up to this number.
    constexpr double kThreadsOfSm = 2048;
    const double longest =
        std::max(ran->most_ticks * rounds, ticks * lanes / card.sms / kThreadsOfSm);
    const double slept_ns = ran->slept_ns * rounds;
    const double in_flight = longest / std::max(1.0, ticks);
    cost.slept_s = slept_ns * 1e-9 * in_flight;
    cost.seconds = (ticks - slept_ns * kPtxTicksPerNanosecond) * in_flight / card.clock_hz;
  } else {
    const double scale = driver().in_chip_time ? 1 / stub_cuda::kChipSpeed : 1.0;
    cost.seconds = ticks * lanes * kSecondsPerTick * scale;
    cost.joules *= scale;
  }
  return true;
}

// A card's own share of the cost, and the queue.
void account(const LaunchCost& cost) {
  Driver& all = driver();
  const StubCard& card = all.card;
  double seconds = cost.seconds + cost.slept_s;
  if (all.in_chip_time && seconds > 0) {
    static const auto now = chip_clock<std::int64_t (*)()>("ww_chip_clock_now");
    seconds = board().queue({cost.seconds, cost.slept_s, cost.joules}, now());
  }
  all.busy_s += seconds;
  all.over_idle += cost.joules + card.active_w * seconds;
  if (card.timeout_s > 0 && seconds > card.timeout_s) all.lost = launch_timeout;
  if (++all.launches == card.failing_launch) all.lost = card.failure;
}

}  // namespace

extern "C" {

stub_cuda::State ww_stub_cuda_state() {
  const double seconds = driver().busy_s + driver().slept_s;
  return {seconds, driver().card.idle_w * seconds + driver().over_idle};
}
void ww_stub_cuda_sleep(double seconds) {
  driver().slept_s += seconds;
}

// For a stub of CUPTI: called with what that library hears of.
void ww_stub_cuda_listen(stub_cuda::Listener listener) {
  driver().listener = listener;
}

int cuInit(unsigned) {
  attach_chip_clock();
  // The driver's own step: a library for tools begins before anything else.
  static const bool injected = [] {
    const char* file = std::getenv("CUDA_INJECTION64_PATH");
    void* tool = file == nullptr ? nullptr : ::dlopen(file, RTLD_NOW);
    const auto begin = tool == nullptr
                           ? nullptr
                           : reinterpret_cast<int (*)()>(::dlsym(tool, "InitializeInjection"));
    return begin != nullptr && begin() != 0;
  }();
  static_cast<void>(injected);
  return success;
}
int cuDriverGetVersion(int* version) {
  *version = 12040;
  return success;
}
int cuDeviceGetCount(int* count) {
  *count = static_cast<int>(stub_config().count("count", 1));
  return success;
}
int cuDeviceGet(int* device, int index) {
  int count = 0;
  cuDeviceGetCount(&count);
  *device = index;
  return index < count ? success : kInvalidDevice;
}
int cuDeviceGetName(char* name, int size, int) {
  const unsigned sms = driver().card.sms;
  const std::string text =
      sms == 8 ? "Stub with eight SMs" : "Stub of " + std::to_string(sms) + " SMs";
  std::strncpy(name, text.c_str(), static_cast<std::size_t>(size));
  return success;
}
int cuDeviceGetAttribute(int* value, int attribute, int) {
  switch (attribute) {
    case 16: *value = static_cast<int>(driver().card.sms); return success;  // MULTIPROCESSOR_COUNT
    case 38: *value = static_cast<int>(driver().card.l2_bytes); return success;  // L2_CACHE_SIZE
    case 75: {
      const char* set = std::getenv("WW_STUB_CUDA_MAJOR");  // of the compute capability
      *value = set != nullptr ? std::atoi(set) : 9;
      return success;
    }
    case 76: *value = 0; return success;
    default: return invalid_value;
  }
}
int cuDeviceTotalMem_v2(std::size_t* bytes, int) {
  *bytes = memory_bytes;
  return success;
}
int cuDeviceGetPCIBusId(char* name, int size, int device) {
  const char* set = std::getenv("WW_STUB_CUDA_PCI");  // to stand at a stub sensor's address
  std::string address = set != nullptr ? set : "0000:19:00.0";
  if (device == 1) address = "0000:41:00.0";
  std::strncpy(name, address.c_str(), static_cast<std::size_t>(size));
  return success;
}
int cuDevicePrimaryCtxRetain(void** context, int device) {
  driver().lost = 0;
  // A context takes memory of its device: which devices got one is noted in a file.
  if (const char* file = std::getenv("WW_STUB_CUDA_CONTEXTS"); file != nullptr) {
    std::ofstream(file, std::ios::app) << device << '\n';
  }
  *context = &driver().boards[device == 1 ? 1 : 0];
  if (driver().listener != nullptr) driver().listener(*context, nullptr, 0, 0);
  return success;
}
int cuDevicePrimaryCtxRelease_v2(int) {
  return success;
}
int cuCtxSetCurrent(void* context) {
  for (std::size_t i = 0; i < driver().boards.size(); ++i) {
    if (context != &driver().boards[i]) continue;
    driver().current = i;
    return success;
  }
  return kInvalidContext;
}
int cuMemAlloc_v2(std::uint64_t* address, std::size_t bytes) {
  if (driver().lost != 0) return driver().lost;
  if (bytes > memory_bytes) return out_of_memory;
  *address = driver().memory.allocate(bytes);
  return success;
}
int cuMemFree_v2(std::uint64_t address) {
  driver().known.clear();
  return driver().memory.release(address) ? success : invalid_value;
}
int cuMemcpyHtoD_v2(std::uint64_t to, const void* from, std::size_t bytes) {
  if (driver().lost != 0) return driver().lost;
  std::byte* at = driver().memory.at(to, bytes);
  if (at == nullptr) return invalid_value;
  wait_in_chip_time();
  forget_launches(to);
  std::memcpy(at, from, bytes);
  return success;
}
int cuMemcpyDtoH_v2(void* to, std::uint64_t from, std::size_t bytes) {
  if (driver().lost != 0) return driver().lost;
  const std::byte* at = driver().memory.at(from, bytes);
  if (at == nullptr) return invalid_value;
  wait_in_chip_time();
  std::memcpy(to, at, bytes);
  return success;
}
int cuModuleLoadDataEx(void** module, const void* image, unsigned count, int* options,
                       void** values) {
  if (driver().lost != 0) return driver().lost;
  const std::string ptx = static_cast<const char*>(image);
  std::string complaint;
  if (ptx.find(".version") == std::string::npos) complaint = "line 1: no .version";
  if (ptx.find("WW_") != std::string::npos) complaint = "a name that stands for no value";
  if (!complaint.empty()) {
    for (unsigned i = 0; i < count; ++i) {
      if (options[i] == 5) std::strcpy(static_cast<char*>(values[i]), complaint.c_str());
    }
    return kInvalidPtx;
  }
  auto made = std::make_unique<Module>(Module{ptx});
  *module = made.get();
  driver().modules.emplace(*module, std::move(made));
  return success;
}
int cuModuleUnload(void* module) {
  return driver().modules.erase(module) == 1 ? success : invalid_value;
}
int cuModuleGetFunction(void** function, void* module, const char* name) {
  const auto found = driver().modules.find(module);
  if (found == driver().modules.end()) return invalid_value;
  auto made = std::make_unique<Function>();
  std::string problem;
  made->name = name;
  if (!PtxKernel::parse(found->second->ptx, name, made->kernel, problem)) {
    std::fprintf(stderr, "stub libcuda: %s\n", problem.c_str());
    return not_found;
  }
  *function = made.get();
  driver().functions.push_back(std::move(made));
  return success;
}
int cuLaunchKernel(void* function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                   unsigned bz, unsigned, void*, void** params, void** extra) {
  if (driver().lost != 0) return driver().lost;
  if (params != nullptr || extra == nullptr || extra[0] != reinterpret_cast<void*>(1) ||
      extra[2] != reinterpret_cast<void*>(2) || extra[4] != nullptr) {
    return invalid_value;
  }
  if (bx * by * bz > 1024 || gy > 65535 || gz > 65535) return invalid_value;
  PtxLaunch launch;
  launch.groups = {gx, gy, gz};
  launch.local = {bx, by, bz};
  launch.sms = driver().card.sms;
  const auto* bytes = static_cast<const std::byte*>(extra[1]);
  launch.arguments.assign(bytes, bytes + *static_cast<std::size_t*>(extra[3]));
  const Function& entry = *static_cast<Function*>(function);
  if (driver().listener != nullptr) {
    driver().listener(&board(), entry.name.c_str(), gx * gy * gz, bx * by * bz);
  }
  const LaunchKey key{function, {gx, gy, gz, bx, by, bz}, launch.arguments};
  LaunchCost cost;
  if (const auto known = driver().known.find(key); known != driver().known.end()) {
    cost = known->second;
    add_again(cost.work, 1);
  } else if (!execute(entry, launch, cost)) {
    driver().lost = kIllegalAddress;  // seen when the queue is waited for
  } else if (!cost.work.changed.empty()) {
    for (const std::uint64_t block : cost.work.changed) forget_launches(block);
  } else if (!entry.kernel.reads_clock() && !cost.work.depends) {
    driver().known.emplace(key, cost);
  }
  account(cost);
  return success;
}
int cuCtxSynchronize() {
  wait_in_chip_time();
  return driver().lost;
}
int cuEventCreate(void** event, unsigned) {
  *event = new Event;
  return success;
}
int cuEventDestroy_v2(void* event) {
  delete static_cast<Event*>(event);
  return success;
}
int cuEventRecord(void* event, void*) {
  static_cast<Event*>(event)->seconds = driver().busy_s;
  return success;
}
int cuEventElapsedTime(float* milliseconds, void* begin, void* end) {
  *milliseconds = static_cast<float>(
      1e3 * (static_cast<Event*>(end)->seconds - static_cast<Event*>(begin)->seconds));
  return success;
}
int cuGetErrorName(int code, const char** name) {
  switch (code) {
    case invalid_value: *name = "CUDA_ERROR_INVALID_VALUE"; return success;
    case out_of_memory: *name = "CUDA_ERROR_OUT_OF_MEMORY"; return success;
    case kInvalidDevice: *name = "CUDA_ERROR_INVALID_DEVICE"; return success;
    case kInvalidPtx: *name = "CUDA_ERROR_INVALID_PTX"; return success;
    case not_found: *name = "CUDA_ERROR_NOT_FOUND"; return success;
    case kIllegalAddress: *name = "CUDA_ERROR_ILLEGAL_ADDRESS"; return success;
    case launch_timeout: *name = "CUDA_ERROR_LAUNCH_TIMEOUT"; return success;
    case 719: *name = "CUDA_ERROR_LAUNCH_FAILED"; return success;
    default: *name = nullptr; return invalid_value;
  }
}

}  // extern "C"
