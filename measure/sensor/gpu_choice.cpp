#include "ww/measure/gpu_choice.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <vector>

#include "ww/core/device_name.hpp"

namespace ww::measure {
namespace {

// Each leaves a program only some of the GPUs, in an order of its own; sensors are not concerned.
constexpr std::array kHidingVariables = {"ROCR_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES",
                                         "GPU_DEVICE_ORDINAL", "CUDA_VISIBLE_DEVICES"};

// Permission bits do not decide: a batch system refuses other jobs' devices when they are opened.
bool may_open(const TelemetryGpu& gpu) {
  if (!gpu.amd) return true;  // NVML lists no others
  const int node = open(gpu.amd->render_device.c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK);
  if (node >= 0) close(node);
  return node >= 0;
}

bool has_no_sensor(const TelemetryGpu& gpu) {
  return std::ranges::none_of(gpu.backends, &SensorBackend::usable);
}

bool is_part_of_a_processor(const TelemetryGpu& gpu) {
  return gpu.amd && gpu.amd->integrated;
}

std::string list_of(const Telemetry& telemetry, const std::vector<std::size_t>& indices) {
  std::string list;
  for (const std::size_t index : indices) {
    list += fmt::format("{}gpu:{} ({})", list.empty() ? "" : ", ", index,
                        name_with_address(telemetry.gpus[index]));
  }
  return list;
}

tl::unexpected<Error> no_such_gpu(const Telemetry& telemetry, const std::string& device) {
  const auto reason = [](const char* vendor, const std::string& why) {
    return why.empty() ? std::string() : fmt::format("; {}: {}", vendor, why);
  };
  return fail(ErrorCode::missing_dependency,
              fmt::format("there are {} GPUs with a driver here{}{}; 'wirewatt doctor' says more",
                          telemetry.gpus.size(), reason("AMD", telemetry.no_amd),
                          reason("NVIDIA", telemetry.no_nvidia)),
              device);
}

// Removes what `unwanted` says, unless nothing would be left.
template <class Predicate>
void remove_if_others(const Telemetry& telemetry, std::vector<std::size_t>& indices,
                      const Predicate& unwanted) {
  std::vector<std::size_t> left;
  std::ranges::copy_if(indices, std::back_inserter(left),
                       [&](std::size_t index) { return !unwanted(telemetry.gpus[index]); });
  if (!left.empty()) indices = std::move(left);
}

Result<std::size_t> choose_unnamed(const Telemetry& telemetry) {
  if (telemetry.gpus.empty()) return no_such_gpu(telemetry, "");
  std::vector<std::size_t> indices = gpus_of_this_process(telemetry);
  remove_if_others(telemetry, indices, has_no_sensor);
  if (indices.size() == 1) return indices.front();
  for (const char* variable : kHidingVariables) {
    const char* value = std::getenv(variable);
    if (value == nullptr || *value == '\0') continue;
    return fail(
        ErrorCode::invalid_argument,
        fmt::format("{}={} leaves this program some of the GPUs, and which sensor is theirs "
                    "cannot be told; name the device, by its place or as pci:ADDRESS: {}",
                    variable, value, list_of(telemetry, indices)));
  }
  return indices.front();
}

}  // namespace

std::vector<std::size_t> gpus_of_this_process(const Telemetry& telemetry) {
  std::vector<std::size_t> indices(telemetry.gpus.size());
  for (std::size_t i = 0; i < indices.size(); ++i) indices[i] = i;
  remove_if_others(telemetry, indices, [](const TelemetryGpu& gpu) { return !may_open(gpu); });
  remove_if_others(telemetry, indices, is_part_of_a_processor);
  return indices;
}

Result<std::size_t> choose_gpu(const Telemetry& telemetry, const std::string& device) {
  if (device.empty()) return choose_unnamed(telemetry);
  const DeviceName name(device);
  if (name.kind() == DeviceName::Kind::pci) {
    const auto address = parse_pci_address(name.rest());
    const auto found = std::ranges::find_if(
        telemetry.gpus, [&](const TelemetryGpu& gpu) { return address && gpu.pci == *address; });
    if (found == telemetry.gpus.end()) return no_such_gpu(telemetry, device);
    return static_cast<std::size_t>(found - telemetry.gpus.begin());
  }
  const auto number = name.index();
  if (name.kind() != DeviceName::Kind::sensor || !number) {
    return fail(
        ErrorCode::invalid_argument,
        "real GPUs are named gpu:0, gpu:1, ..., AMD's first, or pci:0000:03:00.0 by address",
        device);
  }
  const auto index = static_cast<std::size_t>(*number);
  if (index >= telemetry.gpus.size()) return no_such_gpu(telemetry, device);
  return index;
}

std::string name_with_address(const TelemetryGpu& gpu) {
  return fmt::format("{} at {}", gpu.name, to_string(gpu.pci));
}

}  // namespace ww::measure
