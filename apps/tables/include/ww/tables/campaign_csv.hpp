// A campaign's runs and raw readings as CSV files, for spreadsheets, R and pandas.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "ww/core/campaign_store.hpp"
#include "ww/core/result.hpp"

namespace ww::tables {

struct WrittenTable {
  std::string name;  // "runs"
  std::filesystem::path file;
  std::uint64_t rows{};
  std::vector<std::string> columns;
};

// Writes NAME.csv into `folder`, which is made if it does not exist: facts, runs, waves, readings,
// and where the campaign has any, slots and rails. Rows of runs and of what belongs to them begin
// with the run's block and position. A table appears complete or not at all; an older file of its
// name is replaced. Errors: those of CampaignStore::runs, not_found, permission_denied, io_error;
// invalid_argument where the folder has a table that this campaign lacks: it would be another's.
[[nodiscard]] Result<std::vector<WrittenTable>> write_campaign_csv(
    const CampaignStore& store, const std::filesystem::path& folder);

}  // namespace ww::tables
