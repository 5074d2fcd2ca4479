// The numbers that the fit assumes, in one place. Sources stand in assumptions.cpp, which makes the
// table of docs/method.md from them. Where the virtual chips draw the same quantity from a range
// without a source in the literature, the prior is three times as wide as that range suggests.
#pragma once

#include <numbers>

namespace ww::model {

// --- Idle power ---
// Exponent of idle power over voltage at one clock, where a single state tells nothing.
inline constexpr double kBeta = 2.4;
inline constexpr double kBetaSigma = 1.2;
inline constexpr double kBetaLeastSigma = 0.1;
// Share of idle power that is clocks, V^2 f: what is never gated of a clock tree.
inline constexpr double kClockShare = 0.10;
inline constexpr double kClockShareSigma = 0.15;
// Of the idle curve, relative to idle power: slope, curvature and third order per 10 K. The current
// below threshold grows as exp(-q Vt / n k T) T^2, by a factor e in 28 to 45 K for Vt of 0.25 to
// 0.45 V at 330 K (Roy, Mukhopadhyay, Mahmoodi, Proc. IEEE 91:305, 2003). Currents through the gate
// hardly follow temperature; with half of them the sum grows by e in 80 K.
inline constexpr double kIdleSlope = 0.1, kIdleSlopeSigma = 0.3;
inline constexpr double kIdleCurvature = 0.02, kIdleCurvatureSigma = 0.03;
inline constexpr double kIdleThird = 0.002, kIdleThirdSigma = 0.003;
// Growth of idle power's slope under load against that of idle [1/10 K], about 0: a hot spot of 8 K
// on an e-fold of 28 K makes 0.02 where it has a sixth of the leakage.
inline constexpr double kSteepeningSigma = 0.03;

// --- Heat ---
// Rise of temperature that leakage sees within some tens of ms of the strongest stream [K]: mean
// and standard deviation. Kept narrow, for a filter that fast would absorb the signal itself if
// streams could fit it. What this leaves out is in the next bound.
inline constexpr double kHotSpotK = 1.0;
inline constexpr double kHotSpotSigmaK = 0.58;
// The same of a spot that comes and goes within some ms: no cool-down shows it, and it looks like
// power. Rectangular; 8 K where a sixth of the leakage is, 2 K where a third is, and a fifth more.
inline constexpr double kUnseenHotSpotK = 2.5;
// A hot spot that cool-downs show to be hotter than this is none: power that ends some tens of ms
// after the load, because engines are gated or clocks fall late, looks the same. Two standard
// deviations above the mean. The first windows after a load then say nothing of heat.
inline constexpr double kMostHotSpotK = kHotSpotK + 2 * kHotSpotSigmaK;
inline constexpr double kLatePowerS = 0.1;
// In the first pass, filters faster than this follow within a plateau and keep their priors [s].
inline constexpr double kSlowHeatS = 1;
// What the temperature sensor leaves open of the ambient [K], and of the response to power: of the
// steady one, and of those through filters that are slow enough to be the heatsink's.
inline constexpr double kDriftSigmaK = 0.25;
inline constexpr double kSteadyShare = 0.05;
// Filters from this one on are the heatsink's, which warms the whole die alike [s]. The spreader is
// faster: 5 cm3 of copper (3.4 J/cm3/K) behind 0.1 K/W follow within 2 s.
inline constexpr double kSinkHeatS = 10;

// How long power that belongs to no load (memory, board) keeps its departure from the idle curve
// [s]: judgement, between a cool-down's length and a block's. Only the test of steeper leakage
// needs it.
inline constexpr double kDriftOfPowerS = 60;

// --- Bounds of errors that no repetition shows; rectangular ---
// Load line of a regulator that no reading shows: anything from none to what controllers of GPU and
// processor supplies are set to (TI TPS53676, SLUSDP0A: 0 to 1 mOhm in fine steps), as long as the
// voltage falls no further than this share at the strongest load. That share is a judgement: chips
// would not hold their clock much below it.
inline constexpr double kMostLoadLineOhm = 1e-3;
inline constexpr double kMostDroopShare = 0.12;
// Correction for heat, relative: how much more or less the wires' own heat raises leakage than heat
// of the load does. Most heat flows through spreader and sink, where all heat is alike. The rest is
// the hot spot, which has a bound of its own; filters next to its own absorb a part.
inline constexpr double kHeatBound = 0.15;
// The hot spot's rise, relative. Cool-downs show the rise for heat of the load, but wires warm
// other parts of the die than engines do.
inline constexpr double kHotSpotBound = 0.5;
// The stream's deviations from its definition, relative: one line in 512 meets itself on a wire, a
// bus rests between launches, and a result is written.
inline constexpr double kStreamBound = 0.006;
// Requests and tags follow the order of addresses and compute units, which no definition of the
// energy fixes: a tenth more or less of what some 64 narrow wires beside 512 switch.
inline constexpr double kControlBound = 0.009;

// --- Rate ---
// What is not known of a payload's power over its rate, of the slope between two rates: where it
// ran at two rates itself, where another payload did, where none did.
inline constexpr double kRateDoubtOwn = 0.15;
inline constexpr double kRateDoubtOther = 0.2;
inline constexpr double kRateDoubtNone = 0.8;

// --- Solver ---
// A cost that falls by less than this over the last fifth of the steps is at its minimum: an
// interval's end lies 2 above it (half of 1.96 squared).
inline constexpr double kCrawl = 1e-2;

// --- Crossings ---
// A warp that sleeps and one that waits for its memory issue nothing, but need not draw alike:
// limit of the difference, of the power of all of them awake; rectangular. No source is known.
inline constexpr double kSleepShare = 0.05;

// --- Other segments and the wires alone ---
// Wires of another segment of the same die. 95%, judgement: wires that cross the die to a memory
// controller lie in the same layers as the crossbar's, and a repeated wire of one process has about
// the same capacitance per mm in whichever of them (0.2 fF/um for all but the thickest; Weste and
// Harris, CMOS VLSI Design, 4th ed., 6.2.2). Short wires inside a compute unit have other widths
// and few repeaters; models spread by more for one node (DSENT 150, Orion 230, McPAT 465 fF/mm).
inline constexpr double kAcrossDieTolerance95 = 0.20;
inline constexpr double kInsideUnitTolerance95 = 0.35;
// Of a wire's capacitance, what it has towards its neighbours: at most this much, for some of its
// field always ends on the layers above and below, and its repeaters' gates are all to ground.
inline constexpr double kMostCouplingShare = 0.8;

// --- Thresholds ---
// Where pairs depart from distance by this much of the signal, departures as large along distance
// would shift the energy by a tenth of itself (eight other interactions of 4 x 4).
inline constexpr double kMostDoubtAlongDistance = 0.10;
inline constexpr double kMisfitLimit = kMostDoubtAlongDistance * 2 * std::numbers::sqrt2;
inline constexpr double kMisfitSignificance = 1e-3;
// Where latencies depart from distance by this much of their contrast, as much along distance would
// shift the energy by 4% (as above): less is no concern, however significant.
inline constexpr double kLatencyLimit = 0.10;
// A way takes whole clock cycles, there and back: standard deviation of two roundings [ticks].
inline constexpr double kLatencyGrainTicks = 0.41;
// Growth of leakage under load beyond that of idle [1/10 K]: more is power that follows temperature
// under load alone.
inline constexpr double kMostSteepening = 0.03;
// What a millimetre of wire can switch for a random bit [pF], which charges it every fourth time
// (E = C V^2 / 4). A bare wire has 0.2 to 0.3 pF/mm, a repeated one twice that (DARPA 2008). What
// goes with the bit, its share of requests, clock and switches, at most makes it ten times as much;
// a link of low swing saves at most nine tenths.
inline constexpr double kLeastPicofaradPerMm = 0.02;
inline constexpr double kMostPicofaradPerMm = 6;

}  // namespace ww::model
