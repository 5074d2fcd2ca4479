// Energy of the ways between the dies of a package, which has an energy accumulator for each kind
// of die (MI300's pm_metrics): every compute die reads pages of its own I/O die, of its neighbours
// and of the one across, from the Infinity Cache and from memory. The equation is in
// ww/model/chiplet_fit.hpp.
#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>

#include "ww/core/campaign_store.hpp"
#include "ww/core/result.hpp"
#include "ww/microbench/campaign_summary.hpp"
#include "ww/microbench/device_request.hpp"
#include "ww/microbench/progress.hpp"
#include "ww/model/chiplet_fit.hpp"

namespace ww::microbench {

// StoredRun::pattern of a run is the name of its point (model::chiplet_points()).
struct ChipletFit {
  model::ChipletAnswer answer;
  double bits_per_s{};  // of the runs at full rate, mean
  int runs{}, rejected{};
};

struct ChipletRequest {
  DeviceRequest device;
  std::filesystem::path folder;
  bool quick{};
  std::uint64_t seed{1};
  bool resume{};
};

// Whether calibrate measures this device so: a virtual package whose data sheet has several compute
// dies, a card of gfx942, or, through HIP, an MI250 or MI250X. The name is resolved. Errors: those
// of virtual_data_sheet() and open_host().
[[nodiscard]] Result<bool> calibrates_chiplets(const DeviceRequest& request);

// Runs or resumes the campaign into folder/campaign.db. Errors as run_campaign.
[[nodiscard]] Result<CampaignSummary> run_chiplet(const ChipletRequest& request,
                                                  const ProgressFunction& progress);

// Whether the recording is of this campaign.
[[nodiscard]] Result<bool> is_chiplet_campaign(const CampaignStore& store);
// Errors: bad_data where the recording is not of such a campaign or ended before its blocks;
// io_error.
[[nodiscard]] Result<ChipletFit> fit_chiplet(const CampaignStore& store);

// What model.json says; device and folder are the program's.
[[nodiscard]] nlohmann::json to_json(const ChipletFit& fit);

}  // namespace ww::microbench
