#include "ww/sim/power/accounting.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

namespace ww::sim::power {

std::array<std::pair<const char*, Picojoule>, 9> EnergyReport::components() const {
  return {{{"buffer_write", buffer_write},
           {"buffer_read", buffer_read},
           {"crossbar", crossbar},
           {"switch_allocator", switch_allocator},
           {"vc_allocator", vc_allocator},
           {"link", link},
           {"clock", clock},
           {"router_leakage", router_leakage},
           {"link_leakage", link_leakage}}};
}

Picojoule EnergyReport::electrical() const {
  Picojoule sum{0.0};
  for (const auto& [name, value] : components()) {
    sum += value;
  }
  return sum;
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
  json["router_source"] = report.router_source;
  json["wire_source"] = report.wire_source;
}

Result<EnergyReport> account(const NetworkEvents& events, const EnergyConfig& config) {
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
  const auto times = [](std::uint64_t count, double pj) {
    return Picojoule(static_cast<double>(count) * pj);
  };
  EnergyReport report;
  report.buffer_write = times(events.buffer_writes, router.buffer_write_pj);
  report.buffer_read = times(events.buffer_reads, router.buffer_read_pj);
  report.crossbar = times(events.crossbar_flits, router.crossbar_pj);
  report.switch_allocator = times(events.switch_grants, router.switch_grant_pj);
  report.vc_allocator = times(events.vc_grants, router.vc_grant_pj);
  report.clock = times(events.cycles * events.routers, router.clock_pj);
  report.router_source = router.source;

  const double fj_per_toggle_mm =
      config.wire ? config.wire->per_toggle.to<double>() : router.link_fj_per_toggle_mm;
  const double leakage_uw =
      config.wire ? config.wire->leakage_uw_per_bit_mm : router.link_leakage_uw_per_bit_mm;
  report.wire_source = config.wire ? config.wire->source : router.source;
  const double toggles = events.toggles_counted ? static_cast<double>(events.link_toggles)
                                                : static_cast<double>(events.link_flits) *
                                                      config.router.flit_bits * config.toggle_rate;
  report.link = Picojoule(toggles * fj_per_toggle_mm * length_mm * 1e-3);

  const double seconds = static_cast<double>(events.cycles) / clock_hz;
  report.router_leakage =
      Picojoule(static_cast<double>(events.routers) * router.leakage_mw * 1e-3 * seconds * 1e12);
  report.link_leakage = Picojoule(static_cast<double>(events.links) * config.router.flit_bits *
                                  length_mm * leakage_uw * 1e-6 * seconds * 1e12);
  if (events.photonic.present) {
    WW_ASSIGN(photonic, photonic_energy(events.photonic, config.photonic));
    report.photonic = photonic;
  }
  return report;
}

std::vector<Comparison> compare_estimators(const NetworkEvents& events,
                                           const EnergyConfig& config) {
  std::vector<Comparison> all;
  for (const Estimator estimator : {Estimator::dsent, Estimator::dsent_gem5, Estimator::orion2,
                                    Estimator::mcpat, Estimator::mcpat_noc}) {
    EnergyConfig changed = config;
    changed.estimator = estimator;
    all.push_back(Comparison{estimator, account(events, changed)});
  }
  return all;
}

}  // namespace ww::sim::power
