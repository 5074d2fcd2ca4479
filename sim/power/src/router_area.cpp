#include "ww/sim/power/router_area.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <span>

#include "pitches.hpp"

namespace ww::sim::power {
namespace {

// All rows are outputs of DSENT (Graphite's copy, commit 1b4bb98) with its own router.cfg: one
// virtual network, DFFRAM buffers, multiplexer crossbar, matrix arbiter, random data. Areas are
// those that it prints at 1 GHz, in mm2. The path is the greatest "Minimum Delay" that its
// optimiser reports for a frequency that it cannot reach, in ps.
struct AreaRow {
  double at;  // what the row varies: node and bits, ports, ...
  double buffers, crossbar, switch_allocator, clock, path_ps;
};
constexpr std::array kAreaFields{&AreaRow::buffers, &AreaRow::crossbar, &AreaRow::switch_allocator,
                                 &AreaRow::clock, &AreaRow::path_ps};

// 5 ports, 5 VCs of 4 flits, by flit bits.
struct AreaNode {
  double node_nm;
  std::array<AreaRow, 3> by_bits;
  WireArea wire;
};
const std::array kAreaNodes{
    AreaNode{11,
             {{{64, 0.005557552, 0.000824848, 0.00016016, 4.9984e-6, 248.438},
               {128, 0.01099806, 0.002959888, 0.00016016, 6.1248e-6, 269.878},
               {256, 0.02187909, 0.0111623, 0.00016016, 8.3776e-6, 440.36}}},
             {0.1408, 320, 801.787, "DSENT TG11LVT"}},
    AreaNode{22,
             {{{64, 0.01333812, 0.001645811, 0.000384384, 1.199616e-5, 154.644},
               {128, 0.02639535, 0.005768435, 0.000384384, 1.334784e-5, 231.354},
               {256, 0.05250981, 0.02144835, 0.000384384, 1.740288e-5, 384.773}}},
             {0.33792, 320, 343.169, "DSENT Bulk22LVT"}},
    AreaNode{32,
             {{{64, 0.03056654, 0.005888344, 0.00088088, 2.74912e-5, 204.87},
               {128, 0.06048935, 0.0216861, 0.00088088, 3.05888e-5, 301.291},
               {256, 0.120335, 0.08301955, 0.00088088, 3.98816e-5, 494.132}}},
             {0.7744, 320, 292.658, "DSENT Bulk32LVT"}},
    AreaNode{45,
             {{{64, 0.05557552, 0.00665104, 0.0016016, 4.9984e-5, 249.427},
               {128, 0.1099806, 0.02320912, 0.0016016, 5.5616e-5, 368.992},
               {256, 0.2187909, 0.086064, 0.0016016, 7.2512e-5, 608.122}}},
             {1.408, 320, 249.512, "DSENT Bulk45LVT"}},
};

// 22 nm, 128 bits, 5 VCs of 4 flits, by ports.
constexpr std::array kByPorts{
    AreaRow{2, 0.01055814, 0.001118656, 9.115392e-5, 1.064448e-5, 190.182},
    AreaRow{3, 0.01583721, 0.00227209, 0.0001558656, 1.199616e-5, 212.968},
    AreaRow{5, 0.02639535, 0.005768435, 0.000384384, 1.334784e-5, 231.354},
    AreaRow{8, 0.04223257, 0.01398673, 0.001138368, 1.469952e-5, 275.145},
    AreaRow{12, 0.06334885, 0.0304972, 0.003368978, 1.740288e-5, 325.215},
    AreaRow{16, 0.08446513, 0.05334901, 0.007639273, 2.010624e-5, 393.337},
    AreaRow{24, 0.1266977, 0.1180942, 0.02508879, 2.551296e-5, 482.325},
};
// 22 nm, 128 bits, 5 ports.
struct Point {
  double at, value;
};
constexpr std::array kBuffersByFlits{Point{1, 0.002437248}, Point{4, 0.006480038},
                                     Point{8, 0.01151209},  Point{20, 0.02639535},
                                     Point{32, 0.04072189}, Point{64, 0.07922407}};
constexpr std::array kAllocatorByVcs{Point{1, 0.0001934592}, Point{2, 0.0002145792},
                                     Point{4, 0.0003096192}, Point{5, 0.000384384},
                                     Point{8, 0.0007176576}};

constexpr double kReferencePorts = 5;
constexpr double kReferenceFlits = 20;
constexpr double kReferenceVcs = 5;

// The first of the two neighbours of x, or the outermost two.
template <class Rows>
std::size_t below(const Rows& rows, double x) {
  std::size_t low = 0;
  while (low + 2 < rows.size() && rows[low + 1].at <= x) {
    ++low;
  }
  return low;
}

AreaRow between(std::span<const AreaRow> rows, double x) {
  const AreaRow& low = rows[below(rows, x)];
  const AreaRow& high = rows[below(rows, x) + 1];
  const double share = std::log(x / low.at) / std::log(high.at / low.at);
  AreaRow row{x, 0, 0, 0, 0, 0};
  for (const auto field : kAreaFields) {
    row.*field = low.*field * std::pow(high.*field / (low.*field), share);
  }
  return row;
}

double linear(std::span<const Point> points, double x) {
  const Point& low = points[below(points, x)];
  const Point& high = points[below(points, x) + 1];
  return low.value + (x - low.at) / (high.at - low.at) * (high.value - low.value);
}

Status check_node(double node_nm) {
  if (node_nm >= kAreaNodes.front().node_nm && node_nm <= kAreaNodes.back().node_nm) {
    return {};
  }
  return fail(ErrorCode::out_of_range,
              fmt::format("DSENT has areas from {:g} to {:g} nm, none for node {:g} nm",
                          kAreaNodes.front().node_nm, kAreaNodes.back().node_nm, node_nm),
              "node");
}

// The nodes on both sides of one, and how far it lies between them in log(node).
struct Neighbours {
  const AreaNode& low;
  const AreaNode& high;
  double share;
};
Neighbours neighbours_of(double node_nm) {
  std::size_t above = 1;
  while (kAreaNodes[above].node_nm < node_nm) {
    ++above;
  }
  const AreaNode& low = kAreaNodes[above - 1];
  const AreaNode& high = kAreaNodes[above];
  return {low, high, std::log(node_nm / low.node_nm) / std::log(high.node_nm / low.node_nm)};
}

double blend(double low, double high, double share) {
  return low * std::pow(high / low, share);
}

std::string source_of(double node_nm, const Neighbours& nodes) {
  if (nodes.share == 0 || nodes.share == 1) {
    return (nodes.share == 0 ? nodes.low : nodes.high).wire.source;
  }
  return fmt::format("{} and {}; {:g} nm interpolated", nodes.low.wire.source,
                     nodes.high.wire.source, node_nm);
}

}  // namespace

Result<RouterArea> router_area(double node_nm, const RouterSize& size) {
  if (size.flit_bits < 1 || size.ports < 1 || size.vcs < 1 || size.vc_buffer < 0) {
    return fail(ErrorCode::out_of_range, "a router needs bits, ports and virtual channels",
                size.flit_bits < 1 ? "flit_bits" : "ports");
  }
  WW_TRY(check_node(node_nm));
  const Neighbours nodes = neighbours_of(node_nm);
  const AreaRow low = between(nodes.low.by_bits, size.flit_bits);
  const AreaRow high = between(nodes.high.by_bits, size.flit_bits);
  AreaRow row = low;
  for (const auto field : kAreaFields) {
    row.*field = blend(low.*field, high.*field, nodes.share);
  }
  RouterArea area;
  area.source = source_of(node_nm, nodes);
  if (size.flit_bits != 64 && size.flit_bits != 128 && size.flit_bits != 256) {
    area.source += fmt::format("; {} bits interpolated", size.flit_bits);
  }
  if (size.ports != static_cast<int>(kReferencePorts)) {
    const AreaRow ports = between(kByPorts, size.ports);
    const AreaRow reference = between(kByPorts, kReferencePorts);
    for (const auto field : kAreaFields) {
      row.*field *= ports.*field / (reference.*field);
    }
    area.source += fmt::format("; scaled to {} ports", size.ports);
  }
  const double flits = size.vcs * size.vc_buffer;
  if (flits != kReferenceFlits) {
    row.buffers *= linear(kBuffersByFlits, flits) / linear(kBuffersByFlits, kReferenceFlits);
    area.source += fmt::format("; buffers scaled to {:g} flits a port", flits);
  }
  if (size.vcs != static_cast<int>(kReferenceVcs)) {
    row.switch_allocator *=
        linear(kAllocatorByVcs, size.vcs) / linear(kAllocatorByVcs, kReferenceVcs);
    area.source += fmt::format("; arbiters scaled to {} VCs", size.vcs);
  }
  area.buffers_mm2 = row.buffers;
  area.crossbar_mm2 = row.crossbar;
  area.switch_allocator_mm2 = row.switch_allocator;
  area.clock_mm2 = row.clock;
  area.longest_path_ps = row.path_ps;
  return area;
}

Result<WireArea> wire_area(double node_nm) {
  WW_TRY(check_node(node_nm));
  const Neighbours nodes = neighbours_of(node_nm);
  WireArea wire;
  for (const auto field : {&WireArea::repeaters_um2_per_bit_mm, &WireArea::wiring_um2_per_bit_mm,
                           &WireArea::ps_per_mm}) {
    wire.*field = blend(nodes.low.wire.*field, nodes.high.wire.*field, nodes.share);
  }
  wire.source = source_of(node_nm, nodes);
  return wire;
}

Result<NetworkArea> network_area(const NetworkEvents& events, const EnergyConfig& config) {
  constexpr double kMm2PerUm2 = 1e-6;
  constexpr double kPicoseconds = 1e12;
  NetworkArea area;
  WW_ASSIGN(router, router_area(config.node_nm, config.router));
  WW_ASSIGN(wire, wire_area(config.node_nm));
  area.routers = events.routers;
  area.router = router;
  const double length_mm = config.link_length.to<double>();
  const double links =
      static_cast<double>(events.links + events.overlay.links) -
      static_cast<double>(events.sized_links.missing_wires) / config.router.flit_bits;
  const double pitches = kPitchesPerMilliPitch *
                         static_cast<double>(events.pitched_wires.wire_milli_pitches +
                                             events.l2_crossing_wires.wire_milli_pitches) /
                         config.router.flit_bits;
  area.link_mm =
      (links + pitches) * length_mm + 1e-3 * static_cast<double>(events.sized_links.length_um);
  const double bit_mm = area.link_mm * config.router.flit_bits;
  area.repeaters_mm2 = bit_mm * wire.repeaters_um2_per_bit_mm * kMm2PerUm2;
  area.wiring_mm2 = bit_mm * wire.wiring_um2_per_bit_mm * kMm2PerUm2;
  area.link_ps = wire.ps_per_mm * length_mm;
  area.clock_ps = kPicoseconds / config.clock.to<double>();
  area.wire = std::move(wire);
  if (events.overlay.routers != 0) {
    RouterSize latch = config.router;
    latch.vcs = 1;
    latch.vc_buffer = 1;
    WW_ASSIGN(bypass, router_area(config.node_nm, latch));
    area.bypass_routers = events.overlay.routers;
    area.bypass_router = bypass;
  }
  return area;
}

namespace {

nlohmann::json parts_json(const RouterArea& area) {
  return {{"buffers", area.buffers_mm2},
          {"crossbar", area.crossbar_mm2},
          {"switch_allocator", area.switch_allocator_mm2},
          {"clock", area.clock_mm2},
          {"total", area.total_mm2()}};
}

}  // namespace

void to_json(nlohmann::json& json, const NetworkArea& area) {
  json = {{"cells_mm2", area.cells_mm2()},
          {"routers", area.routers},
          {"router_mm2", parts_json(area.router)},
          {"repeaters_mm2", area.repeaters_mm2},
          {"wiring_mm2", area.wiring_mm2},
          {"router_path_ps", area.router.longest_path_ps},
          {"link_ps", area.link_ps},
          {"link_ps_per_mm", area.wire.ps_per_mm},
          {"clock_ps", area.clock_ps},
          {"source", area.router.source}};
  if (area.bypass_routers != 0) {
    json["bypass_routers"] = area.bypass_routers;
    json["bypass_router_mm2"] = parts_json(area.bypass_router);
  }
}

}  // namespace ww::sim::power
