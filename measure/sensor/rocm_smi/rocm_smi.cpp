// ROCm SMI, found at run time. What is used of rocm_smi.h (5.2 to 7.0) is declared here.
#include <dlfcn.h>
#include <fmt/format.h>

#include <array>
#include <cstring>
#include <type_traits>

#include "sensor/smi_probe.hpp"
#include "sensor/smi_source.hpp"
#include "sensor/sysfs/metric_table.hpp"
#include "ww/core/rocm_library.hpp"
#include "ww/measure/amd_gpu.hpp"

namespace ww::measure {
namespace {

constexpr int success = 0;
constexpr int not_supported = 2;
constexpr int kPermission = 4;
constexpr int kInitError = 8;
constexpr unsigned kEdge = 0, junction = 1, memory = 2;  // temperature sensors
constexpr unsigned kSystemClock = 0, memory_clock = 4;   // clock types

// rsmi_frequencies_t gained a flag at its head in 6.0; large enough for both.
struct Frequencies {
  alignas(8) std::array<std::uint32_t, 128> words{};

  // The current frequency [Hz], of whichever layout makes sense.
  [[nodiscard]] std::optional<std::uint64_t> current() const {
    for (const std::size_t head : {0U, 1U}) {
      const std::uint32_t count = words[head], index = words[head + 1];
      const std::size_t first = head == 0 ? 2 : 4;
      if (count == 0 || count > 33 || index >= count) continue;
      std::uint64_t hz = 0;
      std::memcpy(&hz, &words[first + std::size_t{2} * index], sizeof hz);
      if (hz >= 1'000'000 && hz <= 20'000'000'000) return hz;
    }
    return {};
  }
};

struct RocmSmi {
  int (*init)(std::uint64_t){};
  int (*count)(std::uint32_t*){};
  int (*pci_id)(std::uint32_t, std::uint64_t*){};
  int (*energy)(std::uint32_t, std::uint64_t*, float*, std::uint64_t*){};
  int (*average_power)(std::uint32_t, std::uint32_t, std::uint64_t*){};
  int (*socket_power)(std::uint32_t, std::uint64_t*){};  // optional: from 6.0 on
  int (*temperature)(std::uint32_t, std::uint32_t, int, std::int64_t*){};
  int (*voltage)(std::uint32_t, int, int, std::int64_t*){};
  int (*frequency)(std::uint32_t, int, Frequencies*){};
  int (*status_string)(int, const char**){};
};

Result<RocmSmi> load_rocm_smi() {
  WW_ASSIGN(opened, open_rocm_library(kRocmSmiLibrary));
  void* const library = opened.handle;
  RocmSmi api;
  const char* missing = nullptr;
  const auto resolve = [&](auto& pointer, const char* name, bool needed = true) {
    pointer = reinterpret_cast<std::remove_reference_t<decltype(pointer)>>(dlsym(library, name));
    if (pointer == nullptr && needed) missing = name;
  };
  resolve(api.init, "rsmi_init");
  resolve(api.count, "rsmi_num_monitor_devices");
  resolve(api.pci_id, "rsmi_dev_pci_id_get");
  resolve(api.energy, "rsmi_dev_energy_count_get");
  resolve(api.average_power, "rsmi_dev_power_ave_get");
  resolve(api.socket_power, "rsmi_dev_current_socket_power_get", false);
  resolve(api.temperature, "rsmi_dev_temp_metric_get");
  resolve(api.voltage, "rsmi_dev_volt_metric_get");
  resolve(api.frequency, "rsmi_dev_gpu_clk_freq_get");
  resolve(api.status_string, "rsmi_status_string");
  if (missing != nullptr) {
    return fail(
        ErrorCode::missing_dependency,
        fmt::format("ROCm SMI has no {}: too old; install librocm-smi64-1 5.2 or newer", missing));
  }
  return api;
}

std::string error_text(const RocmSmi& api, int code) {
  const char* text = nullptr;
  if (api.status_string(code, &text) != success || text == nullptr) {
    return fmt::format("code {}", code);
  }
  // "RSMI_STATUS_X: what it means"
  return fmt::format("{} ({})", text, code);
}

// The library's number for the GPU, started first.
Result<std::uint32_t> find_device(const RocmSmi& api, const PciAddress& pci) {
  if (const int code = api.init(0); code != success) {
    std::string hint;
    if (code == kInitError && !smi_locks().empty()) {
      hint =
          "; a process that ended while it used ROCm SMI leaves its lock behind: if none runs, "
          "remove it (sudo rm /dev/shm/rocm_smi_card*)";
    }
    return fail(ErrorCode::device_error,
                "ROCm SMI does not start: " + error_text(api, code) + hint);
  }
  std::uint32_t count = 0;
  api.count(&count);
  for (std::uint32_t i = 0; i < count; ++i) {
    std::uint64_t id = 0;
    if (api.pci_id(i, &id) != success) continue;
    if (pci_of_smi(id) == pci) return i;
  }
  return fail(ErrorCode::unsupported, fmt::format("ROCm SMI lists {} GPUs and not this one", count),
              to_string(pci));
}

class RocmSmiSource final : public SmiSource {
 public:
  RocmSmiSource(const RocmSmi& api, std::uint32_t device, const AmdGpu& gpu)
      : SmiSource("ROCm SMI", 1e-6, gpu), api_(api), device_(device) {
    facts_.name = fmt::format("ROCm SMI of {}", gpu.name);
    std::uint64_t value = 0;
    current_ =
        note("power_instant",
             api_.socket_power == nullptr ? not_supported : api_.socket_power(device_, &value));
    average_ = note("power_average", api_.average_power(device_, 0, &value));
    std::uint64_t stamp = 0;
    float resolution = 0;
    const std::string doubt = amd_energy_doubt(gpu);
    if (doubt.empty()) {
      value = 0;
      const int counted = api_.energy(device_, &value, &resolution, &stamp);
      const bool none = counted == success && !energy_ticks_of(value);
      energy_ = note("energy", none ? not_supported : counted);
    } else {
      fields_.push_back({"energy", FieldStatus::missing, doubt});
    }
    std::int64_t signed_value = 0;
    const auto temperature = [&](const char* name, unsigned sensor) {
      return note(name, api_.temperature(device_, sensor, 0, &signed_value));
    };
    edge_ = temperature("temperature_edge", kEdge);
    junction_ = temperature("temperature_junction", junction);
    memory_ = temperature("temperature_memory", memory);
    voltage_ = note("voltage", api_.voltage(device_, 0, 0, &signed_value));
    Frequencies frequencies;
    clock_ = note("clock", api_.frequency(device_, kSystemClock, &frequencies));
    memory_clock_ = note("memory_clock", api_.frequency(device_, memory_clock, &frequencies));
    note_throttle();
  }

