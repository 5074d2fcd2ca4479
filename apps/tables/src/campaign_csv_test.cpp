#include "ww/tables/campaign_csv.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "ww/core/atomic_file.hpp"
#include "ww/core/temporary_folder.hpp"
#include "ww/measure/csv.hpp"

namespace ww::tables {
namespace {

using testing::ElementsAre;

class CampaignCsv : public testing::Test {
 protected:
  void SetUp() override {
    auto store = CampaignStore::create(folder_ / "campaign.db");
    ASSERT_TRUE(store) << store.error().text();
    ASSERT_TRUE(store->put(campaign_keys::is_virtual, "true"));
    ASSERT_TRUE(store->put(campaign_keys::chip, R"({"name":"a, \"b\""})"));
    ASSERT_TRUE(store->begin_session());
    StoredRun run;
    run.block = 3;
    run.position = 1;
    run.kind = RunKind::stream;
    run.engine = 2;
    run.status = RunStatus::rejected;
    run.reason = "too hot,\nby \"far\"";
    run.start_ns = 5;
    run.end_ns = 9;
    run.payload_bits = 1.5e12;
    run.counters = {{"TCC_HIT_sum", 12}};
    run.waves = {{77, 4}};
    run.samples = {{6, 7, 100'000'001, 65'537, 41'500, std::nullopt, 930'000, true},
                   {8, 9, std::nullopt, std::nullopt, 0, std::nullopt, 930'000, false}};
    ASSERT_TRUE(store->add(run));
    StoredRun other;
    other.block = 4;
    other.kind = RunKind::idle;
    other.counters = {{"TCC_MISS_sum", 0}};
    ASSERT_TRUE(store->add(other));
    const auto written = write_campaign_csv(*store, folder_ / "csv");
    ASSERT_TRUE(written) << written.error().text();
    written_ = *written;
  }
  [[nodiscard]] std::vector<std::vector<std::string>> rows(const std::string& table) const {
    const auto text = read_file(folder_ / "csv" / (table + ".csv"));
    EXPECT_TRUE(text) << table;
    const auto parsed = measure::parse_csv(*text, table);
    EXPECT_TRUE(parsed) << parsed.error().text();
    std::vector<std::vector<std::string>> found;
    for (const auto& row : *parsed) found.push_back(row.fields);
    return found;
  }
  ScratchFolder scratch_ = ScratchFolder::create("tables").value();
  std::filesystem::path folder_ = scratch_.path();
  std::vector<WrittenTable> written_;
};

TEST_F(CampaignCsv, HasUnitsInTheNamesAndLeavesMissingReadingsEmpty) {
  const auto readings = rows("readings");
  ASSERT_EQ(readings.size(), 3U);
  EXPECT_THAT(readings[0],
              ElementsAre("block", "position", "time_ns", "poll_ns", "power_w", "energy_j",
                          "temperature_c", "voltage_v", "clock_mhz", "changed"));
  EXPECT_THAT(readings[1], ElementsAre("3", "1", "6", "7", "100.000001", "1.0000152587890625",
                                       "41.5", "", "930", "1"));
  // A temperature of 0 is one; a power that was not read is none.
  EXPECT_THAT(readings[2], ElementsAre("3", "1", "8", "9", "", "", "0", "", "930", "0"));
}

TEST_F(CampaignCsv, GivesEachCounterAColumnAndKeepsTextsWhole) {
  const auto runs = rows("runs");
  ASSERT_EQ(runs.size(), 3U);
  const auto column = [&runs](const std::string& name, std::size_t row) {
    const auto at = std::ranges::find(runs[0], name);
    EXPECT_NE(at, runs[0].end()) << name;
    return runs[row][static_cast<std::size_t>(at - runs[0].begin())];
  };
  const std::size_t stream = column("kind", 1) == "stream" ? 1 : 2;
  const std::size_t idle = 3 - stream;
  EXPECT_EQ(column("reason", stream), "too hot,\nby \"far\"");
  EXPECT_EQ(column("status", stream), "rejected");
  EXPECT_EQ(column("engine", idle), "");
  EXPECT_EQ(column("counter_TCC_HIT_sum", stream), "12");
  EXPECT_EQ(column("counter_TCC_HIT_sum", idle), "");
  EXPECT_EQ(column("counter_TCC_MISS_sum", idle), "0");
  EXPECT_EQ(column("virtual", stream), "true");
}

TEST_F(CampaignCsv, NamesWhatItWroteAndWritesNoTableWithoutRows) {
  std::vector<std::string> names;
  for (const auto& table : written_) {
    names.push_back(table.name);
    EXPECT_EQ(table.rows + 1, rows(table.name).size()) << table.name;
  }
  EXPECT_THAT(names, ElementsAre("facts", "runs", "waves", "readings"));
  EXPECT_FALSE(std::filesystem::exists(folder_ / "csv" / "rails.csv"));
}

TEST_F(CampaignCsv, LeavesNoTableOfAnotherCampaignBesideItsOwn) {
  const auto store = CampaignStore::open_read_only(folder_ / "campaign.db");
  ASSERT_TRUE(store);
  EXPECT_TRUE(write_campaign_csv(*store, folder_ / "csv")) << "its own tables are replaced";
  ASSERT_TRUE(write_file_atomically(folder_ / "csv" / "slots.csv", "block\r\n"));
  const auto refused = write_campaign_csv(*store, folder_ / "csv");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::invalid_argument);
  EXPECT_THAT(refused.error().text(), testing::HasSubstr("slots.csv"));
}

TEST_F(CampaignCsv, SaysWhereItCannotWrite) {
  const auto store = CampaignStore::open_read_only(folder_ / "campaign.db");
  ASSERT_TRUE(store);
  const auto refused = write_campaign_csv(*store, folder_ / "campaign.db" / "below");
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().text(), testing::HasSubstr("below"));
}

}  // namespace
}  // namespace ww::tables
