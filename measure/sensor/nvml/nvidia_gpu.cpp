#include "ww/measure/nvidia_gpu.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <span>

#include "nvml_api.hpp"
#include "ww/core/energy_tick.hpp"
#include "ww/core/sensor_tolerances.hpp"

namespace ww::measure {
namespace {

Result<NvmlDevice> handle_of(const NvmlApi& api, const PciAddress& pci) {
  NvmlDevice device = nullptr;
  const auto text = to_string(pci);
  if (const int code = api.by_pci(text.c_str(), &device); code != nvml::success) {
    return fail(ErrorCode::not_found, "NVML does not know the GPU: " + nvml_error(api, code), text);
  }
  return device;
}

// `ask` writes the mode and gives NVML's code.
template <class Ask>
std::optional<bool> enabled(const Ask& ask) {
  unsigned mode = 0;
  if (ask(&mode) != nvml::success) return {};
  return mode != 0;
}

FieldState state_of(const NvmlApi& api, const std::string& name, int code) {
  FieldState state{name, FieldStatus::ok, "NVML"};
  if (code == nvml::success) return state;
  state.reason = nvml_error(api, code);
  state.status = code == nvml::not_supported   ? FieldStatus::missing
                 : code == nvml::kNoPermission ? FieldStatus::denied
                                               : FieldStatus::failed;
  return state;
}

// The number in a field value, whatever its type.
std::optional<std::int64_t> number(const NvmlFieldValue& value) {
  if (value.result != nvml::success) return {};
  switch (value.value_type) {
    case 0: return static_cast<std::int64_t>(value.value.as_double);
    case 1: return value.value.as_unsigned;
    case 2: return static_cast<std::int64_t>(value.value.as_unsigned_long);
    case 3: return static_cast<std::int64_t>(value.value.as_unsigned_long_long);
    case 4: return value.value.as_signed_long_long;
    case 5: return value.value.as_signed;
    case 6: return value.value.as_unsigned_short;
    default: return {};
  }
}

// Degrees or megahertz in thousandths; absent where it does not fit.
std::optional<std::int32_t> thousandfold(std::int64_t value) {
  if (value < 0 || value > std::numeric_limits<std::int32_t>::max() / 1000) return {};
  return static_cast<std::int32_t>(value * 1000);
}

std::int64_t ticks_of_millijoules(std::int64_t millijoules) {
  return millijoules / 1000 * kTicksPerJoule + millijoules % 1000 * kTicksPerJoule / 1000;
}

class NvmlSource final : public PowerSource {
 public:
  NvmlSource(const NvmlApi& api, NvmlDevice device) : api_(api), device_(device) {
    std::array<char, 96> name{};
    facts_.name = "NVML";
    if (api_.name(device_, name.data(), name.size()) == nvml::success) {
      facts_.name = fmt::format("NVML of {}", name.data());
    }
    facts_.power_resolution_w = 1e-3;
    facts_.temperature_resolution_c = 1.0;
    facts_.gain_tolerance_95 = kBoardGainTolerance95;
    facts_.counter_unit = "mJ";
    find_power();
    find_energy();
    find_scope(name.data());
    find_rest();
  }

  [[nodiscard]] bool useful() const { return power_ != Power::none || energy_ != Energy::none; }
  const SensorFacts& facts() const override { return facts_; }
  const std::vector<FieldState>& fields() const override { return fields_; }
  std::string power_name() const override {
    switch (power_) {
      case Power::instant: return "NVML power, field 186 (instant)";
      case Power::average: return "NVML power, field 185 (average)";
      case Power::usage: return "NVML power usage";
      case Power::none: return "";
    }
    return "";
  }
  std::string second_power_name() const override {
    return second_ ? "NVML power, field 185 (average)" : "";
  }
  std::string throttle_text(std::uint64_t bits) const override { return nvml_throttle_text(bits); }

