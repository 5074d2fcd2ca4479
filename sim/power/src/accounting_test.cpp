#include "ww/sim/power/accounting.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "ww/sim/power/wire_energy.hpp"

namespace ww::sim::power::accounting_test {
namespace {

// One flit through one router and over one millimetre, in one cycle.
NetworkEvents one_flit() {
  NetworkEvents events;
  events.cycles = 1;
  events.routers = 1;
  events.links = 1;
  events.injected_flits = events.ejected_flits = 1;
  events.buffer_writes = events.buffer_reads = 1;
  events.crossbar_flits = events.switch_grants = events.vc_grants = events.link_flits = 1;
  return events;
}

double pj(Picojoule energy) {
  return energy.to<double>();
}

TEST(RouterEnergy, EqualsDsentAt22Nanometres) {
  const auto report = account(one_flit(), EnergyConfig{});
  ASSERT_TRUE(report) << report.error().text();
  // DSENT, 22 nm, 128 bits, 5 ports, 5 VCs of 4 flits [pJ per flit].
  EXPECT_NEAR(pj(report->buffer_write), 1.38, 0.01 * 1.38);
  EXPECT_NEAR(pj(report->buffer_read), 1.25, 0.01 * 1.25);
  EXPECT_NEAR(pj(report->crossbar), 0.54, 0.01 * 0.54);
  EXPECT_NEAR(pj(report->switch_allocator), 0.0676, 0.01 * 0.0676);
  EXPECT_NEAR(pj(report->clock), 0.30, 0.01 * 0.30);
  // 128 random bits over 1 mm at 23.6 fJ each; leakage over 1 ns.
  EXPECT_NEAR(pj(report->link), 128 * 0.0236, 0.01 * 128 * 0.0236);
  EXPECT_NEAR(pj(report->router_leakage), 10.73, 0.01 * 10.73);
  EXPECT_NEAR(pj(report->link_leakage), 128 * 0.12e-3, 0.01 * 128 * 0.12e-3);
}

TEST(RouterEnergy, HasEveryNodeOfDsentsTable) {
  struct Row {
    double node, sum, clock, leakage, link;
  };
  for (const Row& row : {Row{45, 12.68, 0.92, 29.5, 40.4}, Row{32, 6.98, 0.53, 17.7, 32.4},
                         Row{22, 3.24, 0.30, 10.73, 23.6}, Row{11, 0.99, 0.095, 1.59, 13.2}}) {
    const auto energy = router_energy(Estimator::dsent, row.node, RouterSize{});
    ASSERT_TRUE(energy);
    EXPECT_NEAR(energy->buffer_write_pj + energy->buffer_read_pj + energy->crossbar_pj +
                    energy->switch_grant_pj,
                row.sum, 0.01 * row.sum);
    EXPECT_NEAR(energy->clock_pj, row.clock, 0.01 * row.clock);
    EXPECT_NEAR(energy->leakage_mw, row.leakage, 0.01 * row.leakage);
    EXPECT_NEAR(energy->link_fj_per_toggle_mm / 2, row.link, 0.01 * row.link);
  }
}

TEST(RouterEnergy, InterpolatesNodesInTheLogarithm) {
  RouterSize wide;
  wide.flit_bits = 256;
  const auto energy = router_energy(Estimator::dsent, 16, wide);
  ASSERT_TRUE(energy);
  const double sum = energy->buffer_write_pj + energy->buffer_read_pj + energy->crossbar_pj +
                     energy->switch_grant_pj;
  EXPECT_NEAR(sum, 3.7, 0.1);                                 // 16 nm, 256 bits
  EXPECT_NEAR(energy->link_fj_per_toggle_mm / 2, 18.0, 0.5);  // fJ per random bit and mm
  EXPECT_NE(energy->source.find("interpolated"), std::string::npos);
}

// Beyond the rows as well: nothing costs less than nothing, or nothing at all.
TEST(RouterEnergy, GrowsWithTheWidthOfAFlit) {
  for (const Estimator estimator : {Estimator::dsent, Estimator::dsent_gem5, Estimator::orion2,
                                    Estimator::mcpat, Estimator::mcpat_noc}) {
    const double node_nm = estimator == Estimator::orion2 ? 32 : 22;
    RouterEnergy before;
    for (const int bits : {8, 16, 32, 48, 64, 96, 128, 192, 256, 512, 1024}) {
      RouterSize size;
      size.flit_bits = bits;
      const auto energy = router_energy(estimator, node_nm, size);
      ASSERT_TRUE(energy) << energy.error().text();
      for (const auto field : {&RouterEnergy::buffer_write_pj, &RouterEnergy::buffer_read_pj,
                               &RouterEnergy::crossbar_pj, &RouterEnergy::leakage_mw}) {
        EXPECT_GT((*energy).*field, before.*field) << to_string(estimator) << " " << bits;
      }
      EXPECT_GE(energy->switch_grant_pj, before.switch_grant_pj) << to_string(estimator);
      EXPECT_EQ(energy->source.find("extrapolated") != std::string::npos, bits < 64 || bits > 256)
          << energy->source;
      before = *energy;
    }
  }
}

TEST(RouterEnergy, SmallerBuffersCostLess) {
  RouterSize bypass;
  bypass.flit_bits = 64;
  bypass.vcs = 1;
  bypass.vc_buffer = 1;
  const auto small = router_energy(Estimator::dsent, 22, bypass);
  RouterSize full;
  full.flit_bits = 64;
  const auto large = router_energy(Estimator::dsent, 22, full);
  ASSERT_TRUE(small && large);
  const auto sum = [](const RouterEnergy& e) {
    return e.buffer_write_pj + e.buffer_read_pj + e.crossbar_pj + e.switch_grant_pj;
  };
  EXPECT_NEAR(sum(*small), 0.61, 0.1);  // DSENT's own row for it: 0.61 pJ, 0.97 mW
  EXPECT_NEAR(small->leakage_mw, 0.97, 0.05);
  EXPECT_LT(sum(*small), 0.5 * sum(*large));
}

TEST(RouterEnergy, RefusesNodesWithoutRowsByKey) {
  const auto orion = router_energy(Estimator::orion2, 22, RouterSize{});
  ASSERT_FALSE(orion);
  EXPECT_EQ(orion.error().context, "node");
  EXPECT_FALSE(estimator_from_string("spice"));
}

TEST(Accounting, TotalIsTheSumOfItsComponents) {
  NetworkEvents events = one_flit();
  events.cycles = 1234;
  events.routers = 16;
  events.buffer_reads = 999;
  const auto report = account(events, EnergyConfig{});
  ASSERT_TRUE(report);
  double sum = 0;
  for (const auto& [name, value] : report->components()) {
    EXPECT_GE(pj(value), 0) << name;
    sum += pj(value);
  }
  EXPECT_DOUBLE_EQ(pj(report->total()), sum);
  const nlohmann::json json = *report;
  EXPECT_DOUBLE_EQ(json["total"].get<double>(), sum);
}

TEST(Accounting, MoreTogglesNeverCostLess) {
  EnergyConfig config;
  double before = -1;
  for (int step = 0; step <= 20; ++step) {
    config.toggle_rate = step / 20.0;
    const auto report = account(one_flit(), config);
    ASSERT_TRUE(report);
    EXPECT_GE(pj(report->total()), before);
    before = pj(report->total());
  }
  NetworkEvents counted = one_flit();
  counted.toggles_counted = true;
  before = -1;
  for (const std::uint64_t toggles : {0u, 1u, 64u, 128u}) {
    counted.link_toggles = toggles;
    const auto report = account(counted, config);
    ASSERT_TRUE(report);
    EXPECT_GT(pj(report->total()), before);
    before = pj(report->total());
  }
}

TEST(Accounting, EnergyAddsOverWindows) {
  NetworkEvents early = one_flit();
  NetworkEvents late = early;
  late.cycles = 500;
  late.link_flits = 77;
  late.crossbar_flits = 91;
  const auto whole = account(late, EnergyConfig{});
  const auto first = account(early, EnergyConfig{});
  const auto second = account(late - early, EnergyConfig{});
  ASSERT_TRUE(whole && first && second);
  EXPECT_NEAR(pj(whole->total()), pj(first->total()) + pj(second->total()), 1e-9);
}

TEST(Accounting, EstimatorsStandSideBySide) {
  EnergyConfig config;
  config.node_nm = 32;
  const auto all = compare_estimators(one_flit(), config);
  ASSERT_EQ(all.size(), 5u);
  const auto dynamic = [](const EnergyReport& r) {
    return pj(r.buffer_write) + pj(r.buffer_read) + pj(r.crossbar) + pj(r.switch_allocator) +
           pj(r.vc_allocator);
  };
  ASSERT_TRUE(all[0].report && all[2].report && all[4].report);
  // ORION 2 says about 4.4 times DSENT at 32 nm.
  EXPECT_NEAR(dynamic(*all[2].report) / dynamic(*all[0].report), 4.4, 0.1);
  EXPECT_GT(dynamic(*all[4].report), dynamic(*all[2].report));
  config.node_nm = 22;
  EXPECT_FALSE(compare_estimators(one_flit(), config)[2].report);  // ORION 2 ends at 32 nm
}

TEST(Accounting, RoutersHaveTheRangeOfThePublishedEstimators) {
  EnergyConfig config;
  config.node_nm = 32;
  NetworkEvents events = one_flit();
  events.cycles = 1000;
  events.routers = 16;
  const auto report = account(events, config);
  ASSERT_TRUE(report);
  const RouterCharge& charge = report->router_charge;
  EXPECT_DOUBLE_EQ(charge.pj.value, pj(report->routers()));
  EXPECT_EQ(charge.estimators, 5);
  double low = charge.pj.value;
  double high = low;
  for (const Comparison& one : compare_estimators(events, config)) {
    ASSERT_TRUE(one.report);
    const double theirs = pj(one.report->routers());
    low = std::min(low, theirs);
    high = std::max(high, theirs);
    if (one.estimator == charge.least) {
      EXPECT_DOUBLE_EQ(theirs, charge.pj.low);
    }
    if (one.estimator == charge.most) {
      EXPECT_DOUBLE_EQ(theirs, charge.pj.high);
    }
  }
  EXPECT_DOUBLE_EQ(charge.pj.low, low);
  EXPECT_DOUBLE_EQ(charge.pj.high, high);
  EXPECT_LT(low, high);
  const nlohmann::json json = *report;
  EXPECT_EQ(json["routers"]["label"], "literature");
  EXPECT_DOUBLE_EQ(json["routers"]["pj"]["high"], high);
  config.node_nm = 11;  // DSENT alone goes there, in both copies
  EXPECT_EQ(account(events, config)->router_charge.estimators, 2);
}

TEST(Accounting, SumsUpEnergyPowerAndTheShareOfWires) {
  EnergyConfig config;
  config.node_nm = 32;
  config.clock = Hertz(2e9);
  NetworkEvents events = one_flit();
  events.cycles = 1000;
  const auto report = account(events, config);
  ASSERT_TRUE(report);
  const EnergyFigures& figures = report->figures;
  const double joules = pj(report->total()) * 1e-12;
  EXPECT_DOUBLE_EQ(*figures.energy.value, joules);
  EXPECT_DOUBLE_EQ(*figures.power.value, joules / 500e-9);
  EXPECT_DOUBLE_EQ(*figures.per_flit.value, joules);
  EXPECT_DOUBLE_EQ(*figures.per_bit.value, joules / 128);
  EXPECT_DOUBLE_EQ(*figures.wire_share.value, 100 * pj(report->wires()) / pj(report->total()));
  for (const Comparison& one : compare_estimators(events, config)) {
    ASSERT_TRUE(one.report);
    const double total = pj(one.report->total()) * 1e-12;
    EXPECT_TRUE(figures.energy.interval()->holds(total)) << to_string(one.estimator);
    const double share = 100 * pj(one.report->wires()) / pj(one.report->total());
    EXPECT_TRUE(figures.wire_share.interval()->holds(share)) << to_string(one.estimator);
  }
}

TEST(Accounting, HoldsACalibrationsIntervalInItsSums) {
  EnergyConfig config;
  const auto wires = [&config](double low, double value, double high) {
    config.wire = ChipWires{{value, low, high}, {0, 0, 0}, "a card", false};
    return account(one_flit(), config);
  };
  const auto report = wires(10, 20, 50);
  ASSERT_TRUE(report);
  for (const double fj : {10.0, 50.0}) {
    const auto at_end = wires(fj, fj, fj);
    EXPECT_TRUE(report->figures.energy.interval()->holds(*at_end->figures.energy.value)) << fj;
    EXPECT_TRUE(report->figures.wire_share.interval()->holds(*at_end->figures.wire_share.value))
        << fj;
  }
}

TEST(Accounting, HasNoEnergyOfAFlitWhereNoneArrived) {
  NetworkEvents events = one_flit();
  events.ejected_flits = 0;
  const auto report = account(events, EnergyConfig{});
  ASSERT_TRUE(report);
  EXPECT_EQ(report->figures.per_bit.status, RowStatus::unavailable);
  EXPECT_FALSE(report->figures.per_bit.value);
  EXPECT_TRUE(report->figures.power.value);
}

TEST(Accounting, RefusesBadSettingsByKey) {
  EnergyConfig config;
  config.toggle_rate = 1.5;
  const auto report = account(one_flit(), config);
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().context, "toggle_rate");
}

TEST(CrossingEnergy, OfDataThatNobodyMeasuredHoldsAllThatTheyMayDraw) {
  const CrossingEnergy random_alone{{2, 1.5, 2.5}, std::nullopt, "a card", false};
  const Interval zeros = random_alone.at(0);
  EXPECT_DOUBLE_EQ(zeros.value, 2);
  EXPECT_DOUBLE_EQ(zeros.low, 0);
  EXPECT_DOUBLE_EQ(zeros.high, 2.5);
  EXPECT_DOUBLE_EQ(random_alone.at(1).high, 5);
  const Interval below = at_toggle_rate({-0.1, -0.3, 0.1}, 0.5);
  EXPECT_DOUBLE_EQ(below.value, 0);
  EXPECT_DOUBLE_EQ(below.low, 0);
  EXPECT_DOUBLE_EQ(below.high, 0.1);
  const CrossingEnergy both{{2, 1.5, 2.5}, Interval{1, 0.5, 1.5}, "a card", false};
  EXPECT_DOUBLE_EQ(both.at(0).value, 1);
}

// The lines through the ends of a wide and of a narrow interval cross beyond random bits.
TEST(CrossingEnergy, OfDataThatToggleMoreThanRandomBitsHasItsEndsInOrder) {
  const CrossingEnergy energy{{2, 1.9, 2.1}, Interval{1, 0.2, 1.8}, "a card", false};
  const Interval at_one = energy.at(1);
  EXPECT_DOUBLE_EQ(at_one.low, 2.4);
  EXPECT_DOUBLE_EQ(at_one.value, 3);
  EXPECT_DOUBLE_EQ(at_one.high, 3.6);
}

TEST(WireFromModel, ScalesFromTheChipToTheNode) {
  const nlohmann::json model = {
      {"device", "virtual:w9100"},
      {"energy_fj_per_bit_mm", {{"value", 100.0}, {"convention", "per_random_bit"}}}};
  const auto same = wire_from_model(model, 28, 28);
  ASSERT_TRUE(same) << same.error().text();
  EXPECT_NEAR(same->per_toggle.to<double>(), 200.0, 1e-9);
  const auto seven = wire_from_model(model, 28, 7);
  ASSERT_TRUE(seven);
  EXPECT_NEAR(seven->per_toggle.to<double>(), 92.0, 1e-9);
  const auto from_seven = wire_from_model(model, 7, 28);
  ASSERT_TRUE(from_seven);
  EXPECT_NEAR(from_seven->per_toggle.to<double>(), 200.0 / 0.46, 1e-9);
}

// A bit that does not toggle pays a fifth of a random one here, on every link.
TEST(Accounting, ChargesLinksAtACalibrationsEnergyOfTheirData) {
  EnergyConfig config;
  config.wire = ChipWires{{100, 90, 115}, {20, 10, 40}, "a card", true};
  config.link_length = Millimetre(2.0);
  const auto charged = [&](double toggle_rate) {
    config.toggle_rate = toggle_rate;
    auto report = account(one_flit(), config);
    EXPECT_TRUE(report && report->link_wires);
    return *report;
  };
  const EnergyReport random = charged(0.5);
  EXPECT_NEAR(pj(random.link), 2 * 128 * 0.1, 1e-9);
  EXPECT_NEAR(random.link_wires->pj.value, 2 * 128 * 0.1, 1e-9);
  EXPECT_NEAR(random.link_wires->pj.low, 2 * 128 * 0.09, 1e-9);
  EXPECT_NEAR(random.link_wires->pj.high, 2 * 128 * 0.115, 1e-9);
  EXPECT_EQ(pj(random.link_leakage), 0);
  EXPECT_TRUE(random.link_wires->is_virtual);
  const EnergyReport zeros = charged(0);
  EXPECT_NEAR(pj(zeros.link), 2 * 128 * 0.02, 1e-9);
  EXPECT_NEAR(zeros.link_wires->pj.high, 2 * 128 * 0.04, 1e-9);
}

TEST(WireFromModel, IsScaledFromAKnownNodeOnly) {
  const nlohmann::json model = {
      {"energy_fj_per_bit_mm", {{"value", 100.0}, {"convention", "per_random_bit"}}}};
  const auto refused = wire_from_model(model, std::nullopt, 22);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().context, "card_node");
  EXPECT_NE(refused.error().message.find("--card-node"), std::string::npos);
  const auto unscaled = wire_from_model(model, std::nullopt, std::nullopt);
  ASSERT_TRUE(unscaled);
  EXPECT_DOUBLE_EQ(unscaled->per_toggle.to<double>(), 200.0);
  // A node is not scaled to itself, even beyond the table.
  EXPECT_DOUBLE_EQ(wire_scale(5, 5).value(), 1.0);
  EXPECT_FALSE(wire_scale(5, 22));
}

TEST(WireFromModel, RefusesEnergiesOfWaysBetweenDies) {
  const auto wire = wire_from_model({{"hop_classes", nlohmann::json::array()}}, 28, 22);
  ASSERT_FALSE(wire);
  EXPECT_EQ(wire.error().code, ErrorCode::unsupported);
  EXPECT_NE(wire.error().message.find("ways between dies"), std::string::npos);
}

TEST(WireFromModel, RefusesWhatWasNotIdentified) {
  const nlohmann::json model = {{"energy_fj_per_bit_mm",
                                 {{"value", nullptr},
                                  {"status", "not_identified"},
                                  {"reason", "one distance only"},
                                  {"convention", "per_random_bit"}}}};
  const auto wire = wire_from_model(model, 28, 22);
  ASSERT_FALSE(wire);
  EXPECT_NE(wire.error().message.find("one distance only"), std::string::npos);
  EXPECT_FALSE(wire_from_model(nlohmann::json::array(), 28, 22));
}

}  // namespace
}  // namespace ww::sim::power::accounting_test
