#include "wires.hpp"

#include <algorithm>
#include <cmath>

namespace ww::challenge {
namespace {

constexpr double kFjPerPj = 1000;
constexpr double kEccOverhead = 1.125;  // 8 bits beside 64

using Table = std::vector<std::vector<double>>;

double at(const Table& table, int engine, int quadrant) {
  return table[static_cast<std::size_t>(engine)][static_cast<std::size_t>(quadrant)];
}

}  // namespace

Activity activity_of(std::string_view pattern, double parking) {
  if (pattern == "random") return {0.5, 0.5};
  if (pattern == "half_random") return {0.25, 0.25};
  if (pattern == "uniform_lines") return {0.5, 0};
  return {parking, parking};
}

Wires::Wires(const Die& die, Draws& draws) {
  capacitance_pf_ = draws.number("wire.capacitance_pf_mm");
  coupling_share_ = draws.number("wire.coupling_share");
  overhead_ = draws.chance("wire.ecc") ? kEccOverhead : 1;
  request_share_ = draws.number("wire.request_share");
  parking_ = draws.number("wire.parking");
  warming_ = draws.number("wire.warming_per_k");
  const double unevenness = draws.number("wire.unevenness");
  const double length_dependence = draws.number("wire.length_dependence");
  const bool present = draws.chance("stage.present");
  const double pitch_mm = draws.number("stage.pitch_mm");
  const double over_wire = draws.number("stage.over_wire");
  clocked_share_ = draws.number("stage.clocked_share");
  const bool steps = draws.chance("stage.quadrant_step");
  const double step_mm = draws.number("stage.quadrant_step_mm");
  step_mm_ = steps ? step_mm : 0;
  if (present) stage_fj_ = over_wire * pitch_mm * capacitance_pf_ / 4 * kFjPerPj;

  auto random = draws.stream("wire.links");
  std::normal_distribution<double> normal;
  length_mm_ = distances_mm(die.real);
  stages_ = length_mm_;
  step_ = length_mm_;
  double mean_mm = 0;
  for (const auto& row : length_mm_) {
    for (const double mm : row) mean_mm += mm;
  }
  mean_mm /= static_cast<double>(length_mm_.size() * length_mm_.front().size());
  for (int e = 0; e < die.engines; ++e) {
    const auto r = static_cast<std::size_t>(e);
    const auto nearest =
        std::min_element(length_mm_[r].begin(), length_mm_[r].end()) - length_mm_[r].begin();
    for (int q = 0; q < kQuadrants; ++q) {
      const auto c = static_cast<std::size_t>(q);
      stages_[r][c] = 0;
      const auto routes = die.real.routes_mm(e, q);
      for (const double mm : routes) {
        stages_[r][c] += std::floor(mm / pitch_mm) / static_cast<double>(routes.size());
      }
      step_[r][c] = q == nearest ? 0 : 1;
    }
  }
  for (auto& row : length_mm_) {
    for (double& mm : row) {
      mm *= (1 + length_dependence * (mm / mean_mm - 1)) * (1 + unevenness * normal(random));
    }
  }
}

double Wires::energy_fj(int engine, int quadrant, const Activity& activity,
                        double voltage_v) const {
  const double random_fj = capacitance_pf_ / 4 * kFjPerPj;  // a millimetre, random bits
  const double wire_fj =
      capacitance_pf_ * kFjPerPj *
      ((1 - coupling_share_) * activity.toggles / 2 + coupling_share_ / 2 * activity.coupling);
  const double stage = clocked_share_ + (1 - clocked_share_) * activity.toggles / 0.5;
  const double per_bit = overhead_ * (at(length_mm_, engine, quadrant) * wire_fj +
                                      at(stages_, engine, quadrant) * stage_fj_ * stage) +
                         request_share_ * at(length_mm_, engine, quadrant) * random_fj +
                         at(step_, engine, quadrant) * step_mm_ * random_fj;
  return per_bit * voltage_v * voltage_v;
}

double Wires::at_temperature(double celsius) const {
  return 1 + warming_ * (celsius - 60);
}

double Wires::alone_fj_per_mm(double voltage_v) const {
  return capacitance_pf_ / 4 * kFjPerPj * voltage_v * voltage_v;
}

double Wires::stages(int engine, int quadrant) const {
  return at(stages_, engine, quadrant);
}

Table Wires::energies_fj(double voltage_v) const {
  Table table = length_mm_;
  for (std::size_t e = 0; e < table.size(); ++e) {
    for (std::size_t q = 0; q < table[e].size(); ++q) {
      table[e][q] =
          energy_fj(static_cast<int>(e), static_cast<int>(q), activity_of("random", 0), voltage_v);
    }
  }
  return table;
}

Table Wires::distances_mm(const Blocks& blocks) {
  Table table(blocks.compute_units.size());
  for (std::size_t e = 0; e < table.size(); ++e) {
    for (int q = 0; q < kQuadrants; ++q) {
      table[e].push_back(blocks.distance_mm(static_cast<int>(e), q));
    }
  }
  return table;
}

}  // namespace ww::challenge
