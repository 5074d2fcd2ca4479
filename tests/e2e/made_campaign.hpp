// Tests that share one synthetic calibration, made in no time (tests/browser/make_campaign.cpp).
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "process.hpp"

namespace ww::e2e {

class OfAMadeCampaign : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_of_model_ = std::make_unique<TemporaryFolder>();
    const auto made = run({(build_folder() / "bin/make_campaign").string(), model(), "1"});
    ASSERT_EQ(made.exit_code, 0) << made.err;
  }
  static void TearDownTestSuite() { folder_of_model_.reset(); }
  static std::string model() { return (folder_of_model_->path() / "run").string(); }

 private:
  static inline std::unique_ptr<TemporaryFolder> folder_of_model_;
};

}  // namespace ww::e2e