  void read_fast(RawReading& reading) override {
    // One call for all: each call to the driver costs tens of microseconds.
    std::array<NvmlFieldValue, 3> values{};
    int count = 0;
    int power_at = -1, second_at = -1, energy_at = -1;
    const auto ask = [&](unsigned field) {
      values[static_cast<std::size_t>(count)].field = field;
      return count++;
    };
    if (power_ == Power::instant) power_at = ask(nvml::kFieldPowerInstant);
    if (power_ == Power::average) power_at = ask(nvml::kFieldPowerAverage);
    if (second_) second_at = ask(nvml::kFieldPowerAverage);
    if (energy_ == Energy::field) energy_at = ask(nvml::kFieldTotalEnergy);
    const bool answered =
        count > 0 && api_.field_values(device_, count, values.data()) == nvml::success;
    const auto at = [&](int i) -> std::optional<std::int64_t> {
      if (!answered || i < 0) return {};
      return number(values[static_cast<std::size_t>(i)]);
    };
    if (const auto mw = at(power_at)) reading.power_uw = *mw * 1000;
    if (const auto mw = at(second_at)) reading.second_power_uw = *mw * 1000;
    if (const auto mj = at(energy_at)) reading.energy_ticks = ticks_of_millijoules(*mj);
    if (power_ == Power::usage) {
      unsigned mw = 0;
      if (api_.power_usage(device_, &mw) == nvml::success) {
        reading.power_uw = static_cast<std::int64_t>(mw) * 1000;
      }
    }
    if (energy_ == Energy::call) {
      unsigned long long mj = 0;
      if (api_.total_energy(device_, &mj) == nvml::success) {
        reading.energy_ticks = ticks_of_millijoules(static_cast<std::int64_t>(mj));
      }
    }
  }

  void read_slow(RawReading& reading) override {
    unsigned value = 0;
    if (temperature_ && read_temperature(value) == nvml::success) {
      reading.edge_mc = thousandfold(value);
    }
    if (memory_temperature_) {
      NvmlFieldValue field{};
      field.field = nvml::kFieldMemoryTemperature;
      if (api_.field_values(device_, 1, &field) == nvml::success) {
        if (const auto celsius = number(field)) {
          reading.memory_mc = thousandfold(*celsius);
        }
      }
    }
    if (clock_ && api_.clock(device_, nvml::kClockGraphics, &value) == nvml::success) {
      reading.clock_khz = thousandfold(value);
    }
    if (memory_clock_ && api_.clock(device_, nvml::kClockMemory, &value) == nvml::success) {
      reading.memory_clock_khz = thousandfold(value);
    }
    unsigned long long reasons = 0;
    if (throttle_ && api_.throttle_reasons(device_, &reasons) == nvml::success) {
      reading.throttle = reasons;
    }
  }

 private:
  enum class Power { none, instant, average, usage };
  enum class Energy { none, field, call };

  // Asks one field by its number.
  int try_field(unsigned id, std::optional<std::int64_t>& value,
                unsigned scope = nvml::kScopeGpu) const {
    if (api_.field_values == nullptr) return nvml::not_supported;
    NvmlFieldValue field{};
    field.field = id;
    field.scope = scope;
    if (const int code = api_.field_values(device_, 1, &field); code != nvml::success) return code;
    value = number(field);
    return field.result;
  }

  // Notes a field that was asked for, and whether it has a value. A success that holds 0 has none:
  // so answer drivers that do not know the field.
  bool note_value(const char* name, int code, std::int64_t value) {
    FieldState state = state_of(api_, name, code);
    if (code == nvml::success && value == 0) {
      state.status = FieldStatus::missing;
      state.reason = "NVML answers 0, which is no reading";
    }
    fields_.push_back(state);
    return state.status == FieldStatus::ok;
  }
  bool try_power_field(unsigned id, const char* name) {
    std::optional<std::int64_t> mw;
    const int code = try_field(id, mw);
    return note_value(name, code, mw.value_or(0));
  }

  void find_power() {
    const bool instant = try_power_field(nvml::kFieldPowerInstant, "power_instant");
    const bool average = try_power_field(nvml::kFieldPowerAverage, "power_average");
    unsigned mw = 0;
    const int code = api_.power_usage(device_, &mw);
    const bool usage = note_value("power_usage", code, mw);
    power_ = instant   ? Power::instant
             : average ? Power::average
             : usage   ? Power::usage
                       : Power::none;
    second_ = instant && average;
  }

  void find_energy() {
    std::optional<std::int64_t> mj;
    int code = try_field(nvml::kFieldTotalEnergy, mj);
    Energy from = Energy::field;
    if ((code != nvml::success || mj.value_or(0) == 0) && api_.total_energy != nullptr) {
      unsigned long long call = 0;
      code = api_.total_energy(device_, &call);
      mj = static_cast<std::int64_t>(call);
      from = Energy::call;
    }
    if (note_value("energy", code, mj.value_or(0))) energy_ = from;
  }

