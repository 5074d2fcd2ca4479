// A calibration of the ladder: energy per bit by level of the memory's hierarchy (ladder.json).
#pragma once

#include <map>
#include <nlohmann/json.hpp>

#include "ww/calibration/calibration.hpp"

namespace ww::calibration {

class Ladder final : public Calibration {
 public:
  explicit Ladder(nlohmann::json document);

  [[nodiscard]] std::string_view kind() const override { return "ladder"; }
  [[nodiscard]] std::string_view title() const override { return "a ladder of energies by level"; }
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
  // The figure of a name; unavailable where there is none.
  [[nodiscard]] Figure figure(std::string_view name) const;

  nlohmann::json document_;
  Provenance provenance_;
};

// Energies that others published, beside which ours stand. [pJ/bit]
struct PublishedLevel {
  std::string_view what;
  double low{}, high{};
  std::string_view convention;
  std::string_view source;
};
[[nodiscard]] std::span<const PublishedLevel> published_levels();
[[nodiscard]] Table published_table();
// The figures of a document, and its levels.
[[nodiscard]] Table ladder_table(const nlohmann::json& document);
[[nodiscard]] Table levels_table(const nlohmann::json& document);

}  // namespace ww::calibration
