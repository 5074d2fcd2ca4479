#include "ww/model/technology.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <limits>
#include <vector>

#include "ww/core/suggest.hpp"

namespace ww::model {
namespace {

using enum Convention;

// DSENT: a global link of 1 mm, as its own technology files give it; the others as published.
constexpr std::array kSources = {
    WireSource{"Keckler 2011", 40, 0.9, 240, per_transition,
               "Keckler et al., GPUs and the Future of Parallel Computing, IEEE Micro 31(5), 2011: "
               "310 pJ for 256 random bits over 10 mm, 240 fJ a transition and mm"},
    WireSource{"DARPA 2008", 32, 0.6, 110, per_random_bit,
               "Kogge et al., ExaScale Computing Study, DARPA IPTO, 2008: 300 fF/mm at 0.6 V"},
    WireSource{"DSENT 45 nm", 45, 1.0, 40.4, per_random_bit,
               "Sun et al., DSENT, NOCS 2012; global link of 1 mm, 161 fF/mm"},
    WireSource{"DSENT 32 nm", 32, 0.9, 32.4, per_random_bit,
               "Sun et al., DSENT, NOCS 2012; global link of 1 mm, 160 fF/mm"},
    WireSource{"DSENT 22 nm", 22, 0.8, 23.6, per_random_bit,
               "Sun et al., DSENT, NOCS 2012; global link of 1 mm, 147 fF/mm"},
    WireSource{"DSENT 11 nm", 11, 0.6, 13.2, per_random_bit,
               "Sun et al., DSENT, NOCS 2012; global link of 1 mm, 147 fF/mm"},
};

// One vote for each origin: DSENT's entries are one model.
bool same_origin(const WireSource& a, const WireSource& b) {
  return a.name.substr(0, 5) == b.name.substr(0, 5);
}

constexpr std::string_view kNoSource = "no source: as its family and its size suggest";
// Shares of a die that processor cores and controllers leave to graphics; no source.
constexpr double kApu = 0.3, kLargeApu = 0.4, kSmallApu = 0.2;

// Die areas and boost clocks from the makers' data sheets or die photos; the chiplet parts' compute
// die. An architecture that several dies share stands for the one named. A figure without a source
// makes the row estimated.
constexpr std::array kSheets = {
    DeviceSheet{"gfx700", "AMD Kaveri (graphics of an APU)", 28, 245, false, 720, kApu, true,
                kNoSource},
    DeviceSheet{"gfx701", "AMD Hawaii (FirePro W9100)", 28, 438, false, 930},
    DeviceSheet{"gfx702", "AMD Hawaii (R9 290)", 28, 438, false, 1000, 1, false,
                "the die of gfx701"},
    DeviceSheet{"gfx801", "AMD Carrizo (graphics of an APU)", 28, 250, false, 800, kApu, true,
                kNoSource},
    DeviceSheet{"gfx802", "AMD Tonga (R9 285)", 28, 366, false, 918, 1, true, kNoSource},
    DeviceSheet{"gfx803", "AMD Polaris 10 (RX 480; not Fiji)", 14, 232, false, 1266},
    DeviceSheet{"gfx900", "AMD Vega 10", 14, 484, false, 1500},
    DeviceSheet{"gfx902", "AMD Raven Ridge (graphics of an APU)", 14, 210, false, 1300, kApu, true,
                kNoSource},
    DeviceSheet{"gfx906", "AMD Vega 20 (MI50)", 7, 331, false, 1725},
    DeviceSheet{"gfx908", "AMD Arcturus (MI100)", 7, 750, false, 1502},
    DeviceSheet{"gfx90a", "AMD Aldebaran, one die (MI200)", 6, 724, false, 1700},
    DeviceSheet{"gfx942", "AMD MI300, one compute die (XCD)", 5, 115, true, 2100},
    DeviceSheet{
        "gfx950", "AMD MI350, one compute die (XCD)", 3, 115, true, 2400, 1, true,
        "node and clock: AMD at Hot Chips 2025 (TSMC N3P, 2.4 GHz); area: that of MI300's XCD"},
    DeviceSheet{"gfx1010", "AMD Navi 10 (RX 5700)", 7, 251, false, 1905},
    DeviceSheet{"gfx1011", "AMD Navi 12", 7, 290, false, 1600, 1, true, kNoSource},
    DeviceSheet{"gfx1012", "AMD Navi 14 (RX 5500)", 7, 158, false, 1845, 1, true,
                "area: VideoCardz on Navi 24, December 2021; clock: no source"},
    DeviceSheet{"gfx1013", "AMD Oberon (graphics of an APU)", 7, 300, false, 2000, kLargeApu, true,
                kNoSource},
    DeviceSheet{"gfx1030", "AMD Navi 21 (RX 6800, RX 6900)", 7, 520, false, 2250},
    DeviceSheet{"gfx1031", "AMD Navi 22 (RX 6700)", 7, 335, false, 2581},
    DeviceSheet{"gfx1032", "AMD Navi 23 (RX 6600)", 7, 237, false, 2491},
    DeviceSheet{"gfx1033", "AMD Van Gogh (graphics of an APU)", 7, 163, false, 1600, kApu, true,
                kNoSource},
    DeviceSheet{"gfx1034", "AMD Navi 24 (RX 6500)", 6, 107, false, 2815, 1, true, kNoSource},
    DeviceSheet{"gfx1035", "AMD Rembrandt (graphics of an APU)", 6, 208, false, 2400, kApu, true,
                kNoSource},
    DeviceSheet{"gfx1036", "AMD Raphael, I/O die with graphics", 6, 122, false, 2200, kSmallApu,
                true, "area: io-tech.fi, August 2024; the rest: no source"},
    DeviceSheet{"gfx1100", "AMD Navi 31, graphics die (RX 7900)", 5, 304, true, 2500},
    DeviceSheet{"gfx1101", "AMD Navi 32, graphics die (RX 7800)", 5, 200, true, 2430},
    DeviceSheet{"gfx1102", "AMD Navi 33 (RX 7600)", 6, 204, false, 2655},
    DeviceSheet{
        "gfx1103", "AMD Phoenix (graphics of an APU)", 4, 178, false, 2700, kApu, true,
        "area: reports of Phoenix 2 (178 against 137 mm2); the share of graphics: no source"},
    DeviceSheet{"gfx1150", "AMD Strix Point (graphics of an APU)", 4, 232, false, 2900, kApu, true,
                kNoSource},
    DeviceSheet{
        "gfx1151", "AMD Strix Halo, I/O die with graphics", 4, 307, false, 2900, kLargeApu, true,
        "area: 19.18 by 16.02 mm, tweakers.net, August 2024; the share of graphics: no source"},
    DeviceSheet{"gfx1152", "AMD Krackan Point (graphics of an APU)", 4, 190, false, 2800, kSmallApu,
                true, kNoSource},
    DeviceSheet{"gfx1153", "AMD Radeon 820M (graphics of an APU)", 4, 150, false, 2800, kSmallApu,
                true, kNoSource},
    DeviceSheet{"gfx1200", "AMD Navi 44 (RX 9060)", 4, 199, false, 3130, 1, false,
                "TechPowerUp, review of the RX 9060 XT"},
    DeviceSheet{"gfx1201", "AMD Navi 48 (RX 9070)", 4, 357, false, 2970, 1, false,
                "AMD, launch of the RX 9070, February 2025"},
    DeviceSheet{"sm_70", "NVIDIA GV100", 12, 815, false, 1455},
    DeviceSheet{"sm_72", "NVIDIA GV10B (graphics of Jetson Xavier)", 12, 350, false, 1377,
                kSmallApu, true,
                "area, node and clock: sysrqmts.com; the share of graphics: no source"},
    DeviceSheet{"sm_75", "NVIDIA TU102 (RTX 2080 Ti; not TU104 and TU106)", 12, 754, false, 1545},
    DeviceSheet{"sm_80", "NVIDIA GA100", 7, 826, false, 1410},
    DeviceSheet{"sm_86", "NVIDIA GA102 (RTX 3080, RTX 3090, A40)", 8, 628, false, 1695},
    DeviceSheet{"sm_87", "NVIDIA GA10B (graphics of Jetson Orin)", 8, 455, false, 1300, kSmallApu,
                true, kNoSource},
    DeviceSheet{"sm_89", "NVIDIA AD102 (RTX 4090, L40)", 4, 608, false, 2520},
    DeviceSheet{"sm_90", "NVIDIA GH100", 4, 814, false, 1755},
    DeviceSheet{"sm_100", "NVIDIA GB100, one of two dies (B200)", 4, 800, false, 1965, 1, true,
                "node: TSMC 4NP; area: two dies near the reticle's size, of which sources differ"},
    DeviceSheet{"sm_103", "NVIDIA GB110, one of two dies (B300)", 4, 800, false, 1965, 1, true,
                kNoSource},
    DeviceSheet{"sm_120", "NVIDIA GB202 (RTX 5090)", 4, 750, false, 2407},
    DeviceSheet{"sm_121", "NVIDIA GB10, graphics die (DGX Spark)", 3, 174, true, 2400, 1, true,
                "area: 12.91 by 13.45 mm, hardwareluxx.de, March 2026; memory on the processor's "
                "die: NVIDIA at Hot Chips 2025; clock: no source"},
};

std::string known_architectures() {
  std::string names;
  for (const DeviceSheet& sheet : kSheets) {
    names += fmt::format("{}{}", names.empty() ? "" : ", ", sheet.architecture);
  }
  return names;
}

std::string lower_case(std::string_view text) {
  std::string result(text);
  std::ranges::transform(result, result.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return result;
}

// The only part whose name has the word's first letters, as many of them as any part's name has:
// "mi210" is one of MI200, "rtx 4090" one of AD102. Null where that leaves several parts.
const DeviceSheet* sheet_by_card(std::string_view word) {
  constexpr std::size_t kMinLetters = 3;
  const std::string wanted = lower_case(word);
  for (std::size_t letters = wanted.size(); letters >= kMinLetters; --letters) {
    const DeviceSheet* found = nullptr;
    int count = 0;
    for (const DeviceSheet& sheet : kSheets) {
      if (lower_case(sheet.name).find(wanted.substr(0, letters)) == std::string::npos) continue;
      found = &sheet;
      ++count;
    }
    if (count > 0) return count == 1 ? found : nullptr;
  }
  return nullptr;
}

// Distances of the W9100's floorplan over its die's side of 20.9 mm (IISWC'16, Table II).
constexpr std::array kW9100OverSide = {3.5 / 20.9, 10.5 / 20.9, 11.5 / 20.9};
constexpr double kDistanceError = 0.5;  // another layout

// Wire: energy of a fixed-length wire; logic: of switching the rest.
constexpr std::array kScalings = {
    NodeScaling{"IISWC'16 (calibrated)", 7, 1.68, 1.0,
                "r = 1.68 is set so that 14.3% becomes 21.9%; the factors themselves are not "
                "stated, so only their ratio is given here"},
    NodeScaling{"Villa 2014 wire, Borkar 2013 logic", 7, 0.46, 0.263,
                "Villa et al., Scaling the Power Wall, SC 2014, Table II (wire of fixed length, "
                "28 to 7 nm: 1, 0.89, 0.75, 0.62, 0.46); Borkar, Exascale Computing, IPDPS 2013: "
                "compute energy falls 6 times from 45 to 7 nm, interpolated over log(node)"},
    NodeScaling{"Stillmaker 2017 logic, constant C wire", 7, 0.605, 0.105,
                "Stillmaker and Baas, Integration 58, 2017: HP 32 nm at 0.9 V to 7 nm at 0.7 V is "
                "0.105; wire (0.7/0.9)^2, its capacitance per mm constant"},
    NodeScaling{"wire with V^2 alone, Borkar 2013 logic", 7, 0.605, 0.263,
                "wire (0.7/0.9)^2 with constant capacitance per mm; logic as above"},
};

}  // namespace

std::span<const WireSource> wire_sources() {
  return kSources;
}
std::span<const NodeScaling> node_scalings() {
  return kScalings;
}

double nominal_voltage(double node_nm) {
  // Villa 2014 and the roadmaps it cites: 0.90 V at 28 nm to 0.70 V at 7 nm; above, 1.0 V at 45 nm.
  struct Point {
    double node_nm, volt;
  };
  constexpr std::array points = {Point{5, 0.70},  Point{7, 0.70},  Point{10, 0.75}, Point{16, 0.80},
                                 Point{28, 0.90}, Point{45, 1.00}, Point{90, 1.20}};
  if (node_nm <= points.front().node_nm) return points.front().volt;
  for (std::size_t i = 1; i < points.size(); ++i) {
    if (node_nm > points[i].node_nm) continue;
    const double share = std::log(node_nm / points[i - 1].node_nm) /
                         std::log(points[i].node_nm / points[i - 1].node_nm);
    return points[i - 1].volt + share * (points[i].volt - points[i - 1].volt);
  }
  return points.back().volt;
}

Result<Interval> literature_energy(double node_nm, double voltage_v) {
  if (!(node_nm >= 3 && node_nm <= 90)) {
    return fail(ErrorCode::out_of_range, fmt::format("node of {} nm; 3 to 90 are known", node_nm));
  }
  if (!(voltage_v >= 0.3 && voltage_v <= 1.5)) {
    return fail(ErrorCode::out_of_range,
                fmt::format("core voltage of {} V; 0.3 to 1.5 make sense", voltage_v));
  }
  const auto scaled = [&](const WireSource& source) {
    const double ratio = voltage_v / source.voltage_v;
    return source.per_random_bit() * ratio * ratio;
  };
  Interval result{0, std::numeric_limits<double>::infinity(), 0};
  double logs = 0;
  int origins = 0;
  for (const WireSource& source : kSources) {
    result.low = std::min(result.low, scaled(source));
    result.high = std::max(result.high, scaled(source));
    // Among one origin's nodes the nearest counts.
    const bool nearest = std::ranges::none_of(kSources, [&](const WireSource& other) {
      return same_origin(source, other) && std::abs(std::log(other.node_nm / node_nm)) <
                                               std::abs(std::log(source.node_nm / node_nm));
    });
    if (!nearest) continue;
    logs += std::log(scaled(source));
    ++origins;
  }
  result.value = std::exp(logs / origins);
  return result;
}

const DeviceSheet* device_sheet(std::string_view architecture) {
  const auto name = architecture.substr(0, architecture.find(':'));
  const auto found = std::ranges::find(kSheets, name, &DeviceSheet::architecture);
  if (found != kSheets.end()) return &*found;
  // gfx940 and gfx941 are earlier steps of gfx942.
  if (name.starts_with("gfx94")) return device_sheet("gfx942");
  return nullptr;
}

std::string architecture_hint(std::string_view text) {
  std::vector<std::string_view> known;
  known.reserve(std::size(kSheets));
  for (const DeviceSheet& sheet : kSheets) known.push_back(sheet.architecture);
  if (auto near = did_you_mean(text, known); !near.empty()) return near;
  const DeviceSheet* card = sheet_by_card(text);
  return card == nullptr ? std::string()
                         : fmt::format("; did you mean '{}' ({})?", card->architecture, card->name);
}

Result<WireModel> literature_model(const LiteratureRequest& request) {
  const DeviceSheet* sheet = device_sheet(request.architecture);
  if (sheet == nullptr && !request.node_nm) {
    if (request.architecture.empty()) {
      return fail(ErrorCode::not_found,
                  "the counters do not name their GPU: give its architecture, as gfx90a or sm_80",
                  "--arch");
    }
    const std::string hint = architecture_hint(request.architecture);
    return fail(
        ErrorCode::not_found,
        fmt::format("no data sheet of '{}' is known{}{} --node, --voltage and --floorplan, or "
                    "--arch of a near relative of: {}",
                    request.architecture, hint, hint.empty() ? "; give" : " Otherwise give",
                    known_architectures()));
  }
  const double node = request.node_nm ? *request.node_nm : sheet->node_nm;
  const double voltage = request.voltage_v.value_or(nominal_voltage(node));
  WW_ASSIGN(energy, literature_energy(node, voltage));
  WireModel model;
  model.literature = true;
  model.device = sheet != nullptr ? std::string(sheet->name) : request.architecture;
  model.source = fmt::format(
      "literature (Keckler 2011, DARPA 2008, DSENT 2012; convention per_random_bit; scaled with "
      "V^2 "
      "to {:.3g} nm, {:.3g} V{}), not this device",
      node, voltage, request.voltage_v ? "" : " assumed");
  model.reference_voltage_v = voltage;
  model.reference_clock_hz = sheet != nullptr ? sheet->clock_mhz * 1e6 : 0;
  model.random = energy;
  model.exponent_note = "V^2 f";
  if (sheet == nullptr) {
    model.distance_source = "none; give --floorplan";
    return model;
  }
  const double side = std::sqrt(sheet->die_mm2 * sheet->graphics_share);
  for (std::size_t s = 0; s < kW9100OverSide.size(); ++s) {
    const double mm = kW9100OverSide[s] * side;
    model.distance_mm[s] = {mm, mm * (1 - kDistanceError), mm * (1 + kDistanceError)};
  }
  model.distance_source = fmt::format(
      "the W9100's floorplan scaled to {}the {:.0f} mm2 of {}, +-50% (estimated{})",
      sheet->graphics_share < 1 ? fmt::format("{:.0f}% of ", 100 * sheet->graphics_share) : "",
      sheet->die_mm2, sheet->name, sheet->estimated ? ", as the part's data sheet is" : "");
  if (sheet->chiplets) {
    model.refused[2] =
        "behind the L2 lies another die: the honest unit is energy per bit and crossing, which no "
        "source here gives";
    model.distance_mm[2].reset();
  }
  return model;
}

double relative_to_28nm(double at_7nm, double node_nm) {
  return std::pow(at_7nm, std::log(28 / node_nm) / std::log(28.0 / 7.0));
}

double projected_share(double share, double wire_to_logic) {
  return wire_to_logic * share / (1 + (wire_to_logic - 1) * share);
}

}  // namespace ww::model
