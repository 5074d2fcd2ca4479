#include "ww/session/profile_files.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <utility>

#include "ww/core/atomic_file.hpp"
#include "ww/core/temporary_folder.hpp"

namespace ww::session {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class ProfileFiles : public ::testing::Test {
 protected:
  std::string put(const std::string& name, const std::string& content = "x\n") {
    const fs::path file = folder_.path() / name;
    fs::create_directories(file.parent_path());
    EXPECT_TRUE(write_file_atomically(file, content));
    return file.string();
  }
  std::vector<std::string> found(const std::string& name = "") {
    const auto files = profile_files((folder_.path() / name).string());
    EXPECT_TRUE(files) << files.error().text();
    return files ? *files : std::vector<std::string>{};
  }
  std::string refusal(const std::string& name = "") {
    const auto files = profile_files((folder_.path() / name).string());
    return files ? "" : files.error().text();
  }

 private:
  ScratchFolder folder_{std::move(*ScratchFolder::create("profile"))};
};

TEST_F(ProfileFiles, AFileIsItsOwnProfile) {
  const auto file = put("out.csv");
  EXPECT_THAT(found("out.csv"), ElementsAre(file));
}

TEST_F(ProfileFiles, OfRocprofComputeTheJoinedTableIsTaken) {
  for (const char* beside : {"sysinfo.csv", "timestamps.csv", "SQ_LEVEL_WAVES.csv"}) put(beside);
  const auto table = put("pmc_perf.csv");
  put("pmc_perf_0.csv");
  EXPECT_THAT(found(), ElementsAre(table));
}

TEST_F(ProfileFiles, OfRocprofComputeThePassesAreTakenWhereNothingJoinsThem) {
  put("app/MI300/sysinfo.csv");
  const auto first = put("app/MI300/pmc_perf_0.csv");
  const auto second = put("app/MI300/pmc_perf_1.csv");
  EXPECT_THAT(found("app"), ElementsAre(first, second));
}

TEST_F(ProfileFiles, OfRocprofv3EveryPassIsTaken) {
  put("pass_1/host/1_agent_info.csv");
  const auto first = put("pass_1/host/1_counter_collection.csv");
  const auto second = put("pass_2/host/1_counter_collection.csv");
  EXPECT_THAT(found(), ElementsAre(first, second));
}

TEST_F(ProfileFiles, DatabasesComeBeforeTables) {
  put("host/1_counter_collection.csv");
  const auto database = put("host/1_results.db");
  EXPECT_THAT(found(), ElementsAre(database));
}

TEST_F(ProfileFiles, TheOnlyTableIsTaken) {
  put("sysinfo.csv");
  const auto table = put("ncu.csv");
  EXPECT_THAT(found(), ElementsAre(table));
}

TEST_F(ProfileFiles, RefusesTwoWorkloadsAndNamesThem) {
  put("a/MI200/pmc_perf.csv");
  put("b/MI200/pmc_perf.csv");
  EXPECT_THAT(refusal(), HasSubstr("several workloads"));
  EXPECT_THAT(refusal(), HasSubstr("b/MI200"));
}

TEST_F(ProfileFiles, SaysWhatItLookedFor) {
  EXPECT_THAT(refusal(), HasSubstr("there is none"));
  put("a.csv");
  put("b.csv");
  EXPECT_THAT(refusal(), HasSubstr("there are 2 .csv files"));
  EXPECT_THAT(refusal("typo.csv"), HasSubstr("no such file"));
}

TEST_F(ProfileFiles, WhatNcuPrintedIsAProfileWhateverItsName) {
  const auto log = put("ncu.log", "==PROF== Connected\n\"ID\",\"Metric Name\"\n");
  const auto notes = put("notes.log");
  EXPECT_THAT(found(), ElementsAre(log));
  EXPECT_TRUE(names_profile(log));
  EXPECT_FALSE(names_profile(notes));
}

TEST_F(ProfileFiles, AProfileDiffersFromAProgramByItsName) {
  EXPECT_TRUE(names_profile("typo.csv"));
  EXPECT_TRUE(names_profile("results.db"));
  EXPECT_TRUE(names_profile(fs::temp_directory_path().string()));
  EXPECT_FALSE(names_profile("./app"));
  EXPECT_FALSE(names_profile("python3"));
}

}  // namespace
}  // namespace ww::session
