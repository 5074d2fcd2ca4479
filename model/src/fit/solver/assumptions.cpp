#include "ww/model/assumptions.hpp"

#include <fmt/format.h>

#include "fit/solver/assumptions.hpp"
#include "fit/solver/joint_solver.hpp"
#include "reduction/thermal.hpp"
#include "reduction/trace.hpp"
#include "ww/model/assumed_data.hpp"

namespace ww::model {
namespace {

std::string within_of(double mean, double sigma, const char* unit) {
  return fmt::format("{:g} ± {:g}{}", mean, sigma, unit);
}

std::string percent(double share) {
  return fmt::format("{:g}%", 100 * share);
}

const char* kind_name(AssumptionKind kind) {
  switch (kind) {
    case AssumptionKind::prior: return "prior";
    case AssumptionKind::bound: return "bound";
    case AssumptionKind::filter: return "filter";
    case AssumptionKind::threshold: return "threshold";
  }
  return "unknown";
}

}  // namespace

std::vector<Assumption> assumptions() {
  using enum AssumptionKind;
  return {
      {filter, "glitch: distance of a reading from its neighbours' median",
       fmt::format("{:g} robust scales", glitch_scales), "beyond any noise of 10,000 readings",
       "outliers of 10 to 50%, up to 2 in 10,000"},
      {filter, "start of a plateau of a register that is cut off",
       fmt::format("delay + {:g} rises + 1 period", rises_to_settle),
       "99.9% of a first-order lag; the step test finds delay and rise", "lag 20-200 ms"},
      {threshold, "accumulator against register, mean", percent(agreement),
       "as far as gains of two registers of one shunt may differ", "one gain"},
      {filter, "time constants of heat",
       fmt::format("{:g} to {:g} s, {} filters", heat_taus_s.front(), heat_taus_s.back(),
                   heat_count),
       "silicon (ms) to heatsink (minutes), in steps of √10", "0.5-500 ms, 0.5-3 s, 10-40 s"},
      {prior, "rise of the hot spot that leakage sees within some tens of ms, strongest stream",
       within_of(kHotSpotK, kHotSpotSigmaK, " K"),
       "narrow on purpose: streams must not fit it; the next line has the doubt", "0-2 K"},
      {bound, "the same of a spot that no cool-down shows", fmt::format("{:g} K", kUnseenHotSpotK),
       "with the line above nearly three times as wide as what virtual chips suggest", "0-2 K"},
      {threshold,
       fmt::format("rise that is no hot spot's: idle power is then used from {:g} s after a load",
                   kLatePowerS),
       fmt::format("{:g} K", kMostHotSpotK),
       "judgement: two standard deviations above its mean, and twice the longest gating delay",
       "0-2 K, 20-50 ms"},
      {filter, "heat that keeps its prior in the first pass: time constants below",
       fmt::format("{:g} s", kSlowHeatS), "judgement: they follow within a plateau of 1.5 s", ""},
      {prior, "steady response, die against sensor", percent(kSteadyShare),
       "sensors are on the die: accuracy of one", "0-60% of the middle zone"},
      {prior,
       fmt::format("response through filters from {:g} s on, die against sensor", kSinkHeatS),
       fmt::format("{} beside the readings' own error", percent(kSteadyShare)),
       "a heatsink warms the whole die alike; a copper spreader of 5 cm3 behind 0.1 K/W takes 2 s",
       "10-40 s"},
      {prior, "drift of the ambient", within_of(0, kDriftSigmaK, " K"),
       "a quarter of a temperature step", "1.5 K/h, 0.15-0.5 K"},
      {filter, "knots of the ambient", fmt::format("{:g} s", Drift::knot_s),
       "rooms and fans change in minutes", "150-600 s"},
      {prior, "slope of idle power per 10 K, relative", within_of(kIdleSlope, kIdleSlopeSigma, ""),
       "subthreshold current: e-fold of 28 to 80 K (Roy et al. 2003)", "0.05-0.2"},
      {prior, "its curvature", within_of(kIdleCurvature, kIdleCurvatureSigma, ""),
       "the same, (10 K / e-fold)² / 2", "0.004-0.03"},
      {prior, "its third order", within_of(kIdleThird, kIdleThirdSigma, ""),
       "the same, (10 K / e-fold)³ / 6", "0.0002-0.003"},
      {prior, "exponent of idle power over voltage, one state", within_of(kBeta, kBetaSigma, ""),
       "between constant current (1) and strong DIBL (4)", "2-4, and clocks"},
      {prior, "share of clocks in idle power", within_of(kClockShare, kClockShareSigma, ""),
       "none; three times as wide as what virtual chips suggest", "0.09 ± 0.04"},
      {prior, "steeper leakage under load, per 10 K", within_of(0, kSteepeningSigma, ""),
       "a hot spot of 8 K on an e-fold of 28 K: 0.02", "0-0.02"},
      {threshold, "steeper leakage under load that is flagged", percent(kMostSteepening),
       "8 K of hot spot on an e-fold of 36 K make 1-2%", "strong chips: 0.3-0.6% a kelvin"},
      {filter, "wander of idle power, in the test of steeper leakage",
       fmt::format("{:g} s", kDriftOfPowerS), "judgement: a cool-down lasts 75 s", "100-600 s"},
      {prior, "slope of power over rate, own rates, other payload's, none",
       fmt::format("± {:g}, {:g}, {:g}", kRateDoubtOwn, kRateDoubtOther, kRateDoubtNone),
       "none: power may bend between two rates", "follows from occupancy"},
      {filter, "residuals beyond which the loss is linear", fmt::format("{:g} σ", huber_sigmas),
       "Huber 1964: 99.7% of normal noise", ""},
      {bound, "load line that no reading shows, at most, and its fall at the strongest load",
       fmt::format("{:g} mΩ, {}", 1e3 * kMostLoadLineOhm, percent(kMostDroopShare)),
       "1 mΩ: settings of controllers (TI TPS53676); 12%: judgement", "0-0.4 mΩ"},
      {bound, "heat of the wires against heat of the load", percent(kHeatBound),
       "judgement: spreader and heatsink see all heat alike",
       "30% of a trunk's heat in its engine"},
      {bound, "hot spot of the wires against that of the load", percent(kHotSpotBound),
       "judgement: wires warm other parts of the die", "the same split"},
      {threshold, "fall of the cost that ends the search", fmt::format("{:g}", kCrawl),
       "judgement: an interval's end lies 2 above the least cost", ""},
      {bound, "stream against its definition", percent(kStreamBound),
       "one line in 512 meets itself; three times that", "one line in 512"},
      {bound, "order of addresses on request and tag wires", percent(kControlBound),
       "none; three times as wide as what virtual chips suggest", "0.3%"},
      {prior, "coupling over a toggle, 2Cc/(Cg+2Cc), unknown",
       within_of(kCouplingShare, kCouplingShareError, ""), "0.2 to 0.8 (Ho, Mai, Horowitz 2001)",
       "0.40-0.65"},
      {bound, "coupling over the wires' capacitance, at most",
       fmt::format("{:g}", kMostCouplingShare),
       "unrepeated wires at the least pitch (Ho, Mai, Horowitz 2001)", "0.65"},
      {bound, "transfer to L2-memory", percent(kAcrossDieTolerance95),
       "repeated wires of one process: 0.2 fF/µm (Weste and Harris, 6.2.2)", "0.92-1.08"},
      {bound, "transfer to registers-L1", percent(kInsideUnitTolerance95),
       "models of one node: DSENT 150, Orion 230, McPAT 465 fF/mm", "0.7-1.1"},
      {threshold, "departure of pairs from distance that is flagged",
       fmt::format("r > {:.2f} and p < {:g}", kMisfitLimit, kMisfitSignificance),
       fmt::format("as much along distance shifts the energy by {}",
                   percent(kMostDoubtAlongDistance)),
       "mild up to 0.28, strong from there"},
      {threshold, "departure of latencies from distance that is flagged",
       fmt::format("r > {:g} and p < {:g}", kLatencyLimit, kMisfitSignificance),
       "as much along distance shifts the energy by 4%", ""},
      {bound, "whole cycles of a way, there and back",
       fmt::format("{:g} ticks", kLatencyGrainTicks), "two roundings to a cycle, 1/√12 each", ""},
      {bound, "sleeping warps against waiting ones, of the awake SMs' power", percent(kSleepShare),
       "judgement: neither issues an instruction", ""},
      {bound, "toggle rate of one program on two chips, a factor",
       fmt::format("{:g}", kOtherChipsRate), "judgement: other caches and orders of lines", ""},
      {threshold, "capacitance of a millimetre that no wire has",
       fmt::format("below {:g} or above {:g} pF", kLeastPicofaradPerMm, kMostPicofaradPerMm),
       "0.2-0.6 pF/mm (DARPA 2008), a factor of ten", "0.15-0.65 pF/mm"},
  };
}

std::string assumptions_markdown() {
  std::string text =
      "| kind | quantity | value | source | virtual chips |\n|---|---|---|---|---|\n";
  for (const Assumption& row : assumptions()) {
    text += fmt::format("| {} | {} | {} | {} | {} |\n", kind_name(row.kind), row.quantity,
                        row.value, row.source, row.drawn.empty() ? "-" : row.drawn);
  }
  return text;
}

}  // namespace ww::model
