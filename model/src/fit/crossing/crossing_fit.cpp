#include "ww/model/crossing_fit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <optional>

#include "fit/crossing/crossing_controls.hpp"
#include "fit/crossing/crossing_interval.hpp"
#include "fit/crossing/crossing_rate_check.hpp"
#include "fit/crossing/crossing_solver.hpp"
#include "fit/solver/assumptions.hpp"
#include "stats.hpp"
#include "ww/core/statistics.hpp"

namespace ww::model {
namespace {

class CrossingFitter {
 public:
  CrossingFitter(std::span<const CrossingRun> runs, const CrossingTolerances& tolerances)
      : runs_(runs), tolerances_(tolerances), blocks_(runs) {}

  CrossingAnswer answer() {
    CrossingAnswer answer;
    answer.blocks = blocks_.count();
    const std::string refusal = judge_rates(runs_, answer);
    plain_ = blocks_.solve_all({});
    if (refusal.empty() && !plain_.empty()) {
      answer.controls = judge_controls(runs_, blocks_, plain_);
      sources_ = sources_of(answer);
      answer.errors = errors_of();
      draws_.emplace(static_cast<int>(blocks_.freedom()));
    }
    const auto zeros = [](const CrossingTerms& v) { return v.at(CrossingTerm::far_zeros); };
    const auto random = [](const CrossingTerms& v) { return v.at(CrossingTerm::far_random); };
    const auto both = [](const CrossingTerms& v) {
      return v.at(CrossingTerm::far_random) - v.at(CrossingTerm::far_zeros);
    };
    answer.random_bit = row("crossing_per_random_bit", random, answer, refusal);
    answer.zero_bit = row("crossing_per_zero_bit", zeros, answer, refusal);
    answer.difference = row("crossing_data_part", both, answer, refusal);
    return answer;
  }

 private:
  [[nodiscard]] double far_change(const CrossingVariant& variant) const {
    const CrossingTerms values = blocks_.solver().solve(variant);
    const auto found = values.find(CrossingTerm::far_random);
    // A term that cannot be determined is no bound: take it as large as the answer.
    const double answer = plain_.front().at(CrossingTerm::far_random);
    return found == values.end() ? std::abs(answer) : std::abs(found->second - answer);
  }

  [[nodiscard]] CrossingSources sources_of(const CrossingAnswer& answer) const {
    CrossingSources sources;
    sources.heat = blocks_.solver().heat_error();
    sources.clock = blocks_.solver().has_clock()
                        ? far_change({.clock_exponent = kMaxCrossingClockExponent})
                        : 0;
    sources.bend = of_bend(answer);
    sources.asleep = of_sleep();
    sources.gain = tolerances_.gain;
    sources.regulator = tolerances_.regulator;
    return sources;
  }

  [[nodiscard]] CrossingErrors errors_of() const {
    static const double normal_95 = t_quantile_95(std::numeric_limits<double>::infinity());
    const auto far = CrossingBlocks::jackknife(
        plain_, [](const CrossingTerms& v) { return v.at(CrossingTerm::far_random); });
    CrossingErrors errors;
    errors.noise = t_quantile_95(blocks_.freedom()) * far.error;
    errors.heat = normal_95 * sources_.heat;
    errors.clock = kRectangular95 * sources_.clock;
    errors.rate = kRectangular95 * sources_.bend;
    errors.asleep = kRectangular95 * sources_.asleep;
    errors.gain = sources_.gain * std::abs(far.value);
    errors.regulator = sources_.regulator * std::abs(far.value);
    return errors;
  }

  // How far a bend of power with the rate moves the answer. Where the rates are equal it is equal
  // in near and far.
  [[nodiscard]] double of_bend(const CrossingAnswer& answer) const {
    return answer.greatest_mismatch > 0 ? far_change({.bend = true}) : 0;
  }

