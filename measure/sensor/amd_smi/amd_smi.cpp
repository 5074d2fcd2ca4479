// AMD SMI, found at run time. What is used of amdsmi.h (ROCm 5.7 to 10) is declared here.
#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <type_traits>
#include <vector>

#include "sensor/amd_smi/power_info.hpp"
#include "sensor/smi_probe.hpp"
#include "sensor/smi_source.hpp"
#include "sensor/sysfs/metric_table.hpp"
#include "ww/core/rocm_library.hpp"
#include "ww/measure/amd_gpu.hpp"

namespace ww::measure {
namespace {

constexpr int kSmiSuccess = 0;
constexpr int kSmiNotSupported = 2;
constexpr int kSmiNoPermission = 10;
constexpr std::uint64_t kSmiGpus = 2;  // what amdsmi_init() is to look for; "all" had two values
constexpr unsigned kSmiEdge = 0, kSmiHotspot = 1, kSmiMemory = 2;  // temperature sensors
constexpr unsigned kSmiGraphicsClock = 0, kSmiMemoryClock = 4;

using SmiHandle = void*;

struct AmdSmi {
  int (*init)(std::uint64_t){};
  int (*version)(void*){};
  int (*sockets)(std::uint32_t*, SmiHandle*){};
  int (*processors)(SmiHandle, std::uint32_t*, SmiHandle*){};
  int (*pci_id)(SmiHandle, std::uint64_t*){};
  int (*power)(SmiHandle, void*){};
  int (*energy)(SmiHandle, std::uint64_t*, float*, std::uint64_t*){};
  int (*temperature)(SmiHandle, unsigned, unsigned, std::int64_t*){};
  int (*clock)(SmiHandle, unsigned, void*){};
  std::string file;
  AmdSmiVersion release;
  AmdSmiPowerLayout layout;
};

// Structures are passed as bytes, more than any release writes.
struct SmiAnswer {
  alignas(8) std::array<std::byte, kAmdSmiAnswerBytes> bytes{};

