// A calibration of a package's dies: energy per bit of the ways between them (model.json of the
// method "chiplet").
#pragma once

#include <nlohmann/json.hpp>
#include <optional>

#include "package/use.hpp"
#include "ww/calibration/calibration.hpp"

namespace ww::calibration {

class Package final : public Calibration {
 public:
  Package(nlohmann::json document, ChipletModel model);

  [[nodiscard]] std::string_view kind() const override { return "package"; }
  [[nodiscard]] std::string_view title() const override {
    return "a calibration of a package's dies";
  }
  [[nodiscard]] const Provenance& provenance() const override { return provenance_; }
  [[nodiscard]] std::vector<Figure> figures() const override;
  [[nodiscard]] Foreign foreign(Use use) const override;
  [[nodiscard]] bool uses_literature() const override { return true; }  // within the dies
  [[nodiscard]] Result<Answer> estimate(const Traffic& traffic,
                                        const EstimateRequest& request) const override;
  [[nodiscard]] std::vector<std::string> priced_rows() const override;
  [[nodiscard]] Result<Answer> project(const ProjectRequest& request) const override;
  [[nodiscard]] Result<Answer> score(const Revealed& truth) const override;
  [[nodiscard]] Result<Answer> score_application(
      const Traffic& traffic, const EstimateRequest& request,
      const std::map<std::string, double>& sealed_j) const override;
  [[nodiscard]] Result<LinkConstants> link_constants() const override;
  [[nodiscard]] Page page() const override;
  [[nodiscard]] const nlohmann::json& document() const override { return document_; }

 private:
  [[nodiscard]] Result<std::vector<ChipletUse>> uses(const Traffic& traffic,
                                                     const EstimateRequest& request) const;

  nlohmann::json document_;
  ChipletModel model_;
  Provenance provenance_;
};

}  // namespace ww::calibration
