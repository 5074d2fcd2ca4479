// Link budgets and laser power against the worked examples.
#include <gtest/gtest.h>

#include "testing/dsent_link.hpp"
#include "ww/sim/power/accounting.hpp"
#include "ww/sim/power/link_budget.hpp"

namespace ww::sim::power::photonic_test {
namespace {

// GPUOPT's chip: 600 mm2, 16 stations, a serpentine of 15 pitches, two quarter turns a pitch.
PhotonicStructure gpuopt() {
  PhotonicStructure structure;
  structure.core_hz = 1.4e9;
  structure.optical_hz = 5e9;
  structure.stations = 16;
  structure.data_units = 16;
  structure.overhead_units = 2;
  structure.unit_wavelengths = 128;
  structure.waveguide_wavelengths = 64;
  structure.rings = 1000;
  structure.splitters = 16;
  structure.pass_mm = 91.856;
  structure.pass_bends = 30;
  return structure;
}

LinkBudget budget_of(BudgetScope scope) {
  const auto budget = link_budget({}, path_of(gpuopt(), scope), 36);
  EXPECT_TRUE(budget.has_value());
  return budget.value_or(LinkBudget{});
}

TEST(LinkBudget, IsTheWorkedExample) {
  // 3.01 + 2.52 + 0.15 + 0.36 + 15 x 0.005 + 0.6 + 0.6 + 0.1 dB on 36 uW
  const LinkBudget budget = budget_of(BudgetScope::worked);
  EXPECT_NEAR(budget.total_db(), 7.4121544, 1e-4);
  EXPECT_NEAR(budget.wavelength_uw(), 198.389, 0.02);
  EXPECT_NEAR(64 * budget.wavelength_uw() * 1e-3, 12.6969, 0.002);  // mW
}

TEST(LinkBudget, GrowsWithSplittersAndRings) {
  EXPECT_NEAR(budget_of(BudgetScope::power_path).total_db(), 15.478954, 1e-3);
  EXPECT_NEAR(budget_of(BudgetScope::all_rings).total_db(), 20.518954, 1e-3);
  EXPECT_NEAR(64 * budget_of(BudgetScope::all_rings).wavelength_uw() * 1e-3, 259.64, 0.1);
}

TEST(LinkBudget, SharesLightAmongReaders) {
  OpticalPath path = path_of(gpuopt(), BudgetScope::worked);
  path.broadcast_readers = 7;
  const auto budget = link_budget({}, path, 36);
  ASSERT_TRUE(budget.has_value());
  EXPECT_NEAR(budget->wavelength_uw() / budget_of(BudgetScope::worked).wavelength_uw(), 7, 1e-9);
}

TEST(LinkBudget, RefusesNegativeLossesByName) {
  OpticalLosses losses;
  losses.waveguide_db_per_cm = -0.274;  // as table 3 prints it
  const auto budget = link_budget(losses, {}, 36);
  ASSERT_FALSE(budget.has_value());
  EXPECT_EQ(budget.error().context, "loss.waveguide_db_per_cm");
  OpticalPath path;
  path.off_rings = -1;
  EXPECT_EQ(link_budget({}, path, 36).error().context, "path.off_rings");
  EXPECT_EQ(link_budget({}, {}, 0).error().context, "receiver_uw");
}

TEST(Crosstalk, GrowsWithWavelengthsAndFallsWithQuality) {
  const Crosstalk comb;
  EXPECT_EQ(crosstalk_ratio(comb, 1), 0);
  EXPECT_GT(crosstalk_ratio(comb, 128), crosstalk_ratio(comb, 64));
  Crosstalk sharp = comb;
  sharp.quality = 2 * comb.quality;
  EXPECT_NEAR(crosstalk_ratio(comb, 64) / crosstalk_ratio(sharp, 64), 4, 0.05);  // far detuned
  // Neighbours 3.125 nm off, lines of 1550/9000 nm: 7.6e-4 each, and so on outwards.
  EXPECT_NEAR(crosstalk_ratio(comb, 64), 2 * 7.58e-4 * 1.61, 1e-4);
  EXPECT_NEAR(crosstalk_penalty_db(crosstalk_ratio(comb, 64)), 0.0213, 0.002);
  Crosstalk blunt = comb;
  blunt.quality = 100;
  EXPECT_EQ(link_budget({}, {}, 36, blunt, 64).error().context, "crosstalk");
}

PhotonicEvents a_second() {
  PhotonicEvents events;
  events.present = true;
  events.structure = gpuopt();
  events.core_cycles = 1400000000;
  return events;
}

// DSENT itself (Graphite's copy), SWMR links of 64 wavelengths.
struct DsentCase {
  DsentLinkConfig config;
  double laser_mw, tuning_mw;
};

TEST(DsentLink, IsWhatDsentSays) {
  const DsentLosses gpuopt_table = gpuopt_losses();
  const DsentCase cases[] = {
      {{}, 370.6621, 63.61799},
      {{.node_nm = 11}, 340.111, 63.61799},
      {{.node_nm = 45}, 451.4443, 63.61799},
      {{.losses = gpuopt_table}, 32.09826, 63.61799},
      {{.losses = gpuopt_table, .bits_per_second = 5e9}, 10.59483, 63.61799},
      {{.losses = gpuopt_table, .insertion_db = 2, .extinction_db = 6}, 17.88967, 63.61799},
      {{.losses = gpuopt_table, .readers = 1}, 15.34896, 7.952249},
      {{.losses = gpuopt_table, .readers = 7}, 21.29177, 31.80899},
  };
  for (const DsentCase& one : cases) {
    const auto link = dsent_link(one.config);
    ASSERT_TRUE(link.has_value());
    // The issue asks for 2%.
    EXPECT_NEAR(link->laser.to<double>() * 1e3 / one.laser_mw, 1, 1e-5);
    EXPECT_NEAR(link->tuning.to<double>() * 1e3 / one.tuning_mw, 1, 1e-5);
  }
}

TEST(DsentLink, IsWhereTheDefaultsComeFrom) {
  const auto link = dsent_link({.losses = gpuopt_losses()});
  ASSERT_TRUE(link.has_value());
  const PhotonicPowerConfig defaults;
  EXPECT_NEAR(link->modulator_fj_per_bit, defaults.modulator_fj_per_bit, 0.05);
  EXPECT_NEAR(link->detector_fj_per_bit, defaults.detector_fj_per_bit, 0.05);
  EXPECT_NEAR(link->tuning.to<double>() * 1e6 / 1024, defaults.tuning_uw_per_ring, 0.01);
  EXPECT_EQ(dsent_link({.node_nm = 16}).error().context, "node_nm");
  EXPECT_EQ(dsent_link({.bits_per_second = 1e12}).error().context, "bits_per_second");
  EXPECT_EQ(dsent_link({.length_cm = -1}).error().context, "length_cm");
}

TEST(PhotonicPower, LightsWhatIsLitAndTheOverheadAlways) {
  PhotonicPowerConfig config;
  config.scope = BudgetScope::worked;
  PhotonicEvents events = a_second();
  const auto dark = photonic_energy(events, config);
  events.lit_unit_cycles = 16 * events.core_cycles;
  const auto full = photonic_energy(events, config);
  ASSERT_TRUE(dark.has_value() && full.has_value());
  // Two units, or all 18, of 128 wavelengths for a second; 198.4 uW and 0.02 dB of crosstalk.
  const double unit_w = 128 * full->budget.wavelength_uw() * 1e-6 / 0.25;
  EXPECT_NEAR(full->unit.to<double>(), unit_w, 1e-12);
  EXPECT_NEAR(unit_w, 0.1021, 0.0002);
  EXPECT_NEAR(dark->laser.to<double>() * 1e-12, 2 * unit_w, 1e-9);
  EXPECT_NEAR(full->laser.to<double>() * 1e-12, 18 * unit_w, 1e-9);
  EXPECT_NEAR(full->tuning.to<double>() * 1e-12, 1000 * 62.13e-6, 1e-9);
}

TEST(PhotonicEvents, CountsMessagesByGrabAndFailuresByMessage) {
  PhotonicEvents events;
  EXPECT_EQ(events.messages_per_grab(), 0);
  events.messages = 12;
  events.data_grabs = 4;
  events.failed_attempts = 3;
  EXPECT_DOUBLE_EQ(events.messages_per_grab(), 3);
  EXPECT_DOUBLE_EQ(events.failed_attempts_per_message(), 0.25);
}

TEST(PhotonicPower, AddsUpInTheReport) {
  NetworkEvents events;
  events.cycles = 1400000000;
  events.buffer_writes = 1000;
  events.photonic = a_second();
  events.photonic.modulated_bits = 1000;
  events.photonic.detected_bits = 2000;
  const auto report = account(events, {});
  ASSERT_TRUE(report.has_value());
  double sum = report->electrical().to<double>();
  for (const auto& [name, value] : report->photonic->components()) sum += value.to<double>();
  EXPECT_DOUBLE_EQ(report->total().to<double>(), sum);
  EXPECT_GT(report->electrical().to<double>(), 0);
  EXPECT_DOUBLE_EQ(report->photonic->modulators.to<double>(),
                   PhotonicPowerConfig{}.modulator_fj_per_bit);
}

TEST(PhotonicPower, RefusesNonsenseByName) {
  PhotonicPowerConfig config;
  config.laser_efficiency = 0;
  EXPECT_EQ(photonic_energy(a_second(), config).error().context, "laser_efficiency");
  config = {};
  config.splitters = -1;
  EXPECT_EQ(photonic_energy(a_second(), config).error().context, "path.splitters");
  PhotonicEvents events = a_second();
  events.structure.data_units = 0;
  EXPECT_EQ(photonic_energy(events, {}).error().context, "photonic.data_units");
}

}  // namespace
}  // namespace ww::sim::power::photonic_test
