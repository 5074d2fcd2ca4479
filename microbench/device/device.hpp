// An opened device: compute host, sensor, counters, and the public facts of its chip.
#pragma once

#include <filesystem>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ww/core/result.hpp"
#include "ww/measure/i_counters.hpp"
#include "ww/measure/i_sensor.hpp"
#include "ww/microbench/device_request.hpp"
#include "ww/microbench/homes.hpp"
#include "ww/microbench/i_compute_host.hpp"
#include "ww/model/measured_paths.hpp"

namespace ww::microbench {

// Facts about a chip before anything runs. A count that is not known is 0 here and absent from the
// JSON under campaign_keys::chip.
struct ChipFacts {
  std::string name;
  std::string target;  // "gfx701"
  int engines{};
  int cus_per_engine{};
  int channels{};
  int interleave_bytes{};
  int bytes_per_clock_per_channel{};
  std::int64_t l1_bytes{};
  std::int64_t l2_bytes{};
};
[[nodiscard]] nlohmann::json to_json(const ChipFacts& chip);

// How the bytes of a launch are known.
enum class Traffic {
  counters,      // the device counts each launch
  every_launch,  // no counter follows launches: the streaming kernel counts its working wavefronts
  one_launch,  // it counts in one launch before each run (simulated chips repeat launches exactly)
};
[[nodiscard]] std::string_view to_string(Traffic traffic);

struct Device {
  std::string name;
  bool is_virtual{};
  ChipFacts chip;
  std::string floorplan_toml;
  std::vector<std::vector<int>>
      quadrants;                // [quadrant] -> L2 channels, from the floorplan or found
  std::vector<int> engine_cus;  // CUs of each engine; empty: chip.cus_per_engine everywhere
  // By which number wavefronts name each engine: a part with an engine fused off leaves one out.
  std::vector<int> engine_numbers;  // ascending; empty: 0, 1, ...
  Traffic traffic{Traffic::counters};
  std::string notes;  // JSON: how it was opened, for readers of the campaign; empty: nothing to say
  // Destroyed in reverse order: buffers and kernels go before them, see StreamKernels.
  // (The log of launches that stands for counters asks the sensor for the time.)
  std::unique_ptr<measure::Sensor> sensor;
  std::unique_ptr<ComputeHost> host;
  std::unique_ptr<measure::Counters> counters;
  // Devices whose order of addresses nobody documents: where lines live, and the memory of which
  // that is known. Streams then follow lists of lines. Its homes are the quadrants.
  std::optional<HomeMemory> homes;
  std::optional<model::MeasuredPaths> paths;  // of those homes
  const char* (*timing_report)(){};           // ww_vgpu_abi's

  [[nodiscard]] int number_of(int engine) const {
    return engine_numbers.empty() ? engine : engine_numbers[static_cast<std::size_t>(engine)];
  }
  // The engine that wavefronts name so; nothing where there is none.
  [[nodiscard]] std::optional<int> engine_named(int number) const;
  [[nodiscard]] int cus_of(int engine) const {
    return engine_cus.empty() ? chip.cus_per_engine : engine_cus[static_cast<std::size_t>(engine)];
  }
};

// The full name that the request stands for: an empty name becomes choose_device(request.need), and
// a card's ("gpu:0", "pci:0000:03:00.0") that of a device which computes on it. Errors:
// invalid_argument and not_found for names that no device can have; those of choose_device and
// choose_on_card.
[[nodiscard]] Result<std::string> resolve_device_name(const DeviceRequest& request);

// Opens the device of a resolved name. A process can open one virtual chip, because the OpenCL
// loader and the driver settle on it at their first call. Errors: missing_dependency,
// device_error, invalid_argument; unsupported for real devices that a campaign cannot measure, with
// what it misses on them (amd_device.hpp).
[[nodiscard]] Result<Device> open_device(const DeviceRequest& request, const std::string& name);

// Where the virtual GPU's driver lies: $WIREWATT_VGPU_LIBRARY, else ../lib beside the program.
[[nodiscard]] std::filesystem::path virtual_driver_path();
// The error where it does not lie there.
[[nodiscard]] tl::unexpected<Error> driver_missing(const std::filesystem::path& library);
// Sets the environment that makes the OpenCL loader show this virtual chip alone. Call before the
// loader's first use in the process.
void select_virtual_driver(const DeviceRequest& request, const std::string& name);

}  // namespace ww::microbench
