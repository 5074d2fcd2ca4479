#include "ww/sim/gpu/reveal.hpp"

#include "interaction.hpp"
#include "truth.hpp"

namespace ww::sim::gpu {
namespace {

// Enough random bits for a relative error of the toggle count below 1e-3.
constexpr std::int64_t kBeats = 8192;
constexpr double kFemto = 1e-15;
constexpr double kRandomToggleRate = 0.5;
constexpr double kHalfRandomToggleRate = 0.25;

}  // namespace

Result<Revealed> reveal(const Chip& chip) {
  const Truth& truth = chip.truth();
  const Architecture& architecture = chip.architecture();
  const double volt =
      architecture.dvfs[static_cast<std::size_t>(architecture.reference_state)].voltage_v;
  const double fj = volt * volt / kFemto;
  const double power_w = stream_power_w(chip);
  // Droop is left out: telemetry shows it to a fit.
  const double sensed =
      truth.sensor.gain * (truth.regulator.slope + 2.0 * truth.regulator.quadratic_per_w * power_w);

  const Interaction random = interaction(chip, StreamPattern::random, kBeats);
  const Interaction half = interaction(chip, StreamPattern::half_random, kBeats);
  const Interaction zeros = interaction(chip, StreamPattern::zeros, kBeats);
  if (!(random.per_true_mm > 0)) {
    return fail(ErrorCode::bad_data, "no energy of this chip follows distance", architecture.name);
  }
  constexpr double kRates = kRandomToggleRate - kHalfRandomToggleRate;
  Revealed revealed;
  revealed.chip_class = truth.chip_class;
  revealed.energy_fj_per_bit_mm = random.per_true_mm * fj;
  revealed.sensed_fj_per_bit_mm = random.per_published_mm * fj * sensed;
  const auto add = [&](const char* name, double of_true, double of_published, const char* unit) {
    revealed.constants.push_back({name, of_true * fj, of_published * fj * sensed, unit});
  };
  add("energy_fj_per_bit_mm", random.per_true_mm, random.per_published_mm, "fJ/bit/mm");
  add("zero_toggle_intercept_fj_per_bit_mm", zeros.per_true_mm, zeros.per_published_mm,
      "fJ/bit/mm");
  add("toggle_slope_fj_per_transition_mm", (random.per_true_mm - half.per_true_mm) / kRates,
      (random.per_published_mm - half.per_published_mm) / kRates, "fJ/transition/mm");
  return revealed;
}

}  // namespace ww::sim::gpu
