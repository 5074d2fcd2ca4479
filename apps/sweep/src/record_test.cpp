#include "ww/sweep/record.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "testing.hpp"
#include "ww/sweep/result_files.hpp"

namespace ww::sweep {
namespace {

using testing::HasSubstr;

Record judged(const Ending& ending, const ResultFilter& filter = {}) {
  Record record;
  judge(ending, filter, 5, 100, record);
  return record;
}

TEST(Judge, KeepsWhatTheCommandFoundAndSetsItsTimesAside) {
  const auto record =
      judged({.exit_code = 0, .out = R"({"b":{"wall_s":3,"x":1.5},"a":[{"seconds":2,"y":"z"}]})"});
  EXPECT_EQ(record.status, PointStatus::ok);
  EXPECT_EQ(record.result, R"({"a":[{"y":"z"}],"b":{"x":1.5}})");
  EXPECT_EQ(record.timings, R"({"a.0.seconds":2,"b.wall_s":3})");
}

TEST(Judge, KeepsOnlyWhatIsAskedFor) {
  const auto record = judged({.out = R"({"a":1,"b":{"c":2,"d":3},"mine":9})"},
                             {.keep = {"b.c", "none"}, .timings = {"mine"}});
  EXPECT_EQ(record.result, R"({"b":{"c":2}})");
  EXPECT_EQ(record.timings, R"({"mine":9})");
}

TEST(Judge, KeepsTheMarksWithWhateverIsAskedFor) {
  const auto record = judged(
      {.out = R"({"a":1,"b":2,"reason":"r","stable":false,"status":"misfit","virtual":true})"},
      {.keep = {"a"}, .timings = {}});
  EXPECT_EQ(record.result,
            R"({"a":1,"reason":"r","stable":false,"status":"misfit","virtual":true})");
}

// Reads output as `run --json` prints it, after the program's own.
TEST(Judge, TakesTheLastLineAfterWhatAProgramPrinted) {
  EXPECT_EQ(judged({.out = "{\"of\":\"the program\"}\nhello\n{\"a\":1}\n"}).result, R"({"a":1})");
  EXPECT_EQ(judged({.out = "{\"a\":1}\nhello\n"}).status, PointStatus::no_result);
}

TEST(Judge, NamesEveryFailure) {
  EXPECT_EQ(judged({.exit_code = 1, .out = "{\"a\":1}"}).status, PointStatus::bad);
  const auto refused = judged({.exit_code = 2, .err = "info: x\nerror: rate: too high\n"});
  EXPECT_EQ(refused.status, PointStatus::refused);
  EXPECT_EQ(refused.reason, "rate: too high");
  EXPECT_EQ(judged({.exit_code = 3}).status, PointStatus::environment);
  EXPECT_EQ(judged({.exit_code = 3}).reason, "exit code 3");
  EXPECT_EQ(judged({.exit_code = 0, .out = "hello"}).status, PointStatus::no_result);
  const auto crashed = judged({.exit_code = 139, .signal = 11});
  EXPECT_EQ(crashed.status, PointStatus::crashed);
  EXPECT_THAT(crashed.reason, HasSubstr("signal 11 (Segmentation fault)"));
  const auto slow = judged({.signal = 9, .timed_out = true});
  EXPECT_EQ(slow.status, PointStatus::timeout);
  EXPECT_THAT(slow.reason, HasSubstr("5 s"));
  EXPECT_EQ(judged({.signal = 9, .over_memory = true}).status, PointStatus::out_of_memory);
}

Record sample(std::uint64_t n, PointStatus status = PointStatus::ok) {
  Record record;
  record.hash = {n, n};
  record.status = status;
  record.result = "{\"n\":" + std::to_string(n) + "}";
  record.timings = "{}";
  record.host = "here \"there\"\n";
  record.started_ms = 5;
  record.wall_s = 0.25;
  return record;
}

TEST(Line, ReadsBackAndFailsWhenDamaged) {
  const auto line = to_line(sample(7));
  EXPECT_EQ(line.find('\n'), std::string::npos);
  const auto back = from_line(line);
  ASSERT_TRUE(back);
  EXPECT_EQ(to_line(*back), line);
  for (std::size_t i = 0; i < line.size(); ++i) {
    auto damaged = line;
    damaged[i] = static_cast<char>(damaged[i] ^ 1);
    EXPECT_FALSE(from_line(damaged)) << i;
  }
  EXPECT_FALSE(from_line(line.substr(0, line.size() / 2)));
}

std::size_t files_in(const std::filesystem::path& folder) {
  std::size_t count = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (entry.is_regular_file()) ++count;
  }
  return count;
}

std::vector<std::uint64_t> numbers_in(const std::filesystem::path& folder) {
  std::vector<std::uint64_t> found;
  EXPECT_TRUE(read_records(folder, [&](Record&& record) -> Status {
    found.push_back(record.hash.low);
    return {};
  }));
  std::sort(found.begin(), found.end());
  return found;
}

TEST(ResultFiles, AWorkersPartsBecomeOneFile) {
  const TestFolder folder;
  auto writer = ResultWriter::create(folder.path() / "r", "t");
  ASSERT_TRUE(writer);
  for (std::uint64_t i = 0; i < 5; ++i) {
    ASSERT_TRUE(writer->add(sample(i)));
    ASSERT_TRUE(writer->flush());
  }
  EXPECT_EQ(files_in(folder.path()), 5U);
  EXPECT_EQ(numbers_in(folder.path()).size(), 5U);
  ASSERT_TRUE(writer->finish());
  EXPECT_EQ(files_in(folder.path()), 1U);
  EXPECT_THAT(numbers_in(folder.path()), testing::ElementsAre(0, 1, 2, 3, 4));
}

// Packs parts as `wirewatt sweep collect` does beside a sweep that runs.
TEST(ResultFiles, AWorkerWhosePartsWerePackedMeanwhileLosesNothing) {
  const TestFolder folder;
  auto writer = ResultWriter::create(folder.path(), "t");
  ASSERT_TRUE(writer);
  for (std::uint64_t i = 0; i < 3; ++i) ASSERT_TRUE(writer->add(sample(i)) && writer->flush());
  ASSERT_TRUE(pack_records(folder.path()));
  ASSERT_TRUE(writer->add(sample(3)));
  const auto finished = writer->finish();
  ASSERT_TRUE(finished) << finished.error().text();
  EXPECT_THAT(numbers_in(folder.path()), testing::ElementsAre(0, 1, 2, 3));
}

TEST(ResultFiles, PackedHoldWhatAllHeld) {
  const TestFolder folder;
  for (std::uint64_t i = 0; i < 4; ++i) {
    auto writer = ResultWriter::create(folder.path() / std::to_string(i), "t");
    ASSERT_TRUE(writer && writer->add(sample(i)) && writer->finish());
  }
  ASSERT_TRUE(pack_records(folder.path()));
  EXPECT_EQ(files_in(folder.path()), 1U);
  EXPECT_EQ(numbers_in(folder.path()).size(), 4U);
}

TEST(ResultFiles, ADamagedRecordIsLeftOutAndTheOthersStay) {
  const TestFolder folder;
  auto writer = ResultWriter::create(folder.path(), "t");
  ASSERT_TRUE(writer && writer->add(sample(1)) && writer->add(sample(2)) && writer->finish());
  const auto file = std::filesystem::directory_iterator(folder.path())->path();
  std::fstream stream(file, std::ios::in | std::ios::out | std::ios::binary);
  stream.seekp(60);
  stream.put('#');
  stream.close();
  EXPECT_THAT(numbers_in(folder.path()), testing::ElementsAre(2));
}

TEST(ResultFiles, OnlyThoseOfATagAreRead) {
  const TestFolder folder;
  for (const std::uint64_t tag : {1, 10}) {
    auto writer = ResultWriter::create(folder.path(), "c" + std::to_string(tag));
    ASSERT_TRUE(writer && writer->add(sample(tag)) && writer->finish());
  }
  std::size_t count = 0;
  ASSERT_TRUE(read_records(
      folder.path(),
      [&](Record&&) -> Status {
        ++count;
        return {};
      },
      "c1"));
  EXPECT_EQ(count, 1U);
}

}  // namespace
}  // namespace ww::sweep
