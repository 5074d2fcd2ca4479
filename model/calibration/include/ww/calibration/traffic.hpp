// Declares the counts of an application: the traffic that a calibration prices. Profilers' files
// and the virtual GPU's monitors give it (ww/session/application.hpp reads them).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "ww/model/assumed_data.hpp"
#include "ww/model/estimate.hpp"

namespace ww::calibration {

using model::KernelTraffic;

// A profiler's counts of a kernel's crossings between the sides of an L2. Some dispatches may lack
// the counter.
struct CountedCrossing {
  double bytes{};             // that crossed in the dispatches that have it
  std::uint64_t uncounted{};  // dispatches without it
  // Bytes between L1 and L2 in those, of which none to all crossed; absent: nothing bounds them.
  std::optional<double> uncounted_traffic;
  // Bytes between L1 and L2 in the counted dispatches, and each way. Absent: not counted.
  std::optional<double> traffic;
  bool traffic_at_least{};  // some of that traffic was not counted
  std::optional<double> read_traffic;
  std::optional<double> written_traffic;
};

// Bytes of a kernel behind the L2s of a package, as monitors counted them.
struct IoDieBytes {
  double own{}, row{}, column{}, across{};
  double memory{};  // between the Infinity Cache and memory
  double xgmi{};    // over the links to another part
};

struct Traffic {
  std::vector<KernelTraffic> kernels;
  std::string architecture;  // of the part that it was counted on
  std::size_t dispatches{};
  bool is_virtual{};             // the virtual GPU counted some of it
  std::optional<double> busy_s;  // while any launch ran; absent: not known
  std::string file;              // where it is from, for errors
  // Crossings by kernel, where counters have them.
  std::map<std::string, CountedCrossing> crossings;
  std::string crossings_unused;  // counters that look like crossings and were not used, and why
  std::map<std::string, IoDieBytes> io_dies;
  std::map<std::string, double> counters;  // every one, summed over all dispatches
};

// Assumptions about an application's data, and the part where it ran.
struct EstimateRequest {
  model::EstimateOptions options;
  std::optional<double> toggle_rate;  // of the application's data; absent: the prior
  // Technology node for figures that only the literature has [nm]; absent: the part's.
  std::optional<double> literature_node_nm;
  bool anyway{};  // take traffic of another part, too, and mark what comes of it
  // The part that the calibration is of, as counters name it; empty: not known.
  std::string part;
  // The dynamic energy that the sensor saw while the kernels ran [J]; or why there is none.
  std::optional<model::Interval> dynamic_j;
  std::string no_dynamic_reason;
  std::size_t shown_kernels{20};  // rows of the tables; the JSON has all kernels
};

}  // namespace ww::calibration
