// NVIDIA cards as devices of an experiment. Their hardware id is the SM and their floorplans are
// not public, so they have SMs instead of engines, no quadrants and no distances.
#pragma once

#include <string>

#include "device/device.hpp"
#include "ww/core/result.hpp"
#include "ww/microbench/compute_device.hpp"

namespace ww::microbench {

// Why a card that is divided into instances (MIG) cannot be measured; empty where it is not.
[[nodiscard]] std::string mig_obstacle(const measure::NvidiaGpu& gpu);

// The experiment's device from an opened one. No driver counts its launches: the kernels count what
// they do themselves, and the log of launches says when. Error unsupported where its power cannot
// be read.
[[nodiscard]] Result<Device> open_nvidia_device(ComputeDevice opened, const std::string& name);

}  // namespace ww::microbench