  // Finds what else the power and the energy contain.
  void find_scope(std::string_view name) {
    const auto note = [this](const char* text) {
      fields_.push_back({std::string(kPackageField), FieldStatus::ok, text});
    };
    unsigned mig = 0, pending = 0;
    if (api_.mig_mode != nullptr && api_.mig_mode(device_, &mig, &pending) == nvml::success &&
        mig != 0) {
      note("power and energy are those of the whole GPU, with all its MIG instances");
    }
    if (!has_processor(name)) return;
    if (power_ == Power::usage || power_ == Power::none) {
      note("power and energy are those of the whole module: GPU, processor and their memory");
    } else if (energy_ != Energy::none) {
      // The fields of power leave the processor out, and the counter of a Grace Hopper does not.
      energy_ = Energy::none;
      auto& field = *std::ranges::find(fields_, "energy", &FieldState::name);
      field.status = FieldStatus::missing;
      field.reason =
          "the energy counter is that of the whole module (GPU, processor and their memory); the "
          "power of the GPU alone is integrated instead";
    }
  }
  // Whether the GPU shares a module with a processor, whose power NVML then shows as a scope of its
  // own. Drivers older than the scopes leave only the name.
  [[nodiscard]] bool has_processor(std::string_view name) const {
    constexpr std::array<std::string_view, 3> modules = {"GH200", "GB200", "GB300"};
    if (std::ranges::any_of(modules, [name](std::string_view module) {
          return name.find(module) != std::string_view::npos;
        })) {
      return true;
    }
    constexpr double kMoreThanReadingsDiffer = 1.1;
    for (const unsigned id : {nvml::kFieldPowerInstant, nvml::kFieldPowerAverage}) {
      std::optional<std::int64_t> gpu, module;
      static_cast<void>(try_field(id, gpu));
      static_cast<void>(try_field(id, module, nvml::kScopeModule));
      if (static_cast<double>(module.value_or(0)) >
          kMoreThanReadingsDiffer * static_cast<double>(gpu.value_or(0))) {
        return true;
      }
    }
    return false;
  }

  // The GPU's temperature [C], by either function that drivers have for it.
  int read_temperature(unsigned& celsius) const {
    int code = nvml::not_supported;
    if (api_.temperature != nullptr) code = api_.temperature(device_, 0, &celsius);
    if (code == nvml::success || api_.temperature_v == nullptr) return code;
    NvmlTemperature value{};
    const int newer = api_.temperature_v(device_, &value);
    if (newer != nvml::success) return code;
    celsius = static_cast<unsigned>(std::max(value.celsius, 0));
    return newer;
  }

  void find_rest() {
    unsigned value = 0;
    const auto note = [this, &value](const char* name, int code) {
      return note_value(name, code, value);
    };
    temperature_ = note("temperature_edge", read_temperature(value));
    std::optional<std::int64_t> celsius;
    const int memory = try_field(nvml::kFieldMemoryTemperature, celsius);
    memory_temperature_ = note_value("temperature_memory", memory, celsius.value_or(0));
    clock_ = note("clock", api_.clock(device_, nvml::kClockGraphics, &value));
    memory_clock_ = note("memory_clock", api_.clock(device_, nvml::kClockMemory, &value));
    unsigned long long reasons = 0;
    const int throttle = api_.throttle_reasons == nullptr
                             ? nvml::not_supported
                             : api_.throttle_reasons(device_, &reasons);
    throttle_ = throttle == nvml::success;
    fields_.push_back(state_of(api_, "throttle", throttle));
    fields_.push_back({"voltage", FieldStatus::missing, "NVML shows no voltage"});
  }

  const NvmlApi& api_;
  NvmlDevice device_;
  SensorFacts facts_;
  std::vector<FieldState> fields_;
  Power power_{Power::none};
  bool second_{};
  Energy energy_{Energy::none};
  bool temperature_{}, memory_temperature_{}, clock_{}, memory_clock_{}, throttle_{};
};

class NvmlClocks final : public ClockControl {
 public:
  NvmlClocks(const NvmlApi& api, NvmlDevice device, std::string pci, std::vector<DvfsState> states,
             std::unique_ptr<ClockGuardian> guardian)
      : api_(api),
        device_(device),
        pci_(std::move(pci)),
        states_(std::move(states)),
        guardian_(std::move(guardian)) {}
  ~NvmlClocks() override { static_cast<void>(restore()); }

