// The numbers that the fit assumes, in one place. Sources stand in assumptions.cpp, which makes the
// table of docs/method.md from them. Where the virtual chips draw the same quantity from a range
// without a source in the literature, the prior is three times as wide as that range suggests.
#pragma once

#include <cstddef>
#include <numbers>

namespace ww::model {

// --- Idle power ---
// Exponent of idle power over voltage at one clock, where a single state determines nothing.
inline constexpr double kBeta = 2.4;
inline constexpr double kBetaSigma = 1.2;
inline constexpr double kBetaLeastSigma = 0.1;
// Share of idle power that is clocks, V^2 f: what is never gated of a clock tree.
inline constexpr double kClockShare = 0.10;
inline constexpr double kClockShareSigma = 0.15;
// Idle curve relative to idle power: slope, curvature and third order per 10 K. The current below
// threshold grows as exp(-q Vt / n k T) T^2, by a factor e in 28 to 45 K for Vt of 0.25 to 0.45 V
// at 330 K (Roy, Mukhopadhyay, Mahmoodi, Proc. IEEE 91:305, 2003). Currents through the gate hardly
// follow temperature; with half of them the sum grows by e in 80 K.
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
// A spot that comes and goes within some ms [K]: no cool-down shows it, and it looks like power.
// Rectangular; 8 K where a sixth of the leakage is, 2 K where a third is, and a fifth more.
inline constexpr double kUnseenHotSpotK = 2.5;
// A hot spot that cool-downs show to be hotter than this is none: power that ends some tens of ms
// after the load, because engines are gated or clocks fall late, looks the same. Two standard
// deviations above the mean. The first windows after a load then say nothing of heat.
inline constexpr double kMaxHotSpotK = kHotSpotK + 2 * kHotSpotSigmaK;
inline constexpr double kLatePowerS = 0.1;
// In the first pass, filters faster than this follow within a plateau and keep their priors [s].
inline constexpr double kSlowHeatS = 1;
// Ambient that the temperature sensor leaves open [K], and shares of the response to power: of the
// steady one, and of those through filters that are slow enough to be the heatsink's.
inline constexpr double kDriftSigmaK = 0.25;
inline constexpr double kSteadyShare = 0.05;
// Filters from this one on are the heatsink's, which warms the whole die evenly [s]. The spreader
// is faster: 5 cm3 of copper (3.4 J/cm3/K) behind 0.1 K/W follow within 2 s.
inline constexpr double kSinkHeatS = 10;

// How long power that belongs to no load (memory, board) keeps its departure from the idle curve
// [s]: judgement, between a cool-down's length and a block's. Only the test of steeper leakage
// needs it.
inline constexpr double kDriftOfPowerS = 60;

// --- Free terms of the joint fit [W]: wide enough to be free ---
inline constexpr double kEffectSigmaW = 200;  // of an engine, and of a quadrant
inline constexpr double kBlockSigmaW = 1;     // of a block, and its slope over the block
inline constexpr double kBlockSlopeSigmaW = 0.3;
// Windows of one cool-down share errors of the thermal description. Their noise they do not share.
inline constexpr double kIdleSigmaFactor = 2;

// --- Voltage ---
// A straight load line must leave less than this of the averaged voltages [V], each weighing as
// many as its readings: an average of two is mostly the regulator's noise.
inline constexpr double kLoadLineRmsV = 0.0007;
// Steps that noise does not dither stay in an average: a rectangular error, a little more of it.
inline constexpr double kVoltageStepsToRms = 1.1 / 3.4641016151377544;
inline constexpr std::size_t kLoadLinePoints = 8;
// Load line of a regulator that no reading shows: lognormal. AMD's firmware reckons with that of
// its board, which the card's PowerPlay table states (LoadLineResistanceGfx, "in mOhms with 8
// fractional bits", smu11_driver_if.h): MI100 0.098, Radeon VII 0.148, RX 6900 XT 0.250, RX 5700 XT
// 0.297 mOhm. Vega 10's 64 is 0.25 or 0.64 mOhm: its unit is nowhere stated, and tables before it
// count in hundredths. Median and factor (95%) are those of these five; the range that they give,
// 0.07 to 0.63 mOhm, is about that of both readings.
inline constexpr double kMedianLoadLineOhm = 0.21e-3;
inline constexpr double kLoadLineLogSigma = 0.56;  // ln 3 / 1.96
// The voltage falls no further than this share at the strongest load of a campaign. A judgement: by
// the tables above it falls by 3 to 7% at the currents that they allow, and chips would not hold
// their clock much below.
inline constexpr double kMaxDroopShare = 0.12;
// Voltage of a core [V] where a driver shows none at all, not even that of a clock state: anywhere
// within the range about it. A judgement: cores of 16 to 4 nm hold their clocks at 0.7 to 1.1 V.
inline constexpr double kUnshownCoreV = 0.9;
inline constexpr double kUnshownCoreRangeV = 0.2;

// --- Steps of the power's readings ---
// Two powers d steps apart, anywhere among the steps, have rounding errors of the correlation
// 1 - 6 d (1 - d). It is positive up to this d, (3 - sqrt 3) / 6.
inline constexpr double kCorrelatedSteps = (3 - 1.7320508075688772) / 6;

// --- Bounds of errors that no repetition shows; rectangular ---
// Correction for heat, relative: how much more or less the wires' own heat raises leakage than heat
// of the load does. Most heat flows through spreader and sink, where all heat is equal. The rest is
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
// Doubt about a payload's power over its rate, as a share of the slope between two rates: where it
// ran at two rates itself, where another payload did, where none did.
inline constexpr double kRateDoubtOwn = 0.15;
inline constexpr double kRateDoubtOther = 0.2;
inline constexpr double kRateDoubtNone = 0.8;

// From this share of a state's highest rate on, pairs are saturated: their rates differ for other
// reasons than waiting.
inline constexpr double kSaturatedShare = 0.9;

// --- Solver ---
// A residual beyond this many standard deviations counts linearly.
inline constexpr double kHuberSigmas = 3;
// Degrees of freedom that the scatter of all other payloads counts for in that of one.
inline constexpr double kBorrowedFreedom = 16;
// Blocks that a bootstrap over blocks needs.
inline constexpr std::size_t kBootstrapBlocks = 6;
// A cost that falls by less than this over the last fifth of the steps is at its minimum: an
// interval's end lies 2 above it (half of 1.96 squared).
inline constexpr double kCrawl = 1e-2;

// --- Crossings ---
// A warp that sleeps and one that waits for its memory issue nothing, but need not draw equally:
// limit of the difference, of the power of all of them awake; rectangular. No source is known.
inline constexpr double kSleepShare = 0.05;
// How power over idle grows with the clock at a given rate of traffic: P ~ f^n. Traffic goes as V^2
// and awake SMs as f V^2, so n is 0 to 1 where the voltage stays, and 2 to 3 where it follows the
// clock. It is not fitted: power sets the clock, and the clock would then explain the crossing's
// own power. The middle of this range is used, and its ends are in the interval.
inline constexpr double kMaxCrossingClockExponent = 3.0;
inline constexpr double kCrossingClockExponent = kMaxCrossingClockExponent / 2;
// The 95% half-width of a limit within which all is equally likely, over the limit.
inline constexpr double kRectangular95 = 0.95;
// Share of mean power a kelvin: leakage; the prior is as wide.
inline constexpr double kCrossingHeatShare = 0.003;
// Ranges over the campaign that are worth a term: of temperature [K], and of the clock, relative.
inline constexpr double kMinCrossingWarmthK = 0.2;
inline constexpr double kMinCrossingClockChange = 5e-4;
// Needs of a crossing: blocks, waits that near and far share, and the span of the rates over the
// greatest.
inline constexpr int kMinCrossingBlocks = 2;
inline constexpr int kMinCrossingWaits = 3;
inline constexpr double kMinCrossingSpan = 0.25;
// Difference of near's and far's rates at one wait that needs no slope, as a fraction.
inline constexpr double kMaxCrossingMismatch = 0.01;
// Limits beyond which a crossing is refused: power that bends with the rate, of the answer; waits
// that are off a line, of the crossing's power; two sides' lines apart, of a near bit's energy.
inline constexpr double kMaxCrossingBend = 0.25;
inline constexpr double kMaxWaitShare = 0.1;
inline constexpr double kMaxSidesApart = 0.25;
// No working sensor shows less than a tenth of what is drawn.
inline constexpr double kMinSensorScale = 0.1;

// --- Register-to-L1 and L1-L2 segments ---
// Heat of the wires raises leakage: at most 0.1 K/W times 0.5 W/K of what they draw
// (docs/method.md, traps); between runs of a second part of it shows.
inline constexpr double kMaxHeatShare = 0.05;
// More power lowers the voltage, and with it all power: by V^2, a quarter that leaks by up to V^4.
inline constexpr double kPowerExponent = 2;
inline constexpr double kMaxExponentOff = 0.5;
// Standard deviation of the distances that a slope per millimetre needs [mm].
inline constexpr double kMinSegmentContrastMm = 0.2;
// Differences between runs that should differ in registers alone: of rate, and of toggles before
// the L1. Trunks and legs draw several times what registers' wires do: their toggles must be equal.
inline constexpr double kMaxRatesDiffer = 0.02;
inline constexpr double kMaxTogglesDiffer = 0.002;

// --- Other segments and the wires alone ---
// Wires of another segment of the same die. 95%, judgement: wires that cross the die to a memory
// controller lie in the same layers as the crossbar's, and a repeated wire of one process has about
// the same capacitance per mm in whichever of them (0.2 fF/um for all but the thickest; Weste and
// Harris, CMOS VLSI Design, 4th ed., 6.2.2). Short wires inside a compute unit have other widths
// and few repeaters; models spread by more for one node (DSENT 150, Orion 230, McPAT 465 fF/mm).
inline constexpr double kAcrossDieTolerance95 = 0.20;
inline constexpr double kInsideUnitTolerance95 = 0.35;
// Share of a wire's capacitance towards its neighbours: at most this, for some of its field always
// ends on the layers above and below, and its repeaters' gates are all to ground.
inline constexpr double kMaxCouplingShare = 0.8;
// Energy that wires resting at ones add to random bits, over twice the difference from half random
// ones, at most.
inline constexpr double kMaxRestingFactor = 2;
// Interactions of four engines and four quadrants that are orthogonal to distance.
inline constexpr double kDepartureTerms = 8;

// --- Packages of several dies ---
// Share of idle power, by kelvin: an e-fold of 28 K is the steepest subthreshold current (Roy et
// al. 2003).
inline constexpr double kDieLeakagePerKelvin = 1.0 / 28;
// How far a rail's gain in a campaign is from that of another day, at 95%, a share: a monitor of
// shunts drifts by up to 50 ppm/K (INA226, data sheet SBOS547A), and a board warms by some 20 K.
// The scatter over blocks cannot show what lasts longer than the campaign.
inline constexpr double kRailGainDrift95 = 0.001;
// A scatter over blocks needs two, and one may be lost.
inline constexpr std::size_t kMinChipletBlocks = 3;
// Confidence at which a control that must be zero is said not to be, and the share of the figure
// beside it that does no harm.
inline constexpr double kNullLevel = 0.999;
inline constexpr double kNullShare = 0.01;

// --- Applications ---
// Error of a straight line in slots, toggles and coupling, as a share of a random bit's energy:
// three times what campaigns of 14 random chips suggest (chi2 = 33 at 28 degrees of freedom with a
// third of it, 38 with none). No source is known.
inline constexpr double kFormError = 0.006;
// Energy per bit and mm of other wires of the same die, a factor: a repeated wire's capacitance is
// twice that of a bare one (DARPA 2008: 600 against 300 fF/mm).
inline constexpr double kOtherWires = 2;
// A sector crosses the fabric of a partitioned L2 once when a slice asks the other side for it, and
// once more when it is written back there. Beside a kernel's traffic, instructions, constants and
// page tables cross [B].
inline constexpr double kMaxCrossingsOfAByte = 2;
inline constexpr double kUnrelatedBytes = 1 << 20;
// Toggles on the way to registers where monitors saw those of the crossbar, a factor: lines that
// are used again, and words of them that are not, toggle otherwise.
inline constexpr double kOtherToggles = 2;

// --- Thresholds ---
// Where pairs depart from distance by this much of the signal, departures as large along distance
// would shift the energy by a tenth of itself (eight other interactions of 4 x 4).
inline constexpr double kMaxDoubtAlongDistance = 0.10;
inline constexpr double kMisfitLimit = kMaxDoubtAlongDistance * 2 * std::numbers::sqrt2;
inline constexpr double kMisfitSignificance = 1e-3;
// A departure as likely as this without any is worth further blocks where its limit is near.
inline constexpr double kSuspicion = 0.05;
// Where latencies depart from distance by this much of their contrast, as much along distance would
// shift the energy by 4% (as above): less is no concern, however significant.
inline constexpr double kLatencyLimit = 0.10;
// A way takes whole clock cycles, there and back: standard deviation of two roundings [ticks].
inline constexpr double kLatencyGrainTicks = 0.41;
// Growth of leakage under load beyond that of idle [1/10 K]: more is power that follows temperature
// under load alone.
inline constexpr double kMaxSteepening = 0.03;
// Energies of the same payload at two rates differ by more than this share of it, by more than so
// many standard errors; lock-in and plateaus by as many.
inline constexpr double kRateDisagreement = 0.20;
inline constexpr double kDisagreementSigmas = 4;
// Significance of a payload's departure from what links share; less is noise, as likely as not.
inline constexpr double kPayloadSignificance = 0.01;
// Half-widths beyond which a figure says nothing: of the energy for random payload; of an exponent
// of voltage or frequency; of the times that an energy per nanosecond is divided by.
inline constexpr double kUselessShare = 0.5;
inline constexpr double kUselessExponent = 0.5;
inline constexpr double kMaxFlightError = 0.5;
inline constexpr double kMinContrast = 0.01;  // of distance, over its mean
// Rest of ln f, rms, that must be left when its straight line in ln V is taken out. One curve of a
// device bends by up to 0.03; a clock at two voltages leaves more.
inline constexpr double kMinOffCurve = 0.06;
// Capacitance that a millimetre of wire can switch for a random bit [pF], which charges it every
// fourth time (E = C V^2 / 4). A bare wire has 0.2 to 0.3 pF/mm, a repeated one twice that (DARPA
// 2008). The bit's share of requests, clock and switches at most makes it ten times as much; a link
// of low swing saves at most nine tenths.
inline constexpr double kMinPicofaradPerMm = 0.02;
inline constexpr double kMaxPicofaradPerMm = 6;
// How much warmer the die is than its sensor, by watt of the chip [K/W]: leakage there follows the
// power at once, so no covariate takes it away. Boards of 200 to 300 W show hot spots 10 to 25 K
// above the edge, of which the mean of the die has about half.
inline constexpr double kMaxUnseenKelvinPerWatt = 0.04;
// Rates of a ladder's stream that are this much apart count as two, and a bend of its energy with
// the rate is named from here on.
inline constexpr double kLadderRatesApart = 0.05;
inline constexpr double kLadderBend = 0.05;
// Bytes that a work-item's load brings, and the most, where counters give the lines and the loads
// alone: a dword, and the widest load of a vector (buffer_load_dwordx4, flat_load_dwordx4).
inline constexpr double kLoadedBytes = 4, kMaxLoadedBytes = 16;

}  // namespace ww::model