  [[nodiscard]] std::uint32_t word(std::size_t index) const {
    std::uint32_t value = 0;
    std::memcpy(&value, bytes.data() + index * sizeof value, sizeof value);
    return value;
  }
};

Result<AmdSmi> load_amd_smi() {
  WW_ASSIGN(opened, open_rocm_library(kAmdSmiLibrary));
  AmdSmi api;
  api.file = opened.file;
  // open_rocm_library() has seen all of these.
  const auto resolve = [&opened](auto& pointer, const char* name) {
    pointer =
        reinterpret_cast<std::remove_reference_t<decltype(pointer)>>(dlsym(opened.handle, name));
  };
  resolve(api.init, "amdsmi_init");
  resolve(api.version, "amdsmi_get_lib_version");
  resolve(api.sockets, "amdsmi_get_socket_handles");
  resolve(api.processors, "amdsmi_get_processor_handles");
  resolve(api.pci_id, "amdsmi_get_gpu_bdf_id");
  resolve(api.power, "amdsmi_get_power_info");
  resolve(api.energy, "amdsmi_get_energy_count");
  resolve(api.temperature, "amdsmi_get_temp_metric");
  resolve(api.clock, "amdsmi_get_clock_info");
  SmiAnswer version;
  if (const int code = api.version(version.bytes.data()); code != kSmiSuccess) {
    return fail(ErrorCode::device_error,
                fmt::format("AMD SMI does not give its version: code {}", code), api.file);
  }
  api.release = {version.word(0), version.word(1)};
  WW_ASSIGN(layout, amd_smi_power_layout(api.release));
  api.layout = layout;
  return api;
}

// Explains the commonest codes of amdsmi_status_t.
std::string smi_error(int code) {
  switch (code) {
    case kSmiNotSupported: return "not supported for this card (2)";
    case 8: return "it did not answer in time (8)";
    case kSmiNoPermission: return "this user may not read it (10)";
    case 30: return "the card is busy (30)";
    case 34: return "the driver is not loaded (34)";
    default: return fmt::format("code {}", code);
  }
}

// The handles that a function of the library lists: first how many, then which.
template <class List>
std::vector<SmiHandle> smi_handles(const List& list) {
  std::uint32_t count = 0;
  if (list(&count, nullptr) != kSmiSuccess || count == 0) {
    return {};
  }
  std::vector<SmiHandle> handles(count);
  if (list(&count, handles.data()) != kSmiSuccess) {
    return {};
  }
  handles.resize(std::min<std::size_t>(count, handles.size()));
  return handles;
}

// The library's handle of the GPU, started first.
Result<SmiHandle> find_processor(const AmdSmi& api, const PciAddress& pci) {
  if (const int code = api.init(kSmiGpus); code != kSmiSuccess) {
    return fail(ErrorCode::device_error, "AMD SMI does not start: " + smi_error(code), api.file);
  }
  std::size_t listed = 0;
  const auto sockets =
      smi_handles([&](std::uint32_t* n, SmiHandle* out) { return api.sockets(n, out); });
  for (const SmiHandle socket : sockets) {
    const auto processors = smi_handles(
        [&](std::uint32_t* count, SmiHandle* out) { return api.processors(socket, count, out); });
    for (const SmiHandle processor : processors) {
      std::uint64_t id = 0;
      if (api.pci_id(processor, &id) != kSmiSuccess) {
        continue;
      }
      ++listed;
      // Bits 28 to 31 are a partition's number: the sensor is that of the whole package.
      if (pci_of_smi(id) == pci) {
        return processor;
      }
    }
  }
  return fail(ErrorCode::unsupported, fmt::format("AMD SMI lists {} GPUs and not this one", listed),
              to_string(pci));
}

class AmdSmiSource final : public SmiSource {
 public:
  AmdSmiSource(const AmdSmi& api, SmiHandle processor, const AmdGpu& gpu)
      : SmiSource("AMD SMI", 1.0, gpu), api_(api), processor_(processor) {
    facts_.name =
        fmt::format("AMD SMI {}.{} of {}", api.release.first, api.release.second, gpu.name);
    SmiAnswer answer;
    const int code = api_.power(processor_, answer.bytes.data());
    const AmdSmiPower power =
        code == kSmiSuccess ? read_amd_smi_power(api_.layout, answer.bytes) : AmdSmiPower{};
    current_ = note("power_instant", code, power.current_uw.has_value());
    average_ = note("power_average", code, power.average_uw.has_value());
    note("voltage", code, power.voltage_uv.has_value());
    std::uint64_t ticks = 0;
    std::uint64_t stamp = 0;
    float resolution = 0;
    if (const std::string doubt = amd_energy_doubt(gpu); doubt.empty()) {
      const int counted = api_.energy(processor_, &ticks, &resolution, &stamp);
      energy_ = note("energy", counted, energy_ticks_of(ticks).has_value());
    } else {
      fields_.push_back({"energy", FieldStatus::missing, doubt});
    }
    const auto temperature = [&](const char* name, unsigned sensor) {
      std::int64_t celsius = 0;
      return note(name, api_.temperature(processor_, sensor, 0, &celsius), true);
    };
    edge_ = temperature("temperature_edge", kSmiEdge);
    junction_ = temperature("temperature_junction", kSmiHotspot);
    memory_ = temperature("temperature_memory", kSmiMemory);
    const auto clock = [&](const char* name, unsigned type) {
      SmiAnswer clocks;
      const int said = api_.clock(processor_, type, clocks.bytes.data());
      return note(name, said, said == kSmiSuccess && megahertz(clocks).has_value());
    };
    clock_ = clock("clock", kSmiGraphicsClock);
    memory_clock_ = clock("memory_clock", kSmiMemoryClock);
    note_throttle();
  }