  const std::vector<DvfsState>& states() const override { return states_; }
  int current() const override { return selected_; }
  Status select(int state) override {
    if (state < 0 || static_cast<std::size_t>(state) >= states_.size()) {
      return fail(ErrorCode::out_of_range, fmt::format("no clock state {}", state), pci_);
    }
    const bool first = selected_ < 0;
    if (first) WW_TRY(guardian_->arm({RestoreAction::Kind::nvml_reset_clocks, pci_, ""}));
    const auto mhz = static_cast<unsigned>(
        std::lround(states_[static_cast<std::size_t>(state)].clock_hz * 1e-6));
    const int code = api_.lock_clocks(device_, mhz, mhz);
    if (code != nvml::success) {
      if (first) guardian_->disarm();
      if (code == nvml::kNoPermission) {
        return fail(ErrorCode::permission_denied,
                    "this user may not lock clocks; run as root (sudo), or leave them alone with "
                    "--no-clock-control",
                    pci_);
      }
      return fail(ErrorCode::device_error,
                  fmt::format("cannot lock {} MHz: {}", mhz, nvml_error(api_, code)), pci_);
    }
    selected_ = state;
    return {};
  }
  Status restore() override {
    if (selected_ < 0) return {};
    if (const int code = api_.reset_clocks(device_); code != nvml::success) {
      return fail(ErrorCode::device_error, "cannot reset locked clocks: " + nvml_error(api_, code),
                  pci_);
    }
    selected_ = -1;
    guardian_->disarm();
    return {};
  }

