// AMD SMI as any release of ROCm has it, for tests: one card that draws 142 W, at 0000:03:00.0 or
// at $WW_AMD_SMI_CARD. $WW_AMD_SMI_VERSION ("26.2") chooses the release, and with it the
// structures; $WW_AMD_SMI_FILLS chooses what the card fills: "current" (MI300), "average" (earlier
// cards), "socket" or "nothing". "crash" ends the process, as the library does on a device tree
// that it does not expect.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>

namespace {

constexpr int kSuccess = 0, kInvalid = 1, kNotSupported = 2;
constexpr std::uint32_t kNone = 0xFFFFFFFFu;
constexpr std::uint32_t kWatts = 142, kMillivolts = 881;

struct Numbers {
  std::uint32_t first{26}, second{0};
};
Numbers version_numbers() {
  Numbers numbers;
  if (const char* set = std::getenv("WW_AMD_SMI_VERSION"); set != nullptr) {
    std::sscanf(set, "%u.%u", &numbers.first, &numbers.second);
  }
  return numbers;
}

std::string_view fills() {
  const char* set = std::getenv("WW_AMD_SMI_FILLS");
  return set != nullptr ? set : "average";
}

struct Power57 {
  std::uint32_t average, gfx_mv, soc_mv, mem_mv, limit, reserved[11];
};
struct Power60 {
  std::uint32_t current, average, gfx_mv, soc_mv, mem_mv, limit, reserved[11];
};
struct Power64 {
  std::uint64_t socket;
  std::uint32_t current, average, gfx_mv, soc_mv, mem_mv, limit, reserved[2];
};
struct Power70 {
  std::uint64_t socket;
  std::uint32_t current, average;
  std::uint64_t gfx_mv, soc_mv, mem_mv;
  std::uint32_t limit;
  std::uint64_t reserved[18];
};
struct Power713 {
  std::uint64_t socket;
  std::uint32_t current, average;
  std::uint64_t gfx_mv, soc_mv, mem_mv;
  std::uint32_t limit, ubb_power;
  std::uint64_t reserved[18];
};
static_assert(sizeof(Power57) == 64 && sizeof(Power60) == 68 && sizeof(Power64) == 40);
static_assert(sizeof(Power70) == 192 && sizeof(Power713) == 192);

template <class Power>
int answer(void* out) {
  Power power{};
  const auto either = [](std::string_view field) { return fills() == field ? kWatts : kNone; };
  if constexpr (requires { power.socket; }) power.socket = either("socket");
  if constexpr (requires { power.current; }) power.current = either("current");
  power.average = either("average");
  power.gfx_mv = kMillivolts;
  power.soc_mv = power.mem_mv = kNone;
  power.limit = 300;
  std::memcpy(out, &power, sizeof power);
  return kSuccess;
}

}  // namespace

extern "C" {

int amdsmi_init(std::uint64_t flags) {
  if (fills() == "crash") std::abort();
  return flags == 2 ? kSuccess : kInvalid;
}
int amdsmi_get_lib_version(void* out) {
  const Numbers numbers = version_numbers();
  // Up to ROCm 6.3 a year stands before the version: the same two words.
  const std::uint32_t words[] = {numbers.first, numbers.second, 0, 0};
  std::memcpy(out, words, sizeof words);
  return kSuccess;
}
int amdsmi_get_socket_handles(std::uint32_t* count, void** handles) {
  if (handles != nullptr) handles[0] = reinterpret_cast<void*>(0x10);
  *count = 1;
  return kSuccess;
}
int amdsmi_get_processor_handles(void* socket, std::uint32_t* count, void** handles) {
  if (socket != reinterpret_cast<void*>(0x10)) return kInvalid;
  if (handles != nullptr) handles[0] = reinterpret_cast<void*>(0x20);
  *count = 1;
  return kSuccess;
}
int amdsmi_get_gpu_bdf_id(void* processor, std::uint64_t* id) {
  if (processor != reinterpret_cast<void*>(0x20)) return kInvalid;
  unsigned domain = 0, bus = 3, device = 0, function = 0;
  if (const char* set = std::getenv("WW_AMD_SMI_CARD"); set != nullptr) {
    std::sscanf(set, "%x:%x:%x.%x", &domain, &bus, &device, &function);
  }
  *id = static_cast<std::uint64_t>(domain) << 32 | bus << 8 | device << 3 | function;
  return kSuccess;
}
int amdsmi_get_power_info(void*, void* out) {
  const auto [first, second] = version_numbers();
  if (first == 23 && second < 4) return answer<Power57>(out);
  if (first < 25) return answer<Power60>(out);
  if (first == 25) return answer<Power64>(out);
  if (first == 26 && second < 5) return answer<Power70>(out);
  return answer<Power713>(out);
}
int amdsmi_get_energy_count(void*, std::uint64_t* ticks, float* resolution,
                            std::uint64_t* stamp_ns) {
  if (fills() == "nothing") return kNotSupported;
  const char* set = std::getenv("WW_AMD_SMI_TICKS");
  constexpr int kDecimal = 10;
  *ticks = set == nullptr ? 1'000'000 : std::strtoull(set, nullptr, kDecimal);
  *resolution = 15.3F;
  *stamp_ns = 5;
  return kSuccess;
}
int amdsmi_get_temp_metric(void*, unsigned sensor, unsigned metric, std::int64_t* celsius) {
  if (sensor > 1 || metric != 0) return kNotSupported;
  *celsius = sensor == 0 ? 41 : 46;
  return kSuccess;
}
int amdsmi_get_clock_info(void*, unsigned type, void* out) {
  if (type != 0 && type != 4) return kNotSupported;
  const std::uint32_t clocks[] = {type == 0 ? 1000u : 65535u, 500, 1700};
  std::memcpy(out, clocks, sizeof clocks);
  return kSuccess;
}

}  // extern "C"
