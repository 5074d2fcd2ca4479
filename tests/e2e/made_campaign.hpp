// Tests that share one synthetic calibration, made in no time (tests/browser/make_campaign.cpp).
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "process.hpp"

namespace ww::e2e {

// The model.json of `folder`, whose figures are taken for those of a chip of MI210's class, as the
// cards are that tests fake. Returns the new file.
inline std::string as_model_of_mi210(const std::filesystem::path& folder) {
  auto model = nlohmann::json::parse(std::ifstream(folder / "model.json"));
  model["device"] = "virtual:mi210";
  model["target"] = "gfx90a";
  const auto file = folder / "model-mi210.json";
  std::ofstream(file) << model.dump();
  return file.string();
}

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
