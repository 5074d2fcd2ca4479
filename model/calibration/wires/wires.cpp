#include "wires/wires.hpp"

#include <fmt/format.h>

#include <array>

#include "kinds/kinds.hpp"
#include "wires/estimate.hpp"
#include "ww/calibration/same_part.hpp"
#include "ww/model/flagged.hpp"
#include "ww/model/segment_names.hpp"
#include "ww/model/technology.hpp"

namespace ww::calibration {
namespace {

using nlohmann::json;

constexpr std::array<std::string_view, 4> kForeignToProject{
    "--moved", "--toggle-rate", "--crossing-mm", "--crossing-mm-source"};

std::string string_at(const json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

}  // namespace

Result<std::unique_ptr<Calibration>> parse_wires(json document, const std::string& origin,
                                                 Admission admission) {
  if (!document.is_object()) {
    return fail(ErrorCode::parse_error, "is not a JSON object; run 'wirewatt fit' again", origin);
  }
  auto model =
      model::parse_wire_model(document, origin,
                              admission == Admission::refuse_flagged ? model::FlaggedModel::refuse
                                                                     : model::FlaggedModel::mark);
  const bool is_model = string_at(document, "format") == "wirewatt-model/1";
  if (!model && (admission != Admission::any || !is_model)) return tl::unexpected(model.error());
  return std::make_unique<Wires>(std::move(document), std::move(model));
}

std::unique_ptr<Calibration> calibration_of(model::WireModel model) {
  return std::make_unique<Wires>(json::object(), std::move(model));
}

std::vector<std::string> Wires::priced_rows() const {
  return {model::kSegmentNames.begin(), model::kSegmentNames.end()};
}

Wires::Wires(json document, Result<model::WireModel> model)
    : document_(std::move(document)), model_(std::move(model)) {
  if (!model_) {
    provenance_.device = string_at(document_, "device");
    provenance_.target = string_at(document_, "target");
    provenance_.source = "calibration of " + provenance_.device;
    provenance_.is_virtual = document_.contains("virtual") && document_["virtual"] == json(true);
    provenance_.misfit = model::misfit_reason(document_);
    return;
  }
  provenance_.device = model_->device;
  provenance_.target = model_->target;
  provenance_.source = model_->source;
  provenance_.is_virtual = model_->is_virtual;
  provenance_.misfit = model_->misfit;
}

std::vector<Figure> Wires::figures() const {
  std::vector<Figure> figures;
  for (const json& row : document_.value("constants", json::array())) {
    figures.push_back(figure_of(row));
  }
  return figures;
}

std::vector<Figure> Wires::circumstances() const {
  std::vector<Figure> rows;
  const auto add = [&rows](const char* name, const char* unit, const json& object, const char* key,
                           double scale = 1) {
    Figure figure;
    figure.name = name;
    figure.unit = unit;
    if (const auto value = object.find(key); value != object.end() && value->is_number()) {
      figure.value = scale * value->get<double>();
    }
    rows.push_back(std::move(figure));
  };
  const auto paths = document_.value("paths", json::object());
  add("long over short path", "%", paths, "long_over_short_percent");
  add("peak bandwidth reached", "%", paths, "l1_l2_bandwidth_fraction", 100);
  add("residual, rms", "W", document_, "residual_rms_w");
  add("runs", "", document_, "runs");
  add("rejected", "", document_, "rejected");
  return rows;
}

Foreign Wires::foreign(Use use) const {
  if (use == Use::estimate) return {};
  return {kForeignToProject, "has energy per bit and distance, and nothing that is crossed"};
}

Result<Answer> Wires::estimate(const Traffic& traffic, const EstimateRequest& request) const {
  if (!model_) return tl::unexpected(model_.error());
  if (!model_->literature) {
    WW_TRY(require_same_part(request.part, traffic.architecture, traffic.file, "a bit",
                             "or use --constant literature"));
  }
  return estimate_wires(*model_, traffic, request);
}

Result<LinkConstants> Wires::link_constants() const {
  if (!model_) return tl::unexpected(model_.error());
  WW_TRY(model::require_millimetres(*model_, "a network"));
  const auto of = [&](double toggle_rate) {
    return product(model_->of_data(model::data_at_rate(toggle_rate)), model_->whole_way);
  };
  LinkConstants links;
  links.fj_per_mm = {of(model::kRandomToggleRate), of(0)};
  return links;
}

Status Wires::use_floorplan(const model::Floorplan& floorplan) {
  if (!model_) return tl::unexpected(model_.error());
  return model::use_floorplan(*model_, floorplan);
}

Status Wires::use_registers_l1(const Interval& fj_per_bit) {
  if (!model_) return tl::unexpected(model_.error());
  model_->registers_l1_fj_per_bit = fj_per_bit;
  return {};
}

}  // namespace ww::calibration
