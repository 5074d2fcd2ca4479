#include "ww/measure/virtual_device.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <link.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <string>
#include <vector>

namespace ww::measure {
namespace {

class VirtualSensor final : public Sensor {
 public:
  explicit VirtualSensor(const ww_vgpu_abi& abi) : abi_(abi) {
    const ww_vgpu_chip_info* chip = abi_.chip_info();
    facts_.name = fmt::format("virtual {} telemetry", chip != nullptr ? chip->name : "chip");
    if (const ww_vgpu_sensor_info* info = abi_.sensor_info(); info != nullptr) {
      facts_.stated_period_s = static_cast<double>(info->period_ns) * 1e-9;
      facts_.power_resolution_w = static_cast<double>(info->power_resolution_uw) * 1e-6;
      facts_.temperature_resolution_c = static_cast<double>(info->temperature_resolution_mc) * 1e-3;
    }
  }

  const SensorFacts& facts() const override { return facts_; }
  std::vector<FieldState> fields() const override {
    if (!lacks_energy_) return {};
    return {{"energy", FieldStatus::missing, "the chip's sensor has no energy counter"}};
  }
  std::int64_t now_ns() override { return abi_.now_ns(); }
  void sleep_until(std::int64_t time_ns) override { abi_.sleep_until_ns(time_ns); }

  Result<std::vector<SensorReading>> new_readings() override {
    std::vector<SensorReading> readings;
    std::array<ww_vgpu_sample, 1024> chunk{};
    const std::int64_t poll_ns = abi_.now_ns();
    for (;;) {
      const std::uint64_t count = abi_.samples_since(next_, chunk.data(), chunk.size());
      if (count > chunk.size()) {
        return fail(ErrorCode::device_error, "the driver returned more samples than asked for",
                    facts_.name);
      }
      for (std::uint64_t i = 0; i < count; ++i) {
        const ww_vgpu_sample& raw = chunk[static_cast<std::size_t>(i)];
        SensorReading reading;
        reading.time_ns = raw.time_ns;
        reading.poll_ns = poll_ns;
        if ((raw.flags & WW_VGPU_SAMPLE_VALID) != 0) {
          reading.power_uw = raw.power_uw;
          lacks_energy_ = (raw.flags & WW_VGPU_SAMPLE_NO_ENERGY) != 0;
          if (!lacks_energy_) reading.energy_ticks = raw.energy_ticks;
          reading.temperature_mc = raw.temperature_mc;
          if (raw.voltage_uv != 0) reading.voltage_uv = raw.voltage_uv;
          reading.clock_khz = raw.clock_khz;
        }
        readings.push_back(reading);
        next_ = raw.index + 1;
      }
      if (count < chunk.size()) return readings;
    }
  }

  // Every refresh counts as polled at once: the chip logs them all.
  std::vector<RailReading> new_rails() override {
    std::vector<RailReading> readings;
    const std::uint32_t rails = std::min<std::uint32_t>(abi_.rail_count(), WW_VGPU_MOST_RAILS);
    std::array<ww_vgpu_rail_sample, 256> chunk{};
    for (std::uint64_t count = chunk.size(); rails != 0 && count == chunk.size();) {
      count = std::min<std::uint64_t>(abi_.rails_since(next_rails_, chunk.data(), chunk.size()),
                                      chunk.size());
      for (std::uint64_t i = 0; i < count; ++i) {
        const ww_vgpu_rail_sample& raw = chunk[static_cast<std::size_t>(i)];
        for (std::uint32_t rail = 0; rail < rails; ++rail) {
          readings.push_back(
              {raw.time_ns, raw.time_ns, abi_.rail_name(rail), "2^-16 J", raw.energy_ticks[rail]});
        }
        next_rails_ = raw.index + 1;
      }
    }
    return readings;
  }

  std::vector<DvfsState> dvfs_states() const override {
    std::vector<DvfsState> states;
    for (std::int32_t i = 0; i < abi_.dvfs_state_count(); ++i) {
      ww_vgpu_dvfs_state raw{};
      if (abi_.dvfs_state(i, &raw) != 0) break;
      states.push_back(
          {static_cast<double>(raw.voltage_uv) * 1e-6, static_cast<double>(raw.clock_khz) * 1e3});
    }
    return states;
  }
  int dvfs_current() const override { return abi_.dvfs_current(); }
  Status select_dvfs(int state) override {
    if (state < 0 || state >= abi_.dvfs_state_count()) {
      return fail(ErrorCode::out_of_range, fmt::format("no clock state {}", state), facts_.name);
    }
    if (abi_.dvfs_select(state) != 0) {
      return fail(ErrorCode::device_error, fmt::format("clock state {} was refused", state),
                  facts_.name);
    }
    return {};
  }

