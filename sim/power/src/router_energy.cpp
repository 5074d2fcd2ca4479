#include "ww/sim/power/router_energy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "router_table.hpp"

namespace ww::sim::power {
namespace {

struct Name {
  Estimator estimator;
  std::string_view text;
};
constexpr std::array kNames{Name{Estimator::dsent, "dsent"},
                            Name{Estimator::dsent_gem5, "dsent-gem5"},
                            Name{Estimator::orion2, "orion2"}, Name{Estimator::mcpat, "mcpat"},
                            Name{Estimator::mcpat_noc, "mcpat-noc"}};

// Every energy of a row, so that interpolation cannot forget one.
constexpr std::array kFields{&RouterEnergy::vdd_v,
                             &RouterEnergy::buffer_write_pj,
                             &RouterEnergy::buffer_read_pj,
                             &RouterEnergy::crossbar_pj,
                             &RouterEnergy::switch_grant_pj,
                             &RouterEnergy::vc_grant_pj,
                             &RouterEnergy::clock_pj,
                             &RouterEnergy::leakage_mw,
                             &RouterEnergy::link_fj_per_toggle_mm,
                             &RouterEnergy::link_leakage_uw_per_bit_mm};

std::vector<RouterEnergy> rows_of(Estimator estimator, double node_nm) {
  std::vector<RouterEnergy> rows;
  for (const RouterEnergy& row : router_table()) {
    if (row.estimator == estimator && row.node_nm == node_nm) {
      rows.push_back(row);
    }
  }
  std::sort(rows.begin(), rows.end(),
            [](const RouterEnergy& a, const RouterEnergy& b) { return a.flit_bits < b.flit_bits; });
  return rows;
}

// Interpolates a figure of two rows at `bits`: on the straight line through them, or, beyond the
// rows and if it grows faster than the width, on the power that goes through both. The line through
// such figures, which are McPAT's, falls below zero at 32 bits.
double figure_at_width(double low, double high, const RouterEnergy& of_low,
                       const RouterEnergy& of_high, int bits) {
  const double share = static_cast<double>(bits - of_low.flit_bits) /
                       static_cast<double>(of_high.flit_bits - of_low.flit_bits);
  const bool between = share >= 0 && share <= 1;
  if (between || high * of_low.flit_bits <= low * of_high.flit_bits) {
    return low + share * (high - low);
  }
  const double power =
      std::log(high / low) / std::log(static_cast<double>(of_high.flit_bits) / of_low.flit_bits);
  return low * std::pow(static_cast<double>(bits) / of_low.flit_bits, power);
}

// Interpolates at one node, from the two rows nearest in the flit width.
RouterEnergy at_width(Estimator estimator, double node_nm, int bits) {
  const std::vector<RouterEnergy> rows = rows_of(estimator, node_nm);
  for (const RouterEnergy& row : rows) {
    if (row.flit_bits == bits) {
      return row;
    }
  }
  std::size_t above = 1;
  while (above + 1 < rows.size() && rows[above].flit_bits < bits) {
    ++above;
  }
  const RouterEnergy& low = rows[above - 1];
  const RouterEnergy& high = rows[above];
  RouterEnergy result = low;
  for (const auto field : kFields) {
    result.*field = figure_at_width(low.*field, high.*field, low, high, bits);
  }
  result.flit_bits = bits;
  const bool between = bits > low.flit_bits && bits < high.flit_bits;
  result.source += fmt::format("; {} bits {}", bits, between ? "interpolated" : "extrapolated");
  return result;
}

// DSENT at 22 nm and 128 bits for 20, 4 and 1 flits of buffer a port: what buffers add.
struct BufferRow {
  double flits, write_pj, read_pj, leakage_mw;
};
constexpr std::array kBufferRows{BufferRow{1, 0.3719018, 0.2314545, 1.844075},
                                 BufferRow{4, 0.6573586, 0.4346500, 3.330337},
                                 BufferRow{20, 1.383964, 1.253711, 10.73316}};

double relative(double flits, double BufferRow::*field) {
  const BufferRow& low = flits < 4 ? kBufferRows[0] : kBufferRows[1];
  const BufferRow& high = flits < 4 ? kBufferRows[1] : kBufferRows[2];
  const double value =
      low.*field + (flits - low.flits) / (high.flits - low.flits) * (high.*field - low.*field);
  return value / (kBufferRows[2].*field);
}

}  // namespace

std::string_view to_string(Estimator estimator) {
  for (const Name& name : kNames) {
    if (name.estimator == estimator) {
      return name.text;
    }
  }
  return "unknown";
}

Result<Estimator> estimator_from_string(std::string_view text) {
  std::string names;
  for (const Name& name : kNames) {
    if (name.text == text) {
      return name.estimator;
    }
    names += (names.empty() ? "" : ", ") + std::string(name.text);
  }
  return fail(ErrorCode::invalid_argument,
              fmt::format("estimator '{}' is unknown; there are: {}", text, names), "estimator");
}

std::span<const RouterEnergy> router_table() {
  static const std::vector<RouterEnergy> table = build_router_table();
  return table;
}

Result<RouterEnergy> router_energy(Estimator estimator, double node_nm, const RouterSize& size) {
  if (size.flit_bits < 1 || size.ports < 1 || size.vcs < 1 || size.vc_buffer < 0) {
    return fail(ErrorCode::out_of_range, "a router needs bits, ports and virtual channels",
                size.flit_bits < 1 ? "flit_bits" : "ports");
  }
  std::vector<double> nodes;
  for (const RouterEnergy& row : router_table()) {
    if (row.estimator == estimator) {
      nodes.push_back(row.node_nm);
    }
  }
  std::sort(nodes.begin(), nodes.end());
  nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
  if (!(node_nm >= nodes.front() && node_nm <= nodes.back())) {
    return fail(ErrorCode::out_of_range,
                fmt::format("{} has rows from {} to {} nm, none for node {} nm",
                            to_string(estimator), nodes.front(), nodes.back(), node_nm),
                "node");
  }
  const auto above = std::lower_bound(nodes.begin(), nodes.end(), node_nm);
  RouterEnergy result = at_width(estimator, *above, size.flit_bits);
  if (*above != node_nm) {
    const RouterEnergy smaller = at_width(estimator, *(above - 1), size.flit_bits);
    const double share =
        std::log(node_nm / smaller.node_nm) / std::log(result.node_nm / smaller.node_nm);
    for (const auto field : kFields) {
      const double low = smaller.*field;
      result.*field = low > 0 ? low * std::pow(result.*field / low, share) : 0.0;
    }
    result.source += fmt::format("; {} nm interpolated between {:g} and {:g} nm", node_nm,
                                 smaller.node_nm, *above);
    result.node_nm = node_nm;
  }
  const int flits = size.vcs * size.vc_buffer;
  if (flits != 20) {
    result.buffer_write_pj *= flits == 0 ? 0 : relative(flits, &BufferRow::write_pj);
    result.buffer_read_pj *= flits == 0 ? 0 : relative(flits, &BufferRow::read_pj);
    result.leakage_mw *= relative(flits, &BufferRow::leakage_mw);
    result.source += fmt::format("; buffers scaled to {} flits a port", flits);
  }
  if (size.ports != 5) {
    const double ports = size.ports / 5.0;
    result.crossbar_pj *= ports;
    result.switch_grant_pj *= ports;
    result.clock_pj *= ports;
    result.leakage_mw *= ports;
    result.source += fmt::format("; scaled to {} ports", size.ports);
  }
  return result;
}

}  // namespace ww::sim::power
