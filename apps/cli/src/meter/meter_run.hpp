// One run of a program under `wirewatt meter`.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "ww/calibration/calibration.hpp"
#include "ww/calibration/priced.hpp"
#include "ww/core/result.hpp"
#include "ww/microbench/device_request.hpp"
#include "ww/session/device_meter.hpp"
#include "ww/session/link_traffic.hpp"

namespace ww::cli {

struct MeterRequest {
  std::vector<std::string> devices;  // as they were named; empty: those that this process may open
  microbench::DeviceRequest chip;    // of a virtual device
  std::vector<std::string> counters;
  std::string architecture;
  bool count_first{};
  bool count{};  // the cards' traffic while the program runs
  double interval_s{0.5};
  std::vector<std::string> command;
};

// Cost of polling to the program.
struct PollCost {
  std::uint64_t polls{};
  double period_s{};
  double core_share{};  // of one core
};

struct MeteredDevice {
  std::string device;  // "gpu:0", "virtual:w9100"
  std::string name;
  bool is_virtual{};
  std::string scope;       // what the figures are of: "card", "package", "chip"
  std::string scope_says;  // what else is in them
  // The device of this run whose sensor has the same joules, "gpu:0"; empty where they are counted
  // here. A sum has each sensor once.
  std::string counted_at;
  session::MeterReading reading;
  std::optional<PollCost> cost;  // of a card
  // The bytes that the card's memory and links moved, where its maker counts them, and the joules
  // of the wires between L2 and memory that they bound.
  std::optional<session::MovedBytes> moved;
  std::optional<double> l2_memory_at_most_j;
};

struct MeterResult {
  int exit_code{};  // the program's
  bool interrupted{};
  double seconds{};  // of the program, by this machine's clock
  std::vector<MeteredDevice> devices;
  session::Joules together;  // of all devices, each sensor once
  calibration::Priced wires;
  std::string wires_status, wires_reason;  // of the whole; "ok" where there are figures
  std::string wires_from;                  // the counters' source
  bool wires_virtual{};
};

// Runs the program. `model` is null where no wires are wanted. What cannot be measured has a status
// and a reason; a program that cannot be started is an error, as are devices that are not there,
// files that cannot be read, and, before the program runs, counters that the model refuses.
[[nodiscard]] Result<MeterResult> run_metered(const MeterRequest& request,
                                              const calibration::Calibration* model);

[[nodiscard]] nlohmann::ordered_json to_json(const MeterRequest& request,
                                             const MeterResult& result);
// For people.
void print_metered(const MeterResult& result);

}  // namespace ww::cli
