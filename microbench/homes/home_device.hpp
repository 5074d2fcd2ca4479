// Campaigns by home: a device gets its quadrants by measuring.
#pragma once

#include "device/device.hpp"
#include "ww/core/result.hpp"
#include "ww/kernels/patterns.hpp"
#include "ww/microbench/homes.hpp"
#include "ww/model/floorplan.hpp"

namespace ww::microbench {

// A device's HomeMemory has a page for the data of each payload pattern, in their order, and one
// that stays zero, for probes of latency.
inline constexpr std::size_t kProbePage = kernels::all_patterns.size();
inline constexpr std::size_t kHomePages = kProbePage + 1;

// Whether the device's addresses go to its channels in the documented order, and its floorplan is
// wanted: then nothing needs to be found.
[[nodiscard]] bool homes_are_documented(const Device& device, const DeviceRequest& request);

// Finds the device's homes and makes them its quadrants: streams then follow lists of lines.
// Distances are millimetres of the floorplan where there is one that is wanted and that measured
// latencies agree with; its quadrants are then the homes in the order in which latency and distance
// go together best. Else they are nanoseconds of flight (Device::paths has why). On RDNA 1
// to 3.5 the caches of shader arrays are asked first whether they answer streams
// (caches/array_caches.hpp); the device's notes take the evidence. Errors: unsupported where they
// do, where nothing shows that they do not, and where homes cannot be found, with the reason; those
// of the host.
[[nodiscard]] Status find_device_homes(Device& device, const DeviceRequest& request);

// Gives homes the order in which their latencies and the floorplan's distances go together best.
// Returns why the floorplan's millimetres cannot be used, empty where they can: numbers of homes
// and engines that differ, an order in doubt, latencies that depart from the distances beyond the
// floorplan's declared errors (model::judge_latency_table), or errors that leave the scale open.
[[nodiscard]] std::string match_homes(HomeMemory& memory, const model::Floorplan& plan);

// Gives the homes the numbers that an earlier session of the same campaign gave them: an allocation
// elsewhere may name them in another order. `recorded`: that campaign's MeasuredPaths as text, if
// it has any. Error unsupported: one of both went by measured homes and the other did not, or by
// millimetres; homes whose latencies are not the recorded ones in any order, or as good in another.
[[nodiscard]] Status continue_homes(Device& device, const std::optional<std::string>& recorded);

}  // namespace ww::microbench
