#include "ww/sim/power/link_budget.hpp"

#include <fmt/format.h>

#include <cmath>

namespace ww::sim::power {
namespace {

Status loss_not_negative(std::string_view key, double value) {
  if (!(value >= 0) || !std::isfinite(value)) {
    return fail(ErrorCode::out_of_range,
                fmt::format("{} = {} would make light out of nothing: losses, lengths and counts "
                            "are given as positive numbers",
                            key, value),
                std::string(key));
  }
  return {};
}

struct ScopeName {
  BudgetScope scope;
  std::string_view name;
};
constexpr std::array kScopes{ScopeName{BudgetScope::worked, "worked"},
                             ScopeName{BudgetScope::power_path, "power-path"},
                             ScopeName{BudgetScope::all_rings, "all-rings"}};

}  // namespace

std::array<std::pair<std::string_view, double>, 11> LinkBudget::terms() const {
  return {{{"coupler", coupler_db},
           {"waveguide", waveguide_db},
           {"bends", bends_db},
           {"splitters", splitters_db},
           {"crossings", crossings_db},
           {"off_rings", off_rings_db},
           {"modulator", modulator_db},
           {"drop", drop_db},
           {"detector", detector_db},
           {"broadcast", broadcast_db},
           {"crosstalk", crosstalk_db}}};
}

double LinkBudget::total_db() const {
  double sum = 0;
  for (const auto& [name, value] : terms()) {
    sum += value;
  }
  return sum;
}

double LinkBudget::wavelength_uw() const {
  return receiver_uw * std::pow(10.0, total_db() / 10);
}

double crosstalk_ratio(const Crosstalk& crosstalk, int wavelengths) {
  const double spacing = (crosstalk.high_nm - crosstalk.low_nm) / wavelengths;
  const double width = 0.5 * (crosstalk.low_nm + crosstalk.high_nm) / crosstalk.quality;
  double ratio = 0;
  for (int other = 0; other < wavelengths; ++other) {
    const int middle = wavelengths / 2;  // the worst placed: neighbours on both sides
    if (other != middle) {
      const double detuning = 2 * std::abs(other - middle) * spacing / width;
      ratio += 1 / (1 + detuning * detuning);
    }
  }
  return ratio;
}

double crosstalk_penalty_db(double ratio) {
  return -10 * std::log10(1 - 2 * ratio);
}

Result<LinkBudget> link_budget(const OpticalLosses& losses, const OpticalPath& path,
                               double receiver_uw, const Crosstalk& crosstalk, int wavelengths) {
  WW_TRY(loss_not_negative("loss.coupler_db", losses.coupler_db));
  WW_TRY(loss_not_negative("loss.waveguide_db_per_cm", losses.waveguide_db_per_cm));
  WW_TRY(loss_not_negative("loss.bend_db", losses.bend_db));
  WW_TRY(loss_not_negative("loss.splitter_db", losses.splitter_db));
  WW_TRY(loss_not_negative("loss.crossing_db", losses.crossing_db));
  WW_TRY(loss_not_negative("loss.off_ring_db", losses.off_ring_db));
  WW_TRY(loss_not_negative("loss.modulator_db", losses.modulator_db));
  WW_TRY(loss_not_negative("loss.drop_db", losses.drop_db));
  WW_TRY(loss_not_negative("loss.detector_db", losses.detector_db));
  WW_TRY(loss_not_negative("path.waveguide_cm", path.waveguide_cm));
  WW_TRY(loss_not_negative("path.bends", path.bends));
  WW_TRY(loss_not_negative("path.splitters", path.splitters));
  WW_TRY(loss_not_negative("path.crossings", path.crossings));
  WW_TRY(loss_not_negative("path.off_rings", path.off_rings));
  if (path.broadcast_readers < 1) {
    return fail(ErrorCode::out_of_range, "broadcast_readers must be at least 1",
                "path.broadcast_readers");
  }
  if (!(receiver_uw > 0) || !std::isfinite(receiver_uw)) {
    return fail(ErrorCode::out_of_range,
                fmt::format("receiver_uw = {}: a detector needs light", receiver_uw),
                "receiver_uw");
  }
  LinkBudget budget;
  budget.receiver_uw = receiver_uw;
  budget.coupler_db = losses.coupler_db;
  budget.waveguide_db = losses.waveguide_db_per_cm * path.waveguide_cm;
  budget.bends_db = losses.bend_db * path.bends;
  budget.splitters_db = losses.splitter_db * path.splitters;
  budget.crossings_db = losses.crossing_db * path.crossings;
  budget.off_rings_db = losses.off_ring_db * path.off_rings;
  budget.modulator_db = losses.modulator_db;
  budget.drop_db = losses.drop_db;
  budget.detector_db = losses.detector_db;
  budget.broadcast_db = 10 * std::log10(static_cast<double>(path.broadcast_readers));
  if (wavelengths > 1) {
    if (!(crosstalk.low_nm > 0) || !(crosstalk.high_nm > crosstalk.low_nm) ||
        !(crosstalk.quality > 0)) {
      return fail(ErrorCode::out_of_range,
                  fmt::format("a comb from {} to {} nm and rings of quality {} make no channels",
                              crosstalk.low_nm, crosstalk.high_nm, crosstalk.quality),
                  "crosstalk");
    }
    const double ratio = crosstalk_ratio(crosstalk, wavelengths);
    if (ratio >= 0.5) {
      return fail(
          ErrorCode::bad_data,
          fmt::format("{} wavelengths between {} and {} nm leak {:.2g} of a signal into "
                      "each detector of quality {}: no eye is left",
                      wavelengths, crosstalk.low_nm, crosstalk.high_nm, ratio, crosstalk.quality),
          "crosstalk");
    }
    budget.crosstalk_db = crosstalk_penalty_db(ratio);
  }
  return budget;
}

std::string_view to_string(BudgetScope scope) {
  for (const ScopeName& entry : kScopes) {
    if (entry.scope == scope) {
      return entry.name;
    }
  }
  return "unknown";
}

Result<BudgetScope> budget_scope_from_string(std::string_view text) {
  for (const ScopeName& entry : kScopes) {
    if (entry.name == text) {
      return entry.scope;
    }
  }
  return fail(ErrorCode::invalid_argument,
              fmt::format("link_budget '{}' is unknown; worked, power-path or all-rings", text),
              "link_budget");
}

OpticalPath path_of(const PhotonicStructure& structure, BudgetScope scope) {
  const bool power = scope != BudgetScope::worked;
  const int banks = static_cast<int>(structure.stations);
  OpticalPath path;
  path.waveguide_cm = structure.pass_mm / 10 * (power ? 2 : 1);
  path.bends = static_cast<int>(structure.pass_bends) * (power ? 2 : 1);
  path.splitters = power ? static_cast<int>(structure.splitters) : 1;
  // A wavelength has its own ring in every bank; of all banks' rings it uses one to be modulated
  // and one to be dropped, in the writer's and the reader's.
  path.off_rings = scope == BudgetScope::all_rings
                       ? banks * static_cast<int>(structure.waveguide_wavelengths) - 1
                       : banks - 1;
  return path;
}

}  // namespace ww::sim::power
