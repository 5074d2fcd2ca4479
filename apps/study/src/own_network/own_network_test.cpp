#include "own_network/own_network.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace ww::study {
namespace {

using nlohmann::json;

const ReproductionRow* row_of(const Reproduction& out, const std::string& quantity) {
  const auto found = std::ranges::find_if(out.rows, [&](const ReproductionRow& row) {
    return row.quantity.find(quantity) != std::string::npos;
  });
  return found == out.rows.end() ? nullptr : &*found;
}

TEST(OwnNetworkRun, TakesAllWiresThatTheCalibrationPrices) {
  const auto run = own_network_run(
      json::parse(
          R"({"cycles": 900, "energy_pj": {"total": 50, "link": 20, "bypass_link": 5, "clock": 3}})"),
      {200, 160, 240});
  ASSERT_TRUE(run) << run.error().text();
  EXPECT_DOUBLE_EQ(run->cycles, 900);
  EXPECT_DOUBLE_EQ(run->total_pj, 50);
  EXPECT_DOUBLE_EQ(run->wires_pj, 25);
  EXPECT_DOUBLE_EQ(run->wires_low_pj, 20);
  EXPECT_DOUBLE_EQ(run->wires_high_pj, 30);
  EXPECT_FALSE(own_network_run(json::parse(R"({"cycles": 900, "energy_pj": {}})"), {1, 1, 1}));
  EXPECT_FALSE(own_network_run(json::object(), {1, 1, 1}));
}

// 1,000 bits over a millimetre, of which a quarter change: 250 transitions at 400 fJ.
TEST(OwnNetworkRun, PaysForTheCrossbarsTransitionsAlone) {
  const auto run = own_network_run(json::parse(R"({"cycles": 900, "energy_pj": {
      "total": 500, "link": 160, "chip_wires": {"bit_mm": 1000, "toggle_rate": 0.25}}})"),
                                   {200, 150, 300});
  ASSERT_TRUE(run) << run.error().text();
  EXPECT_DOUBLE_EQ(run->wires_pj, 100);
  EXPECT_DOUBLE_EQ(run->total_pj, 440);
  EXPECT_DOUBLE_EQ(run->wires_low_pj, 75);
  EXPECT_DOUBLE_EQ(run->wires_high_pj, 150);
  // So do links, those of bypasses included.
  const auto mesh = own_network_run(json::parse(R"({"cycles": 900, "energy_pj": {
      "total": 500, "link": 120, "bypass_link": 40,
      "link_wires": {"bit_mm": 1000, "toggle_rate": 0.25}}})"),
                                    {200, 150, 300});
  ASSERT_TRUE(mesh) << mesh.error().text();
  EXPECT_DOUBLE_EQ(mesh->wires_pj, 100);
  EXPECT_DOUBLE_EQ(mesh->total_pj, 440);
}

// The mesh spends 100 pJ, 60 of them on wires; the crossbar 40, all on wires; the paper's 80, 20.
TEST(OwnNetworkRows, CompareWithTheMeshAndTheCrossbar) {
  OwnNetworkStudy study;
  PaperNetwork paper{"theirs", "Theirs", {}};
  paper.claim_energy = "0.5 at best";
  study.networks = {paper};
  study.runs["dct"] = {{kPlainMesh, {1000, 100, 60, 30, 90}},
                       {kOwnCrossbar, {500, 40, 40, 20, 60}},
                       {"theirs", {2000, 80, 20, 10, 30}}};
  Reproduction out;
  add_own_network_rows(out, study);
  ASSERT_EQ(out.rows.size(), 6U);
  const ReproductionRow* over_mesh = row_of(out, "Theirs: network energy over that of a mesh");
  ASSERT_NE(over_mesh, nullptr);
  EXPECT_EQ(over_mesh->paper, "0.5 at best");
  EXPECT_NEAR(over_mesh->ours.get<double>(), 0.8, 1e-9);
  EXPECT_EQ(over_mesh->status, kOurs) << "the paper's mesh is another one";
  // At the low end 70 of 70 pJ, at the high end 90 of 130 pJ.
  EXPECT_TRUE(over_mesh->note.starts_with("[0.692, 1]")) << over_mesh->note;
  const ReproductionRow* over_crossbar =
      row_of(out, "Theirs: network energy over that of the virtual W9100");
  ASSERT_NE(over_crossbar, nullptr);
  EXPECT_NEAR(over_crossbar->ours.get<double>(), 2, 1e-9);
  EXPECT_TRUE(over_crossbar->paper.is_null());
  EXPECT_NEAR(row_of(out, "own crossbar: network energy over")->ours.get<double>(), 0.4, 1e-9);
  EXPECT_NEAR(row_of(out, "Theirs: cycles over those of the virtual W9100")->ours.get<double>(), 4,
              1e-9);
}

TEST(OwnNetworkRows, AreLeftOutWithoutRuns) {
  Reproduction out;
  add_own_network_rows(out, OwnNetworkStudy{});
  EXPECT_TRUE(out.rows.empty());
}

}  // namespace
}  // namespace ww::study
