// Files that are not what they should be: a clear error, whatever is wrong.
#include <gtest/gtest.h>

#include <rapidcheck/gtest.h>
#include <fstream>

#include "testing.hpp"

namespace ww::sim::trace {
namespace {

const std::string& whole_file() {
  static const std::string bytes = [] {
    test::Folder folder;
    test::write(folder / "a.wwt", test::random_content(3, 200));
    return *read_file(folder / "a.wwt");
  }();
  return bytes;
}

// The first error, or nothing where the trace reads to its end.
std::optional<Error> read_all(std::string bytes) {
  auto reader = Reader::from_bytes(std::move(bytes));
  if (!reader) return reader.error();
  Access access;
  while (true) {
    const auto more = reader->next(access);
    if (!more) {
      EXPECT_EQ(reader->next(access).error().message, more.error().message);  // it stays
      return more.error();
    }
    if (!*more) return std::nullopt;
  }
}

TEST(DamagedTrace, TheWholeFileReads) {
  EXPECT_FALSE(read_all(whole_file()));
}

RC_GTEST_PROP(DamagedTrace, EveryTruncationIsNoticed, ()) {
  const auto length = *rc::gen::inRange<std::size_t>(0, whole_file().size());
  const auto error = read_all(whole_file().substr(0, length));
  RC_ASSERT(error.has_value());
  RC_ASSERT(error->code == ErrorCode::parse_error);
}

RC_GTEST_PROP(DamagedTrace, EveryChangedByteIsNoticed, ()) {
  auto bytes = whole_file();
  const auto at = *rc::gen::inRange<std::size_t>(0, bytes.size());
  bytes[at] = static_cast<char>(bytes[at] ^ *rc::gen::inRange(1, 256));
  const auto error = read_all(bytes);
  RC_ASSERT(error.has_value());
  RC_ASSERT(!error->message.empty());
}

TEST(DamagedTrace, SaysThatItIsTruncatedAndWhere) {
  const auto error = read_all(whole_file().substr(0, whole_file().size() - 10));
  ASSERT_TRUE(error);
  EXPECT_NE(error->text().find("truncated (chunk"), std::string::npos) << error->text();
}

TEST(DamagedTrace, OtherFilesAreNotTraces) {
  for (const std::string text :
       {"", "hello", "-kernel name = x\n-kernel id = 1\n-grid dim = (1,1,1)\n"}) {
    const auto error = read_all(text);
    ASSERT_TRUE(error);
    EXPECT_NE(error->message.find("not a memory trace"), std::string::npos);
  }
}

TEST(DamagedTrace, BytesBehindTheEndAreNoticed) {
  EXPECT_TRUE(read_all(whole_file() + "x"));
}

TEST(DamagedTrace, AMissingFileIsNotFound) {
  const auto reader = Reader::open("/nowhere/a.wwt");
  ASSERT_FALSE(reader);
  EXPECT_EQ(reader.error().code, ErrorCode::not_found);
}

// A writer whose process is killed: what it left in `aside` is copied before it can tidy up.
TEST(Rescue, KeepsTheAccessesThatReachedTheDisk) {
  test::Folder folder;
  auto writer = Writer::create(folder / "a.wwt", "test", folder / "a.part");
  ASSERT_TRUE(writer);
  const auto instruction = (*writer)->instruction(test::instructions()[0]);
  (*writer)->launch({0, "k", {1, 1, 1}, {1, 1, 1}});
  AccessView access;
  access.instruction = instruction;
  access.lanes = ~std::uint64_t{0};
  access.stride = 4;
  for (access.wave = 0; access.wave < 5; ++access.wave) (*writer)->access(access);
  (*writer)->save_ahead();
  std::filesystem::copy_file(folder / "a.part", folder / "killed.part");
  const auto rescued = rescue(folder / "killed.part", folder / "killed.wwt");
  ASSERT_TRUE(rescued) << rescued.error().text();
  EXPECT_EQ(rescued->wave_accesses, 5);
  EXPECT_EQ(rescued->launches, 1);
  EXPECT_FALSE(std::filesystem::exists(folder / "killed.part"));
  const auto text = *read_file(folder / "killed.wwt");
  EXPECT_FALSE(read_all(text));
}

TEST(Rescue, IsNotSeenInTheFinishedTrace) {
  test::Folder folder;
  const auto bytes = [&folder](bool ahead) {
    const auto file = folder / (ahead ? "ahead.wwt" : "plain.wwt");
    auto writer = Writer::create(file, "test", ahead ? folder / "ahead.part" : "");
    const auto instruction = (*writer)->instruction(test::instructions()[0]);
    AccessView access;
    access.instruction = instruction;
    access.lanes = 0xFF;
    for (std::uint32_t launch = 0; launch < 3; ++launch) {
      (*writer)->launch({launch, "k", {1, 1, 1}, {1, 1, 1}});
      for (access.wave = 0; access.wave < 100; ++access.wave) {
        access.base += 4096 + launch;
        (*writer)->access(access);
      }
      (*writer)->save_ahead();
    }
    EXPECT_TRUE((*writer)->finish());
    return *read_file(file);
  };
  EXPECT_EQ(bytes(true), bytes(false));
}

TEST(Rescue, MakesNoTraceOfAWriterThatWasKilledBeforeItsFirstBytes) {
  test::Folder folder;
  std::ofstream(folder / "a.part").close();
  const auto rescued = rescue(folder / "a.part", folder / "a.wwt");
  ASSERT_TRUE(rescued) << rescued.error().text();
  EXPECT_EQ(rescued->launches, 0);
  EXPECT_FALSE(std::filesystem::exists(folder / "a.part"));
  EXPECT_FALSE(std::filesystem::exists(folder / "a.wwt"));
}

TEST(Rescue, RefusesWhatIsNoTrace) {
  test::Folder folder;
  ASSERT_TRUE(write_file_atomically(folder / "a.part", "hello"));
  const auto rescued = rescue(folder / "a.part", folder / "a.wwt");
  ASSERT_FALSE(rescued);
  EXPECT_EQ(rescued.error().code, ErrorCode::parse_error);
  EXPECT_TRUE(std::filesystem::exists(folder / "a.part"));
}

TEST(Writer, LeavesNothingUntilItIsFinished) {
  test::Folder folder;
  {
    auto writer = Writer::create(folder / "a.wwt", "test");
    ASSERT_TRUE(writer);
    static_cast<void>((*writer)->instruction(test::instructions()[0]));
    (*writer)->launch({0, "k", {1, 1, 1}, {1, 1, 1}});
  }
  EXPECT_TRUE(std::filesystem::is_empty((folder / "a.wwt").parent_path()));
}

}  // namespace
}  // namespace ww::sim::trace
