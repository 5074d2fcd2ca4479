#include "device/device.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <nlohmann/json.hpp>

#include "device/amd_device.hpp"
#include "host/opencl_host.hpp"
#include "ww/core/device_name.hpp"
#include "ww/core/log.hpp"
#include "ww/core/process.hpp"
#include "ww/core/suggest.hpp"
#include "ww/measure/virtual_device.hpp"
#include "ww/microbench/compute_device.hpp"
#include "ww/microbench/virtual_chips.hpp"
#include "ww/microbench/virtual_driver.hpp"
#include "ww/model/floorplan.hpp"

namespace ww::microbench {
namespace {

Result<Device> open_virtual(const DeviceRequest& request, const std::string& name) {
  // The driver powers one chip on in a process; a second name would silently be the first chip.
  static std::string opened;
  const std::string identity =
      fmt::format("{} seed {} class {}", name, request.chip_seed, request.chip_class);
  if (!opened.empty() && opened != identity) {
    return fail(ErrorCode::device_error,
                fmt::format("this process already runs {}; start another process", opened), name);
  }
  const auto library = virtual_driver_path();
  if (std::error_code ec; !std::filesystem::exists(library, ec)) {
    return driver_missing(library);
  }
  select_virtual_driver(request, name);
  // A campaign executes little and replays the rest; two cores that wait for each other at every
  // step are slower than one on a busy machine. The user's own setting stands.
  setenv("WIREWATT_THREADS", "1", 0);
  WW_ASSIGN(api, load_opencl());
  WW_ASSIGN(devices, enumerate_opencl(*api));
  if (devices.empty()) {
    return fail(ErrorCode::device_error,
                "the virtual GPU's driver offers no device; its message is above", name);
  }
  opened = identity;
  WW_ASSIGN(host, open_opencl_host(*api, devices.front().platform, devices.front().device));
  WW_ASSIGN(abi, measure::find_virtual_abi(library));

  Device device;
  device.name = name;
  device.is_virtual = true;
  const ww_vgpu_chip_info* info = abi->chip_info();
  const char* floorplan = abi->public_floorplan_toml();
  if (info == nullptr || floorplan == nullptr) {
    return fail(ErrorCode::device_error, "the driver reports nothing about its chip", name);
  }
  device.chip = {info->name,
                 info->target,
                 info->shader_engines,
                 info->cus_per_engine,
                 info->l2_channels,
                 info->channel_interleave_bytes,
                 info->bytes_per_clock_per_channel,
                 info->l1_bytes,
                 info->l2_bytes};
  device.floorplan_toml = floorplan;
  device.host = std::move(host);
  device.sensor = measure::make_virtual_sensor(*abi);
  device.counters = measure::make_virtual_counters(*abi);
  device.timing_report = abi->timing_report;
  if (!device.floorplan_toml.empty()) {
    WW_ASSIGN(plan, model::parse_floorplan(device.floorplan_toml, name + "'s floorplan"));
    device.quadrants = plan.quadrants;
  }
  return device;
}

}  // namespace

std::string_view to_string(Traffic traffic) {
  switch (traffic) {
    case Traffic::counters: return "counters";
    case Traffic::every_launch: return "every_launch";
    case Traffic::one_launch: return "one_launch";
  }
  return "unknown";
}

std::optional<int> Device::engine_named(int number) const {
  for (int engine = 0; engine < chip.engines; ++engine) {
    if (number_of(engine) == number) return engine;
  }
  return {};
}

nlohmann::json to_json(const ChipFacts& chip) {
  nlohmann::json json{{"name", chip.name}, {"target", chip.target}};
  const auto put = [&json](const char* key, std::int64_t value) {
    if (value > 0) json[key] = value;
  };
  put("engines", chip.engines);
  put("cus_per_engine", chip.cus_per_engine);
  put("channels", chip.channels);
  put("interleave_bytes", chip.interleave_bytes);
  put("bytes_per_clock_per_channel", chip.bytes_per_clock_per_channel);
  put("l1_bytes", chip.l1_bytes);
  put("l2_bytes", chip.l2_bytes);
  return json;
}

tl::unexpected<Error> driver_missing(const std::filesystem::path& library) {
  return fail(ErrorCode::missing_dependency,
              fmt::format("the virtual GPU's driver is not at {}; build it (target wirewatt_vgpu) "
                          "or set WIREWATT_VGPU_LIBRARY",
                          library.string()));
}

std::filesystem::path virtual_driver_path() {
  if (const char* set = std::getenv("WIREWATT_VGPU_LIBRARY"); set != nullptr && *set != '\0') {
    return std::filesystem::absolute(set);
  }
  const auto program = own_program();
  if (!program) return std::filesystem::absolute(WW_VGPU_LIBRARY_NAME);
  return (program->parent_path() / ".." / "lib" / WW_VGPU_LIBRARY_NAME).lexically_normal();
}

// HIP programs load their library by name: the driver's own names for it come first on the loader's
// path, in this process's children alone.
void put_hip_first(const std::filesystem::path& folder) {
  if (std::error_code ec; !std::filesystem::is_directory(folder, ec)) return;
  const char* set = std::getenv("LD_LIBRARY_PATH");
  const std::string rest = set != nullptr ? set : "";
  const std::string first = folder.string();
  if (rest == first || rest.starts_with(first + ":")) return;
  setenv("LD_LIBRARY_PATH", (rest.empty() ? first : first + ":" + rest).c_str(), 1);
}

void select_virtual_driver(const DeviceRequest& request, const std::string& name) {
  std::string chip = DeviceName(name).chip();
  if (chip.ends_with(".toml")) chip = std::filesystem::absolute(chip).string();
  const std::filesystem::path driver = virtual_driver_path();
  setenv("OCL_ICD_VENDORS", driver.c_str(), 1);
  put_hip_first(driver.parent_path() / "wirewatt" / "hip");
  setenv("WIREWATT_CHIP", chip.c_str(), 1);
  setenv("WIREWATT_CHIP_SEED", std::to_string(request.chip_seed).c_str(), 1);
  setenv("WIREWATT_CHIP_CLASS", request.chip_class.c_str(), 1);
}

Status enter_virtual_device(const DeviceRequest& wanted) {
  DeviceRequest request = wanted;
  request.need = DeviceNeed::virtual_chip;
  const DeviceName named(request.name);
  if (!request.name.empty() && !named.is_virtual() && named.kind() != DeviceName::Kind::other) {
    return fail(ErrorCode::unsupported,
                "programs run on virtual devices this way; on a real one start them directly",
                request.name);
  }
  WW_ASSIGN(name, resolve_device_name(request));
  const auto library = virtual_driver_path();
  if (std::error_code ec; !std::filesystem::exists(library, ec)) {
    return driver_missing(library);
  }
  select_virtual_driver(request, name);
  // Most time of a short program can go into the first use of its own arrays' pages.
  setenv(kMallocInLargePages.name, kMallocInLargePages.value, 0);
  return {};
}

Result<std::string> resolve_device_name(const DeviceRequest& request) {
  const std::string& name = request.name;
  if (name.empty()) {
    WW_ASSIGN(choice, choose_device(request.need));
    if (request.need != DeviceNeed::virtual_chip) {
      log::info("{}: {}", choice.name, choice.reason);
    }
    return choice.name;
  }
  const DeviceName parsed(name);
  if (parsed.is_virtual()) {
    const std::string chip = parsed.chip();
    if (!parsed.is_chip_file()) {
      WW_ASSIGN(chips, virtual_chips());
      std::vector<std::string_view> names;
      for (const VirtualChip& known : chips) {
        if (known.name == chip) return name;
        names.push_back(known.name);
      }
      return fail(ErrorCode::not_found,
                  fmt::format("no virtual chip '{}'; there are {} and paths that end in .toml{}",
                              chip, fmt::join(names, ", "), did_you_mean(chip, names)),
                  name);
    }
    if (std::error_code ec; !std::filesystem::is_regular_file(chip, ec)) {
      return fail(ErrorCode::not_found, "no such chip file", chip);
    }
    return name;
  }
  if (parsed.is_host()) return name;
  if (parsed.kind() == DeviceName::Kind::pci || parsed.kind() == DeviceName::Kind::sensor) {
    WW_ASSIGN(choice, choose_on_card(name));
    log::info("{}: {}", choice.name, choice.reason);
    return choice.name;
  }
  return fail(ErrorCode::not_found,
              fmt::format("no device '{}'; 'wirewatt devices' lists those that there are", name));
}

Result<Device> open_device(const DeviceRequest& request, const std::string& name) {
  if (DeviceName(name).is_virtual()) return open_virtual(request, name);
  WW_ASSIGN(opened, open_compute_device(request));
  return open_amd_device(std::move(opened), name);
}

}  // namespace ww::microbench
