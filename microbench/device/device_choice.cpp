// Which device an empty name means.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <optional>

#include "device/kfd_topology.hpp"
#include "device/real_devices.hpp"
#include "host/pinning.hpp"
#include "ww/core/device_name.hpp"
#include "ww/measure/gpu_choice.hpp"

namespace ww::microbench {
namespace {

constexpr const char* kVirtualDefault = "virtual:w9100";

// Cards of vendors that wirewatt measures. Another vendor's GPU, or a stand-in for HIP without a
// card behind it, is no card here.
bool is_card(const RealDevice& device) {
  if (!device.is_gpu) return false;
  if (!device.pci.empty()) return true;
  return !device.listing.is_virtual &&
         (device.target.starts_with("gfx") || device.target.starts_with("sm_"));
}

bool has_sensor(const measure::TelemetryGpu& gpu) {
  return std::ranges::any_of(gpu.backends, &measure::SensorBackend::usable);
}

// How well a device serves a need, compared entry by entry; nothing where it does not.
using Merit = std::array<bool, 4>;
std::optional<Merit> merit(DeviceNeed need, const RealDevice& device) {
  if (!is_card(device)) return {};
  const bool usable = device.listing.usable;
  const bool readable = !device.sensor.empty();
  const bool discrete = !device.integrated;
  switch (need) {
    case DeviceNeed::campaign:
      if (!usable) return {};
      // RDNA is refused where its caches turn out to answer streams.
      return Merit{discrete, !is_rdna(device.target)};
    case DeviceNeed::compute: return Merit{device.has_code, discrete, usable, readable};
    case DeviceNeed::look: return Merit{usable, discrete, readable, device.has_code};
    case DeviceNeed::counted: return Merit{discrete, usable, readable, device.has_code};
    case DeviceNeed::power:
    case DeviceNeed::virtual_chip: break;
  }
  return {};
}

// The device, or the same card through CUDA where that serves as well.
const RealDevice& by_cuda(DeviceNeed need, const std::vector<RealDevice>& devices,
                          const RealDevice& chosen) {
  const auto wanted = merit(need, chosen);
  for (const RealDevice& other : devices) {
    const bool same = !chosen.pci.empty() && other.pci == chosen.pci;
    if (same && other.listing.name.starts_with("cuda:") && merit(need, other) >= wanted) {
      return other;
    }
  }
  return chosen;
}

std::string reason_of(DeviceNeed need, const RealDevice& device) {
  const std::string power = device.sensor.empty() ? std::string("its power cannot be read")
                                                  : "its power is read by " + device.sensor;
  switch (need) {
    case DeviceNeed::campaign:
      return (is_rdna(device.target) ? "a campaign measures it, if its caches let streams pass; "
                                     : "a campaign can measure it; ") +
             power;
    case DeviceNeed::counted: return "programs run on it, and its profiler counts them";
    default: break;
  }
  return (device.has_code ? "kernels run on it; "
                          : "kernels run on it and cannot be tied to a place; ") +
         power;
}

// A card that the kernel lists, whether or not anything computes on it.
DeviceChoice choice_of_card(const measure::TelemetryGpu& gpu, std::string reason) {
  DeviceChoice choice{"pci:" + to_string(gpu.pci), std::move(reason), to_string(gpu.pci), {}};
  if (gpu.amd) choice.target = kfd_target(kfd_root(), to_string(gpu.pci)).value_or("");
  return choice;
}

// Each card and what it lacks.
std::string obstacles(const std::vector<RealDevice>& devices, const measure::Telemetry& telemetry) {
  std::string cards, hosts;
  const auto note = [](std::string& text, const std::string& more) {
    text += (text.empty() ? "" : "; ") + more;
  };
  for (const RealDevice& device : devices) {
    const DeviceListing& listing = device.listing;
    if (is_card(device)) {
      note(cards, fmt::format("{} ({}): {}", listing.name, listing.description, listing.reason));
    } else if (!device.is_gpu) {
      note(hosts, fmt::format("{}: {}", listing.name, listing.reason));
    }
  }
  if (!cards.empty()) return cards;
  for (const measure::TelemetryGpu& gpu : telemetry.gpus) {
    note(cards, fmt::format("{} at {}: nothing here computes on it", gpu.name, to_string(gpu.pci)));
  }
  if (!cards.empty() && !hosts.empty()) note(cards, hosts);
  return cards;
}

tl::unexpected<Error> none_serves(DeviceNeed need, const std::string& why) {
  const char* lack =
      need == DeviceNeed::campaign ? "no campaign can use it" : "nothing here runs kernels on it";
  return fail(ErrorCode::missing_dependency,
              fmt::format("there is a GPU here, and {}: {}; name a device, for example --device {} "
                          "for the virtual GPU",
                          lack, why, kVirtualDefault));
}

Result<DeviceChoice> choose_sensor(const measure::Telemetry& telemetry) {
  WW_ASSIGN(index, measure::choose_gpu(telemetry, ""));
  const measure::TelemetryGpu& gpu = telemetry.gpus[index];
  const auto backend = std::ranges::find_if(gpu.backends, &measure::SensorBackend::usable);
  if (backend != gpu.backends.end()) {
    return choice_of_card(gpu, "its power is read by " + backend->name);
  }
  std::string why;
  for (const measure::SensorBackend& each : gpu.backends) {
    why += fmt::format("{}{}: {}", why.empty() ? "" : "; ", each.name, each.reason);
  }
  return fail(ErrorCode::missing_dependency, "its power cannot be read: " + why,
              measure::name_with_address(gpu));
}

}  // namespace

std::string_view to_string(DeviceNeed need) {
  switch (need) {
    case DeviceNeed::campaign: return "campaign";
    case DeviceNeed::compute: return "compute";
    case DeviceNeed::look: return "look";
    case DeviceNeed::power: return "power";
    case DeviceNeed::counted: return "counted";
    case DeviceNeed::virtual_chip: return "virtual chip";
  }
  return "unknown";
}

Result<DeviceChoice> choose_among(DeviceNeed need, const std::vector<RealDevice>& devices,
                                  const measure::Telemetry& telemetry) {
  if (need == DeviceNeed::virtual_chip) {
    return DeviceChoice{kVirtualDefault, "the command is about the virtual GPU"};
  }
  if (telemetry.gpus.empty() && std::ranges::none_of(devices, is_card)) {
    return DeviceChoice{kVirtualDefault, "there is no card here"};
  }
  if (need == DeviceNeed::power) {
    if (!telemetry.gpus.empty()) return choose_sensor(telemetry);
    return fail(ErrorCode::missing_dependency,
                "there is a GPU here, and its power cannot be read: " + telemetry.no_nvidia);
  }
  const RealDevice* best = nullptr;
  for (const RealDevice& device : devices) {
    const auto merits = merit(need, device);
    if (merits && (best == nullptr || *merits > *merit(need, *best))) best = &device;
  }
  if (best != nullptr) {
    const RealDevice& chosen = by_cuda(need, devices, *best);
    return DeviceChoice{chosen.listing.name, reason_of(need, chosen), chosen.pci, chosen.target};
  }
  if (telemetry.gpus.empty() || need == DeviceNeed::campaign || need == DeviceNeed::compute) {
    return none_serves(need, obstacles(devices, telemetry));
  }
  // One whose power is read, a processor's own graphics last.
  const auto rank = [](const measure::TelemetryGpu& gpu) {
    return std::pair(!(gpu.amd && gpu.amd->integrated), has_sensor(gpu));
  };
  const measure::TelemetryGpu& card = *std::ranges::max_element(telemetry.gpus, {}, rank);
  if (need == DeviceNeed::counted) {
    return choice_of_card(card, "nothing of wirewatt's computes on it, but a program may");
  }
  return choice_of_card(card, has_sensor(card)
                                  ? "nothing here computes on it, but its power is read"
                                  : "nothing here computes on it, and its power cannot be read");
}

std::vector<Result<DeviceChoice>> choose_devices(std::span<const DeviceNeed> needs) {
  measure::Telemetry telemetry;
  std::vector<RealDevice> devices;
  if (std::ranges::any_of(needs,
                          [](DeviceNeed need) { return need != DeviceNeed::virtual_chip; })) {
    telemetry = measure::find_telemetry();
    // Drivers may need seconds to wake, and a sensor's card is chosen without them.
    if (telemetry.gpus.empty() || std::ranges::any_of(needs, [](DeviceNeed need) {
          return need != DeviceNeed::power && need != DeviceNeed::virtual_chip;
        })) {
      devices = list_real_devices(telemetry);
    }
  }
  std::vector<Result<DeviceChoice>> choices;
  for (const DeviceNeed need : needs) choices.push_back(choose_among(need, devices, telemetry));
  return choices;
}

Result<DeviceChoice> look_up_device(const std::string& name) {
  const DeviceName parsed(name);
  if (parsed.is_virtual()) return fail(ErrorCode::unsupported, "is a virtual device", name);
  const auto telemetry = measure::find_telemetry();
  const auto devices = list_real_devices(telemetry);
  if (parsed.is_host()) {
    for (const RealDevice& device : devices) {
      if (device.listing.name == name) {
        return DeviceChoice{name, "it was named", device.pci, device.target};
      }
    }
    return fail(ErrorCode::missing_dependency,
                "is not among the devices that 'wirewatt devices' lists", name);
  }
  WW_ASSIGN(index, measure::choose_gpu(telemetry, name));
  DeviceChoice choice = choice_of_card(telemetry.gpus[index], "it was named");
  for (const RealDevice& device : devices) {
    if (choice.target.empty() && device.pci == choice.pci) choice.target = device.target;
  }
  return choice;
}

Result<DeviceChoice> choose_on_card(const std::string& name) {
  const auto telemetry = measure::find_telemetry();
  WW_ASSIGN(index, measure::choose_gpu(telemetry, name));
  const std::string pci = to_string(telemetry.gpus[index].pci);
  constexpr DeviceNeed kNeed = DeviceNeed::look;  // whoever opens it says what it lacks
  const auto devices = list_real_devices(telemetry);
  const RealDevice* best = nullptr;
  for (const RealDevice& device : devices) {
    const auto merits = device.pci == pci ? merit(kNeed, device) : std::nullopt;
    if (merits && (best == nullptr || *merits > *merit(kNeed, *best))) best = &device;
  }
  if (best == nullptr) {
    return fail(ErrorCode::missing_dependency,
                "nothing here runs kernels on this card; 'wirewatt doctor', 'selftest', 'meter' "
                "and 'top' read its sensor",
                name);
  }
  const RealDevice& chosen = by_cuda(kNeed, devices, *best);
  return DeviceChoice{chosen.listing.name, name + " is this card", chosen.pci, chosen.target};
}

Result<DeviceChoice> choose_device(DeviceNeed need) {
  return choose_devices(std::span(&need, 1)).front();
}

}  // namespace ww::microbench
