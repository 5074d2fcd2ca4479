// A recorded campaign of a package's dies, and its fit (ww/model/chiplet_fit.hpp).
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "ww/core/campaign_store.hpp"
#include "ww/core/result.hpp"
#include "ww/model/chiplet_fit.hpp"

namespace ww::calibration {

// StoredRun::pattern of a run is the name of its point (model::chiplet_points()).
struct ChipletFit {
  model::ChipletAnswer answer;
  double bits_per_s{};  // of the runs at full rate, mean
  int runs{}, rejected{};
};

// Errors: bad_data where the recording is not of such a campaign or ended before its blocks;
// io_error.
[[nodiscard]] Result<ChipletFit> fit_chiplet(const CampaignStore& store);

// Writes the content of model.json; device and chip are the recording's.
[[nodiscard]] nlohmann::json to_json(const ChipletFit& fit);

}  // namespace ww::calibration
