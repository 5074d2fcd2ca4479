// What an experiment did.
#pragma once

#include <cstdint>
#include <string>

namespace ww::microbench {

struct CampaignSummary {
  std::string device;
  bool is_virtual{};
  std::int64_t runs{};
  std::int64_t rejected{};
  double elapsed_s{};
  bool complete{};  // false after an interrupt; resume to go on
};

}  // namespace ww::microbench