 private:
  const ww_vgpu_abi& abi_;
  SensorFacts facts_;
  bool lacks_energy_{};
  std::uint64_t next_{};
  std::uint64_t next_rails_{};
};

class VirtualCounters final : public Counters {
 public:
  explicit VirtualCounters(const ww_vgpu_abi& abi) : abi_(abi) {
    for (std::uint32_t i = 0; i < abi_.counter_count(); ++i)
      names_.emplace_back(abi_.counter_name(i));
  }

  std::uint64_t dispatch_count() const override { return abi_.dispatch_count(); }

  Result<Dispatch> dispatch(std::uint64_t id) const override {
    ww_vgpu_dispatch raw{};
    if (abi_.dispatch(id, &raw) != 0) {
      return fail(ErrorCode::device_error, fmt::format("no dispatch {}", id), "virtual counters");
    }
    return Dispatch{raw.kernel != nullptr ? raw.kernel : "", raw.start_ns, raw.end_ns};
  }

  Result<std::map<std::string, double>> sum(std::uint64_t first, std::uint64_t end) const override {
    std::vector<double> total(names_.size(), 0.0);
    std::vector<double> values(names_.size(), 0.0);
    for (std::uint64_t id = first; id < end; ++id) {
      if (abi_.dispatch_counters(id, values.data(), static_cast<std::uint32_t>(values.size())) !=
          0) {
        return fail(ErrorCode::device_error, fmt::format("no counters of dispatch {}", id),
                    "virtual counters");
      }
      for (std::size_t i = 0; i < total.size(); ++i) total[i] += values[i];
    }
    std::map<std::string, double> named;
    for (std::size_t i = 0; i < total.size(); ++i) named[names_[i]] = total[i];
    return named;
  }

 private:
  const ww_vgpu_abi& abi_;
  std::vector<std::string> names_;
};

// The files of this process's libraries that may be the driver: it has no soname, and HIP programs
// load it by the name of HIP's library.
std::vector<std::string> loaded_drivers() {
  std::vector<std::string> files;
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* into) {
        const std::string name = std::filesystem::path(info->dlpi_name).filename();
        if (name == WW_VGPU_LIBRARY_NAME || name.starts_with("libamdhip64.so.")) {
          static_cast<std::vector<std::string>*>(into)->emplace_back(info->dlpi_name);
        }
        return 0;
      },
      &files);
  return files;
}

}  // namespace

Result<const ww_vgpu_abi*> find_virtual_abi(const std::filesystem::path& library) {
  std::vector<std::string> files = loaded_drivers();
  files.insert(files.begin(), library.string());
  bool loaded = false;
  ww_vgpu_get_abi_fn get = nullptr;
  for (const std::string& file : files) {
    // RTLD_NOLOAD loads nothing.
    void* handle = get != nullptr ? nullptr : dlopen(file.c_str(), RTLD_NOW | RTLD_NOLOAD);
    if (handle == nullptr) continue;
    loaded = loaded || file.find("libamdhip64.so.") == std::string::npos;
    // The loader that brought it in keeps it; this reference is not needed to keep it alive.
    get = reinterpret_cast<ww_vgpu_get_abi_fn>(dlsym(handle, WW_VGPU_GET_ABI_SYMBOL));
    dlclose(handle);
  }
  if (get == nullptr && !loaded) {
    return fail(ErrorCode::not_found, "the virtual GPU's driver is not loaded", library.string());
  }
  if (get == nullptr) {
    return fail(ErrorCode::unsupported, "the library is not wirewatt's driver", library.string());
  }
  const ww_vgpu_abi* abi = get(WW_VGPU_ABI_VERSION);
  if (abi == nullptr) {
    return fail(ErrorCode::unsupported,
                "the driver speaks another version of the interface; install both from one build",
                library.string());
  }
  return abi;
}

Result<const ww_vgpu_catalog*> open_virtual_catalog(const std::filesystem::path& library) {
  // The path is the one that the OpenCL loader is given, so that the process has one copy.
  void* handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    const char* why = dlerror();
    return fail(ErrorCode::missing_dependency,
                std::string("the virtual GPU's driver cannot be loaded: ") +
                    (why == nullptr ? "no reason is given" : why),
                library.string());
  }
  // The library stays loaded: strings of the catalogue live in it.
  const auto get =
      reinterpret_cast<ww_vgpu_get_catalog_fn>(dlsym(handle, WW_VGPU_GET_CATALOG_SYMBOL));
  const ww_vgpu_catalog* catalog = get == nullptr ? nullptr : get(WW_VGPU_CATALOG_VERSION);
  if (catalog == nullptr) {
    return fail(ErrorCode::unsupported,
                "the driver speaks another version of the interface; install both from one build",
                library.string());
  }
  return catalog;
}

std::unique_ptr<Sensor> make_virtual_sensor(const ww_vgpu_abi& abi) {
  return std::make_unique<VirtualSensor>(abi);
}
std::unique_ptr<Counters> make_virtual_counters(const ww_vgpu_abi& abi) {
  return std::make_unique<VirtualCounters>(abi);
}

}  // namespace ww::measure
