#include "ww/sim/power/accounting.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "pitches.hpp"
#include "ww/sim/power/overhead_energy.hpp"

namespace ww::sim::power {

std::array<std::pair<const char*, Picojoule>, 21> EnergyReport::components() const {
  return {{{"buffer_write", buffer_write},
           {"buffer_read", buffer_read},
           {"crossbar", crossbar},
           {"switch_allocator", switch_allocator},
           {"vc_allocator", vc_allocator},
           {"link", link},
           {"crossing", crossing},
           {"clock", clock},
           {"router_leakage", router_leakage},
           {"link_leakage", link_leakage},
           {"bypass_switch", bypass_switch},
           {"bypass_latch", bypass_latch},
           {"bypass_link", bypass_link},
           {"bypass_clock", bypass_clock},
           {"bypass_router_leakage", bypass_router_leakage},
           {"bypass_link_leakage", bypass_link_leakage},
           {"approximator", approximator},
           {"overlay_control", overlay_control},
           {"compressor", compressor},
           {"dictionary_leakage", dictionary_leakage},
           {"reply_buffer", reply_buffer}}};
}

Picojoule EnergyReport::electrical() const {
  Picojoule sum{0.0};
  for (const auto& [name, value] : components()) {
    sum += value;
  }
  return sum;
}

Picojoule EnergyReport::routers() const {
  return buffer_write + buffer_read + crossbar + switch_allocator + vc_allocator + clock +
         router_leakage;
}

Picojoule EnergyReport::wires() const {
  return link + link_leakage + bypass_link + bypass_link_leakage + crossing;
}

Picojoule EnergyReport::total() const {
  Picojoule sum = electrical();
  if (photonic) {
    for (const auto& [name, value] : photonic->components()) {
      sum += value;
    }
  }
  return sum;
}

namespace {

nlohmann::json crossing_json(const CrossingCharge& charge) {
  return {{"flits", charge.flits},
          {"toggle_rate", charge.toggle_rate},
          {"pj_per_bit", interval_json(charge.pj_per_bit)},
          {"pj", interval_json(charge.pj)},
          {"source", charge.source},
          {"label", charge.is_virtual ? "virtual" : "measured"}};
}

nlohmann::json pair_wires_json(const PairWireCharge& charge) {
  return {{"flits", charge.flits},
          {"bits", charge.bits},
          {"bit_mm", charge.bit_mm},
          {"mean_mm", charge.mean_mm()},
          {"toggle_rate", charge.toggle_rate},
          {"fj_per_bit_mm", interval_json(charge.fj_per_bit_mm)},
          {"pj", interval_json(charge.pj)}};
}

nlohmann::json chip_wires_json(const ChipWiresCharge& charge) {
  nlohmann::json json = pair_wires_json(charge.all);
  json["requests"] = pair_wires_json(charge.requests);
  json["replies"] = pair_wires_json(charge.replies);
  json["source"] = charge.source;
  json["label"] = charge.is_virtual ? "virtual" : "measured";
  return json;
}

nlohmann::json link_wires_json(const LinkWiresCharge& charge) {
  return {{"bit_mm", charge.bit_mm},
          {"toggle_rate", charge.toggle_rate},
          {"fj_per_bit_mm", interval_json(charge.fj_per_bit_mm)},
          {"pj", interval_json(charge.pj)},
          {"source", charge.source},
          {"label", charge.is_virtual ? "virtual" : "measured"}};
}

}  // namespace

void to_json(nlohmann::json& json, const EnergyFigures& figures) {
  json = nlohmann::json::object();
  for (const Figure* figure : {&figures.energy, &figures.power, &figures.per_flit, &figures.per_bit,
                               &figures.wire_share}) {
    json[figure->name] = *figure;
  }
}

void to_json(nlohmann::json& json, const EnergyReport& report) {
  json = nlohmann::json::object();
  for (const auto& [name, value] : report.components()) {
    json[name] = value.to<double>();
  }
  if (report.photonic) {
    add_to_json(json, *report.photonic);
    json["electrical"] = report.electrical().to<double>();
  }
  json["total"] = report.total().to<double>();
  if (report.l2_crossing) {
    json["l2_crossing"] = crossing_json(*report.l2_crossing);
  }
  if (report.die_hops) {
    json["die_hops"] = {{"row", crossing_json(report.die_hops->row)},
                        {"column", crossing_json(report.die_hops->column)}};
  }
  if (report.chip_wires) {
    json["chip_wires"] = chip_wires_json(*report.chip_wires);
  }
  if (report.link_wires) {
    json["link_wires"] = link_wires_json(*report.link_wires);
  }
  const RouterCharge& routers = report.router_charge;
  json["routers"] = {{"pj", interval_json(routers.pj)},
                     {"least", to_string(routers.least)},
                     {"most", to_string(routers.most)},
                     {"estimators", routers.estimators},
                     {"label", "literature"}};
  json["router_source"] = report.router_source;
  json["wire_source"] = report.wire_source;
  if (!report.bypass_source.empty()) json["bypass_source"] = report.bypass_source;
  if (!report.overhead_source.empty()) json["overhead_source"] = report.overhead_source;
}

namespace {

constexpr double kPjPerFj = 1e-3;

Picojoule times(std::uint64_t count, double pj) {
  return Picojoule(static_cast<double>(count) * pj);
}

// Bits and their transitions, times the millimetres that they went.
struct Travelled {
  double bit_mm{};
  double toggle_mm{};

