// Rows and charts of IISWC'16's applications, from runs made by hand.
#include <gtest/gtest.h>

#include <algorithm>

#include "iiswc16/iiswc16.hpp"

namespace ww::study::iiswc16 {
namespace {

using nlohmann::json;

Application application(const std::string& name, double share) {
  Application app;
  app.name = name;
  app.seconds = 1e-3;
  app.bytes = {4e6, 2e6, 1e6};
  app.moved = {1e6, 2e6, 2e6};
  app.share = share;
  app.share_moved = share / 2;
  app.share_percent = {share / 2, share / 4, share / 4};
  app.dynamic_w = 100;
  app.l1_l2 = {4e6, 3e6};
  app.l2_memory = {2e6, 1e6};
  model::ShareBounds bounds;
  bounds.rest_w = {40, 200};
  bounds.share_percent = {share / 2, share * 3};
  bounds.known = {{"L2", {share / 2, share * 2}, 0.25}, {"L1", {share / 2, share * 3}, 0}};
  app.bounds = bounds;
  return app;
}

Reproduction rows_of(std::vector<Application> apps) {
  ApplicationRuns runs;
  for (const auto& app : apps) runs.programs.push_back(app.name);
  runs.applications = std::move(apps);
  Reproduction out;
  add_application_rows(out, runs);
  return out;
}

const ReproductionRow& row(const Reproduction& out, const std::string& quantity) {
  static const ReproductionRow kNone;
  const auto found = std::ranges::find_if(out.rows, [&](const ReproductionRow& one) {
    return one.quantity.find(quantity) != std::string::npos;
  });
  EXPECT_NE(found, out.rows.end()) << quantity;
  return found == out.rows.end() ? kNone : *found;
}

const json& bar(const Reproduction& out, const std::string& figure, const std::string& name) {
  static const json kNone;
  for (const json& chart : out.charts) {
    if (!chart.at("title").get<std::string>().starts_with(figure)) continue;
    for (const json& one : chart.at("bars")) {
      if (one.at("name") == name) return one;
    }
  }
  ADD_FAILURE() << "no bar of " << name << " in " << figure;
  return kNone;
}

TEST(ApplicationRows, SayHowFarPublicRangesLeaveAShareOpen) {
  const auto out = rows_of({application("color", 2), application("fwt", 4)});
  EXPECT_EQ(row(out, "color: share within the public ranges").ours, "1 to 6");
  const auto& mean = row(out, "mean share within the public ranges");
  EXPECT_EQ(mean.ours, "1.5 to 9");
  EXPECT_EQ(mean.status, kOurs);
  const auto& most = row(out, "range that matters most");
  EXPECT_EQ(most.ours, "L2");
  EXPECT_NE(most.note.find("L2 25%"), std::string::npos) << most.note;
}

TEST(ApplicationRows, CountProgramsThatTakeMoreThanTheCardCanDraw) {
  auto hot = application("scan", 2);
  hot.dynamic_w = 255;
  EXPECT_EQ(row(rows_of({hot, application("fwt", 4)}), "beyond what the card can draw").ours, 1);
}

TEST(ApplicationRows, ShowThePapersFormulaBesideTheBytesThatMoved) {
  const auto out = rows_of({application("color", 2)});
  EXPECT_EQ(row(out, "color: share with the bytes that moved").ours, 1);
  EXPECT_EQ(row(out, "those that moved, registers-L1").ours, 4);
  EXPECT_EQ(row(out, "those that moved, L1-L2").ours, 1);
  EXPECT_EQ(row(out, "those that moved, L2-memory").ours, 0.5);
}

// As the paper's figure, which has two bars for each application and their mean. 14.3% become 21.9%
// at 7 nm, so wires grow by r = 1.68 beside the rest: s r / (s r + 1 - s).
TEST(ApplicationRows, DrawSharesAtBothNodesWithThePapersMarks) {
  const auto out = rows_of({application("color", 14.3), application("fwt", 0)});
  EXPECT_EQ(bar(out, "Fig. 10", "color").at("parts"), json({14.3 / 2, 14.3 / 4, 14.3 / 4}));
  EXPECT_EQ(bar(out, "Fig. 10", "color").at("mark"), 14.3);
  const auto& then = bar(out, "Fig. 10", "color, 7 nm");
  EXPECT_EQ(then.at("mark"), 21.9);
  EXPECT_NEAR(then.at("parts")[0].get<double>(), 21.9 / 2, 0.05);
  EXPECT_NEAR(then.at("parts")[2].get<double>(), 21.9 / 4, 0.05);
  EXPECT_FALSE(bar(out, "Fig. 10", "fwt").contains("mark"));
  EXPECT_EQ(bar(out, "Fig. 10", "fwt, 7 nm").at("parts"), json({0.0, 0.0, 0.0}));
  EXPECT_EQ(bar(out, "Fig. 10", "mean").at("mark"), 5.6);
  EXPECT_NEAR(bar(out, "Fig. 10", "mean").at("parts")[0].get<double>(), 14.3 / 4, 1e-12);
  EXPECT_EQ(bar(out, "Fig. 10", "mean, 7 nm").at("mark"), 8.9);
  EXPECT_NEAR(bar(out, "Fig. 10", "mean, 7 nm").at("parts")[0].get<double>(), 21.9 / 4, 0.03);
}

TEST(ApplicationRows, DrawPowerOverTheBaselinesWithThePapersMarks) {
  auto swat = application("swat", 1);
  swat.l1_l2 = {4e6, 2e6};
  const auto out = rows_of({swat, application("comd", 1), application("eigen", 1)});
  EXPECT_EQ(bar(out, "Fig. 13", "swat").at("parts"), json({0.5}));
  EXPECT_DOUBLE_EQ(bar(out, "Fig. 13", "swat").at("mark").get<double>(), 0.63);
  EXPECT_NEAR(bar(out, "Fig. 13", "mean").at("parts")[0].get<double>(), 2.0 / 3, 1e-12);
  EXPECT_DOUBLE_EQ(bar(out, "Fig. 13", "mean").at("mark").get<double>(), 0.91);
  EXPECT_EQ(bar(out, "Fig. 14", "comd").at("parts"), json({0.5}));
  EXPECT_DOUBLE_EQ(bar(out, "Fig. 14", "comd").at("mark").get<double>(), 0.75);
  EXPECT_FALSE(bar(out, "Fig. 14", "swat").contains("mark"));
  // Both layouts of Fig. 12: the baseline's parts make 1.
  const auto& base = bar(out, "Fig. 12", "eigen, L2-MC optimised").at("parts");
  EXPECT_NEAR(base[0].get<double>() + base[1].get<double>(), 1, 1e-12);
  const auto& other = bar(out, "Fig. 12", "eigen").at("parts");
  // 17.0 and 7.6 units become 3.5 and 12.0 (section VIII.A); two of three bits go from L1 to L2.
  const double base_units = 2 * 17.0 + 7.6;
  EXPECT_NEAR(other[0].get<double>(), 2 * 3.5 / base_units, 1e-12);
  EXPECT_NEAR(other[1].get<double>(), 12.0 / base_units, 1e-12);
  EXPECT_NEAR(bar(out, "Fig. 12", "eigen").at("mark").get<double>(), 0.21, 1e-12);
}

TEST(ApplicationRows, NameWhatFailedAndGoOn) {
  Application failed;
  failed.name = "swat";
  failed.failure = "ended with 1; its log says why";
  const auto out = rows_of({failed, application("fwt", 4)});
  const auto& of_swat = row(out, "swat: interconnect share of dynamic power");
  EXPECT_EQ(of_swat.status, kUnavailable);
  EXPECT_TRUE(of_swat.ours.is_null());
  EXPECT_DOUBLE_EQ(row(out, "mean share over the applications").ours.get<double>(), 4);
}

}  // namespace
}  // namespace ww::study::iiswc16
