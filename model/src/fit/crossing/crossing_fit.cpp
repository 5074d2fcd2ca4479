#include "ww/model/crossing_fit.hpp"

#include <fmt/format.h>

#include <Eigen/Dense>
#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <map>
#include <set>

#include "stats.hpp"
#include "ww/core/statistics.hpp"

namespace ww::model {
namespace {

constexpr int kLeastWaits = 3;
constexpr int kLeastBlocks = 2;
constexpr double kLeastSpan = 0.25;     // of the rates, over the greatest
constexpr double kMostMismatch = 0.01;  // that needs no slope
constexpr double kMostBend = 0.25;      // of the answer, when power bends with the rate
constexpr double kMostOfWaits = 0.1;    // of the crossing's power, that waits are off a line
constexpr double kMostApart = 0.25;     // of a near bit's energy, between the two sides' lines
// A warp that sleeps and one that waits for its memory issue nothing, but need not draw alike: 95%
// half-width of the difference, of the power of all of them awake. No source is known; the value is
// this project's judgement.
constexpr double kSleepShare = 0.05;
constexpr double kLeastTemperatureK = 0.2;  // range over the campaign that is worth a term
constexpr double kLeastClockChange = 5e-4;
constexpr double kHeatShare = 0.003;       // of mean power a kelvin: leakage; the prior is as wide
constexpr double kClockOfMeanPower = 1.0;  // of mean power a relative clock: f V^2; as wide again

// What a fit estimates, one number each, after the blocks' P0.
enum class Term {
  place,
  random,
  zeros,
  line,
  far_random,
  far_zeros,
  far_other,
  null,
  bend,
  heat,
  clock
};

struct CrossingVariant {
  bool bend{};            // a term in the square of the rate
  bool covariates{true};  // temperature and clock
  bool by_place{};        // a crossing for each side of places, instead of a line offset
};

using TermValues = std::map<Term, double>;

class CrossingSolver {
 public:
  explicit CrossingSolver(std::span<const CrossingRun> runs) {
    for (const CrossingRun& run : runs) {
      if (run.traffic != CrossingTraffic::random && run.traffic != CrossingTraffic::zeros) continue;
      if (run.bits_per_s > 0) runs_.push_back(run);
    }
    double temperature = 0;
    double clock = 0;
    bool heats = !runs_.empty();
    bool clocked = heats;
    for (const CrossingRun& run : runs_) {
      mean_rate_ += run.bits_per_s / static_cast<double>(runs_.size());
      mean_power_w_ += run.power.value() / static_cast<double>(runs_.size());
      heats = heats && run.temperature_c;
      clocked = clocked && run.clock_hz;
      temperature += run.temperature_c.value_or(0) / static_cast<double>(runs_.size());
      clock += run.clock_hz.value_or(0) / static_cast<double>(runs_.size());
    }
    mean_temperature_ = temperature;
    mean_clock_ = clock;
    const auto range = [&](auto value) {
      const auto [low, high] = std::ranges::minmax(runs_, {}, value);
      return std::invoke(value, high) - std::invoke(value, low);
    };
    heats_ = heats &&
             range([](const CrossingRun& run) { return *run.temperature_c; }) > kLeastTemperatureK;
    clocked_ = clocked && range([](const CrossingRun& run) { return *run.clock_hz; }) >
                              kLeastClockChange * mean_clock_;
  }

  [[nodiscard]] bool has_covariates() const { return heats_ || clocked_; }