  [[nodiscard]] double toggle_rate() const { return bit_mm > 0 ? toggle_mm / bit_mm : 0; }
  Travelled& operator+=(const Travelled& other) {
    bit_mm += other.bit_mm;
    toggle_mm += other.toggle_mm;
    return *this;
  }
};

// Links and how long they were there.
struct Wires {
  const ChipWires* calibrated{};  // instead of the figure below
  double fj_per_toggle_mm{};
  double leakage_uw_per_bit_mm{};
  double length_mm{};
  double flit_bits{};
  double toggle_rate{};
  bool counted{};
  double seconds{};

  // Flits over links of `mm`, which may be a sum of lengths in units of it.
  [[nodiscard]] Travelled travelled(std::uint64_t flits, std::uint64_t toggles, double mm) const {
    const double bits = static_cast<double>(flits) * flit_bits;
    return {bits * mm, (counted ? static_cast<double>(toggles) : bits * toggle_rate) * mm};
  }
  [[nodiscard]] Travelled travelled(const PitchedWireEvents& events) const {
    return travelled(events.flit_milli_pitches, events.toggle_milli_pitches,
                     kPitchesPerMilliPitch * length_mm);
  }
  [[nodiscard]] Picojoule moving(const Travelled& bits) const {
    return Picojoule(kPjPerFj * (calibrated != nullptr
                                     ? bits.bit_mm * calibrated->at(bits.toggle_rate()).value
                                     : bits.toggle_mm * fj_per_toggle_mm));
  }
  [[nodiscard]] Picojoule leaking(std::uint64_t links, std::uint64_t missing_wires = 0) const {
    return leaking_bits(static_cast<double>(links) * flit_bits -
                        static_cast<double>(missing_wires));
  }
  [[nodiscard]] Picojoule leaking_bits(double bits) const {
    return Picojoule(bits * length_mm * leakage_uw_per_bit_mm * 1e-6 * seconds * 1e12);
  }
  [[nodiscard]] Picojoule leaking(const PitchedWireEvents& events) const {
    return leaking_bits(kPitchesPerMilliPitch * static_cast<double>(events.wire_milli_pitches));
  }
};

Picojoule leakage(std::uint64_t count, double milliwatts, double seconds) {
  return Picojoule(static_cast<double>(count) * milliwatts * 1e-3 * seconds * 1e12);
}

// Prices crossings. `pj_at` gives the figure per bit at a toggle rate.
template <class PjAt>
CrossingCharge charge_of(std::uint64_t flits, std::uint64_t toggles, const Wires& wires,
                         const PjAt& pj_at) {
  CrossingCharge charge;
  charge.flits = flits;
  const double bits = static_cast<double>(flits) * wires.flit_bits;
  charge.toggle_rate =
      wires.counted && bits > 0 ? static_cast<double>(toggles) / bits : wires.toggle_rate;
  charge.pj_per_bit = pj_at(charge.toggle_rate);
  charge.pj = charge.pj_per_bit.times(bits);
  return charge;
}

CrossingCharge charge_of(const SizedLinkEvents& links, const CrossingEnergy& energy,
                         const Wires& wires) {
  CrossingCharge charge = charge_of(links.l2_crossing_flits, links.l2_crossing_toggles, wires,
                                    [&](double rate) { return energy.at(rate); });
  charge.source = energy.source;
  charge.is_virtual = energy.is_virtual;
  return charge;
}

DieHopCharge charge_of(const NetworkEvents& events, const DieHopEnergy& energy,
                       const Wires& wires) {
  const auto charge = [&](const DieHopEvents& hops, const Interval& pj) {
    CrossingCharge one = charge_of(hops.flits, hops.toggles, wires,
                                   [&](double rate) { return at_toggle_rate(pj, rate); });
    one.source = energy.source;
    one.is_virtual = energy.is_virtual;
    return one;
  };
  return {charge(events.row_hops, energy.row_pj), charge(events.column_hops, energy.column_pj)};
}

// Prices the wires of one direction at the calibration's energy.
PairWireCharge charge_of(const PairWireEvents& events, const ChipWires& energy,
                         const Wires& wires) {
  constexpr double kMmPerUm = 1e-3;
  PairWireCharge charge;
  charge.flits = events.flits;
  charge.bits = static_cast<double>(events.flits) * wires.flit_bits;
  charge.bit_mm = static_cast<double>(events.flit_um) * kMmPerUm * wires.flit_bits;
  charge.toggle_rate = wires.counted && charge.bit_mm > 0
                           ? static_cast<double>(events.toggle_um) * kMmPerUm / charge.bit_mm
                           : wires.toggle_rate;
  charge.fj_per_bit_mm = energy.at(charge.toggle_rate);
  charge.pj = charge.fj_per_bit_mm.times(charge.bit_mm * kPjPerFj);
  return charge;
}

ChipWiresCharge charge_of(const NetworkEvents& events, const ChipWires& energy,
                          const Wires& wires) {
  ChipWiresCharge charge;
  charge.requests = charge_of(events.request_wires, energy, wires);
  charge.replies = charge_of(events.reply_wires, energy, wires);
  PairWireEvents both = events.request_wires;
  both.flits += events.reply_wires.flits;
  both.flit_um += events.reply_wires.flit_um;
  both.toggle_um += events.reply_wires.toggle_um;
  charge.all = charge_of(both, energy, wires);
  charge.source = energy.source;
  charge.is_virtual = energy.is_virtual;
  return charge;
}

// Prices the bits of links at the calibration's energy.
LinkWiresCharge charge_of(const Travelled& bits, const ChipWires& energy) {
  LinkWiresCharge charge{bits.bit_mm, bits.toggle_rate(), energy.at(bits.toggle_rate()),
                         {},          energy.source,      energy.is_virtual};
  charge.pj = charge.fj_per_bit_mm.times(bits.bit_mm * kPjPerFj);
  return charge;
}

// The links of a network but for those that something else prices.
Travelled travelled_links(const NetworkEvents& events, const EnergyConfig& config,
                          const Wires& wires) {
  constexpr double kMmPerUm = 1e-3;
  const SizedLinkEvents& sized = events.sized_links;
  Travelled bits = wires.travelled(events.link_flits, events.link_toggles, wires.length_mm);
  bits += wires.travelled(events.pitched_wires);
  // The wires of crossings do not count where a calibration prices the crossings.
  if (!config.crossing) bits += wires.travelled(events.l2_crossing_wires);
  bits += wires.travelled(sized.flit_um, sized.toggle_um, kMmPerUm);
  if (!config.chip_wires) {
    for (const PairWireEvents& way : {events.request_wires, events.reply_wires}) {
      bits += wires.travelled(way.flit_um, way.toggle_um, kMmPerUm);
    }
  }
  return bits;
}

// A bypass router: a small router of the estimator, or a share of one as wide.
Result<RouterEnergy> bypass_router(const EnergyConfig& config) {
  RouterSize size = config.router;
  if (config.bypass_power == 0) {
    size.vcs = 1;
    size.vc_buffer = 1;
    return router_energy(config.estimator, config.node_nm, size);
  }
  WW_ASSIGN(router, router_energy(config.estimator, config.node_nm, size));
  for (double* value : {&router.buffer_write_pj, &router.buffer_read_pj, &router.crossbar_pj,
                        &router.switch_grant_pj, &router.clock_pj, &router.leakage_mw}) {
    *value *= config.bypass_power;
  }
  router.source = fmt::format("{:.0f}% of {}", 100 * config.bypass_power, router.source);
  return router;
}

Travelled travelled_bypass(const OverlayEvents& overlay, const Wires& wires) {
  return wires.travelled(overlay.link_flits, overlay.link_toggles, wires.length_mm);
}

Status add_overlay(EnergyReport& report, const NetworkEvents& events, const EnergyConfig& config,
                   const Wires& wires) {
  const OverlayEvents& overlay = events.overlay;
  WW_ASSIGN(bypass, bypass_router(config));
  WW_ASSIGN(overhead, overhead_energy(config.node_nm));
  report.bypass_switch = times(overlay.crossbar_flits, bypass.crossbar_pj);
  report.bypass_latch = times(overlay.latch_flits, bypass.buffer_write_pj + bypass.buffer_read_pj);
  report.bypass_link = wires.moving(travelled_bypass(overlay, wires));
  report.bypass_clock = times(events.cycles * overlay.routers, bypass.clock_pj);
  report.bypass_router_leakage = leakage(overlay.routers, bypass.leakage_mw, wires.seconds);
  report.bypass_link_leakage = wires.leaking(overlay.links);
  // A leader's word is read and multiplied with the threshold; one compared is read, subtracted
  // from the leader's and compared.
  report.approximator =
      times(overlay.leader_words, overhead.memory_pj_per_64b / 2 + overhead.multiply_pj) +
      times(overlay.words_compared, overhead.memory_pj_per_64b / 2 + 2 * overhead.add_pj);
  // A window: alpha A, gamma B, K xi and a division. Setting up: a grant of the switch.
  report.overlay_control = times(overlay.windows, 4 * overhead.multiply_pj + overhead.add_pj) +
                           times(overlay.setups, bypass.switch_grant_pj);
  report.bypass_source = bypass.source;
  report.overhead_source = overhead.source;
  return {};
}

Status add_compression(EnergyReport& report, const NetworkEvents& events,
                       const EnergyConfig& config, double seconds) {
  const CompressionEvents& codes = events.compression;
  constexpr double kPatterns = 7;  // a word is compared with
  constexpr double kWordBits = 32;
  WW_ASSIGN(overhead, overhead_energy(config.node_nm));
  // An entry searched is a comparison of 32 bits.
  report.compressor = times(codes.pattern_words, kPatterns * overhead.add_pj) +
                      times(codes.search_bits, overhead.add_pj / kWordBits) +
                      times(codes.lookups, kWordBits * overhead.storage_read_pj_per_bit) +
                      times(codes.updates, kWordBits * overhead.storage_write_pj_per_bit);
  report.dictionary_leakage =
      leakage(codes.dictionary_bits, overhead.storage_leakage_uw_per_bit * 1e-3, seconds);
  report.overhead_source = overhead.source;
  return {};
}

constexpr std::array kEstimators = {Estimator::dsent, Estimator::dsent_gem5, Estimator::orion2,
                                    Estimator::mcpat, Estimator::mcpat_noc};

void add_routers(EnergyReport& report, const NetworkEvents& events, const RouterEnergy& router,
                 double seconds) {
  report.buffer_write = times(events.buffer_writes, router.buffer_write_pj);
  report.buffer_read = times(events.buffer_reads, router.buffer_read_pj);
  report.crossbar = times(events.crossbar_flits, router.crossbar_pj);
  report.switch_allocator = times(events.switch_grants, router.switch_grant_pj);
  report.vc_allocator = times(events.vc_grants, router.vc_grant_pj);
  report.clock =
      times(events.cycles * events.routers - events.router_cycles_without_edge, router.clock_pj);
  report.router_leakage = leakage(events.routers, router.leakage_mw, seconds);
  report.router_source = router.source;
}

// Widens a range of estimators so that it holds the interval of a calibrated part.
void widen(Interval& range, const Interval& part) {
  range.low += part.low - part.value;
  range.high += part.high - part.value;
}

void extend(Interval& range, double value) {
  range.low = std::min(range.low, value);
  range.high = std::max(range.high, value);
}

// Sums up the energies of `wires` and of all `others` [pJ]. Each has its range.
EnergyFigures figures_of(const Interval& wires, const Interval& others, const NetworkEvents& events,
                         double flit_bits, double seconds) {
  constexpr double kJoulesInPj = 1e-12;
  constexpr double kPercent = 100;
  const Interval joules = together(wires, others).times(kJoulesInPj);
  const auto over = [&joules](const char* name, double amount, const char* unit) {
    if (amount > 0) return Figure::of(name, joules.times(1 / amount), unit);
    Figure figure;
    figure.name = name;
    figure.unit = unit;
    figure.status = RowStatus::unavailable;
    figure.reason = "nothing arrived in the measured cycles";
    return figure;
  };
  const auto flits = static_cast<double>(events.ejected_flits);
  EnergyFigures figures{over("energy", 1, "J"), over("power", seconds, "W"),
                        over("per_flit", flits, "J/flit"),
                        over("per_bit", flits * flit_bits, "J/bit"),
                        over("wire_share", wires.value + others.value, "%")};
  if (figures.wire_share.value) {
    const auto share = [](double wire, double other) { return kPercent * wire / (wire + other); };
    figures.wire_share = Figure::of("wire_share",
                                    {share(wires.value, others.value),
                                     share(wires.low, others.high), share(wires.high, others.low)},
                                    "%");
  }
  return figures;
}

// Charges the events by one estimator, without the ranges over all of them.
Result<EnergyReport> charge(const NetworkEvents& events, const EnergyConfig& config) {
  if (!(config.bypass_power >= 0 && config.bypass_power <= 1)) {
    return fail(ErrorCode::out_of_range,
                fmt::format("bypass_power = {} is outside 0 to 1", config.bypass_power),
                "bypass_power");
  }
  if (!(config.toggle_rate >= 0 && config.toggle_rate <= 1)) {
    return fail(ErrorCode::out_of_range,
                fmt::format("toggle_rate = {} is outside 0 to 1", config.toggle_rate),
                "toggle_rate");
  }
  const double length_mm = config.link_length.to<double>();
  const double clock_hz = config.clock.to<double>();
  if (!(length_mm >= 0)) {
    return fail(ErrorCode::out_of_range, "link_length is below 0", "link_length");
  }
  if (!(clock_hz > 0)) {
    return fail(ErrorCode::out_of_range, "clock must be above 0", "clock");
  }
  WW_ASSIGN(router, router_energy(config.estimator, config.node_nm, config.router));
  EnergyReport report;
  const double seconds = static_cast<double>(events.cycles) / clock_hz;
  add_routers(report, events, router, seconds);

  report.wire_source = config.chip_wires ? config.chip_wires->source
                       : config.wire     ? config.wire->source
                                         : router.source;
  const Wires wires{config.wire ? &*config.wire : nullptr,
                    router.link_fj_per_toggle_mm,
                    config.wire ? 0 : router.link_leakage_uw_per_bit_mm,
                    length_mm,
                    static_cast<double>(config.router.flit_bits),
                    config.toggle_rate,
                    events.toggles_counted,
                    seconds};
  // The crossings are no wires of the estimator's where a calibration prices them.
  const bool charged = config.crossing.has_value();
  const SizedLinkEvents& named = events.sized_links;
  const Travelled links = travelled_links(events, config, wires);
  report.link = wires.moving(links);
  if (config.wire) {
    Travelled all = links;
    all += travelled_bypass(events.overlay, wires);
    report.link_wires = charge_of(all, *config.wire);
  }
  report.link_leakage = wires.leaking(events.links, named.missing_wires);
  report.link_leakage += wires.leaking(events.pitched_wires);
  if (!charged) {
    report.link_leakage += wires.leaking(events.l2_crossing_wires);
  }
  if (named.length_um != 0) {
    Wires micrometres = wires;
    micrometres.length_mm = 1e-3;
    report.link_leakage += micrometres.leaking(named.length_um);
  }
  if (config.chip_wires) {
    report.chip_wires = charge_of(events, *config.chip_wires, wires);
    report.link += Picojoule(report.chip_wires->all.pj.value);
  }
  if (config.die_hops) {
    report.die_hops = charge_of(events, *config.die_hops, wires);
    const std::uint64_t others = named.crossing_fj - events.row_hops.fj - events.column_hops.fj;
    report.crossing = times(others, kPjPerFj) +
                      Picojoule(report.die_hops->row.pj.value + report.die_hops->column.pj.value);
  } else {
    report.crossing = times(named.crossing_fj, kPjPerFj);
  }
  if (charged) {
    report.l2_crossing = charge_of(named, *config.crossing, wires);
    report.crossing += Picojoule(report.l2_crossing->pj.value);
  }
  if (events.overlay.routers != 0) {
    WW_TRY(add_overlay(report, events, config, wires));
  }
  if (events.compression.blocks != 0 || events.compression.dictionary_bits != 0) {
    WW_TRY(add_compression(report, events, config, wires.seconds));
  }
  if (events.reply_buffer_flits != 0) {
    WW_ASSIGN(overhead, overhead_energy(config.node_nm));
    report.reply_buffer = times(events.reply_buffer_flits,
                                2 * overhead.memory_pj_per_64b * config.router.flit_bits / 64);
    report.overhead_source = overhead.source;
  }
  if (events.photonic.present) {
    WW_ASSIGN(photonic, photonic_energy(events.photonic, config.photonic));
    report.photonic = photonic;
  }
  return report;
}

// Adds the range over the published estimators, which charge the same events.
void add_ranges(EnergyReport& report, const NetworkEvents& events, const EnergyConfig& config) {
  const auto exactly = [](Picojoule pj) {
    return Interval{pj.to<double>(), pj.to<double>(), pj.to<double>()};
  };
  RouterCharge& routers = report.router_charge;
  routers = {exactly(report.routers()), config.estimator, config.estimator, 0};
  Interval wires = exactly(report.wires());
  Interval others = exactly(report.total() - report.wires());
  for (const Estimator estimator : kEstimators) {
    EnergyConfig changed = config;
    changed.estimator = estimator;
    const auto other = charge(events, changed);
    if (!other) {
      continue;  // it has no row near this node
    }
    ++routers.estimators;
    const double pj = other->routers().to<double>();
    if (pj < routers.pj.low) routers.least = estimator;
    if (pj > routers.pj.high) routers.most = estimator;
    extend(routers.pj, pj);
    extend(wires, other->wires().to<double>());
    extend(others, (other->total() - other->wires()).to<double>());
  }
  if (report.link_wires) widen(wires, report.link_wires->pj);
  if (report.chip_wires) widen(wires, report.chip_wires->all.pj);
  if (report.l2_crossing) widen(wires, report.l2_crossing->pj);
  if (report.die_hops) {
    widen(wires, report.die_hops->row.pj);
    widen(wires, report.die_hops->column.pj);
  }
  report.figures = figures_of(wires, others, events, config.router.flit_bits,
                              static_cast<double>(events.cycles) / config.clock.to<double>());
}

}  // namespace

Result<EnergyReport> account(const NetworkEvents& events, const EnergyConfig& config) {
  WW_ASSIGN(report, charge(events, config));
  add_ranges(report, events, config);
  return report;
}

std::vector<Comparison> compare_estimators(const NetworkEvents& events,
                                           const EnergyConfig& config) {
  std::vector<Comparison> all;
  for (const Estimator estimator : kEstimators) {
    EnergyConfig changed = config;
    changed.estimator = estimator;
    all.push_back(Comparison{estimator, account(events, changed)});
  }
  return all;
}

}  // namespace ww::sim::power
