// The segments of a program on a card while it runs, from what the card counts meanwhile.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "top/top_card.hpp"
#include "top/top_display.hpp"
#include "ww/calibration/calibration.hpp"
#include "ww/core/result.hpp"
#include "ww/measure/counted/device_counting.hpp"
#include "ww/measure/telemetry.hpp"
#include "ww/timeline/timeline.hpp"

namespace ww::cli {

class LiveCounting {
 public:
  // Counts the program that is asked for, else those that run already. Absent where a program
  // cannot be counted while it runs: the card is not AMD's, or rocprofiler-sdk is not installed or
  // of a release whose counts are wrong. `model` outlives the object. Errors: where counting was
  // asked for by name, why there is none; those of DeviceCounting::prepare and start_host.
  static Result<std::optional<LiveCounting>> prepare(const CardRequest& request,
                                                     const measure::TelemetryGpu& card,
                                                     const calibration::Calibration& model);

  [[nodiscard]] const measure::DeviceCounting& counting() const { return counting_; }
  [[nodiscard]] std::string source() const;
  // Shows what was counted since the last call, and why nothing is. Errors: those of reading and of
  // the estimate.
  Status take(Display& display, nlohmann::json& facts, timeline::Timeline* timeline);
  // Once the program has ended: what may be wrong with the counts. Adds what the samples cost.
  // Errors: those of reading.
  Result<std::vector<std::string>> finish(nlohmann::json& facts);

 private:
  LiveCounting(measure::DeviceCounting counting, const calibration::Calibration& model,
               std::string calibrated, std::string architecture, bool inside)
      : counting_(std::move(counting)),
        model_(&model),
        calibrated_(std::move(calibrated)),
        architecture_(std::move(architecture)),
        inside_(inside) {}

  measure::DeviceCounting counting_;
  const calibration::Calibration* model_;
  std::string calibrated_;  // part, which takes a look into its data sheet
  std::string architecture_;
  bool inside_;  // of the program; else beside it
};

}  // namespace ww::cli