  // Terms in J/bit where they follow the rate; empty where the runs do not determine them.
  [[nodiscard]] TermValues solve(const CrossingVariant& variant,
                                 std::optional<std::int64_t> left_out = {}) const {
    std::vector<const CrossingRun*> used;
    std::map<std::int64_t, Eigen::Index> block_of;
    for (const CrossingRun& run : runs_) {
      if (left_out == run.block) continue;
      used.push_back(&run);
      block_of.emplace(run.block, 0);
    }
    if (used.empty()) return {};
    Eigen::Index columns = 0;
    for (auto& [block, column] : block_of) column = columns++;
    std::map<Term, Eigen::Index> column_of;
    std::vector<std::map<Term, double>> rows;
    for (const CrossingRun* run : used) {
      rows.push_back(row_of(*run, variant));
      for (const auto& [term, value] : rows.back()) {
        if (value != 0 && !column_of.contains(term)) column_of[term] = columns++;
      }
    }
    Eigen::MatrixXd a = Eigen::MatrixXd::Zero(static_cast<Eigen::Index>(used.size()) + 2, columns);
    Eigen::VectorXd b = Eigen::VectorXd::Zero(a.rows());
    for (std::size_t i = 0; i < used.size(); ++i) {
      const auto row = static_cast<Eigen::Index>(i);
      a(row, block_of.at(used[i]->block)) = 1;
      for (const auto& [term, value] : rows[i]) {
        if (const auto column = column_of.find(term); column != column_of.end()) {
          a(row, column->second) = value;
        }
      }
      b(row) = used[i]->power.value();
    }
    const Eigen::VectorXd loose = with_priors(a, b, column_of, 1.0);
    if (loose.size() == 0) return {};
    const auto count = static_cast<Eigen::Index>(used.size());
    const double freedom = static_cast<double>(std::max<Eigen::Index>(1, count - columns));
    const Eigen::VectorXd misfit = b.head(count) - a.topRows(count) * loose;
    const double sigma = std::max(1e-6, std::sqrt(misfit.squaredNorm() / freedom));
    const Eigen::VectorXd found = with_priors(a, b, column_of, sigma);
    TermValues values;
    for (const auto& [term, column] : column_of) {
      const bool per_bit = term != Term::place && term != Term::heat && term != Term::clock;
      values[term] = per_bit ? found(column) / mean_rate_ : found(column);
    }
    return values;
  }

 private:
  [[nodiscard]] std::map<Term, double> row_of(const CrossingRun& run,
                                              const CrossingVariant& variant) const {
    const double rate = run.bits_per_s / mean_rate_;
    const bool random = run.traffic == CrossingTraffic::random;
    const bool far = run.place_side != run.line_side;
    std::map<Term, double> row;
    row[Term::place] = run.place_side;
    row[random ? Term::random : Term::zeros] = rate;
    if (!variant.by_place) row[Term::line] = rate * (run.line_side - 0.5);
    if (far) {
      const bool other = variant.by_place && random && run.place_side == 1;
      row[other ? Term::far_other : random ? Term::far_random : Term::far_zeros] = rate;
    }
    if (run.line_half != 0) row[Term::null] = run.line_half == 1 ? 0.5 * rate : -0.5 * rate;
    if (variant.bend) row[Term::bend] = rate * rate;
    if (heats_ && variant.covariates) row[Term::heat] = *run.temperature_c - mean_temperature_;
    if (clocked_ && variant.covariates) row[Term::clock] = *run.clock_hz / mean_clock_ - 1;
    return row;
  }

  // The last two rows are the priors of heat and clock, of width as their mean.
  Eigen::VectorXd with_priors(Eigen::MatrixXd& a, Eigen::VectorXd& b,
                              const std::map<Term, Eigen::Index>& column_of, double sigma) const {
    const auto prior = [&](Term term, Eigen::Index row, double share) {
      const auto column = column_of.find(term);
      if (column == column_of.end()) return;
      const double width = share * mean_power_w_;
      a(row, column->second) = sigma / width;
      b(row) = sigma;
    };
    prior(Term::heat, a.rows() - 2, kHeatShare);
    prior(Term::clock, a.rows() - 1, kClockOfMeanPower);
    const Eigen::ColPivHouseholderQR<Eigen::MatrixXd> solver(a);
    if (solver.rank() < a.cols()) return {};
    return solver.solve(b);
  }

