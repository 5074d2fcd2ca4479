// How far an experiment is.
#pragma once

#include <functional>
#include <string>

namespace ww::microbench {

struct CampaignProgress {
  double done{};
  double total{};
  std::string note;
};
using ProgressFunction = std::function<void(const CampaignProgress&)>;

}  // namespace ww::microbench
