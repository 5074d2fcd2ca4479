// Rows of the reproduction from runs made by hand.
#include "dapper/dapper.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace ww::study::dapper {
namespace {

DapperRun run(double cycles, double energy, double error) {
  DapperRun one;
  one.cycles = cycles;
  one.energy_pj = energy;
  one.components_pj = {{"link", energy}};
  one.request_latency = 20;
  one.reply_latency = 40;
  one.approximable_share = 0.8;
  one.coalesced_share = 0.2;
  one.error.mean = error;
  one.error.points = 100;
  return one;
}

// The paper's own figures, as runs.
DapperStudy as_in_the_paper() {
  DapperStudy study;
  for (const char* application : kDapperApplications) {
    auto& runs = study.runs[application];
    runs["baseline"] = run(1000, 100, 0);
    runs["approx-noc"] = run(1070, 110, 0.1);
    runs["dapper"] = run(1010, std::string(application) == "dct" ? 61 : 50, 0.009);
    runs["dapper-15"] = run(1010, 50, 0.02);
    runs["dapper-20"] = run(1010, 50, 0.03);
    runs["dapper-cd3"] = run(1010, 50, 0.0095);
    runs["dapper-cd9"] = run(1010, 50, 0.0095);
  }
  return study;
}

std::string status_of(const DapperStudy& study, const std::string& figure,
                      const std::string& quantity) {
  Reproduction out;
  add_dapper_rows(out, study);
  const auto row = std::ranges::find_if(out.rows, [&](const ReproductionRow& one) {
    return one.figure == figure && one.quantity.find(quantity) != std::string::npos;
  });
  return row == out.rows.end() ? "no row" : row->status;
}

TEST(ReproduceDapper, ThePapersFiguresMatchThePaper) {
  const DapperStudy study = as_in_the_paper();
  EXPECT_EQ(status_of(study, "Fig. 3a", "highest of DCT"), "matches");
  EXPECT_EQ(status_of(study, "Fig. 7a", "at depth 6 below"), "matches");
  EXPECT_EQ(status_of(study, "Fig. 7b", "rises with the threshold"), "matches");
  EXPECT_EQ(status_of(study, "Fig. 8a", "Dapper over baseline, mean"), "matches");
  EXPECT_EQ(status_of(study, "Fig. 8a", "Approx-NoC over baseline"), kPicture);  // dct's bar
  EXPECT_EQ(status_of(study, "Fig. 8b", "dct: network energy that Dapper saves"), "matches");
  EXPECT_EQ(status_of(study, "Fig. 8b", "saves, most"), "matches");
  EXPECT_EQ(status_of(study, "Fig. 8c", "Dapper over baseline"), "matches");
  for (const char* threshold : {"10%, mean", "15%, mean", "20%, mean"}) {
    EXPECT_EQ(status_of(study, "Fig. 9", threshold), "matches") << threshold;
  }
}

TEST(ReproduceDapper, RowsAreVacuousWhereNothingIsCoalesced) {
  DapperStudy study = as_in_the_paper();
  for (const char* name : {"hist", "blackscholes", "fwt"}) {
    for (auto& [variant, run] : study.runs[name]) run.coalesced_share = 0.002;
  }
  study.runs["dct"]["dapper"].energy_pj = 50;
  EXPECT_EQ(status_of(study, "Fig. 9", "10%, mean"), kVacuous);
  EXPECT_EQ(status_of(study, "Fig. 7b", "network energy across thresholds"), kVacuous);
  EXPECT_EQ(status_of(study, "Fig. 9", "Approx-NoC, mean"), kVacuous);
  study.runs["hist"]["dapper"].coalesced_share = 0.02;
  EXPECT_EQ(status_of(study, "Fig. 9", "10%, mean"), kMatches);
}

TEST(ReproduceDapper, AnErrorThatIsNoneAtAnyThresholdDoesNotRise) {
  DapperStudy study = as_in_the_paper();
  for (const char* variant : {"dapper", "dapper-15", "dapper-20"}) {
    study.runs["fwt"][variant].error.mean = 0;
  }
  EXPECT_EQ(status_of(study, "Fig. 7b", "rises with the threshold"), kVacuous);
  study.runs["dct"]["dapper-20"].error.mean = 0;
  EXPECT_EQ(status_of(study, "Fig. 7b", "rises with the threshold"), kDiffers);
}

TEST(ReproduceDapper, OtherReadingsAreRowsOfOurs) {
  DapperStudy study = as_in_the_paper();
  for (auto& [application, runs] : study.runs) {
    runs["first-baseline"] = run(500, 100, 0);
    runs["first-baseline"].network_cycles = 500;
    runs["first-dapper"] = run(600, 50, 0.01);
    runs["first-dapper"].reply_flits = 0.984 * 500 * 1.1;  // a tenth more than the circuits carry
    runs["first-dapper"].error.normalised = 0.004;
    runs["dapper-bypass-half"] = run(1000, 70, 0);
  }
  Reproduction out;
  add_dapper_rows(out, study);
  const auto ours = [&](const std::string& quantity) {
    const auto row = std::ranges::find_if(out.rows, [&](const ReproductionRow& one) {
      return one.quantity.find(quantity) != std::string::npos;
    });
    if (row == out.rows.end()) return -1.0;
    EXPECT_EQ(row->status, kOurs) << quantity;
    return row->ours.get<double>();
  };
  EXPECT_NEAR(ours("mean: a reply is one datum"), 20, 1e-9);
  EXPECT_NEAR(ours("if no core waited: replies of one datum"), 10, 1e-9);
  EXPECT_NEAR(ours("at half a router's power"), 30, 1e-9);
  EXPECT_NEAR(ours("output error, Dapper at 10%, mean: a reply is one datum"), 1, 1e-9);
  EXPECT_NEAR(ours("over the mean output, Dapper at 10%"), 0.4, 1e-9);
  EXPECT_EQ(status_of(study, "section IV", "bypass router"), kDiffers);  // DSENT's leak 83% less
}

TEST(ReproduceDapper, ShowsErrorsByDepthForEachReading) {
  DapperStudy study = as_in_the_paper();
  const auto rows = [&] {
    Reproduction out;
    add_dapper_rows(out, study);
    std::erase_if(out.rows, [](const ReproductionRow& row) {
      return row.quantity.find("check depth: a reply is one datum") == std::string::npos;
    });
    return out.rows;
  };
  EXPECT_TRUE(rows().empty());
  study.runs["fwt"]["first-dapper-cd3"] = run(600, 50, 0.01);
  study.runs["fwt"]["first-dapper"] = run(600, 50, 0.02);
  EXPECT_TRUE(rows().empty());  // a depth is missing
  study.runs["fwt"]["first-dapper-cd9"] = run(600, 50, 0.025);
  ASSERT_EQ(rows().size(), 1u);  // none for dxtc, which has no such runs
  EXPECT_EQ(rows().front().quantity.substr(0, 3), "fwt");
  EXPECT_EQ(rows().front().status, kOurs);
  EXPECT_EQ(rows().front().ours, "1, 2, 2.5");
}

TEST(ReproduceDapper, EveryHeadlineHasItsRow) {
  const DapperStudy study = as_in_the_paper();
  Reproduction out;
  add_dapper_rows(out, study);
  add_dapper_summary(out);
  ASSERT_EQ(out.summary.size(), 10u);
  EXPECT_EQ(out.summary.front().verdict, "as the paper says");
}

TEST(ReproduceDapper, ReadsThePlatformFromTheChip) {
  auto platform = dapper_platform("dapper");
  ASSERT_TRUE(platform) << platform.error().text();
  const auto differing = [&] {
    Reproduction out;
    add_dapper_platform(out, *platform);
    std::set<std::string> quantities;
    for (const auto& row : out.rows) {
      EXPECT_NE(row.status, kMatches) << row.quantity;
      if (row.status == kDiffers) quantities.insert(row.quantity);
    }
    return quantities;
  };
  EXPECT_EQ(differing(), (std::set<std::string>{"registers a core", "warp size"}));
  // Another chip file: eight controllers, 56 cores.
  platform = dapper_platform("dapper64");
  ASSERT_TRUE(platform) << platform.error().text();
  const auto changed = differing();
  EXPECT_TRUE(changed.contains("shader cores"));
  EXPECT_TRUE(changed.contains("memory controllers"));
  EXPECT_TRUE(changed.contains("mesh"));
  EXPECT_FALSE(changed.contains("channel width"));
}

TEST(ReproduceDapper, OtherFiguresDiffer) {
  DapperStudy study = as_in_the_paper();
  for (auto& [application, runs] : study.runs) {
    runs["dapper"] = run(1400, 90, 0.2);
    runs["dapper"].reply_latency = 400;
  }
  EXPECT_EQ(status_of(study, "Fig. 8a", "Dapper over baseline, mean"), "differs");
  EXPECT_EQ(status_of(study, "Fig. 8b", "saves, most"), "differs");
  EXPECT_EQ(status_of(study, "Fig. 8c", "Dapper over baseline"), "differs");
  EXPECT_EQ(status_of(study, "Fig. 9", "10%, mean"), "differs");
  EXPECT_EQ(status_of(study, "Fig. 7b", "rises with the threshold"), "differs");
}

TEST(ReproduceDapper, WhatWasNotRunHasNoRow) {
  DapperStudy study = as_in_the_paper();
  for (auto& [application, runs] : study.runs) runs.erase("dapper-20");
  EXPECT_EQ(status_of(study, "Fig. 9", "20%, mean"), "no row");
  EXPECT_EQ(status_of(study, "Fig. 9", "15%, mean"), "matches");
}

TEST(ReproduceDapper, TellsTheLoadThatDapperCarries) {
  DapperStudy study = as_in_the_paper();
  double flits = 400;
  for (auto& [application, runs] : study.runs) {
    runs["baseline"].network_cycles = 1000;
    runs["dapper"].reply_flits = flits;
    if (flits > 900) runs["dapper"].cycles = 1400;
    flits += 200;
  }
  Reproduction out;
  add_dapper_rows(out, study);
  const auto row = std::ranges::find_if(out.rows, [](const ReproductionRow& one) {
    return one.quantity.find("makes no longer") != std::string::npos;
  });
  ASSERT_NE(row, out.rows.end());
  EXPECT_DOUBLE_EQ(row->ours.get<double>(), 0.8);
  EXPECT_NE(row->note.find("no run whose baseline delivers more than one"), std::string::npos);
}

TEST(ReproduceDapper, EverySensitivityHasItsBaseline) {
  for (const bool quick : {true, false}) {
    const auto variants = dapper_variants(quick);
    for (const DapperVariant& variant : variants) {
      if (variant.what.empty()) continue;
      const auto base = std::ranges::find(variants, variant.against, &DapperVariant::name);
      ASSERT_NE(base, variants.end()) << variant.name;
      EXPECT_EQ(base->settings, variant.settings) << variant.name;
      EXPECT_EQ(base->device, variant.device) << variant.name;
      EXPECT_EQ(base->options[1], "mesh") << variant.name;
    }
  }
}

TEST(ReproduceDapper, QuickLeavesAblationsOut) {
  const auto quick = dapper_variants(true);
  const auto all = dapper_variants(false);
  EXPECT_LT(quick.size(), all.size());
  for (const auto* plan : {&quick, &all}) {
    EXPECT_EQ(plan->front().name, "baseline");  // the exact run, which errors are taken against
    for (const DapperVariant& variant : *plan) {
      EXPECT_EQ(variant.options.front(), "--network") << variant.name;
    }
  }
}

}  // namespace
}  // namespace ww::study::dapper
