// Latency against load, drawn: for pages as SVG, for terminals as text.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "ww/sim/net/simulate.hpp"

namespace ww::report {

struct NamedCurve {
  std::string name;
  std::vector<sim::net::CurvePoint> points;  // ascending in rate, as sim::net::curve() returns them
};

// One picture of all curves, 720 x 800, self-contained: latency [cycles], cut at five times the
// least one, above energy a flit [pJ]. A curve ends at the last load that its network kept up with,
// marked by a bar.
[[nodiscard]] std::string curves_svg(const std::string& title, std::span<const NamedCurve> curves);

// All curves in 72 x 20 characters, one letter per curve.
[[nodiscard]] std::string curves_text(std::span<const NamedCurve> curves);

}  // namespace ww::report
