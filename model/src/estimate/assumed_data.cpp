#include "ww/model/assumed_data.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>

#include "stats.hpp"
#include "ww/core/statistics.hpp"
#include "ww/model/wire_model.hpp"

namespace ww::model {
namespace {

// Made by `studies/applications DIR --table`, DIR being a calibration of virtual:w9100. The order
// is that of the names.
constexpr std::array kApplicationToggles = std::to_array<ApplicationToggles>({
    {"bfs", 0.344, -0.760},        {"blackscholes", 0.493, -0.148}, {"bp", 0.464, -0.103},
    {"color", 0.677, -0.727},      {"comd-lj", 1.217, -0.725},      {"comd", 1.137, -0.698},
    {"convtex", 0.323, -0.192},    {"crc", 0.546, -0.099},          {"dct", 0.379, -0.229},
    {"dxtc", 0.459, -0.580},       {"eigen", 0.494, -0.174},        {"fwt", 0.231, -0.564},
    {"gem", 0.492, -0.179},        {"graph500", 1.084, -0.868},     {"gs", 0.671, -0.426},
    {"hist", 0.481, -0.087},       {"histo", 0.352, -0.835},        {"hs", 0.409, -0.123},
    {"hs3", 0.461, -0.205},        {"hys", 0.511, -0.467},          {"kmeans", 0.463, -0.137},
    {"lulesh", 0.240, -0.562},     {"mandelbulb", 1.775, -0.946},   {"minife", 0.361, -0.359},
    {"montecarlo", 0.466, -0.099}, {"nbody", 0.573, -0.313},        {"nn", 0.464, -0.097},
    {"pf", 0.409, -0.831},         {"sc", 0.445, -0.145},           {"scan", 0.553, -0.094},
    {"smallpt", 0.600, -0.891},    {"spmv", 0.547, -0.290},         {"srad", 0.457, -0.159},
    {"stencil", 0.454, -0.078},    {"swat", 0.255, -0.640},         {"xsbench", 0.439, -0.480},
});

// Geometric mean and Student's 95% prediction interval of the logarithms.
template <class Quantity>
Interval of_one_more(std::span<const ApplicationToggles> applications, const Quantity& quantity) {
  const auto count = static_cast<double>(applications.size());
  double sum = 0;
  for (const ApplicationToggles& application : applications) {
    sum += std::log(quantity(application));
  }
  const double mean = sum / count;
  double squares = 0;
  for (const ApplicationToggles& application : applications) {
    const double away = std::log(quantity(application)) - mean;
    squares += away * away;
  }
  const double half = t_quantile_95(count - 1) * std::sqrt(squares / (count - 1) * (1 + 1 / count));
  return {std::exp(mean), std::exp(mean - half), std::exp(mean + half)};
}

}  // namespace

std::span<const ApplicationToggles> application_toggles() {
  return kApplicationToggles;
}

Interval rate_of_one_more(std::span<const ApplicationToggles> applications, double coupling_share) {
  return of_one_more(applications, [&](const ApplicationToggles& application) {
    return application.equivalent_rate(coupling_share);
  });
}

AssumedData unknown_data() {
  return {0, 1, false};
}

AssumedData data_at_rate(double toggle_rate) {
  return {toggle_rate, 0, false};
}

AssumedData random_words_at_rate(double toggle_rate) {
  return {toggle_rate, 0, true};
}

AssumedData data_counted_elsewhere(double toggle_rate, double coupling_per_toggle) {
  return data_counted_between({toggle_rate, toggle_rate, toggle_rate}, coupling_per_toggle);
}

AssumedData data_counted_between(const Interval& toggle_rate, double coupling_per_toggle) {
  return {toggle_rate.value, 0, false, coupling_per_toggle, toggle_rate.low, toggle_rate.high};
}

Interval share_of_random_bits(const AssumedData& data) {
  const Interval rate = equivalent_rate(data, {kCouplingShare, kCouplingShare - kCouplingShareError,
                                               kCouplingShare + kCouplingShareError});
  return {1, std::min(1.0, rate.low / kRandomToggleRate),
          std::max(1.0, rate.high / kRandomToggleRate)};
}

Interval equivalent_rate(const AssumedData& data, const Interval& coupling_share) {
  if (std::isfinite(data.counted_coupling)) {
    const auto of_toggles = [&](double share) {
      return std::max(0.0, 1 + share * data.counted_coupling);
    };
    const double ends[] = {of_toggles(coupling_share.low), of_toggles(coupling_share.high),
                           of_toggles(0)};
    const auto [low, high] = std::minmax_element(std::begin(ends), std::end(ends));
    return {data.known_rate * of_toggles(coupling_share.value),
            data.counted_least * *low / kOtherChipsRate,
            data.counted_most * *high * kOtherChipsRate};
  }
  const Interval neighbours =
      of_one_more(kApplicationToggles, [&](const ApplicationToggles& application) {
        return 1 + coupling_share.high * application.coupling_per_toggle;
      });
  const double least = data.random_words ? 1 : std::min(1.0, neighbours.low);
  const Interval known{data.known_rate, data.known_rate * least, data.known_rate};
  // Neighbours of nearly all applications save energy: the more coupling costs, the lower.
  const Interval one_more{
      rate_of_one_more(kApplicationToggles, coupling_share.value).value,
      rate_of_one_more(kApplicationToggles, coupling_share.high).low,
      rate_of_one_more(kApplicationToggles, coupling_share.low).high,
  };
  return model::together(known, one_more.times(data.unknown_share));
}

}  // namespace ww::model
