#include "ww/core/owned_file.hpp"

#include <SQLiteCpp/SQLiteCpp.h>
#include <gtest/gtest.h>

#include "ww/core/atomic_file.hpp"
#include "ww/core/campaign_store.hpp"
#include "ww/core/file_system.hpp"
#include "ww/core/streamed_file.hpp"
#include "ww/core/temporary_folder.hpp"

namespace ww {
namespace {

namespace fs = std::filesystem;

class OwnedFileTest : public ::testing::Test {
 protected:
  fs::path database(const char* name, std::uint32_t application_id) {
    fs::path file = folder_.path() / name;
    SQLite::Database db(file.string(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
    db.exec("CREATE TABLE t(a)");
    db.exec("PRAGMA application_id=" + std::to_string(application_id));
    return file;
  }
  fs::path text(const char* name, const char* content) {
    fs::path file = folder_.path() / name;
    EXPECT_TRUE(write_file_atomically(file, content));
    return file;
  }
  ScratchFolder folder_{ScratchFolder::create("owned").value()};
};

TEST_F(OwnedFileTest, KnowsCampaignsAndSweepsByTheirHeader) {
  { ASSERT_TRUE(CampaignStore::create(folder_.path() / "campaign.db")); }
  EXPECT_EQ(owned_file(folder_.path() / "campaign.db"), OwnedFile::campaign);
  EXPECT_EQ(owned_file(database("renamed", kSweepApplicationId)), OwnedFile::sweep);
  EXPECT_EQ(owned_file(database("foreign.db", 0x12345678)), OwnedFile::none);
  EXPECT_EQ(owned_file(text("a.results", "wirewatt-results 1\nbytes")), OwnedFile::sweep);
  EXPECT_EQ(owned_file(text("cut.db", "SQLite format 3")), OwnedFile::none);
}

TEST_F(OwnedFileTest, KnowsCalibrationsByTheirContent) {
  EXPECT_EQ(owned_file(text("a", R"({"format": "wirewatt-model/1"})")), OwnedFile::calibration);
  EXPECT_EQ(owned_file(text("b", "\n {\"energy_pj_per_bit_crossing\": {}}")),
            OwnedFile::calibration);
  EXPECT_EQ(owned_file(text("c", R"({"hop_classes": []})")), OwnedFile::calibration);
  EXPECT_EQ(owned_file(text("d", R"({"ladder_pj_per_bit": []})")), OwnedFile::calibration);
  EXPECT_EQ(owned_file(text("model.json", R"({"layers": 12, "format": 3})")), OwnedFile::none);
  EXPECT_EQ(owned_file(text("broken.json", R"({"format": "wirewatt-mod)")), OwnedFile::none);
  EXPECT_EQ(owned_file(folder_.path()), OwnedFile::none);
  EXPECT_EQ(owned_file("/dev/null"), OwnedFile::none);
  EXPECT_EQ(owned_file(folder_.path() / "absent"), OwnedFile::none);
}

TEST_F(OwnedFileTest, FollowsLinks) {
  const fs::path sweep = database("sweep.db", kSweepApplicationId);
  fs::create_symlink(sweep, folder_.path() / "soft.html");
  fs::create_hard_link(sweep, folder_.path() / "hard.html");
  EXPECT_EQ(owned_file(folder_.path() / "soft.html"), OwnedFile::sweep);
  EXPECT_EQ(owned_file(folder_.path() / "hard.html"), OwnedFile::sweep);
}

TEST_F(OwnedFileTest, NoWriterReplacesADatabase) {
  { ASSERT_TRUE(CampaignStore::create(folder_.path() / "campaign.db")); }
  for (const fs::path& file :
       {folder_.path() / "campaign.db", database("sweep.db", kSweepApplicationId)}) {
    const auto before = read_file(file).value();
    for (const Status& status :
         {write_file_atomically(file, "x"), Status(StreamedFile::create(file).map([](auto&&) {})),
          place_file(text("finished", "x"), file)}) {
      ASSERT_FALSE(status) << file;
      EXPECT_EQ(status.error().code, ErrorCode::invalid_argument);
      EXPECT_NE(status.error().text().find("is not overwritten"), std::string::npos);
    }
    EXPECT_EQ(read_file(file).value(), before);
  }
  EXPECT_TRUE(write_file_atomically(database("foreign.db", 7), "x"));
}

}  // namespace
}  // namespace ww
