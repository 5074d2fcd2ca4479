// IISWC'16: one of the paper's applications on the virtual W9100, as its run left it.
#pragma once

#include <array>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "ww/core/result.hpp"
#include "ww/model/chip_power.hpp"
#include "ww/model/wire_model.hpp"

namespace ww::study::iiswc16 {

struct Application {
  std::string name;
  std::string failure;                    // why there is no figure
  double seconds{};                       // of chip time in kernels
  std::array<double, 3> bytes{};          // with the paper's counters and widths
  std::array<double, 3> moved{};          // bytes that moved, as counters and monitors say
  double share_moved{};                   // by those bytes, toggle rate 0.34
  std::array<double, 3> share_percent{};  // of the dynamic power, toggle rate 0.34
  double share{};
  std::optional<double> share_measured;  // with the application's own toggles and bytes
  // The share with the rest of the chip anywhere in its public ranges.
  std::optional<model::ShareBounds> bounds;
  double dynamic_w{};
  double l1_hit_percent{};
  double vector_per_line{};  // vector instructions for each line that an L1 is asked for
  double toggle_rate{};
  // Bytes with other caches: L1-L2 with 4 and 16 KiB, L2-memory with 256 and 1024 KiB.
  std::array<double, 2> l1_l2{}, l2_memory{};
  [[nodiscard]] bool good() const { return failure.empty(); }
};

struct ApplicationsRequest {
  std::string out;   // runs that are there are used again
  std::string size;  // of the inputs
  unsigned at_once{2};
  std::string build;
};

struct ApplicationRuns {
  std::vector<std::string> programs;  // our names, in the list's order
  std::vector<Application> applications;
  std::vector<std::string> builds;  // of this program, that made the runs
};

// Runs what the folder lacks, each application in a process of its own, and prices all of them with
// the model. `done(name, runs, of)` is called after each, from one thread at a time. An application
// that fails says so and does not stop the others. Error cancelled (Ctrl-C); io_error.
[[nodiscard]] Result<ApplicationRuns> run_applications(
    const ApplicationsRequest& request, const model::WireModel& model,
    const std::function<void(const std::string&, double, double)>& done);

}  // namespace ww::study::iiswc16
