// A calibration's constants, and those of the estimator's router, as input files that other
// simulators read without a change to them.
//
// Every constant stands in a comment of the file with its 95% interval, its convention, and a label
// that says where it is from: `measured` or `virtual` for what a calibration fitted, `literature`
// for what an estimator or a simulator's own file says. Where a target has no comments (JSON), the
// lines are the list `comment`, which it ignores.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ww/core/result.hpp"
#include "ww/core/units.hpp"
#include "ww/sim/power/crossing_energy.hpp"
#include "ww/sim/power/router_energy.hpp"

namespace ww::sim::power {

enum class ExportTarget : std::uint8_t { accelwattch, gem5, mcpat, noxim, booksim, rapidchiplet };
inline constexpr std::array kExportTargets{ExportTarget::accelwattch, ExportTarget::gem5,
                                           ExportTarget::mcpat,       ExportTarget::noxim,
                                           ExportTarget::booksim,     ExportTarget::rapidchiplet};
[[nodiscard]] std::string_view to_string(ExportTarget target);
// Error invalid_argument, key to.
[[nodiscard]] Result<ExportTarget> export_target_from_string(std::string_view text);

// Energy of a random payload bit (toggle rate 0.5) on a link, with its 95% interval [fJ].
struct LinkConstant {
  double value{}, low{}, high{};
  bool per_mm{true};  // else per bit and link: a crossing of an L2, whatever its length
  std::string convention;
  std::string source;
  bool is_virtual{};
  double node_nm{};                // that the figure is for; 0: it is not known
  std::optional<double> reach_mm;  // mean distance from an engine to a part of the L2
};

// The wire of a model.json, scaled from the card's node to `node_nm` as wire_from_model does;
// without `node_nm` it stays at the card's node. Errors: those of wire_from_model.
[[nodiscard]] Result<LinkConstant> link_constant(const nlohmann::json& model,
                                                 std::optional<double> card_node_nm,
                                                 std::optional<double> node_nm);
[[nodiscard]] LinkConstant link_constant(const CrossingEnergy& crossing);

struct ExportConfig {
  ExportTarget target{};
  LinkConstant link;
  std::string misfit;  // why the calibration is flagged; the file then says so first
  Estimator estimator{Estimator::dsent};
  double node_nm{22};  // of the routers
  RouterSize router;
  Millimetre link_length{1.0};
  Hertz clock{1e9};
  // rapidchiplet: share of the cycles in which a link carries a flit.
  double load{1.0};
  // accelwattch, mcpat: the configuration of the chip, which the file is a copy of; rapidchiplet: a
  // packaging, or empty.
  std::string base;
  // accelwattch, mcpat: what the target charges for an access to its network with that
  // configuration [pJ].
  std::optional<double> pj_per_access;
};

struct ExportedConstant {
  std::string name;
  double value{};
  std::optional<double> low, high;  // absent: its source has none
  std::string unit, convention, label, source;
};
// {name, value, low, high, unit, convention, label, source}; null where there is no interval.
void to_json(nlohmann::json& json, const ExportedConstant& constant);

struct ExportedFile {
  std::string text;
  std::vector<ExportedConstant> constants;
  std::vector<std::string> notes;  // on what the target takes with this file, a clause each
};

// Errors, by key: out_of_range (a length, clock, load or size that is not above 0; those of
// router_energy); invalid_argument where `base` or `pj_per_access` is needed and missing;
// parse_error where `base` has no such place; unsupported where BookSim's choice of repeaters
// leaves no capacitance for the wire.
[[nodiscard]] Result<ExportedFile> export_file(const ExportConfig& config);

}  // namespace ww::sim::power
