// Declares what estimate and score share: an application and the calibration that prices it.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "estimate/recorded_power.hpp"
#include "kernel_joules.hpp"
#include "timeline_option.hpp"
#include "ww/calibration/calibration.hpp"
#include "ww/core/temporary_folder.hpp"
#include "ww/microbench/device_request.hpp"
#include "ww/session/application.hpp"

namespace ww::cli {

struct EstimateArguments {
  std::string model;
  std::string segments;
  std::string constant;  // "calibration" or "literature"
  std::vector<std::string> counters;
  std::string kernels;            // regular expression of their names; empty: all
  std::optional<double> limit_s;  // of a run that is counted on a card
  std::optional<double> time_s;   // of all counted launches together, where the files do not say
  std::size_t shown_kernels{calibration::EstimateRequest{}.shown_kernels};
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
  bool open{};  // the page in a browser
  TimelineFiles timeline;
  RecordedPower power;
  ResponseOptions response;
  std::string accelwattch;
  std::vector<std::string> command;
  bool json{};
  bool anyway{};  // take a flagged model too, and mark what comes of it
  bool sealed{};  // `wirewatt score` alone: bring the sealed energies along, unread
  std::vector<std::string> given;  // names of the options that were given
};

struct Application {
  std::unique_ptr<calibration::Calibration> model;
  calibration::Traffic traffic;
  calibration::EstimateRequest request;
  session::CountedDispatches counted;
  std::string device;                // that the program ran on; empty: the default, or none
  std::vector<std::string> samples;  // the sensor's readings while it ran, in this folder
  std::unique_ptr<ScratchFolder> run_folder;
  // Sensed energy of each kernel, by the times of its launches. Empty unless a program ran.
  session::KernelEnergies sensed;
  int program_exit_code{};  // of the program that ran
  std::string sealed;       // the truth that score compares with
};

// Reads the calibration, and runs the program or reads its counters. Errors: invalid_argument
// (neither or both; no model), unsupported (an option that the calibration has no use for), and
// those of the parts.
[[nodiscard]] Result<Application> read_application(const EstimateArguments& arguments);

}  // namespace ww::cli
