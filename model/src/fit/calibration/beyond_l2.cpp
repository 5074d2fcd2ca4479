#include "ww/model/beyond_l2.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "ww/core/mean.hpp"
#include "ww/core/sensor_tolerances.hpp"
#include "ww/core/statistics.hpp"

namespace ww::model {
namespace {

constexpr double kJoulesPerFj = 1e-15;
// A round is each condition and the same mirrored.
constexpr std::size_t kRunsOfRound = 2 * kBeyondL2Points.size();
constexpr std::string_view kWhyNot =
    "every read that crosses the link also asks the Infinity Cache, and the links to near and far "
    "memory "
    "dies are alike, so that no difference of two conditions is the link's";

// Extra energy of a bit that misses the L2 [J]; absent where a run of the round is not to be used.
std::optional<double> difference_of(std::span<const PlateauRow* const> round) {
  std::array<Mean, kBeyondL2Points.size()> power;
  std::array<Mean, kBeyondL2Points.size()> rate;
  for (const PlateauRow* row : round) {
    if (!row->used) return std::nullopt;
    const auto point = std::ranges::find(kBeyondL2Points, row->pattern);
    if (point == kBeyondL2Points.end()) return std::nullopt;
    const auto at = static_cast<std::size_t>(point - kBeyondL2Points.begin());
    power[at].add(row->power_w);
    rate[at].add(row->bits_per_second);
  }
  const auto per_bit = [&](std::size_t point) {
    return (power[point].value() - power[0].value()) / rate[point].value();
  };
  const double difference = per_bit(2) - per_bit(1);
  return std::isfinite(difference) ? std::optional(difference) : std::nullopt;
}

}  // namespace

std::optional<FittedConstant> bound_fanout_link(std::span<const PlateauRow> plateaus) {
  std::vector<const PlateauRow*> rows;
  for (const PlateauRow& row : plateaus) {
    if (row.kind == RunKind::beyond_l2) rows.push_back(&row);
  }
  if (rows.empty()) return std::nullopt;
  std::ranges::sort(rows, {}, &PlateauRow::position);
  Mean mean;
  std::vector<double> differences;
  for (std::size_t first = 0; first + kRunsOfRound <= rows.size(); first += kRunsOfRound) {
    if (const auto one = difference_of(std::span(rows).subspan(first, kRunsOfRound))) {
      differences.push_back(*one);
      mean.add(*one);
    }
  }
  FittedConstant constant;
  constant.which = WireConstant::fanout_link;
  constant.row.name = name_of(constant.which);
  constant.row.unit = unit_of(constant.which);
  constant.row.status = RowStatus::not_identified;
  constant.row.reason = kWhyNot;
  if (differences.size() < 2) {
    constant.row.reason += "; fewer than two rounds of reads behind the L2 can be used for a bound";
    return constant;
  }
  double square = 0;
  for (const double one : differences) square += (one - mean.value()) * (one - mean.value());
  const auto n = static_cast<double>(differences.size());
  const double top = mean.value() + t_quantile_95(n - 1) * std::sqrt(square / (n - 1) / n);
  if (top <= 0) {
    constant.row.reason += "; reads behind the L2 took no more than others, which no link explains";
    return constant;
  }
  constant.row.low = 0.0;
  constant.row.high =
      top / kJoulesPerFj / ((1 - kBoardGainTolerance95) * (1 - kRegulatorSlopeTolerance95));
  constant.row.reason +=
      fmt::format("; with the Infinity Cache it takes at most {:.0f} fJ/bit", *constant.row.high);
  return constant;
}

}  // namespace ww::model
