#include "ww/core/named_file.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>

#include "ww/core/atomic_file.hpp"
#include "ww/core/temporary_folder.hpp"

namespace ww {
namespace {

namespace fs = std::filesystem;

class NamedFileTest : public ::testing::Test {
 protected:
  static Result<fs::path> find(const fs::path& path) {
    return named_file(path, "model.json", "'wirewatt fit' writes one");
  }

  ScratchFolder scratch_ = ScratchFolder::create("named").value();
  fs::path folder_ = scratch_.path();
};

TEST_F(NamedFileTest, IsTheFileItselfWhateverItsName) {
  std::ofstream(folder_ / "other.json") << "{}";
  EXPECT_EQ(find(folder_ / "other.json").value(), folder_ / "other.json");
}

TEST_F(NamedFileTest, IsTheFileOfThatNameInAFolder) {
  std::ofstream(folder_ / "model.json") << "{}";
  EXPECT_EQ(find(folder_).value(), folder_ / "model.json");
  EXPECT_EQ(find(folder_ / "").value(), folder_ / "model.json");
}

TEST_F(NamedFileTest, SaysWhatAFolderLacksAndWhereItComesFrom) {
  const auto file = find(folder_);
  ASSERT_FALSE(file);
  EXPECT_EQ(file.error().code, ErrorCode::not_found);
  EXPECT_EQ(file.error().text(),
            folder_.string() + ": this folder holds no model.json; 'wirewatt fit' writes one");
}

TEST_F(NamedFileTest, RefusesWhatIsAbsentOrNoFile) {
  EXPECT_EQ(find(folder_ / "absent").error().code, ErrorCode::not_found);
  ASSERT_EQ(::mkfifo((folder_ / "pipe").c_str(), 0600), 0);
  EXPECT_EQ(find(folder_ / "pipe").error().code, ErrorCode::invalid_argument);
}

TEST_F(NamedFileTest, ACalibrationOfCrossingsIsNoModelAndSaysWhy) {
  std::ofstream(folder_ / "crossing.json") << "{}";
  for (const fs::path& path : {folder_, folder_ / "crossing.json"}) {
    const auto file = model_file(path);
    ASSERT_FALSE(file) << path;
    EXPECT_EQ(file.error().code, ErrorCode::unsupported);
    EXPECT_NE(file.error().message.find("per bit and millimetre"), std::string::npos);
  }
  // A folder with both has a model.
  std::ofstream(folder_ / "model.json") << "{}";
  EXPECT_EQ(model_file(folder_).value(), folder_ / "model.json");
}

TEST_F(NamedFileTest, FoldersAreNotReadAsFiles) {
  const auto content = read_file(folder_);
  ASSERT_FALSE(content);
  EXPECT_EQ(content.error().code, ErrorCode::invalid_argument);
  EXPECT_NE(content.error().message.find("folder"), std::string::npos);
}

}  // namespace
}  // namespace ww