  void read_fast(RawReading& reading) override {
    power_ = {};
    if (SmiAnswer answer; api_.power(processor_, answer.bytes.data()) == kSmiSuccess) {
      power_ = read_amd_smi_power(api_.layout, answer.bytes);
    }
    reading.power_uw = current_ ? power_.current_uw : power_.average_uw;
    reading.second_power_uw = current_ ? power_.average_uw : std::nullopt;
    // The counter itself; the resolution that comes with it is rounded to 15.3 uJ, 0.27% too much.
    std::uint64_t ticks = 0;
    std::uint64_t stamp = 0;
    float resolution = 0;
    if (energy_ && api_.energy(processor_, &ticks, &resolution, &stamp) == kSmiSuccess) {
      reading.energy_ticks = energy_ticks_of(ticks);
    }
  }

  void read_slow(RawReading& reading) override {
    reading.voltage_uv = power_.voltage_uv;
    const auto temperature = [&](bool there, unsigned sensor, std::optional<std::int32_t>& field) {
      std::int64_t celsius = 0;
      if (there && api_.temperature(processor_, sensor, 0, &celsius) == kSmiSuccess) {
        field = static_cast<std::int32_t>(celsius * 1000);
      }
    };
    temperature(edge_, kSmiEdge, reading.edge_mc);
    temperature(junction_, kSmiHotspot, reading.junction_mc);
    temperature(memory_, kSmiMemory, reading.memory_mc);
    const auto clock = [&](bool there, unsigned type, std::optional<std::int32_t>& field) {
      SmiAnswer clocks;
      if (there && api_.clock(processor_, type, clocks.bytes.data()) == kSmiSuccess) {
        if (const auto mhz = megahertz(clocks)) {
          field = *mhz * 1000;
        }
      }
    };
    clock(clock_, kSmiGraphicsClock, reading.clock_khz);
    clock(memory_clock_, kSmiMemoryClock, reading.memory_clock_khz);
    read_throttle(reading);
  }

 private:
  // The current clock is the first word of every release's structure. A clock of 65535 MHz is the
  // all-ones of a narrower field.
  static std::optional<std::int32_t> megahertz(const SmiAnswer& clocks) {
    constexpr std::uint32_t kMaxMegahertz = 20'000;
    const std::uint32_t mhz = clocks.word(0);
    if (mhz == 0 || mhz > kMaxMegahertz) {
      return {};
    }
    return static_cast<std::int32_t>(mhz);
  }

  // Whether the call succeeded and its field has a value.
  bool note(const char* name, int code, bool valid) {
    FieldState state{name, FieldStatus::ok, "AMD SMI"};
    if (code != kSmiSuccess) {
      state.reason = "AMD SMI: " + smi_error(code);
      state.status = code == kSmiNotSupported   ? FieldStatus::missing
                     : code == kSmiNoPermission ? FieldStatus::denied
                                                : FieldStatus::failed;
    } else if (!valid) {
      state.status = FieldStatus::missing;
      state.reason = "AMD SMI has no value of it for this card";
    }
    fields_.push_back(std::move(state));
    return code == kSmiSuccess && valid;
  }

  AmdSmi api_;
  SmiHandle processor_;
  AmdSmiPower power_;
  bool edge_{}, junction_{}, memory_{}, clock_{}, memory_clock_{};
};

}  // namespace

Status probe_amd_smi(const AmdGpu& gpu) {
  return probe_smi("AMD SMI", gpu, [&gpu] { return open_amd_smi(gpu); });
}

Result<std::unique_ptr<PowerSource>> open_amd_smi(const AmdGpu& gpu) {
  static const Result<AmdSmi> api = load_amd_smi();
  if (!api) {
    return tl::unexpected(api.error());
  }
  WW_ASSIGN(processor, find_processor(*api, gpu.pci));
  auto source = std::make_unique<AmdSmiSource>(*api, processor, gpu);
  if (!source->useful()) {
    return fail(ErrorCode::unsupported, "AMD SMI reports neither power nor energy",
                to_string(gpu.pci));
  }
  return source;
}

}  // namespace ww::measure