 private:
  const NvmlApi& api_;
  NvmlDevice device_;
  std::string pci_;
  std::vector<DvfsState> states_;
  std::unique_ptr<ClockGuardian> guardian_;
  int selected_{-1};
};

// Returns up to five core clocks from 60% of the highest on, slowest first.
std::vector<DvfsState> lockable_clocks(const NvmlApi& api, NvmlDevice device) {
  std::array<unsigned, 512> memory{}, core{};
  auto memory_count = static_cast<unsigned>(memory.size());
  auto core_count = static_cast<unsigned>(core.size());
  if (api.memory_clocks == nullptr || api.graphics_clocks == nullptr ||
      api.memory_clocks(device, &memory_count, memory.data()) != nvml::success ||
      memory_count == 0 ||
      api.graphics_clocks(device, *std::max_element(memory.begin(), memory.begin() + memory_count),
                          &core_count, core.data()) != nvml::success) {
    return {};
  }
  std::vector<unsigned> clocks(core.begin(), core.begin() + core_count);
  std::ranges::sort(clocks);
  if (clocks.empty()) return {};
  std::erase_if(clocks, [highest = clocks.back()](unsigned mhz) { return 10 * mhz < 6 * highest; });
  std::vector<DvfsState> states;
  const std::size_t wanted = std::min<std::size_t>(5, clocks.size());
  for (std::size_t i = 0; i < wanted; ++i) {
    const auto at = wanted == 1 ? clocks.size() - 1 : i * (clocks.size() - 1) / (wanted - 1);
    states.push_back({0.0, clocks[at] * 1e6});
  }
  return states;
}

}  // namespace

std::string nvml_throttle_text(std::uint64_t bits) {
  struct Reason {
    std::uint64_t bit;
    const char* text;
  };
  // nvmlClocksEventReasons; idle (1), application clocks (2) and display (0x100) hold nothing down.
  constexpr std::array<Reason, 6> reasons{{{0x04, "software power cap"},
                                           {0x08, "hardware slowdown"},
                                           {0x10, "sync boost"},
                                           {0x20, "software thermal slowdown"},
                                           {0x40, "hardware thermal slowdown"},
                                           {0x80, "hardware power brake"}}};
  std::string text;
  for (const Reason& reason : reasons) {
    if ((bits & reason.bit) == 0) continue;
    if (!text.empty()) text += ", ";
    text += reason.text;
  }
  return text;
}

namespace {

std::optional<unsigned> busy_percent(const NvmlApi& api, NvmlDevice device) {
  NvmlUtilization use{};
  if (api.utilization == nullptr || api.utilization(device, &use) != nvml::success) return {};
  return use.gpu;
}

// Returns nothing where the driver does not say, as inside containers and on vGPUs.
std::optional<std::vector<unsigned>> other_processes(const NvmlApi& api, NvmlDevice device) {
  std::array<NvmlProcess, 128> entries{};
  auto running = static_cast<unsigned>(entries.size());
  if (api.processes == nullptr ||
      api.processes(device, &running, entries.data()) != nvml::success) {
    return {};
  }
  std::vector<unsigned> others;
  for (const NvmlProcess& entry :
       std::span(entries).first(std::min<std::size_t>(running, entries.size()))) {
    if (entry.process != static_cast<unsigned>(getpid())) others.push_back(entry.process);
  }
  return others;
}

}  // namespace

Result<std::vector<NvidiaGpu>> list_nvidia_gpus() {
  WW_ASSIGN(api, load_nvml());
  unsigned count = 0;
  if (const int code = api->count(&count); code != nvml::success) {
    return fail(ErrorCode::device_error, "NVML lists no GPUs: " + nvml_error(*api, code));
  }
  std::array<char, 96> text{};
  std::string driver;
  if (api->driver_version(text.data(), text.size()) == nvml::success) driver = text.data();
  std::vector<NvidiaGpu> gpus;
  for (unsigned i = 0; i < count; ++i) {
    NvmlDevice device = nullptr;
    NvmlPci pci{};
    if (api->by_index(i, &device) != nvml::success ||
        api->pci_info(device, &pci) != nvml::success) {
      continue;  // a GPU that this user may not open
    }
    NvidiaGpu gpu;
    gpu.pci = {pci.domain, pci.bus, pci.device, 0};
    gpu.driver = driver;
    if (api->name(device, text.data(), text.size()) == nvml::success) gpu.name = text.data();
    unsigned pending = 0;
    if (api->mig_mode != nullptr) {
      gpu.mig = enabled([&](unsigned* now) { return api->mig_mode(device, now, &pending); });
    }
    if (api->ecc_mode != nullptr) {
      gpu.ecc = enabled([&](unsigned* now) { return api->ecc_mode(device, now, &pending); });
    }
    if (api->persistence != nullptr) {
      gpu.persistence = enabled([&](unsigned* now) { return api->persistence(device, now); });
    }
    gpu.busy_percent = busy_percent(*api, device);
    gpu.processes = other_processes(*api, device);
    gpus.push_back(std::move(gpu));
  }
  return gpus;
}

std::optional<unsigned> nvidia_busy_percent(const PciAddress& pci) {
  const auto api = load_nvml();
  if (!api) return {};
  const auto device = handle_of(**api, pci);
  return device ? busy_percent(**api, *device) : std::nullopt;
}

Result<std::unique_ptr<PowerSource>> open_nvml(const PciAddress& pci) {
  WW_ASSIGN(api, load_nvml());
  WW_ASSIGN(device, handle_of(*api, pci));
  auto source = std::make_unique<NvmlSource>(*api, device);
  if (source->useful()) return source;
  std::string why;
  bool denied = false;
  for (const FieldState& field : source->fields()) {
    if (!field.name.starts_with("power") && field.name != "energy") continue;
    why += fmt::format("{}{}: {}", why.empty() ? "" : "; ", field.name, field.reason);
    denied = denied || field.status == FieldStatus::denied;
  }
  return fail(denied ? ErrorCode::permission_denied : ErrorCode::not_found,
              "NVML reports neither power nor energy: " + why, to_string(pci));
}

Result<std::unique_ptr<ClockControl>> open_nvml_clock_control(
    const PciAddress& pci, std::unique_ptr<ClockGuardian> guardian) {
  WW_ASSIGN(api, load_nvml());
  WW_ASSIGN(device, handle_of(*api, pci));
  if (api->lock_clocks == nullptr || api->reset_clocks == nullptr) {
    return fail(ErrorCode::unsupported, "this driver cannot lock clocks", to_string(pci));
  }
  auto states = lockable_clocks(*api, device);
  if (states.empty()) {
    return fail(ErrorCode::unsupported, "the GPU lists no clocks that can be locked",
                to_string(pci));
  }
  if (geteuid() != 0) {
    return fail(ErrorCode::permission_denied,
                "locking clocks needs root; run with sudo, or measure with the clocks as they are",
                to_string(pci));
  }
  return std::make_unique<NvmlClocks>(*api, device, to_string(pci), std::move(states),
                                      std::move(guardian));
}

}  // namespace ww::measure
