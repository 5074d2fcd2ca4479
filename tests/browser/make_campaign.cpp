// Writes a run folder from a synthetic campaign: campaign.db, model.json. Usage: FOLDER SEED
#include <fmt/format.h>

#include <charconv>
#include <cstring>
#include <filesystem>

#include "testing/synthetic_campaign.hpp"
#include "ww/model/fit.hpp"

namespace {

ww::Status make(const std::filesystem::path& folder, std::uint64_t seed) {
  ww::model::testing::SyntheticSpec spec;
  spec.seed = seed;
  spec.plateau_s = 1;
  spec.period_s = 0.01;
  for (auto& variant : spec.variants) ++variant.blocks;  // more than 200 runs
  auto campaign = make_campaign(spec);
  campaign.runs.back().status = ww::RunStatus::rejected;
  campaign.runs.back().reason = "too hot, to show a rejected run";
  std::filesystem::create_directories(folder);
  WW_TRY(write_campaign(campaign, folder / "campaign.db"));
  WW_ASSIGN(store, ww::CampaignStore::open_read_only(folder / "campaign.db"));
  WW_ASSIGN(fit, ww::model::fit_campaign(store, {}));
  fmt::print("{} runs\n", campaign.runs.size());
  return ww::model::write_model(folder / "model.json", fit);
}

}  // namespace

int main(int argc, char** argv) {
  std::uint64_t seed = 0;
  if (argc != 3 ||
      std::from_chars(argv[2], argv[2] + std::strlen(argv[2]), seed).ec != std::errc{}) {
    fmt::print(stderr, "usage: make_campaign FOLDER SEED\n");
    return 2;
  }
  if (const auto status = make(argv[1], seed); !status) {
    fmt::print(stderr, "{}\n", status.error().text());
    return 1;
  }
  return 0;
}