  std::vector<CrossingRun> runs_;
  double mean_rate_{};
  double mean_power_w_{};
  double mean_temperature_{};
  double mean_clock_{};
  bool heats_{};
  bool clocked_{};
};

struct CrossingEstimate {
  double value{};
  double error{};  // standard error over blocks
};

std::string in_pj(double joules) {
  return fmt::format("{:.4g} pJ/bit", 1e12 * joules);
}

class CrossingFitter {
 public:
  CrossingFitter(std::span<const CrossingRun> runs, const CrossingTolerances& tolerances)
      : runs_(runs), tolerances_(tolerances), solver_(runs) {
    std::set<std::int64_t> blocks;
    for (const CrossingRun& run : runs) {
      if (run.traffic == CrossingTraffic::random) blocks.insert(run.block);
    }
    blocks_.assign(blocks.begin(), blocks.end());
  }

  CrossingAnswer answer() {
    CrossingAnswer answer;
    answer.blocks = static_cast<int>(blocks_.size());
    const std::string refusal = judge_rates(answer);
    plain_ = solve_all({});
    if (refusal.empty() && !plain_.empty()) {
      judge_controls(answer);
      answer.errors = errors_of(answer);
    }
    const auto zeros = [](const TermValues& v) { return v.at(Term::far_zeros); };
    const auto random = [](const TermValues& v) { return v.at(Term::far_random); };
    const auto both = [](const TermValues& v) {
      return v.at(Term::far_random) - v.at(Term::far_zeros);
    };
    answer.random_bit = row("crossing_per_random_bit", random, answer, refusal);
    answer.zero_bit = row("crossing_per_zero_bit", zeros, answer, refusal);
    answer.difference = row("crossing_data_part", both, answer, refusal);
    return answer;
  }

 private:
  using Function = std::function<double(const TermValues&)>;

  // The whole campaign's terms first, then without each block; empty where one is not determined.
  [[nodiscard]] std::vector<TermValues> solve_all(const CrossingVariant& variant) const {
    std::vector<TermValues> all{solver_.solve(variant)};
    for (const std::int64_t block : blocks_) all.push_back(solver_.solve(variant, block));
    const bool whole = blocks_.size() >= kLeastBlocks &&
                       std::ranges::none_of(
                           all, [](const TermValues& v) { return !v.contains(Term::far_random); });
    return whole ? all : std::vector<TermValues>{};
  }

  [[nodiscard]] static CrossingEstimate jackknife(const std::vector<TermValues>& all,
                                                  const Function& function) {
    const double count = static_cast<double>(all.size() - 1);
    double mean = 0;
    for (std::size_t i = 1; i < all.size(); ++i) mean += function(all[i]) / count;
    double square = 0;
    for (std::size_t i = 1; i < all.size(); ++i) {
      square += (function(all[i]) - mean) * (function(all[i]) - mean);
    }
    return {function(all.front()), std::sqrt(square * (count - 1) / count)};
  }

