// A calibration of the wires of one die: energy per bit and millimetre, or per nanosecond of flight
// where no floorplan is known (model.json).
#pragma once

#include <nlohmann/json.hpp>

#include "ww/calibration/calibration.hpp"

namespace ww::calibration {

class Wires final : public Calibration {
 public:
  Wires(nlohmann::json document, Result<model::WireModel> model);

  [[nodiscard]] std::string_view kind() const override { return "wires"; }
  [[nodiscard]] std::string_view title() const override { return "a calibration of wires"; }
  [[nodiscard]] const Provenance& provenance() const override { return provenance_; }
  [[nodiscard]] std::vector<Figure> figures() const override;
  [[nodiscard]] std::vector<Figure> circumstances() const override;
  [[nodiscard]] Foreign foreign(Use use) const override;
  [[nodiscard]] Result<Answer> estimate(const Traffic& traffic,
                                        const EstimateRequest& request) const override;
  [[nodiscard]] std::vector<std::string> priced_rows() const override;
  [[nodiscard]] Result<Answer> project(const ProjectRequest& request) const override;
  [[nodiscard]] Result<Answer> score(const Revealed& truth) const override;
  [[nodiscard]] Result<Answer> score_application(
      const Traffic& traffic, const EstimateRequest& request,
      const std::map<std::string, double>& sealed_j) const override;
  [[nodiscard]] Result<LinkConstants> link_constants() const override;
  [[nodiscard]] bool is_drawn() const override { return true; }
  [[nodiscard]] Page page() const override { return {}; }
  [[nodiscard]] const model::WireModel* wires() const override {
    return model_ ? &*model_ : nullptr;
  }
  Status use_floorplan(const model::Floorplan& floorplan) override;
  Status use_registers_l1(const Interval& fj_per_bit) override;
  [[nodiscard]] const nlohmann::json& document() const override { return document_; }

 private:
  nlohmann::json document_;
  Result<model::WireModel> model_;  // or why nothing can be made of it
  Provenance provenance_;
};

}  // namespace ww::calibration
