// The campaign: which kernel runs where, how long, in what order, and what is recorded.
// Method: Adhinarayanan et al., IISWC'16, section IV, widened from one pair of paths to every
// shader engine against every L2 quadrant (docs/method.md).
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "ww/core/result.hpp"

namespace ww::microbench {

// A device as the user names it: "virtual:w9100", "virtual:random", "virtual:path/chip.toml",
// "opencl:<platform>.<device>", "hip:<n>", "cuda:<n>", or empty for the best real GPU, else
// virtual:w9100.
struct DeviceRequest {
  std::string name;
  std::uint64_t chip_seed{};       // virtual:random
  std::string chip_class{"mild"};  // virtual:random: nested, mild, strong
  bool clock_control{true};        // real GPUs: false never touches the clocks
};

struct DeviceListing {
  std::string name;         // what --device takes
  std::string description;  // "AMD FirePro W9100 (virtual), gfx701, 44 CUs"
  bool is_virtual{};
  bool usable{};
  std::string reason;  // why not usable, and what to do
};
// Lists every device that wirewatt could use, and why others cannot be used. Error
// missing_dependency if the OpenCL loader itself is absent (the message names the package).
[[nodiscard]] Result<std::vector<DeviceListing>> list_devices();

// The device that an empty name means: the best real GPU whose power can be read, else
// virtual:w9100.
[[nodiscard]] Result<std::string> default_device();

struct CampaignRequest {
  DeviceRequest device;
  std::filesystem::path folder;  // gets campaign.db
  bool quick{};
  std::uint64_t seed{1};
  bool resume{};
  bool nops{};  // lower rates by NOPs, as IISWC'16 did (Fig. 9), instead of sleep
  // Negative controls: if the method is broken on purpose, the campaign must fail or its answer
  // must change sign.
  bool patch_binary{true};  // false: run the unpatched binary; the campaign must refuse
  bool mirrored{true};      // false: blocks repeat their order instead of mirroring it
};

struct CampaignSummary {
  std::string device;
  bool is_virtual{};
  std::int64_t runs{};
  std::int64_t rejected{};
  double elapsed_s{};
  bool complete{};  // false after an interrupt; resume to go on
};

struct CampaignProgress {
  double done{};
  double total{};
  std::string note;
};
using ProgressFunction = std::function<void(const CampaignProgress&)>;

// Runs (or resumes) the campaign into folder/campaign.db. Errors: missing_dependency (loader,
// compiler library), device_error, bad_data (not pinned, sensor frozen, zero, NaN or backwards),
// io_error, permission_denied, invalid_argument (folder holds a campaign and resume is false, or
// holds another device's campaign). Whatever was finished before an error stays in the file.
[[nodiscard]] Result<CampaignSummary> run_campaign(const CampaignRequest& request,
                                                   const ProgressFunction& progress);

}  // namespace ww::microbench
