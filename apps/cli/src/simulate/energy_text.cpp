#include "simulate/energy_text.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>

namespace ww::cli {
namespace {

struct Prefix {
  double pj;  // of one such joule
  const char* unit;
};
constexpr std::array kPrefixes{Prefix{1e12, "J"}, Prefix{1e9, "mJ"}, Prefix{1e6, "uJ"},
                               Prefix{1e3, "nJ"}, Prefix{1, "pJ"}};

}  // namespace

std::string energy_text(double pj) {
  for (const Prefix& prefix : kPrefixes) {
    if (std::abs(pj) >= prefix.pj) return fmt::format("{:.3g} {}", pj / prefix.pj, prefix.unit);
  }
  return fmt::format("{:.3g} pJ", pj);
}

std::string energy_text(const Interval& pj) {
  return interval_text(pj.times(kJoulesPerPicojoule), std::nullopt, "J");
}

std::string prefixed(const Figure& figure) {
  return figure.value ? interval_text(figure.interval(), std::nullopt, figure.unit.c_str())
                      : text(figure);
}

std::vector<std::vector<std::string>> figure_rows(const sim::power::EnergyFigures& figures) {
  return {{"energy", prefixed(figures.energy)},
          {"power", prefixed(figures.power)},
          {"energy a flit", prefixed(figures.per_flit)},
          {"energy a bit", prefixed(figures.per_bit)},
          {"share of wires", prefixed(figures.wire_share)}};
}

}  // namespace ww::cli