  // Energy by unequal times asleep: at the same rate the faster way sleeps for longer, by the
  // difference of the times that a bit takes without a wait.
  [[nodiscard]] double of_sleep() const {
    std::map<int, std::array<std::vector<double>, 2>> rates;  // by wait: near, far
    std::map<int, std::vector<double>> awake;                 // by wait
    std::vector<double> idle;
    for (const CrossingRun& run : runs_) {
      if (run.traffic == CrossingTraffic::waits) awake[run.wait].push_back(run.power.value());
      if (run.traffic == CrossingTraffic::idle) idle.push_back(run.power.value());
      if (run.traffic != CrossingTraffic::random || run.line_half != 0) continue;
      rates[run.wait][run.place_side != run.line_side ? 1 : 0].push_back(run.bits_per_s);
    }
    const auto& [near, far] = rates.begin()->second;
    if (awake.empty() || idle.empty() || near.empty() || far.empty()) return 0;
    const double awake_w = median(awake.rbegin()->second) - median(idle);
    return kSleepShare * std::max(0.0, awake_w) * std::abs(1 / median(far) - 1 / median(near));
  }

  [[nodiscard]] bool have(CrossingTerm term) const {
    return std::ranges::all_of(plain_, [&](const CrossingTerms& v) { return v.contains(term); });
  }

  // Every control that failed, and a bend that the answer depends on; empty where all is well.
  // Where the interval holds zero the bend is in it, and nothing is claimed that it could undo.
  [[nodiscard]] std::string failures_of(const CrossingAnswer& answer, double far,
                                        bool holds_zero) const {
    std::string failures;
    const auto add = [&failures](const std::string& failure) {
      failures += failures.empty() ? failure : "; " + failure;
    };
    for (const CrossingControl& control : answer.controls) {
      if (!control.passed) {
        add(fmt::format("control '{}' failed: {}", control.name, control.detail));
      }
    }
    const double bend = of_bend(answer);
    if (!holds_zero && bend > kMaxCrossingBend * far &&
        answer.greatest_mismatch > kMaxCrossingMismatch) {
      add(
          fmt::format("near and far differ by up to {:.1f}% in rate, and power bends with the "
                      "rate: with a bend allowed for, the answer moves by {:.0f}%",
                      100 * answer.greatest_mismatch, 100 * bend / far));
    }
    return failures;
  }

  Figure row(const std::string& name, const CrossingBlocks::Function& function,
             const CrossingAnswer& answer, const std::string& refusal) const {
    Figure row;
    row.name = name;
    row.unit = "J/bit/crossing";
    const auto refuse = [&row](RowStatus status, std::string reason) {
      row.status = status;
      row.reason = std::move(reason);
      return row;
    };
    if (!refusal.empty()) {
      const bool unequal = answer.greatest_mismatch > kMaxCrossingMismatch;
      return refuse(unequal ? RowStatus::rejected : RowStatus::not_identified, refusal);
    }
    if (plain_.empty()) {
      return refuse(RowStatus::not_identified,
                    fmt::format("{} blocks do not determine it; {} are the least", answer.blocks,
                                kMinCrossingBlocks));
    }
    if (name != "crossing_per_random_bit" && !have(CrossingTerm::far_zeros)) {
      return refuse(RowStatus::not_identified, "no run with zeros on far ways");
    }
    const double far = std::abs(plain_.front().at(CrossingTerm::far_random));
    const auto estimate = CrossingBlocks::jackknife(plain_, function);
    const auto [low, high] = draws_->interval(estimate.value, estimate.error, sources_);
    if (const std::string failures = failures_of(answer, far, low <= 0 && high >= 0);
        !failures.empty()) {
      return refuse(RowStatus::rejected, failures);
    }
    if (const auto why = why_below_zero(low, high)) {
      return refuse(RowStatus::rejected, *why + ": near draws power that is none of its traffic");
    }
    row.value = estimate.value;
    row.low = low;
    row.high = high;
    return row;
  }

  std::span<const CrossingRun> runs_;
  CrossingTolerances tolerances_;
  CrossingBlocks blocks_;
  std::vector<CrossingTerms> plain_;
  CrossingSources sources_;             // of the answer for random bits
  std::optional<CrossingDraws> draws_;  // where there is an answer
};

}  // namespace

CrossingAnswer fit_crossing_runs(std::span<const CrossingRun> runs,
                                 const CrossingTolerances& tolerances) {
  return CrossingFitter(runs, tolerances).answer();
}

}  // namespace ww::model
