// Sums up an experiment's campaign.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace ww::microbench {

struct CampaignSummary {
  std::string device;
  bool is_virtual{};
  std::int64_t runs{};
  std::int64_t rejected{};
  double elapsed_s{};
  bool complete{};  // false after an interrupt; resume to go on
  // Relative half-width by noise after the last block, where that is more than was asked for.
  std::optional<double> missed_half_width;
};

}  // namespace ww::microbench
