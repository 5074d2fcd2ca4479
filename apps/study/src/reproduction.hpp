// Rows and charts of a reproduction, which every study fills.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace ww::study {

struct ReproductionRow {
  std::string figure, quantity;
  nlohmann::json paper, ours;  // a number, words, or null
  std::string unit;
  std::string status;  // matches, differs, unavailable, by_construction
  std::string note;
};

struct Reproduction {
  std::vector<ReproductionRow> rows;
  nlohmann::json charts = nlohmann::json::array();

  void add(ReproductionRow row) { rows.push_back(std::move(row)); }
};

}  // namespace ww::study
