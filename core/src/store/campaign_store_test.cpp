#include "ww/core/campaign_store.hpp"

#include <SQLiteCpp/SQLiteCpp.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <set>

#include "ww/core/temporary_folder.hpp"

namespace ww {
namespace {

namespace fs = std::filesystem;

class CampaignStoreTest : public ::testing::Test {
 protected:
  static StoredRun example(std::int64_t block, std::int64_t position) {
    StoredRun run;
    run.block = block;
    run.position = position;
    run.kind = RunKind::stream;
    run.engine = 2;
    run.quadrant = 3;
    run.pattern = "random";
    run.throttle = 5;
    run.start_ns = 1000 * position;
    run.end_ns = run.start_ns + 900;
    run.payload_bits = 1.5e12;
    run.status = RunStatus::rejected;
    run.reason = "bandwidth";
    run.counters = {{"TCC_HIT_sum", 123.0}};
    run.waves = {{0x2000U, 40}};
    SensorReading sample;
    sample.time_ns = 5;
    sample.poll_ns = 6;
    sample.power_uw = 123456789;
    sample.changed = true;
    run.samples = {sample, SensorReading{}};
    return run;
  }

  ScratchFolder scratch_ = ScratchFolder::create("store").value();
  fs::path folder_ = scratch_.path();
  fs::path file_ = folder_ / "campaign.db";
};

TEST_F(CampaignStoreTest, GivesBackWhatWasStored) {
  {
    auto store = CampaignStore::create(file_);
    ASSERT_TRUE(store) << store.error().text();
    ASSERT_TRUE(store->begin_session());
    ASSERT_TRUE(store->put(campaign_keys::device, "virtual:w9100"));
    ASSERT_TRUE(store->add(example(0, 1)));
  }
  const auto store = CampaignStore::open_read_only(file_);
  ASSERT_TRUE(store) << store.error().text();
  EXPECT_EQ(store->get(campaign_keys::device).value(), "virtual:w9100");
  EXPECT_EQ(store->get("absent").value(), std::nullopt);
  const auto runs = store->runs();
  ASSERT_TRUE(runs) << runs.error().text();
  ASSERT_EQ(runs->size(), 1U);
  const auto& run = runs->front();
  EXPECT_EQ(run.engine, 2);
  EXPECT_EQ(run.status, RunStatus::rejected);
  EXPECT_EQ(run.reason, "bandwidth");
  EXPECT_DOUBLE_EQ(run.payload_bits, 1.5e12);
  EXPECT_EQ(run.counters.at("TCC_HIT_sum"), 123.0);
  ASSERT_EQ(run.samples.size(), 2U);
  EXPECT_EQ(run.samples[0].power_uw, 123456789);
  EXPECT_TRUE(run.samples[0].changed);
  EXPECT_EQ(run.samples[1].power_uw, std::nullopt) << "a missing reading is absent, never 0";
}

TEST_F(CampaignStoreTest, IsOneFileAfterItsWriterAndAfterEachReader) {
  const auto files = [this] {
    std::set<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder_)) {
      names.insert(entry.path().filename().string());
    }
    return names;
  };
  const std::set<std::string> alone{"campaign.db"};
  {
    auto store = CampaignStore::create(file_);
    ASSERT_TRUE(store && store->begin_session() && store->add(example(0, 1)));
  }
  EXPECT_EQ(files(), alone);
  EXPECT_EQ(CampaignStore::open_read_only(file_)->runs()->size(), 1U);
  EXPECT_EQ(files(), alone);
  {
    auto store = CampaignStore::open(file_);
    ASSERT_TRUE(store && store->add(example(0, 2)));
    // A reader beside the writer does not end its log.
    EXPECT_EQ(CampaignStore::open_read_only(file_)->runs()->size(), 2U);
    ASSERT_TRUE(store->add(example(0, 3)));
  }
  EXPECT_EQ(CampaignStore::open_read_only(file_)->runs()->size(), 3U);
  EXPECT_EQ(files(), alone);
  // Leaves the file as earlier versions did.
  SQLite::Database(file_.string(), SQLite::OPEN_READWRITE).exec("PRAGMA journal_mode=WAL");
  EXPECT_EQ(CampaignStore::open_read_only(file_)->runs()->size(), 3U);
  EXPECT_EQ(files(), alone);
}

TEST_F(CampaignStoreTest, GivesBackTheTurnsOfLockInRuns) {
  auto run = example(0, 1);
  run.kind = RunKind::lock_in;
  run.engine.reset();
  run.slots = {{1, 2, 1000, 1400, 5e9}, {3, 0, 1400, 1900, 6e9}};
  {
    auto store = CampaignStore::create(file_);
    ASSERT_TRUE(store && store->begin_session() && store->add(run));
  }
  const auto runs = CampaignStore::open_read_only(file_)->runs();
  ASSERT_TRUE(runs) << runs.error().text();
  const auto& slots = runs->front().slots;
  ASSERT_EQ(slots.size(), 2U);
  EXPECT_EQ(slots[0].quadrant, 2);
  EXPECT_EQ(slots[1].engine, 3);
  EXPECT_EQ(slots[1].end_ns, 1900);
  EXPECT_DOUBLE_EQ(slots[1].payload_bits, 6e9);
}