  // Why the rates allow no answer; empty where they do.
  std::string judge_rates(CrossingAnswer& answer) const {
    std::map<int, std::array<std::vector<double>, 2>> rates;  // by wait: near, far
    for (const CrossingRun& run : runs_) {
      if (run.traffic != CrossingTraffic::random || run.line_half != 0) continue;
      rates[run.wait][run.place_side != run.line_side ? 1 : 0].push_back(run.bits_per_s);
    }
    std::array<std::vector<double>, 2> levels;
    std::array<std::size_t, 2> of_ways{};
    for (const auto& [wait, ways] : rates) {
      for (std::size_t way = 0; way < 2; ++way) of_ways[way] += ways[way].empty() ? 0 : 1;
      if (ways[0].empty() || ways[1].empty()) continue;
      ++answer.waits;
      const double near = median(ways[0]);
      const double far = median(ways[1]);
      levels[0].push_back(near);
      levels[1].push_back(far);
      answer.greatest_mismatch = std::max(answer.greatest_mismatch, std::abs(near / far - 1));
    }
    if (of_ways[0] == 0 || of_ways[1] == 0) return "no run of near or none of far can be used";
    if (answer.waits < kLeastWaits) {
      std::string unequal = answer.greatest_mismatch > kMostMismatch
                                ? fmt::format(", and near and far differ by {:.1f}% in rate",
                                              100 * answer.greatest_mismatch)
                                : "";
      if (answer.waits == 0) unequal = ", and near and far ran with different waits";
      return fmt::format(
          "near and far share {} wait{}{}: what does not follow the rate cannot be told from what "
          "does (three common waits are the least)",
          answer.waits, answer.waits == 1 ? "" : "s", unequal);
    }
    for (std::size_t way = 0; way < 2; ++way) {
      const auto [low, high] = std::ranges::minmax(levels[way]);
      if ((high - low) / high < kLeastSpan) {
        return fmt::format(
            "the waits moved the rate of {} by {:.0f}% only, so its slope is not known ({:.0f}% is "
            "the least)",
            way == 0 ? "near" : "far", 100 * (high - low) / high, 100 * kLeastSpan);
      }
    }
    // Far has to lie where near's line was measured.
    const auto [near_low, near_high] = std::ranges::minmax(levels[0]);
    const auto [far_low, far_high] = std::ranges::minmax(levels[1]);
    if (answer.greatest_mismatch > kMostMismatch && (far_low > near_high || far_high < near_low)) {
      return fmt::format("near and far differ by {:.0f}% in rate and no rate is common to both",
                         100 * answer.greatest_mismatch);
    }
    return {};
  }

  [[nodiscard]] double freedom() const { return static_cast<double>(blocks_.size()) - 1; }

  [[nodiscard]] double far_change(const CrossingVariant& variant) const {
    const TermValues values = solver_.solve(variant);
    const auto found = values.find(Term::far_random);
    // What cannot be determined is no bound: as large as the answer.
    const double answer = plain_.front().at(Term::far_random);
    return found == values.end() ? std::abs(answer) : std::abs(found->second - answer);
  }

  [[nodiscard]] CrossingErrors errors_of(const CrossingAnswer& answer) const {
    CrossingErrors errors;
    const auto far = jackknife(plain_, [](const TermValues& v) { return v.at(Term::far_random); });
    errors.noise = t_quantile_95(freedom()) * far.error;
    errors.heat = solver_.has_covariates() ? far_change({.covariates = false}) : 0;
    errors.rate = std::hypot(of_bend(answer), of_sleep());
    errors.gain = tolerances_.gain * std::abs(far.value);
    errors.regulator = tolerances_.regulator * std::abs(far.value);
    return errors;
  }

  // How far a bend of power with the rate moves the answer. Where the rates are equal it is alike
  // in near and far.
  [[nodiscard]] double of_bend(const CrossingAnswer& answer) const {
    return answer.greatest_mismatch > 0 ? far_change({.bend = true}) : 0;
  }

  // What unequal times asleep may cost: at the same rate the faster way sleeps for longer, by the
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

  void judge_controls(CrossingAnswer& answer) const {
    answer.controls = {waits_without_traffic(), near_random_against_zeros(), exchanged(),
                       null_pair()};
  }

