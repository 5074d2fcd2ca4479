#include "device/nvidia_device.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <utility>

#include "device/launch_log.hpp"
#include "ww/core/log.hpp"

namespace ww::microbench {

namespace {

// Other work on the card draws power that no run of ours explains.
nlohmann::json other_work(const measure::NvidiaGpu& gpu, const std::string& name) {
  if (!gpu.processes) {
    log::warn("{}: the driver does not report who else computes on it; make sure nobody does",
              name);
    return nullptr;
  }
  if (!gpu.processes->empty()) {
    log::warn("{}: other processes compute on it ({}): their power disturbs every run", name,
              fmt::join(*gpu.processes, ", "));
  }
  return *gpu.processes;
}

}  // namespace

std::string mig_obstacle(const measure::NvidiaGpu& gpu) {
  if (!gpu.mig.value_or(false)) return {};
  return fmt::format(
      "MIG is on: the sensor reads all instances together, and an instance has only a part of the "
      "SMs and of the L2. End what runs on the card, then: sudo nvidia-smi -i {} -mig 0",
      to_string(gpu.pci));
}

Result<Device> open_nvidia_device(ComputeDevice opened, const std::string& name) {
  if (const std::string why = opened.nvidia ? mig_obstacle(*opened.nvidia) : ""; !why.empty()) {
    return fail(ErrorCode::unsupported, why, name);
  }
  if (opened.sensor == nullptr) {
    return tl::unexpected(no_power(opened));
  }
  const HostFacts facts = opened.host->facts();
  Device device;
  device.name = name;
  device.is_virtual = facts.is_virtual;
  device.chip.name = facts.device;
  device.chip.target = facts.target;
  device.chip.engines = facts.compute_units;
  device.chip.cus_per_engine = facts.compute_units > 0 ? 1 : 0;
  device.chip.l2_bytes = facts.l2_bytes;
  device.traffic = Traffic::every_launch;
  nlohmann::json notes{{"driver", facts.driver},
                       {"sensor", opened.sensor->facts().name},
                       {"traffic", {{"source", to_string(device.traffic)}}}};
  if (opened.nvidia) notes["other_processes"] = other_work(*opened.nvidia, name);
  device.notes = notes.dump();
  attach_logged(device, std::move(opened.sensor), std::move(opened.host));
  return device;
}

}  // namespace ww::microbench
