// How a reproduction is ordered, summed up and printed.
#include "reproduction/reproduction.hpp"

#include <gtest/gtest.h>

#include <set>
#include <sstream>

#include "reproduction/kept_runs.hpp"
#include "ww/core/atomic_file.hpp"
#include "ww/core/temporary_folder.hpp"
#include "ww/study/reproduce.hpp"

namespace ww::study {
namespace {

ReproductionRow row(std::string figure, std::string quantity, nlohmann::json paper,
                    nlohmann::json ours, const char* status) {
  return {
      std::move(figure), std::move(quantity), std::move(paper), std::move(ours), "%", status, ""};
}

std::string verdict(const nlohmann::json& paper, const nlohmann::json& ours, const char* status) {
  Reproduction out;
  out.add(row("Fig. 1", "power saved, most", paper, ours, status));
  out.headline("power is saved", "Fig. 1", "power saved");
  return out.summary.empty() ? "no headline" : out.summary.front().verdict;
}

TEST(Headline, SaysHowFarAnotherFigureIs) {
  EXPECT_EQ(verdict(50, 52, kMatches), "as the paper says");
  EXPECT_EQ(verdict(1, 294, kDiffers), "294 times the paper's");
  EXPECT_EQ(verdict(-59, -25, kDiffers), "42% of the paper's");
  EXPECT_EQ(verdict(17, -13, kDiffers), "the opposite sign");
  EXPECT_EQ(verdict(17, 16, kOurs), "within a fifth of the paper's");
  EXPECT_EQ(verdict("similar", 90, kDiffers), "differs");
  EXPECT_EQ(verdict("about 1", 71, kOurs), "another reading, not judged");
  EXPECT_EQ(verdict(nullptr, 71, kOurs), "no figure in the paper");
  EXPECT_EQ(verdict("below 1", 0, kVacuous), "holds only because nothing happened");
  EXPECT_EQ(verdict(8, nullptr, kUnavailable), "missing here");
}

TEST(Headline, GivesAUnitToNumbersAlone) {
  const auto paper = [](const nlohmann::json& value) {
    Reproduction out;
    out.add(row("Fig. 1", "power saved, most", value, 1, kDiffers));
    out.headline("power is saved", "Fig. 1", "power saved");
    return out.summary.front().paper;
  };
  EXPECT_EQ(paper(50), "50 %");
  EXPECT_EQ(paper("over 45"), "over 45 %");
  EXPECT_EQ(paper("within 15%"), "within 15%");
  EXPECT_EQ(paper("linear"), "linear");
  Reproduction out;
  out.add(row("Fig. 1", "power saved, most", "within 15%", 1, kDiffers));
  EXPECT_EQ(reproduction_text(to_json(out)).find("% %"), std::string::npos);
}

TEST(KeptRuns, AreFoundAndNameTheBuildThatMadeThem) {
  const auto folder = ScratchFolder::create("runs").value();
  const nlohmann::json what = {{"application", "dct"}};
  KeptRuns first("one");
  EXPECT_FALSE(first.has(folder.path(), what));
  ASSERT_TRUE(first.keep(folder.path(), what));
  EXPECT_EQ(first.builds(), std::set<std::string>{"one"});
  KeptRuns second("two");
  EXPECT_FALSE(second.has(folder.path(), {{"application", "bfs"}}));
  EXPECT_TRUE(second.builds().empty());
  EXPECT_TRUE(second.has(folder.path(), what));
  ASSERT_TRUE(second.keep(folder.path(), {{"application", "bfs"}}));
  EXPECT_EQ(second.builds(), (std::set<std::string>{"one", "two"}));
  // Writes the file as earlier programs left it, and damaged.
  ASSERT_TRUE(write_file_atomically(folder.path() / "done.json", what.dump()));
  KeptRuns third("three");
  EXPECT_TRUE(third.has(folder.path(), what));
  EXPECT_EQ(third.builds(), std::set<std::string>{"unknown"});
  ASSERT_TRUE(write_file_atomically(folder.path() / "done.json", "{"));
  EXPECT_FALSE(third.has(folder.path(), what));
}

TEST(Headline, NeedsItsRow) {
  Reproduction out;
  out.add(row("Fig. 1", "power saved", 1, 1, kMatches));
  out.headline("time is lost", "Fig. 2", "time");
  EXPECT_TRUE(out.summary.empty());
}

TEST(RowOrder, IsTablesFiguresSectionsAndThenOurs) {
  std::vector<ReproductionRow> rows{
      row("section 8.2", "a", 1, 1, kDiffers), row("Fig. 14", "b", 1, 1, kOurs),
      row("Fig. 14", "c", 1, 1, kMatches),     row("Fig. 2", "d", 1, 1, kMatches),
      row("design space", "e", 1, 1, kOurs),   row("Table 4", "f", 1, 1, kMatches),
      row("Fig. 8b", "g", 1, 1, kMatches),     row("Fig. 8a", "h", 1, 1, kMatches),
      row("Fig. 2", "i", 1, 1, kMatches)};
  sort_by_figure(rows);
  std::string order;
  for (const auto& one : rows) order += one.quantity;
  EXPECT_EQ(order, "fdihgcabe");
}

TEST(ReproductionJson, HasTheSummaryBeforeItsRowsAndCountsEveryStatus) {
  Reproduction out;
  out.add(row("Fig. 1", "power saved", 50, 20, kDiffers));
  out.add(row("Fig. 1", "of which leakage", nullptr, 20, kPicture));
  out.headline("power is saved", "Fig. 1", "power saved");
  const auto json = to_json(out);
  const std::string text = json.dump();
  EXPECT_LT(text.find("\"summary\""), text.find("\"rows\""));
  EXPECT_EQ(json["summary"][0]["paper"], "50 %");
  EXPECT_EQ(json["summary"][0]["ours"], "20 %");
  int rows = 0;
  for (const auto& count : json["counts"]) rows += count.get<int>();
  EXPECT_EQ(rows, 2);
  EXPECT_EQ(json["counts"]["picture"], 1);
}

TEST(ReproductionText, KeepsLinesShortAndNumbersPlain) {
  Reproduction out;
  out.add(row("Table 1", "registers a core", 32768, 65536, kDiffers));
  std::string name = "a quantity with a very long name";
  for (int i = 0; i < 8; ++i) name += " that goes on and on";
  out.add(row("Fig. 1", name, "for all applications that the paper has", 1, kMatches));
  out.add(row("Fig. 1", std::string(200, 'x'), nullptr, 0.012345, kOurs));
  out.headline(name, "Fig. 1", "a quantity");
  std::istringstream text(reproduction_text(to_json(out)));
  std::string all;
  for (std::string line; std::getline(text, line);) {
    EXPECT_LE(line.size(), 118u) << line;
    all += line + "\n";
  }
  EXPECT_NE(all.find("32,768 %"), std::string::npos) << all;
  EXPECT_NE(all.find("0.01235 %"), std::string::npos) << all;
  EXPECT_LT(all.find("VERDICT"), all.find("Table 1"));
  EXPECT_LT(all.find("1 match the paper"), all.find("Table 1")) << all;
  EXPECT_LT(all.find("for all"), all.find("QUESTIONS OF OURS"));
}

}  // namespace
}  // namespace ww::study
