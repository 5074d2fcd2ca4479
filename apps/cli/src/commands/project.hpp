// wirewatt project, for a model of wires (project.cpp), of crossings (project_crossing.cpp) or of a
// package's dies (project_chiplet.cpp).
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ww/core/result.hpp"

namespace ww::cli {

struct ProjectArguments {
  std::string model;
  bool anyway{};
  std::string node{"7nm"};
  std::optional<double> wire_to_logic;
  std::vector<double> shares;
  std::optional<double> voltage_v;
  std::optional<double> clock_hz;
  std::vector<std::string> counters;
  bool optimise{};
  std::uint64_t seed{1};
  std::string trace;
  std::vector<int> l1_kib{4, 16};
  std::vector<int> l2_kib{256, 1024};
  // Of a calibration of crossings, or of a package's dies.
  std::vector<double> moved_percent;  // of the crossings or pages; empty: 10, 25, 50
  std::optional<double> toggle_rate;  // of the application's data
  std::string architecture;           // of the counters, where they name none
  // Of a calibration of crossings alone.
  std::string card_node;              // of the card that was calibrated; empty: its data sheet's
  std::optional<double> crossing_mm;  // as a floorplan has it
  std::string crossing_mm_source;
  // Options that say nothing to other kinds of model.
  std::vector<CLI::Option*> of_wires;
  std::vector<CLI::Option*> of_crossings;
  std::vector<CLI::Option*> of_distances;
  bool json{};
};

// Energy relative to 28 nm at a node between: a straight line over the logarithms.
[[nodiscard]] double relative_to_28nm(double at_7nm, double node_nm);

// With a calibration of crossings: prints, and gives the exit code.
[[nodiscard]] int project_crossing(const ProjectArguments& arguments);
// The same with a calibration of a package's dies.
[[nodiscard]] int project_chiplet(const ProjectArguments& arguments);

}  // namespace ww::cli
