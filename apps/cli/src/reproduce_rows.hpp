// Rows of a reproduction, and the parts that make them.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "ww/core/result.hpp"

namespace ww::cli {

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

// Figures 4 to 9 and Tables I and II, from a calibration's model.json.
void add_characterisation(Reproduction& out, const nlohmann::json& model);

// Table III and figures 10 to 14: every application of the paper on the virtual W9100, estimated
// with the calibration's constants. `done(name)` is told after each.
Status add_applications(Reproduction& out, const std::string& model_file, const std::string& size,
                        const std::function<void(const std::string&, double, double)>& done);

}  // namespace ww::cli