  void read_fast(RawReading& reading) override {
    std::uint64_t value = 0;
    if (current_ && api_.socket_power(device_, &value) == success) {
      reading.power_uw = static_cast<std::int64_t>(value);
    }
    if (average_ && api_.average_power(device_, 0, &value) == success) {
      (current_ ? reading.second_power_uw : reading.power_uw) = static_cast<std::int64_t>(value);
    }
    // The counter itself; the resolution that comes with it is rounded to 15.3 uJ, 0.27% too much.
    std::uint64_t stamp = 0;
    float resolution = 0;
    if (energy_ && api_.energy(device_, &value, &resolution, &stamp) == success) {
      reading.energy_ticks = energy_ticks_of(value);
    }
  }

  void read_slow(RawReading& reading) override {
    std::int64_t value = 0;
    const auto temperature = [&](bool there, unsigned sensor, std::optional<std::int32_t>& field) {
      if (there && api_.temperature(device_, sensor, 0, &value) == success) {
        field = static_cast<std::int32_t>(value);
      }
    };
    temperature(edge_, kEdge, reading.edge_mc);
    temperature(junction_, junction, reading.junction_mc);
    temperature(memory_, memory, reading.memory_mc);
    if (voltage_ && api_.voltage(device_, 0, 0, &value) == success) {
      reading.voltage_uv = static_cast<std::int32_t>(value) * 1000;
    }
    const auto clock = [&](bool there, int type, std::optional<std::int32_t>& field) {
      Frequencies frequencies;
      if (!there || api_.frequency(device_, type, &frequencies) != success) return;
      if (const auto hz = frequencies.current()) field = static_cast<std::int32_t>(*hz / 1000);
    };
    clock(clock_, kSystemClock, reading.clock_khz);
    clock(memory_clock_, memory_clock, reading.memory_clock_khz);
    read_throttle(reading);
  }

 private:
  bool note(const char* name, int code) {
    FieldState state{name, FieldStatus::ok, "ROCm SMI"};
    if (code != success) {
      state.reason = error_text(api_, code);
      state.status = code == not_supported ? FieldStatus::missing
                     : code == kPermission ? FieldStatus::denied
                                           : FieldStatus::failed;
    }
    fields_.push_back(std::move(state));
    return code == success;
  }

  RocmSmi api_;
  std::uint32_t device_;
  bool edge_{}, junction_{}, memory_{}, voltage_{}, clock_{}, memory_clock_{};
};

Result<std::unique_ptr<RocmSmiSource>> open_here(const AmdGpu& gpu) {
  static const Result<RocmSmi> api = load_rocm_smi();
  if (!api) return tl::unexpected(api.error());
  WW_ASSIGN(device, find_device(*api, gpu.pci));
  auto source = std::make_unique<RocmSmiSource>(*api, device, gpu);
  if (!source->useful()) {
    return fail(ErrorCode::unsupported, "ROCm SMI reports neither power nor energy",
                to_string(gpu.pci));
  }
  return source;
}

}  // namespace

Status probe_rocm_smi(const AmdGpu& gpu) {
  return probe_smi("ROCm SMI", gpu, [&gpu] { return open_rocm_smi(gpu); });
}

Result<std::unique_ptr<PowerSource>> open_rocm_smi(const AmdGpu& gpu) {
  WW_ASSIGN(source, open_here(gpu));
  return source;
}

}  // namespace ww::measure
