// A sensor's response to power: the stretch of time that each reading averages, or the lag with
// which it follows, and its gain and offset. The response is found by comparing readings with the
// true power, which is an external meter's series or the switching of a load of constant height.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ww/measure/sensor_recording.hpp"
#include "ww/measure/update_period.hpp"

namespace ww::measure {

enum class ResponseKind {
  not_resolved,
  window,  // mean over a stretch that ends `delay` before the refresh; also what has another shape
           // and is over before the next refresh
  lag,     // first order, as a capacitor charges, over several refreshes
};
[[nodiscard]] std::string_view to_string(ResponseKind kind);

struct SensorResponse {
  ResponseKind kind{ResponseKind::not_resolved};
  std::string reason;        // why not resolved
  double time_s{};           // the window, or the lag's time constant
  bool at_most{};            // time_s is an upper bound
  double low_s{}, high_s{};  // other values that fit nearly as well
  double delay_s{};          // good to the clocks' alignment, some ms
  bool of_the_load{};        // fitted to switches: the load's own start and rise are in it
  double rms_w{};            // of the fit
  double span_w{};           // of the readings, 5% to 95%
  // reading = gain * truth + offset. Against a meter only: of switches the height is not known.
  std::optional<double> gain, offset_w;
  std::string gain_reason;  // why they are absent
  double other_rms_w{};     // of the best fit of the other kind
  std::string note;         // what else to know of the fit
  // Share of the time that readings see; under 1 where the window is shorter than the period.
  [[nodiscard]] double seen(const UpdatePeriod& period) const {
    return kind == ResponseKind::window && period.resolved && time_s < period.period_s
               ? time_s / period.period_s
               : 1.0;
  }
};

// Fits the response to `readings`, which are refreshes() of one column, by least squares over
// window or lag (2 ms to 2.5 s) and delay (-20 to 300 ms). The result is not resolved in these
// cases: the refreshes are not known; fewer than 12 of them under the truth; readings that do not
// follow it or precede it; windows that differ by a factor of two and fit equally well; window and
// lag that fit equally well. A meter or switches that are themselves known from reading to reading
// leave the window open by that time, and a lag by its standard deviation. The gain is absent if
// the fit is poor or the polls are coarse for the window.
[[nodiscard]] SensorResponse fit_response(std::span<const PowerPoint> readings,
                                          const UpdatePeriod& period, const PowerSeries& meter);

// Fits the response as above, with a load as the truth. The load is on from switches[0] to
// switches[1], and so on. Readings may come up to 60 ms before a switch, because its time is the
// host's. Window and lag are distinguished only if one fits 1.5 times better, because a chip's
// power does not switch at once, either. Where the sensor is refreshed at least once a poll and
// nine tenths of a step pass between two polls, more than once, the response is shorter than two
// polls, whatever the switches say; none are needed then.
[[nodiscard]] SensorResponse fit_response_to_load(std::span<const PowerPoint> readings,
                                                  const UpdatePeriod& period,
                                                  std::span<const double> switches,
                                                  double switches_known_to_s = 0);

// Mean of the sensor beside that of the meter, over a stretch of constant or repeated load.
struct SteadyError {
  std::string what;  // "idle", "mean of the run", "load on 0 s to 6 s"
  double sensor_w{};
  double meter_w{};
  [[nodiscard]] double relative() const { return sensor_w / meter_w - 1; }
};

// Compares sensor and meter over these stretches: before the first switch; the second half of each
// stretch of 2 s and more between switches; and, if stretches are shorter, everything from the
// first to the last switch. The meter is filtered by the response at each refresh. The result is
// empty without a meter or without a fitted response.
[[nodiscard]] std::vector<SteadyError> steady_errors(std::span<const PowerPoint> readings,
                                                     const PowerSeries& meter,
                                                     std::span<const double> switches,
                                                     const SensorResponse& response);

}  // namespace ww::measure
