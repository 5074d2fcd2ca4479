// The estimate as the commands estimate, reproduce and score share it.
#pragma once

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "kernel_joules.hpp"
#include "timeline_option.hpp"
#include "traffic.hpp"
#include "ww/microbench/device_request.hpp"
#include "ww/model/chiplet_use.hpp"
#include "ww/model/estimate.hpp"

namespace ww::cli {

struct EstimateArguments {
  std::string model;
  std::string segments;
  std::string constant{"calibration"};
  std::vector<std::string> counters;
  std::string architecture;
  std::string floorplan;
  std::optional<double> node_nm;
  std::optional<double> voltage_v;
  std::string toggles;                // file of `wirewatt toggles`
  std::vector<std::string> dumps;     // of the program's buffers
  std::optional<double> toggle_rate;  // known of the application; absent: the prior
  bool assume_toggles{};
  microbench::DeviceRequest device;
  std::string report;
  TimelineFiles timeline;
  ResponseOptions response;
  std::string accelwattch;
  std::vector<std::string> command;
  bool json{};
  bool anyway{};  // take a flagged model too, and mark what comes of it
  bool sealed{};  // `wirewatt score` alone: bring the sealed energies along, unread
};

struct Estimated {
  model::WireModel model;
  CountedTraffic traffic;
  model::Estimate estimate;
  model::EstimateOptions options;
  // Of a package of several dies, by kernel, where monitors counted them.
  std::map<std::string, model::IoDieBytes> io_dies;
  // What the sensor saw of each kernel, by the times of its launches. Empty unless a program ran.
  session::KernelEnergies sensed;
  int program_exit_code{};  // of the program that ran
  std::string sealed;       // what score compares with

  [[nodiscard]] bool is_virtual() const { return model.is_virtual || traffic.is_virtual; }
};

// Runs the program or reads the files, and estimates. Errors: invalid_argument (neither or both;
// no model), and those of the parts.
[[nodiscard]] Result<Estimated> run_estimate(const EstimateArguments& arguments);
[[nodiscard]] nlohmann::json estimate_json(const Estimated& done);
void print_estimate(const Estimated& done);

struct ChipletEstimated {
  model::ChipletModel model;
  Estimated dies;  // wires of the compute dies, from the literature
  std::vector<model::ChipletUse> uses;

  [[nodiscard]] bool is_virtual() const { return model.is_virtual || dies.is_virtual(); }
};
// The same with a calibration of a package's dies as the model. Errors as run_estimate, and
// unsupported: options that it has no use for.
[[nodiscard]] Result<ChipletEstimated> run_chiplet_estimate(const EstimateArguments& arguments);
// Prints it. Gives the exit code.
[[nodiscard]] int estimate_chiplet(const EstimateArguments& arguments);

// The same with a calibration of crossings as the model: prints what they cost. Gives the exit
// code.
[[nodiscard]] int estimate_crossing(const EstimateArguments& arguments);

}  // namespace ww::cli
