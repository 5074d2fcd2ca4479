// project: a calibration on other nodes, voltages and caches, as users run it.
#include <gtest/gtest.h>

#include <fstream>
#include <map>

#include "calibrated.hpp"
#include "process.hpp"

namespace ww::e2e {
namespace {

using nlohmann::json;

class Project : public Calibrated {};

// The virtual W9100 is of 28 nm. To the card's own node, wires cost what was fitted.
TEST_F(Project, StartsFromTheNodeOfTheCard) {
  const auto projected = [&](const std::string& file, std::vector<std::string> more) {
    std::vector<std::string> words{wirewatt(), "project", "--model", file, "--json"};
    words.insert(words.end(), more.begin(), more.end());
    return parse(run(words));
  };
  const auto first_published = [](const json& result) {
    for (const json& row : result.at("node")) {
      if (row.at("status") != "by_construction") return row;
    }
    return json();
  };
  const auto own = projected(model(), {"--node", "28nm"});
  const double fitted = own.at("energy_fj_per_bit_mm").get<double>();
  EXPECT_EQ(own.at("card_node_nm"), 28);
  EXPECT_NEAR(first_published(own).at("energy_fj_per_bit_mm").get<double>(), fitted, 1e-9);
  const auto given = projected(model(), {"--node", "7nm", "--card-node", "7nm"});
  EXPECT_NEAR(first_published(given).at("energy_fj_per_bit_mm").get<double>(), fitted, 1e-9);
  EXPECT_LT(first_published(projected(model(), {"--node", "7nm"}))
                .at("energy_fj_per_bit_mm")
                .get<double>(),
            fitted);

  const TemporaryFolder folder;
  auto of_a_card = json::parse(std::ifstream(model()));
  of_a_card["device"] = "a card";
  of_a_card["virtual"] = false;
  const auto file = folder.path() / "model.json";
  const auto of_architecture = [&](const std::string& architecture) {
    of_a_card["target"] = architecture;
    std::ofstream(file) << of_a_card;
    return projected(file.string(), {"--node", "7nm"});
  };
  EXPECT_EQ(of_architecture("gfx908").at("card_node_nm"), 7);
  const auto row = first_published(of_architecture("gfx9999"));
  EXPECT_TRUE(row.at("energy_fj_per_bit_mm").is_null());
  EXPECT_EQ(row.at("status"), "unavailable");
  EXPECT_NE(row.at("reason").get<std::string>().find("--card-node"), std::string::npos);
}

// The calibration's intervals of an energy and of the voltage's exponent go with what follows.
TEST_F(Project, HasTheIntervalsOfTheCalibration) {
  const std::vector<std::string> command{wirewatt(), "project", "--model", model(),
                                         "--node",   "28nm",    "--json"};
  auto lower = command;
  lower.insert(lower.end(), {"--voltage", "0.9", "--clock", "8e8"});
  const json result = parse(run(lower));
  const auto fitted = json::parse(std::ifstream(model())).at("energy_fj_per_bit_mm");
  const auto half_width = [](const json& figure) {
    return (figure.at("high").get<double>() - figure.at("low").get<double>()) / 2 /
           figure.at("value").get<double>();
  };
  const json& own = result.at("energy_interval_fj_per_bit_mm");
  EXPECT_EQ(own.at("low"), fitted.at("low"));
  EXPECT_EQ(own.at("high"), fitted.at("high"));
  const json& published = result.at("node").at(1).at("energy_interval_fj_per_bit_mm");
  EXPECT_NEAR(half_width(published), half_width(own), 1e-9);
  const json& dvfs = result.at("dvfs");
  EXPECT_GT(half_width(dvfs.at("energy_factor_interval")), 0.001);
  // The interval is as wide as the energy's, or wider; its ends are products, which round.
  EXPECT_GE(half_width(dvfs.at("power_factor_interval")),
            half_width(dvfs.at("energy_factor_interval")) * (1 - 1e-12));
  EXPECT_GT(half_width(dvfs.at("energy_interval_fj_per_bit_mm")), half_width(own));
  for (const auto& [option, value] : {std::pair{"--voltage", "900"}, std::pair{"--clock", "930"}}) {
    auto slip = command;
    slip.insert(slip.end(), {option, value});
    const auto refused = run(slip);
    EXPECT_EQ(refused.exit_code, 2);
    EXPECT_NE(refused.err.find(option), std::string::npos) << refused.err;
    EXPECT_NE(refused.err.find("make sense"), std::string::npos) << refused.err;
  }
}

TEST_F(Project, GivesThePapersShareByConstruction) {
  const auto result =
      parse(run({wirewatt(), "project", "--model", model(), "--node", "7nm", "--json"}));
  bool found = false;
  for (const json& row : result.at("node")) {
    if (row.at("status") != "by_construction") continue;
    found = true;
    EXPECT_NEAR(row.at("shares")[0].at("share_percent").get<double>(), 21.9, 0.05);
  }
  EXPECT_TRUE(found);
  EXPECT_EQ(run({wirewatt(), "project", "--model", model(), "--node", "purple"}).exit_code, 2);
}

TEST_F(Project, RefusesOptionsThatNothingWouldRead) {
  const std::vector<std::pair<std::vector<std::string>, std::string>> cases{
      {{"--optimise"}, "--counters"},
      {{"--seed", "5"}, "--optimise"},
      {{"--l1", "8"}, "--trace"},
      {{"--l2", "512"}, "--trace"}};
  for (const auto& [words, needed] : cases) {
    std::vector<std::string> command{wirewatt(), "project", "--model", model()};
    command.insert(command.end(), words.begin(), words.end());
    const auto refused = run(command);
    EXPECT_EQ(refused.exit_code, 2) << words.front();
    EXPECT_NE(refused.err.find("needs " + needed), std::string::npos) << refused.err;
  }
}

TEST_F(Project, ReplaysATraceThroughOtherCaches) {
  const auto trace = (folder_->path() / "out.wwt").string();
  const auto counters = (folder_->path() / "traced.csv").string();
  std::vector<std::string> command{wirewatt(), "run", "--counters", counters,
                                   "--trace",  trace, "--"};
  for (const auto& word : workload("convtex")) command.push_back(word);
  ASSERT_EQ(run(command).exit_code, 0);
  const auto result = parse(run({wirewatt(), "project", "--model", model(), "--counters", counters,
                                 "--trace", trace, "--json"}));
  std::map<int, double> by_l1;
  for (const json& row : result.at("caches")) {
    if (row.at("l2_kib") == 1024) by_l1[row.at("l1_kib")] = row.at("l1_l2_bytes");
  }
  ASSERT_EQ(by_l1.size(), 2U);
  EXPECT_LE(by_l1[16], by_l1[4]);
  // The replay agrees with the counters at the chip's own size: it lacks only what two waves ask
  // for at once.
  const double counted = result.at("layout").at("l1_l2_bits").get<double>() / 8;
  EXPECT_NEAR(by_l1[16], counted, 0.25 * counted);

  // A virtual trace stays virtual beside a card's calibration.
  auto of_a_card = json::parse(std::ifstream(model()));
  of_a_card["device"] = "a card";
  of_a_card["virtual"] = false;
  const auto file = (folder_->path() / "card.json").string();
  std::ofstream(file) << of_a_card;
  const std::vector<std::string> words{wirewatt(), "project", "--model", file, "--trace", trace};
  const auto text = run(words).out;
  EXPECT_EQ(text.find("a card (virtual)"), std::string::npos) << text;
  EXPECT_NE(text.find("caches for the trace of virtual:w9100 (virtual)"), std::string::npos);
  std::vector<std::string> as_json = words;
  as_json.emplace_back("--json");
  const auto mixed = parse(run(as_json));
  EXPECT_TRUE(mixed.at("virtual"));
  EXPECT_FALSE(mixed.at("calibration_virtual"));
  EXPECT_EQ(mixed.at("trace").at("producer"), "virtual:w9100");
}

}  // namespace
}  // namespace ww::e2e
