// One calibration of the virtual W9100 for all tests of an executable, which requires the fixture
// `recordings`.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "process.hpp"

namespace ww::e2e {

inline nlohmann::json parse(const Finished& finished) {
  EXPECT_EQ(finished.exit_code, 0) << finished.err;
  auto value = finished.json();
  EXPECT_FALSE(value.is_discarded()) << finished.out;
  return value;
}

class Calibrated : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = new TemporaryFolder;
    ASSERT_TRUE(copy_recording("w9100", run_folder()).printed.is_object());
  }
  static void TearDownTestSuite() {
    delete folder_;
    folder_ = nullptr;
  }
  static std::filesystem::path run_folder() { return folder_->path() / "run"; }
  static std::string model() { return (run_folder() / "model.json").string(); }
  static std::vector<std::string> workload(const std::string& name) {
    return {wirewatt(), "workloads", "run", name};
  }

  inline static TemporaryFolder* folder_ = nullptr;
};

}  // namespace ww::e2e