TEST_F(CampaignStoreTest, GivesBackTheAccumulatorsOfAPackageRaw) {
  auto run = example(0, 1);
  run.rails = {{1000, 7'000, "aid_energy", "2^-16 J", 2'500},
               {1000, std::nullopt, "xgmi_read_3", "kB", 55}};
  {
    auto store = CampaignStore::create(file_);
    ASSERT_TRUE(store && store->begin_session() && store->add(run));
  }
  const auto runs = CampaignStore::open_read_only(file_)->runs();
  ASSERT_TRUE(runs) << runs.error().text();
  const auto& rails = runs->front().rails;
  ASSERT_EQ(rails.size(), 2U);
  EXPECT_EQ(rails[0].rail, "aid_energy");
  EXPECT_EQ(rails[0].unit, "2^-16 J");
  EXPECT_EQ(rails[0].source_ns, 7'000);
  EXPECT_EQ(rails[0].value, 2'500);
  EXPECT_EQ(rails[1].poll_ns, 1000);
  EXPECT_EQ(rails[1].source_ns, std::nullopt);
}

TEST_F(CampaignStoreTest, RefusesTheSameRunTwice) {
  auto store = CampaignStore::create(file_);
  ASSERT_TRUE(store);
  ASSERT_TRUE(store->begin_session());
  ASSERT_TRUE(store->add(example(0, 1)));
  const auto again = store->add(example(0, 1));
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(store->run_count().value(), 1);
}

TEST_F(CampaignStoreTest, NeverReplacesAnExistingCampaign) {
  { ASSERT_TRUE(CampaignStore::create(file_)); }
  const auto second = CampaignStore::create(file_);
  ASSERT_FALSE(second);
  EXPECT_NE(second.error().message.find("--resume"), std::string::npos);
}

TEST_F(CampaignStoreTest, RefusesForeignAndDamagedFiles) {
  std::ofstream(file_) << "these are not the bytes of a database, whatever their number may be";
  auto store = CampaignStore::open(file_);
  ASSERT_FALSE(store);
  EXPECT_EQ(store.error().code, ErrorCode::parse_error);
  fs::remove(file_);
  EXPECT_EQ(CampaignStore::open_read_only(file_).error().code, ErrorCode::not_found);

  { ASSERT_TRUE(CampaignStore::create(file_)); }
  fs::resize_file(file_, fs::file_size(file_) / 2);
  const auto truncated = CampaignStore::open_read_only(file_);
  ASSERT_FALSE(truncated);
  EXPECT_EQ(truncated.error().code, ErrorCode::parse_error) << truncated.error().text();
}

// Before version 2 each reading was a row.
TEST_F(CampaignStoreTest, ReadsAndContinuesFilesOfVersion1) {
  {
    auto store = CampaignStore::create(file_);
    ASSERT_TRUE(store) << store.error().text();
    StoredRun run = example(1, 1);
    run.samples.clear();
    ASSERT_TRUE(store->add(run));
  }
  {
    SQLite::Database database(file_.string(), SQLite::OPEN_READWRITE);
    database.exec("DROP TABLE readings");
    database.exec(
        "CREATE TABLE sample(run INTEGER NOT NULL, sequence INTEGER NOT NULL, time_ns INTEGER NOT "
        "NULL, poll_ns INTEGER NOT NULL, power_uw INTEGER, energy_ticks INTEGER, temperature_mc "
        "INTEGER, voltage_uv INTEGER, clock_khz INTEGER, changed INTEGER NOT NULL, "
        "PRIMARY KEY(run, sequence)) WITHOUT ROWID");
    database.exec("INSERT INTO sample VALUES(1,0,5,6,123456789,NULL,NULL,900000,NULL,1)");
    database.exec("INSERT INTO sample VALUES(1,1,7,8,NULL,NULL,NULL,900000,NULL,0)");
    database.exec("PRAGMA user_version=1");
  }
  const auto expect_old_run = [](const StoredRun& run) {
    ASSERT_EQ(run.samples.size(), 2U);
    EXPECT_EQ(run.samples[0].power_uw, 123456789);
    EXPECT_EQ(run.samples[1].power_uw, std::nullopt);
    EXPECT_EQ(run.samples[1].voltage_uv, 900000);
  };
  {
    auto old = CampaignStore::open_read_only(file_);
    ASSERT_TRUE(old) << old.error().text();
    const auto runs = old->runs();
    ASSERT_TRUE(runs) << runs.error().text();
    expect_old_run(runs->front());
  }
  auto store = CampaignStore::open(file_);
  ASSERT_TRUE(store) << store.error().text();
  ASSERT_TRUE(store->add(example(1, 2)));
  const auto runs = store->runs();
  ASSERT_TRUE(runs) << runs.error().text();
  ASSERT_EQ(runs->size(), 2U);
  expect_old_run(runs->at(0));
  EXPECT_EQ(runs->at(1).samples.size(), 2U);
}

TEST_F(CampaignStoreTest, OpensTheCampaignOfAFolder) {
  const auto absent = CampaignStore::open_read_only(folder_);
  ASSERT_FALSE(absent);
  EXPECT_EQ(absent.error().code, ErrorCode::not_found);
  EXPECT_NE(absent.error().text().find("holds no campaign.db; 'wirewatt calibrate"),
            std::string::npos)
      << absent.error().text();
  { ASSERT_TRUE(CampaignStore::create(file_)); }
  EXPECT_EQ(CampaignStore::open_read_only(folder_)->file(), file_);
  EXPECT_EQ(CampaignStore::open(folder_)->file(), file_);
}

// Enough runs that every reader has some.
class ManyRuns : public CampaignStoreTest {
 protected:
  static constexpr std::int64_t runs = 64;
  void SetUp() override {
    CampaignStoreTest::SetUp();
    auto store = CampaignStore::create(file_);
    ASSERT_TRUE(store && store->begin_session());
    for (std::int64_t position = 0; position < runs; ++position) {
      auto run = example(0, position);
      run.samples.resize(static_cast<std::size_t>(10 * (position + 1)));
      for (std::size_t i = 0; i < run.samples.size(); ++i) {
        run.samples[i].time_ns = 1000 * position + static_cast<std::int64_t>(i);
      }
      ASSERT_TRUE(store->add(run));
    }
  }
};

TEST_F(ManyRuns, KeepTheirSamplesWhoeverReadsThem) {
  const auto read = CampaignStore::open_read_only(file_)->runs();
  ASSERT_TRUE(read) << read.error().text();
  ASSERT_EQ(read->size(), static_cast<std::size_t>(runs));
  for (std::int64_t position = 0; position < runs; ++position) {
    const StoredRun& run = (*read)[static_cast<std::size_t>(position)];
    EXPECT_EQ(run.position, position);
    ASSERT_EQ(run.samples.size(), static_cast<std::size_t>(10 * (position + 1)));
    for (std::size_t i = 0; i < run.samples.size(); ++i) {
      ASSERT_EQ(run.samples[i].time_ns, 1000 * position + static_cast<std::int64_t>(i));
    }
  }
}

// A bad page that the header knows nothing of: whoever opens the file finds out when it reads.
TEST_F(ManyRuns, AreRefusedWhereAPageIsDamaged) {
  {
    std::fstream file(file_, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(static_cast<std::streamoff>(fs::file_size(file_) * 3 / 4 / 4096 * 4096));
    file << std::string(4096, '\x7f');
  }
  const auto store = CampaignStore::open_read_only(file_);
  ASSERT_TRUE(store) << store.error().text();
  const auto read = store->runs();
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code, ErrorCode::parse_error) << read.error().text();
  EXPECT_FALSE(CampaignStore::open(file_)) << "nothing is added to a damaged campaign";
}

TEST_F(CampaignStoreTest, RefusesAFolderThatCannotBeWritten) {
  const auto store = CampaignStore::create("/proc/campaign.db");
  ASSERT_FALSE(store);
  EXPECT_EQ(exit_code(store.error().code), 3) << store.error().text();
}

// A process that dies while it makes the campaign leaves none, or a whole one, and nothing that
// keeps the next from making its own.
TEST_F(CampaignStoreTest, IsWholeOrAbsentWheneverItsMakerIsKilled) {
  int absent = 0;
  for (int delay_us = 0; delay_us < 15000; delay_us += 100) {
    fs::remove(file_);
    fs::remove(file_.string() + "-wal");
    fs::remove(file_.string() + "-shm");
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      (void)CampaignStore::create(file_);
      ::pause();
    }
    ::usleep(static_cast<useconds_t>(delay_us));
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    if (!fs::exists(file_)) {
      ++absent;
      continue;
    }
    const auto store = CampaignStore::open(file_);
    ASSERT_TRUE(store) << "killed after " << delay_us << " us: " << store.error().text();
  }
  EXPECT_GT(absent, 0) << "no kill came in time to show anything";
  fs::remove(file_);
  EXPECT_TRUE(CampaignStore::create(file_));
}

// A process that dies between two runs leaves the runs that were finished, whole.
TEST_F(CampaignStoreTest, KeepsFinishedRunsWhenTheProcessIsKilled) {
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    auto store = CampaignStore::create(file_);
    (void)store->begin_session();
    for (std::int64_t position = 0;; ++position) {
      (void)store->add(example(0, position));
      if (position == 20) ::kill(::getpid(), SIGKILL);
    }
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  ASSERT_TRUE(WIFSIGNALED(status));
  auto store = CampaignStore::open(file_);
  ASSERT_TRUE(store) << store.error().text();
  const auto runs = store->runs();
  ASSERT_TRUE(runs);
  EXPECT_EQ(runs->size(), 21U);
  for (const auto& run : *runs) EXPECT_EQ(run.samples.size(), 2U);
}

}  // namespace
}  // namespace ww