  // Without traffic the kernel goes round as often as far does at the same wait. Its power is then
  // a line in that rate: rounds cost issue, and the rest of the time is spent asleep. The fit takes
  // a line for none of the crossing's.
  [[nodiscard]] CrossingControl waits_without_traffic() const {
    CrossingControl control{"waits without traffic", false, ""};
    std::map<int, std::vector<double>> far_rates;
    std::map<std::int64_t, std::map<int, std::vector<double>>> powers;  // by block and wait
    std::map<int, std::vector<double>> of_wait;
    for (const CrossingRun& run : runs_) {
      if (run.traffic == CrossingTraffic::waits) {
        powers[run.block][run.wait].push_back(run.power.value());
        of_wait[run.wait].push_back(run.power.value());
      } else if (run.traffic == CrossingTraffic::random && run.place_side != run.line_side) {
        far_rates[run.wait].push_back(run.bits_per_s);
      }
    }
    std::string seen;
    std::vector<std::pair<int, double>> points;  // wait, rate
    for (const auto& [wait, rates] : far_rates) {
      if (!of_wait.contains(wait)) {
        control.detail = fmt::format("no run that waits {} units without traffic", wait);
        return control;
      }
      points.emplace_back(wait, median(rates));
      seen +=
          fmt::format("{}{:.2f} W at {}", seen.empty() ? "" : ", ", median(of_wait[wait]), wait);
    }
    const auto& [middle_wait, middle_rate] = points[points.size() / 2];
    std::vector<double> off_w;
    for (auto& [block, by_wait] : powers) {
      if (by_wait.size() < points.size()) continue;
      const double first = median(by_wait[points.front().first]);
      const double last = median(by_wait[points.back().first]);
      const double share =
          (middle_rate - points.back().second) / (points.front().second - points.back().second);
      off_w.push_back(median(by_wait[middle_wait]) - (last + share * (first - last)));
    }
    if (off_w.size() < kLeastBlocks) {
      control.detail = "fewer than two blocks have all waits without traffic";
      return control;
    }
    const double count = static_cast<double>(off_w.size());
    double mean = 0;
    for (const double each : off_w) mean += each / count;
    double square = 0;
    for (const double each : off_w) square += (each - mean) * (each - mean);
    const double half = t_quantile(0.99, count - 1) * std::sqrt(square / (count - 1) / count);
    const double answer = std::abs(plain_.front().at(Term::far_random));
    control.passed = std::abs(mean) <= std::max(half, kMostOfWaits * answer * middle_rate);
    control.detail = fmt::format("{}; the middle one is {:.2f} +- {:.2f} W off a line in the rate",
                                 seen, mean, half);
    if (!control.passed) {
      control.detail += ": the waits themselves cost power that the fit mistakes";
    }
    return control;
  }

  [[nodiscard]] CrossingControl near_random_against_zeros() const {
    CrossingControl control{"near, random against zeros", false, ""};
    if (!have(Term::zeros)) {
      control.detail = "no run with zeros";
      return control;
    }
    const auto data = jackknife(
        plain_, [](const TermValues& v) { return v.at(Term::random) - v.at(Term::zeros); });
    const double half = t_quantile(0.99, freedom()) * data.error;
    control.passed = data.value - half > 0;
    control.detail =
        fmt::format("random bits cost {} +- {} more than zeros", in_pj(data.value), in_pj(half));
    if (!control.passed) control.detail += ": the sensor does not see data that toggles";
    return control;
  }

  [[nodiscard]] CrossingControl exchanged() const {
    CrossingControl control{"near and far exchanged", false, ""};
    const auto all = solve_all({.by_place = true});
    if (all.empty() || std::ranges::any_of(
                           all, [](const TermValues& v) { return !v.contains(Term::far_other); })) {
      control.detail = "the two sides of places were not both measured near and far";
      return control;
    }
    const auto apart = jackknife(
        all, [](const TermValues& v) { return v.at(Term::far_random) - v.at(Term::far_other); });
    // Lines that differ leave the answer alone, as both sides' are crossed to. But a difference
    // that is neither small beside the crossing nor beside a bit is none of lines.
    const double answer = std::abs(plain_.front().at(Term::far_random));
    const double most = std::max(answer, kMostApart * plain_.front().at(Term::random));
    const double half = t_quantile(0.99, freedom()) * apart.error;
    control.passed = std::abs(apart.value) - half <= most;
    control.detail = fmt::format("places of side 0 give {}, of side 1 {}",
                                 in_pj(all.front().at(Term::far_random)),
                                 in_pj(all.front().at(Term::far_other)));
    if (!control.passed) {
      control.detail += ": the sides' lines differ by more than the crossing costs";
    }
    return control;
  }

