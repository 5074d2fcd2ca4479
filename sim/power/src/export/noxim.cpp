// Noxim's power file (YAML, option -power): J for an event, W for what leaks.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "export/targets.hpp"

namespace ww::sim::power {
namespace {

constexpr double kJoulesInPicojoule = 1e-12;
constexpr double kJoulesInFemtojoule = 1e-15;
constexpr double kWattsInMilliwatt = 1e-3;
// Noxim looks its figures up by exact keys, and ends where a configuration names another one. The
// file has every depth of buffers up to this, and every tenth of a millimetre.
constexpr int kNoximDepths = 64;
constexpr int kNoximTenths = 50;
constexpr std::array kNoximRoutes{"default",        "XY",         "DYAD",
                                  "NEGATIVE_FIRST", "NORTH_LAST", "DELTA",
                                  "WEST_FIRST",     "ODD_EVEN",   "TABLE_BASED"};

}  // namespace

Result<ExportedFile> export_noxim(const ExportInput& input) {
  const ExportConfig& config = input.config;
  const RouterEnergy& router = input.router;
  const int bits = config.router.flit_bits;
  std::set<int> depths;
  for (int depth = 1; depth <= kNoximDepths; ++depth) {
    depths.insert(depth);
  }
  if (config.router.vc_buffer > 0) {
    depths.insert(config.router.vc_buffer);
  }
  std::set<double> lengths{config.link_length.to<double>()};
  for (int tenths = 1; tenths <= kNoximTenths; ++tenths) {
    lengths.insert(tenths / 10.0);
  }
  ExportedFile file;
  file.constants = link_constants(input);
  const double crossbar_pj = router.crossbar_pj + router.switch_grant_pj;
  file.constants.push_back(
      router_constant(input, "crossbar and switch allocator", crossbar_pj, "pJ/flit"));
  // An estimator without a virtual-channel allocator says nothing of its energy.
  if (router.vc_grant_pj > 0) {
    file.constants.push_back(
        router_constant(input, "allocation of a virtual channel", router.vc_grant_pj, "pJ/packet"));
  }
  file.constants.push_back(
      router_constant(input, "leakage of a router, buffers included", router.leakage_mw, "mW"));

  file.notes.push_back(fmt::format(
      "Noxim finds its figures by exact keys: flit_size must be {}, buffers (of hubs, too) 1 to {} "
      "flits{}, links 0.1 to {:g} mm in steps of 0.1{}, and routers have 5 ports; with others it "
      "ends in an assertion",
      bits, kNoximDepths,
      config.router.vc_buffer > kNoximDepths ? fmt::format(" or {}", config.router.vc_buffer) : "",
      kNoximTenths / 10.0,
      lengths.size() > std::size_t{kNoximTenths}
          ? fmt::format(" or {:g} mm", config.link_length.to<double>())
          : ""));
  if (!(router.vc_grant_pj > 0)) {
    file.notes.emplace_back(
        "this estimator does not model the allocation of a virtual channel: the file has 0 for it");
  }

  auto lines = comment_lines(input, "Noxim (option -power FILE)", file.constants);
  for (const std::string& note : file.notes) lines.push_back(note + ".");
  lines.emplace_back("Noxim charges a link for every flit that leaves a router, to its node, too.");
  lines.emplace_back("A link's leakage is 0: a calibration has only what moves with the data.");
  file.text = commented(lines, "# ");
  file.text += "Energy:\n  Buffer: # [depth, bits, leakage W, push J, front J, pop J]\n";
  for (const int depth : depths) {
    RouterSize size = config.router;
    size.vcs = 1;
    size.vc_buffer = depth;
    WW_ASSIGN(buffered, router_energy(config.estimator, config.node_nm, size));
    // The estimators do not split a router's leakage, which stands in the crossbar's row.
    file.text += fmt::format("    - [{}, {}, 0, {:.9g}, 0, {:.9g}]\n", depth, bits,
                             buffered.buffer_write_pj * kJoulesInPicojoule,
                             buffered.buffer_read_pj * kJoulesInPicojoule);
  }
  file.text += "  LinkBitLine: # [length mm, leakage W, J for a bit]\n";
  for (const double mm : lengths) {
    const double femtojoules = config.link.per_mm ? config.link.value * mm : input.per_link.value;
    file.text += fmt::format("    - [{}, 0, {:.9g}]\n", mm, femtojoules * kJoulesInFemtojoule);
  }
  file.text += fmt::format(
      "  Router:\n    crossbar: # [ports, bits, leakage W, J for a flit]\n"
      "      - [5, {}, {:.9g}, {:.9g}]\n"
      "    network_interface: # [bits, leakage W, J for a flit]\n      - [{}, 0, 0]\n"
      "    routing: # algorithm: [leakage W, J for a packet]\n",
      bits, router.leakage_mw * kWattsInMilliwatt, crossbar_pj * kJoulesInPicojoule, bits);
  for (const char* route : kNoximRoutes) {
    file.text +=
        fmt::format("      {}: [0, {:.9g}]\n", route, router.vc_grant_pj * kJoulesInPicojoule);
  }
  file.text +=
      "    selection: # strategy: [leakage W, J for a packet]\n"
      "      default: [0, 0]\n      XY: [0, 0]\n      DYAD: [0, 0]\n"
      "  Hub: # no radio hubs\n"
      "    transceiver_leakage: [0, 0]\n    transceiver_biasing: [0, 0]\n"
      "    rx_dynamic: 0\n    rx_snooping: 0\n    default_tx_energy: 0\n"
      "    tx_attenuation_map: []\n";
  return file;
}

}  // namespace ww::sim::power
