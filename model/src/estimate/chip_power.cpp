#include "ww/model/chip_power.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

namespace ww::model {
namespace {

constexpr double kPico = 1e-12;

// AMD FirePro W9100 (Hawaii, 28 nm) at 1.1687 V and 930 MHz, the state of IISWC'16's runs.
namespace w9100 {
constexpr double kClock = 930e6;
constexpr double kCus = 44, kEngineCus = 11, kLanes = 64;
constexpr double kSlices = 16, kQuadrantSlices = 4, kLine = 64;
constexpr double kMemoryBytes = 320e9;  // a second; data sheet
constexpr double kMemoryUnit = 32;
// Energies published at 0.9 V, and at 45 nm where said, are taken to 1.1687 V and 28 nm:
// capacitance goes with the length of a gate, energy with the square of the voltage.
constexpr double kVoltage = (1.1687 / 0.9) * (1.1687 / 0.9);
constexpr double kFrom45nm = kVoltage * 28 / 45;
// The card's 275 W (AMD's data sheet) less 25 W that its regulators lose (the least that an owner
// of a W8100 reports under load: HawaiiBiosReader, issue 1) and 30 W of the DRAM (AnandTech 9266:
// R9 290X, 320 GB/s). AMD's own ratio is lower: 150 W of a card's 220 W, 170 W of 250 W (Tonga,
// 28 nm: hardware.fr 945, page 6).
constexpr double kLimitW = 275 - 25 - 30;
// The paper's stream: one engine reads one quadrant of the L2, and its long path takes 5% more, for
// 10.5 mm. What 10.5 mm cost follows from the paper's other statement, energies within 15% of
// Keckler 2011 (240 fJ a transition and mm at 0.9 V), from a quadrant's highest rate, of which the
// stream reaches 70% or more, and from the rounding of 5%.
constexpr double kRandomBit = 120e-15 * kVoltage;  // a bit and mm
constexpr double kRate = kQuadrantSlices * kLine * kClock;
constexpr double kExtraMm = 10.5, kWaysMm = 3.5 + kExtraMm / 2;  // registers-L1, and a short way
constexpr double kLeastExtraW = 0.7 * 0.85 * 8 * kRate * kRandomBit * kExtraMm;
constexpr double kMostExtraW = 1.15 * 8 * kRate * kRandomBit * kExtraMm;
constexpr Bounds kStreamW{kLeastExtraW / 0.055 - kMostExtraW / kExtraMm * kWaysMm,
                          kMostExtraW / 0.045};
// No part can take more than the whole chip may, at the highest rate of its events.
constexpr double most_pj(double events_per_s) {
  return kLimitW / events_per_s / kPico;
}
}  // namespace w9100

ChipPower make_w9100() {
  using namespace w9100;
  constexpr double kLineRate = kRate / kLine;
  // 28 nm: 0.4 pJ an addition, 2 pJ a register of 64 bits, 50 pJ for 256 bits of an array of 8 KiB
  // (BMC Bioinformatics 2018, 19:421, table 7). 45 nm: 10, 20 and 100 pJ for 64 bits of a cache of
  // 8 KiB, 32 KiB and 1 MiB (Horowitz, ISSCC 2014).
  return {
      "gfx701",
      1.1687,
      {
          {"the chip at work",
           {},
           1,
           0,
           most_pj(1e9),
           1e9,
           "at most the stream's power; no lower bound has a source"},
          {"busy compute units",
           {"SQ_BUSY_CU_CYCLES"},
           1,
           0,
           most_pj(kCus * kClock),
           kEngineCus * kClock,
           "at most the chip's limit in all; no lower bound has a source"},
          {"vector lanes",
           {"SQ_THREAD_CYCLES_VALU"},
           1,
           (0.4 + 3 * 1.0) * kVoltage,
           most_pj(kCus * kLanes * kClock),
           0,
           "from an addition of integers with two reads and a write of registers (28 nm)"},
          {"local memory",
           {"SQ_INSTS_LDS"},
           kLanes,
           10.0 / 2 * kFrom45nm,
           most_pj(kCus * kLanes / 2 * kClock),
           0,
           "from 32 bits of an array of 8 KiB (45 nm)"},
          {"L1",
           {"TCP_TOTAL_CACHE_ACCESSES_sum"},
           1,
           8 * 14.0 * kFrom45nm,
           most_pj(kCus * kClock),
           kLineRate,
           "from a line of an array between 8 and 32 KiB (45 nm)"},
          {"L2",
           {"TCC_REQ_sum"},
           1,
           8 * 20.0 * kFrom45nm,
           most_pj(kSlices * kClock),
           kLineRate,
           "from a line of an array of 32 KiB; a slice has 64 (45 nm)"},
          {"memory controllers",
           {"TCC_MC_RDREQ_sum", "TCC_MC_WRREQ_sum"},
           1,
           0,
           30 / (kMemoryBytes / kMemoryUnit) / kPico,
           0,
           "at most what the DRAM at the other end takes (AnandTech 9266); 0 where their drivers "
           "have a rail of their own"},
      },
      kStreamW,
      kLimitW,
      "IISWC'16, Fig. 5a and section V.A: 5% for 10.5 mm, and energies within 15% of Keckler 2011",
      "275 W of the card less regulators and DRAM"};
}

// A part in a program: watts are rate times energy.
struct Term {
  double rate{};    // events a second in the program
  double stream{};  // and in the stream
  double low_j{}, high_j{};
};

// Least power of the program for which the stream takes at least `stream_w`. The cheapest way to
// the stream's power goes first; a linear program with one constraint needs no more.
double least_w(std::vector<Term> terms, double stream_w) {
  double sum = 0, missing = stream_w;
  for (const Term& term : terms) {
    sum += term.rate * term.low_j;
    missing -= term.stream * term.low_j;
  }
  std::erase_if(terms, [](const Term& term) { return !(term.stream > 0); });
  std::ranges::sort(terms, {}, [](const Term& term) { return term.rate / term.stream; });
  for (const Term& term : terms) {
    if (missing <= 0) break;
    const double more_j = std::min(term.high_j - term.low_j, missing / term.stream);
    sum += term.rate * more_j;
    missing -= term.stream * more_j;
  }
  return sum;
}

// Most power of the program for which the stream takes at most `stream_w`.
double most_w(std::vector<Term> terms, double stream_w) {
  // From the other end: least of what is left of the highest energies.
  double highest = 0, beyond = -stream_w;
  for (Term& term : terms) {
    highest += term.rate * term.high_j;
    beyond += term.stream * term.high_j;
    term.high_j -= term.low_j;
    term.low_j = 0;
  }
  return highest - least_w(std::move(terms), beyond);
}

// Takes from each range what the stream forbids: with all others at their lowest, it would take
// more than `stream_w`.
void tighten(std::vector<Term>& terms, double stream_w) {
  double spare = stream_w;
  for (const Term& term : terms) spare -= term.stream * term.low_j;
  for (Term& term : terms) {
    if (term.stream > 0) term.high_j = std::min(term.high_j, term.low_j + spare / term.stream);
  }
}

struct Program {
  std::vector<Term> terms;
  Bounds stream_w;
  double limit_w{};
  Bounds wires_w;
};

Bounds rest_of(const Program& program) {
  const double most = std::max(0.0, program.limit_w - program.wires_w.low);
  const double low = least_w(program.terms, program.stream_w.low);
  return {std::min(low, most), std::min(most_w(program.terms, program.stream_w.high), most)};
}

Bounds share_of(const Program& program, const Bounds& rest_w) {
  const auto percent = [](double wires, double rest) { return 100 * wires / (wires + rest); };
  return {percent(program.wires_w.low, rest_w.high), percent(program.wires_w.high, rest_w.low)};
}

double width(const Bounds& bounds) {
  return std::log(bounds.high / bounds.low);
}

}  // namespace

const ChipPower* chip_power(std::string_view architecture) {
  static const ChipPower kW9100 = make_w9100();
  return architecture == kW9100.architecture ? &kW9100 : nullptr;
}

Result<ShareBounds> share_bounds(const ChipPower& chip, const Interval& wires_j,
                                 const std::map<std::string, double>& counters, double seconds) {
  if (!(seconds > 0)) return fail(ErrorCode::bad_data, "no time of the kernels is known");
  if (!(wires_j.low > 0)) return fail(ErrorCode::bad_data, "the wires took no energy for sure");
  Program program{{}, chip.stream_w, chip.limit_w, {wires_j.low / seconds, wires_j.high / seconds}};
  for (const ChipPart& part : chip.parts) {
    double events = part.counters.empty() ? 1e9 * seconds : 0;
    for (const auto counter : part.counters) {
      const auto found = counters.find(std::string(counter));
      if (found == counters.end()) {
        return fail(ErrorCode::unsupported,
                    fmt::format("{} was not counted, which {} need", counter, part.name));
      }
      events += part.events_per_count * found->second;
    }
    program.terms.push_back(
        {events / seconds, part.stream_per_s, part.low_pj * kPico, part.high_pj * kPico});
  }
  tighten(program.terms, program.stream_w.high);
  ShareBounds result;
  result.rest_w = rest_of(program);
  result.share_percent = share_of(program, result.rest_w);
  const auto add_known = [&](std::string_view name, const Program& known) {
    const Bounds share = share_of(known, rest_of(known));
    result.known.push_back({name, share, 1 - width(share) / width(result.share_percent)});
  };
  for (std::size_t i = 0; i < chip.parts.size(); ++i) {
    Program known = program;
    Term& term = known.terms[i];
    term.low_j = term.high_j = (term.low_j + term.high_j) / 2;
    add_known(chip.parts[i].name, known);
  }
  Program known = program;
  known.stream_w.low = known.stream_w.high = (chip.stream_w.low + chip.stream_w.high) / 2;
  add_known("the stream's power", known);
  known = program;
  known.wires_w.low = known.wires_w.high = wires_j.value / seconds;
  add_known("the wires' energy", known);
  std::ranges::stable_sort(result.known, std::ranges::greater{}, &KnownRange::narrower);
  return result;
}

nlohmann::json to_json(const ShareBounds& bounds) {
  const auto range = [](const Bounds& of) {
    return nlohmann::json{{"low", of.low}, {"high", of.high}};
  };
  nlohmann::json known = nlohmann::json::array();
  for (const KnownRange& one : bounds.known) {
    known.push_back({{"range", one.name},
                     {"share_percent", range(one.share_percent)},
                     {"narrower_percent", 100 * one.narrower}});
  }
  return {{"rest_w", range(bounds.rest_w)},
          {"share_percent", range(bounds.share_percent)},
          {"if_known", std::move(known)}};
}

}  // namespace ww::model
