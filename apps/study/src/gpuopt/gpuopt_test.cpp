// Rows of GPUOPT's reproduction from runs made by hand, and the networks of the study.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "gpuopt/gpuopt.hpp"
#include "ww/core/atomic_file.hpp"
#include "ww/core/temporary_folder.hpp"
#include "ww/sim/net/factory.hpp"

namespace ww::study::gpuopt {
namespace {

GpuoptRun run_of(double cycles, double laser_pj, double wait, double lit) {
  GpuoptRun run;
  run.cycles = 100 * cycles;  // over a hundred epochs
  run.laser_pj = 100 * laser_pj;
  run.network_pj = run.laser_pj + 10;
  run.wait_cycles = wait;
  run.lit_units = lit;
  run.busy_stations = 2;
  run.l1_accesses = 100;
  run.requests = 50;
  run.flits = 10;
  run.reply_flits = 6;
  return run;
}

const ReproductionRow* find(const Reproduction& out, const std::string& figure,
                            const std::string& quantity) {
  const auto row = std::find_if(out.rows.begin(), out.rows.end(), [&](const auto& one) {
    return one.figure == figure && one.quantity.find(quantity) != std::string::npos;
  });
  return row == out.rows.end() ? nullptr : &*row;
}

GpuoptStudy as_the_paper() {
  GpuoptStudy study;
  double rank = 1;
  for (const std::string& application : gpuopt_applications()) {
    auto& runs = study.runs[application];
    runs["emesh"] = run_of(1800, 0, 0, 0);
    runs["gpuopt"] = run_of(1000, 1000, 9.022, 16);
    runs["ps"] = run_of(1110, 1110 * 0.41, 12.345 + rank, 5.2);
    runs["prior-opt"] = run_of(1170, 1170 * 1.242, 0, 16);
    rank += 1;
  }
  return study;
}

TEST(GpuoptRows, MatchWhereTheRunsAreThePapers) {
  Reproduction out;
  add_gpuopt_rows(out, as_the_paper());
  const auto* mean = find(out, "Fig. 12", "a 256-bit flit a cycle), mean");
  ASSERT_NE(mean, nullptr);
  EXPECT_NEAR(mean->ours.get<double>(), 1.8, 1e-9);
  EXPECT_EQ(mean->status, "matches");
  const auto* laser = find(out, "Fig. 15", "PS_GPUOPT against GPUOPT");
  ASSERT_NE(laser, nullptr);
  EXPECT_NEAR(laser->ours.get<double>(), -59, 1e-9);
  EXPECT_EQ(laser->status, "matches");
  const auto* share = find(out, "Fig. 3", "cross the network");
  ASSERT_NE(share, nullptr);
  EXPECT_NEAR(share->ours.get<double>(), 50, 1e-9);
  const auto* gain = find(out, "Fig. 14", "GPUOPT over PS_GPUOPT");
  ASSERT_NE(gain, nullptr);
  EXPECT_NEAR(gain->ours.get<double>(), 11, 1e-9);
}

TEST(GpuoptRows, DifferWhereTheyAreNot) {
  GpuoptStudy study = as_the_paper();
  for (auto& [application, runs] : study.runs) runs["gpuopt"].cycles = 360000;
  Reproduction out;
  add_gpuopt_rows(out, study);
  const auto* mean = find(out, "Fig. 12", "a 256-bit flit a cycle), mean");
  ASSERT_NE(mean, nullptr);
  EXPECT_NEAR(mean->ours.get<double>(), 0.5, 1e-9);
  EXPECT_EQ(mean->status, "differs");
}

TEST(GpuoptRows, SayUnavailableOfWhatDidNotRun) {
  GpuoptStudy study = as_the_paper();
  study.failures["bp"] = "no device";
  Reproduction out;
  add_gpuopt_rows(out, study);
  const auto* bufferless = find(out, "Fig. 13", "bufferless");
  ASSERT_NE(bufferless, nullptr);
  EXPECT_TRUE(bufferless->ours.is_null());
  EXPECT_EQ(bufferless->status, "unavailable");
  const auto* failed = find(out, "all", "bp");
  ASSERT_NE(failed, nullptr);
  EXPECT_EQ(failed->note, "no device");
}

TEST(GpuoptRows, LeaveOutWhatQuickDoesNotRun) {
  GpuoptStudy study = as_the_paper();
  study.quick = true;
  Reproduction out;
  add_gpuopt_rows(out, study);
  EXPECT_EQ(find(out, "Fig. 13", "bufferless"), nullptr);
  EXPECT_NE(find(out, "Fig. 12", "a 256-bit flit a cycle), mean"), nullptr);
  for (const GpuoptVariant& variant : gpuopt_variants(true)) EXPECT_TRUE(variant.quick);
  EXPECT_EQ(gpuopt_variants(true).size(), 10u);
}

TEST(GpuoptRows, RankTheApplicationsOfTable4) {
  Reproduction out;
  add_gpuopt_rows(out, as_the_paper());
  // Ours rise along the list; the paper's ranks are 6 9 3 2 7 1 8 4 5 10, so that Spearman's is
  // 0.1515.
  const auto* rank = find(out, "Table 4", "wait, PS_GPUOPT: rank");
  ASSERT_NE(rank, nullptr);
  EXPECT_NEAR(rank->ours.get<double>(), 0.151515, 1e-6);
  EXPECT_EQ(rank->status, "differs");
}

TEST(GpuoptRows, GiveEachAblationItsOwn) {
  GpuoptStudy study = as_the_paper();
  for (auto& [application, runs] : study.runs) {
    runs["prior-128"] = run_of(1300, 1300, 0, 16);
    runs["units-63"] = run_of(800, 1000, 4, 63);
    runs["ps-lit"] = run_of(1200, 1200 * 0.5, 12, 4);
    runs["hold-4"] = run_of(900, 900, 9, 16);
    runs["ps-hold-4"] = run_of(990, 990 * 0.3, 9, 16);
    runs["ps"].epochs_by_lit = std::vector<double>(17, 0);
    runs["ps"].epochs_by_held = std::vector<double>(17, 0);
    runs["ps"].epochs_by_lit[14] = 4;
    runs["ps"].epochs_by_held[1] = 3;
    runs["ps"].epochs_by_held[12] = 1;
  }
  Reproduction out;
  add_gpuopt_rows(out, study);
  EXPECT_NEAR(find(out, "Fig. 14", "Prior_Opt, 128 wavelengths")->ours.get<double>(), 30, 1e-9);
  EXPECT_NEAR(find(out, "Fig. 14", "never short")->ours.get<double>(), 25, 1e-9);
  EXPECT_NEAR(find(out, "Fig. 15", "the units that were lit: laser")->ours.get<double>(), -50,
              1e-9);
  EXPECT_NEAR(find(out, "Table 4", "at most 5 units")->ours.get<double>(), 75, 1e-9);
  for (const auto& row : out.rows) {
    if (row.quantity.find("128 wavelengths") != std::string::npos) {
      EXPECT_EQ(row.status, kOurs);
    }
  }
  EXPECT_EQ(find(out, "Fig. 14", "W the waits"), nullptr);  // did not run
  // A reading that changes GPUOPT, too, is compared with GPUOPT by that reading.
  EXPECT_NEAR(find(out, "Fig. 14", "GPUOPT over PS_GPUOPT, 4 messages")->ours.get<double>(), 10,
              1e-9);
  // The note stands beside every network that ran, and no other.
  const std::string note = find(out, "Fig. 14", "GPUOPT, 4 messages a grab: performance")->note;
  EXPECT_NE(note.find("; 2.000 x EMESH"), std::string::npos) << note;
  EXPECT_NE(note.find("; 1.444 x Prior_Opt, 128 wavelengths"), std::string::npos) << note;
  EXPECT_EQ(note.find("10 Gb/s"), std::string::npos) << note;
}

TEST(GpuoptRows, LeaveBoundsOutOfTheParetoFront) {
  GpuoptStudy study = as_the_paper();
  for (auto& [application, runs] : study.runs) {
    runs["perfect"] = run_of(1000, 100, 9, 2);
    runs["cap-4"] = run_of(1400, 1400 * 0.4, 20, 5);
  }
  Reproduction out;
  add_gpuopt_rows(out, study);
  const auto chart = std::find_if(out.charts.begin(), out.charts.end(),
                                  [](const auto& one) { return one.contains("points"); });
  ASSERT_NE(chart, out.charts.end());
  std::set<std::string> front;
  for (const auto& point : (*chart)["points"]) {
    if (point["front"]) front.insert(point["name"].get<std::string>());
  }
  // PS_GPUOPT is slower at less, GPUOPT faster at more; 4 units at most are worse in both.
  EXPECT_EQ(front, (std::set<std::string>{"GPUOPT", "PS_GPUOPT"}));
}

TEST(GpuoptRows, SayThatNoWidthOfPriorOptFitsBothFigures) {
  GpuoptStudy study = as_the_paper();  // 64 wavelengths fit both
  for (auto& [application, runs] : study.runs) runs["prior-128"] = run_of(900, 2000, 0, 16);
  const auto status = [](const GpuoptStudy& of) {
    Reproduction out;
    add_gpuopt_rows(out, of);
    return find(out, "Fig. 14", "a width of Prior_Opt")->status;
  };
  EXPECT_EQ(status(study), kMatches);
  for (auto& [application, runs] : study.runs) runs["prior-opt"] = run_of(1170, 500, 0, 16);
  EXPECT_EQ(status(study), kDiffers);
}

TEST(GpuoptRows, LeaveRunsOfFewEpochsOutOfWhatTheyControl) {
  GpuoptStudy study = as_the_paper();
  auto& nn = study.runs["nn"];
  nn["ps"].cycles = 6000;
  nn["ps"].laser_pj = 60000;  // as if every laser had stayed lit
  nn["gpuopt"].cycles = 6000;
  nn["gpuopt"].laser_pj = 6000;
  Reproduction out;
  add_gpuopt_rows(out, study);
  EXPECT_NEAR(find(out, "Fig. 15", "PS_GPUOPT against GPUOPT")->ours.get<double>(), -59, 1e-9);
}

TEST(GpuoptRows, AreVacuousWhereEveryApplicationIsAtPar) {
  GpuoptStudy study = as_the_paper();
  for (auto& [application, runs] : study.runs) runs["emesh-10g"] = run_of(1040, 0, 0, 0);
  Reproduction out;
  add_gpuopt_rows(out, study);
  const auto* quiet = find(out, "Fig. 12", "GS, HS, HYS (256 wires");
  ASSERT_NE(quiet, nullptr);
  EXPECT_EQ(quiet->status, kVacuous);
  study.runs["bfs"]["emesh-10g"].cycles = 400000;
  Reproduction again;
  add_gpuopt_rows(again, study);
  EXPECT_EQ(find(again, "Fig. 12", "GS, HS, HYS (256 wires")->status, kMatches);
}

TEST(GpuoptRows, DeriveTheBarsOfFigure15FromTable4) {
  Reproduction out;
  add_gpuopt_rows(out, as_the_paper());
  const auto* quiet = find(out, "Fig. 15", "over GPUOPT's: hys");
  ASSERT_NE(quiet, nullptr);
  EXPECT_NEAR(quiet->paper.get<double>(), 100 * (3.17 / 18 - 1), 1e-9);
  EXPECT_NEAR(quiet->ours.get<double>(), -59, 1e-9);
  EXPECT_EQ(quiet->status, kDiffers);
  EXPECT_EQ(find(out, "Fig. 15", "over GPUOPT's: bp")->status, kMatches);  // 8.2 of 18
}

TEST(GpuoptRows, CountWhatGoesFromL1ToL1) {
  GpuoptStudy study = as_the_paper();
  const auto coherence = [&] {
    Reproduction out;
    add_gpuopt_rows(out, study);
    return *find(out, "Fig. 4", "coherence");
  };
  EXPECT_EQ(coherence().status, kVacuous);
  for (auto& [application, runs] : study.runs) {
    runs["emesh"].packets = 200;
    runs["emesh"].coherence_packets = 3;
  }
  EXPECT_EQ(coherence().status, kMatches);
  EXPECT_DOUBLE_EQ(coherence().ours.get<double>(), 1.5);
  study.runs["bp"]["emesh"].coherence_packets = 150;
  EXPECT_EQ(coherence().status, kDiffers);
}

TEST(GpuoptRows, ConstantsNeverMatch) {
  Reproduction out;
  add_gpuopt_rows(out, as_the_paper());
  for (const auto& row : out.rows) {
    if (row.figure == "Table 1") {
      EXPECT_EQ(row.status, kByConstruction) << row.quantity;
    }
  }
}

TEST(GpuoptPlatform, IsReadFromChipAndNetwork) {
  const GpuoptVariant emesh = gpuopt_variants(true).front();
  const auto differing = [&](const char* chip, const GpuoptVariant& variant) {
    std::set<std::string> quantities;
    const auto platform = gpuopt_platform(chip, variant);
    EXPECT_TRUE(platform) << platform.error().text();
    if (!platform) return quantities;
    Reproduction out;
    add_gpuopt_platform(out, *platform);
    for (const auto& row : out.rows) {
      EXPECT_NE(row.status, kMatches) << row.quantity;
      if (row.status == kDiffers) quantities.insert(row.quantity);
    }
    return quantities;
  };
  const auto known = differing("gpuopt", emesh);
  EXPECT_EQ(known, (std::set<std::string>{"SPs an SM", "registers an SM", "line of the L2",
                                          "data rate of EMESH's wires"}));
  GpuoptVariant wider = emesh;
  wider.system.network.flit_bits = 512;
  EXPECT_TRUE(differing("gpuopt", wider).contains("flit of EMESH"));
  // Changes the L1 in a copy of the chip file.
  auto text = read_file(WW_GPUOPT_CHIP);
  ASSERT_TRUE(text) << text.error().text();
  const std::string key = "l1_bytes = 32768";
  const std::size_t at = text->find(key);
  ASSERT_NE(at, std::string::npos);
  text->replace(at, key.size(), "l1_bytes = 65536");
  const auto folder = ScratchFolder::create("chip");
  ASSERT_TRUE(folder) << folder.error().text();
  const std::string file = (folder->path() / "larger-l1.toml").string();
  ASSERT_TRUE(write_file_atomically(file, *text));
  auto changed = known;
  changed.insert("L1");
  EXPECT_EQ(differing(file.c_str(), emesh), changed);
}

TEST(GpuoptVariants, AreNetworksThatCanBeBuilt) {
  std::set<std::string> names;
  for (const GpuoptVariant& variant : gpuopt_variants(false)) {
    EXPECT_TRUE(names.insert(variant.name).second) << variant.name;
    const auto network = sim::net::make_network(variant.system.network);
    EXPECT_TRUE(network.has_value()) << variant.name << ": " << network.error().text();
  }
  EXPECT_LT(gpuopt_variants(true).size(), names.size());
}

}  // namespace
}  // namespace ww::study::gpuopt
