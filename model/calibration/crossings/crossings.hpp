// A calibration of crossings: energy per bit between the two sides of an L2 (crossing.json). Where
// latency separates no two sides, its figures are per nanosecond of latency, and nothing crosses.
#pragma once

#include <nlohmann/json.hpp>

#include "crossings/use.hpp"
#include "ww/calibration/calibration.hpp"

namespace ww::calibration {

class Crossings final : public Calibration {
 public:
  Crossings(nlohmann::json document, Result<CrossingModel> model);

  [[nodiscard]] std::string_view kind() const override { return "crossings"; }
  [[nodiscard]] std::string_view title() const override { return "a calibration of crossings"; }
  [[nodiscard]] const Provenance& provenance() const override { return provenance_; }
  [[nodiscard]] std::vector<Figure> figures() const override;
  [[nodiscard]] std::vector<Figure> circumstances() const override;
  [[nodiscard]] Foreign foreign(Use use) const override;
  [[nodiscard]] Result<Answer> estimate(const Traffic& traffic,
                                        const EstimateRequest& request) const override;
  [[nodiscard]] std::vector<std::string> priced_rows() const override;
  [[nodiscard]] Result<Answer> project(const ProjectRequest& request) const override;
  [[nodiscard]] Result<Answer> score(const Revealed& truth) const override;
  [[nodiscard]] Result<LinkConstants> link_constants() const override;
  [[nodiscard]] Page page() const override;
  [[nodiscard]] const nlohmann::json& document() const override { return document_; }

 private:
  struct Application {
    Interval pj_per_bit;            // of its data
    std::vector<CrossingUse> uses;  // a row for each kernel, then one for all
  };
  [[nodiscard]] Result<Application> application(const Traffic& traffic,
                                                const EstimateRequest& request) const;
  [[nodiscard]] bool by_latency() const;
  // The row of "energy", "zero_data" or "data_part" per crossing, or between the latency's ends.
  [[nodiscard]] Figure row(const char* data) const;

  nlohmann::json document_;
  Result<CrossingModel> model_;  // or why nothing can be made of it
  Provenance provenance_;
};

}  // namespace ww::calibration
