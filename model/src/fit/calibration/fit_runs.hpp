// fit_campaign without the file, for tests.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "ww/core/campaign_store.hpp"
#include "ww/model/fit.hpp"

namespace ww::model {

[[nodiscard]] Result<FitResult> fit_runs(const std::vector<StoredRun>& runs,
                                         const std::map<std::string, std::string>& facts,
                                         const FitOptions& options);

}  // namespace ww::model
