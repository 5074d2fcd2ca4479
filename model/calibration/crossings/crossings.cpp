#include "crossings/crossings.hpp"

#include <fmt/format.h>

#include <array>

#include "kinds/kinds.hpp"
#include "score.hpp"

namespace ww::calibration {
namespace {

using nlohmann::json;

constexpr std::array<std::string_view, 9> kForeignToEstimate{
    "--floorplan", "--segments", "--toggles", "--toggles-from",    "--out",
    "--timeline",  "--rocpd",    "--voltage", "a program after --"};
constexpr std::array<std::string_view, 9> kForeignToProject{
    "--wire-to-logic", "--share", "--voltage", "--clock", "--optimise",
    "--seed",          "--trace", "--l1",      "--l2"};

}  // namespace

Result<std::unique_ptr<Calibration>> parse_crossings(nlohmann::json document,
                                                     const std::string& origin,
                                                     Admission admission) {
  auto model = parse_crossing_model(document, origin);
  if (!model && admission != Admission::any) return tl::unexpected(model.error());
  return std::make_unique<Crossings>(std::move(document), std::move(model));
}

Crossings::Crossings(json document, Result<CrossingModel> model)
    : document_(std::move(document)), model_(std::move(model)) {
  provenance_.device = document_.value("device", "");
  provenance_.is_virtual = document_.contains("virtual") && document_["virtual"] == json(true);
  if (model_) {
    provenance_.target = model_->target;
    provenance_.source = model_->source;
  }
}

bool Crossings::by_latency() const {
  return document_.value("kind", "crossing") == "latency";
}

Figure Crossings::row(const char* data) const {
  const auto found = document_.find(
      fmt::format("{}_pj_per_bit_{}", data, by_latency() ? "between_ends" : "crossing"));
  return found != document_.end() ? figure_of(*found) : Figure{};
}

std::vector<Figure> Crossings::figures() const {
  std::vector<Figure> figures;
  const auto add = [&figures](Figure figure, const char* name, const char* unit) {
    figure.name = name;
    figure.unit = unit;
    figures.push_back(std::move(figure));
  };
  if (by_latency()) {
    add(figure_of(document_.value("energy_pj_per_bit_ns", json())), "random data, per ns",
        "pJ/bit/ns");
  }
  const char* const unit = by_latency() ? "pJ/bit" : "pJ/bit/crossing";
  add(row("energy"), "random data", unit);
  add(row("zero_data"), "zeros", unit);
  add(row("data_part"), "random less zeros", unit);
  return figures;
}

std::vector<Figure> Crossings::circumstances() const {
  std::vector<Figure> rows;
  const auto add = [&](std::string name, const char* unit, const std::string& key) {
    Figure figure;
    figure.name = std::move(name);
    figure.unit = unit;
    if (const auto value = document_.find(key); value != document_.end() && value->is_number()) {
      figure.value = value->get<double>();
    }
    rows.push_back(std::move(figure));
  };
  for (const char* way : {"near", "far"}) {
    add(fmt::format("{}, power over idle", way), "W", fmt::format("{}_w", way));
  }
  add("runs", "", "runs");
  add("rejected", "", "rejected");
  return rows;
}

Foreign Crossings::foreign(Use use) const {
  constexpr const char* kHas = "has energy per bit and crossing, no millimetre and no voltage";
  if (use == Use::estimate) return {kForeignToEstimate, kHas};
  return {kForeignToProject, kHas};
}

Result<Answer> Crossings::score(const Revealed& truth) const {
  return score_figures(*this, truth);
}

Result<LinkConstants> Crossings::link_constants() const {
  if (!model_) return tl::unexpected(model_.error());
  LinkConstants links;
  links.pj_per_crossing = {model_->random_pj, model_->zero_pj};
  return links;
}

}  // namespace ww::calibration