  [[nodiscard]] CrossingControl null_pair() const {
    CrossingControl control{"null pair", false, ""};
    if (!have(Term::null)) {
      control.detail = "no run of the two halves of near";
      return control;
    }
    const auto null = jackknife(plain_, [](const TermValues& v) { return v.at(Term::null); });
    const double half = t_quantile(0.99, freedom()) * null.error;
    const double answer = std::abs(plain_.front().at(Term::far_random));
    control.passed = std::abs(null.value) <= std::max(half, 0.1 * answer);
    control.detail =
        fmt::format("two halves of near differ by {} +- {}", in_pj(null.value), in_pj(half));
    if (!control.passed) control.detail += ": what is alike does not measure alike";
    return control;
  }

  [[nodiscard]] bool have(Term term) const {
    return std::ranges::all_of(plain_, [&](const TermValues& v) { return v.contains(term); });
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
    if (!holds_zero && bend > kMostBend * far && answer.greatest_mismatch > kMostMismatch) {
      add(
          fmt::format("near and far differ by up to {:.1f}% in rate, and power bends with the "
                      "rate: with a bend allowed for, the answer moves by {:.0f}%",
                      100 * answer.greatest_mismatch, 100 * bend / far));
    }
    return failures;
  }

  ResultRow row(const std::string& name, const Function& function, const CrossingAnswer& answer,
                const std::string& refusal) const {
    ResultRow row;
    row.name = name;
    row.unit = "J/bit/crossing";
    const auto refuse = [&row](RowStatus status, std::string reason) {
      row.status = status;
      row.reason = std::move(reason);
      return row;
    };
    if (!refusal.empty()) {
      const bool unequal = answer.greatest_mismatch > kMostMismatch;
      return refuse(unequal ? RowStatus::rejected : RowStatus::not_identified, refusal);
    }
    if (plain_.empty()) {
      return refuse(RowStatus::not_identified,
                    fmt::format("{} blocks do not determine it; {} are the least", answer.blocks,
                                kLeastBlocks));
    }
    if (name != "crossing_per_random_bit" && !have(Term::far_zeros)) {
      return refuse(RowStatus::not_identified, "no run with zeros on far ways");
    }
    const double far = std::abs(plain_.front().at(Term::far_random));
    const auto estimate = jackknife(plain_, function);
    const double noise = t_quantile_95(freedom()) * estimate.error;
    const double share = far > 0 ? std::abs(estimate.value) / far : 1;
    const double half = std::hypot(noise, std::hypot(answer.errors.heat, answer.errors.rate),
                                   std::hypot(answer.errors.gain, answer.errors.regulator) * share);
    const double low = estimate.value - half;
    const double high = estimate.value + half;
    if (const std::string failures = failures_of(answer, far, low <= 0 && high >= 0);
        !failures.empty()) {
      return refuse(RowStatus::rejected, failures);
    }
    if (high < 0) {
      return refuse(
          RowStatus::rejected,
          fmt::format("the interval [{:.3g}, {:.3g}] pJ lies below zero, and no bit gives energy "
                      "back: near draws power that is none of its traffic",
                      1e12 * low, 1e12 * high));
    }
    row.value = estimate.value;
    row.low = low;
    row.high = high;
    return row;
  }

  std::span<const CrossingRun> runs_;
  CrossingTolerances tolerances_;
  CrossingSolver solver_;
  std::vector<std::int64_t> blocks_;
  std::vector<TermValues> plain_;
};

}  // namespace

CrossingAnswer fit_crossing_runs(std::span<const CrossingRun> runs,
                                 const CrossingTolerances& tolerances) {
  return CrossingFitter(runs, tolerances).answer();
}

}  // namespace ww::model
