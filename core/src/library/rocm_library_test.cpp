#include "ww/core/rocm_library.hpp"
#include "ww/core/temporary_folder.hpp"

#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace ww {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// A made root with the folders of one release of ROCm. The stub has every entry of the libraries
// sought here and stands under their names.
class RocmRoot : public ::testing::Test {
 protected:
  void SetUp() override {
    // Each test has a root of its own: a path that was loaded once stays loaded.
    root_ = made_.emplace_back(ScratchFolder::create("rocm_root").value()).path();
    places_ = {};
    places_.root = root_;
  }
  void install(const std::string& folder, const std::string& name, const char* stub) const {
    fs::create_directories(root_.string() + folder);
    fs::copy_file(stub, root_.string() + folder + "/" + name, fs::copy_options::overwrite_existing);
  }
  // A library whose soname nothing on this machine has.
  [[nodiscard]] static RocmLibrary sought() {
    static constexpr int majors[] = {3, 2};
    static constexpr const char* entries[] = {"ww_stub_entry"};
    return {"The stub", "libww_rocm_stub", majors, entries, "stub-package"};
  }
  [[nodiscard]] std::string found() const {
    const auto opened = open_rocm_library(sought(), places_);
    return opened ? opened->file.substr(root_.string().size()) : opened.error().message;
  }
  fs::path root_;
  std::vector<ScratchFolder> made_;
  RocmPlaces places_;
};

TEST_F(RocmRoot, OrdersItsFoldersByVersionAndLeavesOutWhatIsNotThere) {
  for (const char* folder :
       {"/opt/rocm/lib", "/opt/rocm/core-9.2/lib", "/opt/rocm/core-10.0/lib", "/opt/rocm-6.3.1/lib",
        "/opt/rocm-6.10.0/lib", "/home/u/.local/lib/python3.11/site-packages/_rocm_sdk_core/lib"}) {
    fs::create_directories(root_.string() + folder);
  }
  places_.home = "/home/u";
  const std::string root = root_;
  EXPECT_THAT(rocm_folders(places_),
              ElementsAre("", root + "/opt/rocm/lib", root + "/opt/rocm/core-10.0/lib",
                          root + "/opt/rocm/core-9.2/lib", root + "/opt/rocm-6.10.0/lib",
                          root + "/opt/rocm-6.3.1/lib",
                          root + "/home/u/.local/lib/python3.11/site-packages/_rocm_sdk_core/lib"));
  places_.rocm_path = "/opt/rocm-6.3.1";
  EXPECT_EQ(rocm_folders(places_).front(), root + "/opt/rocm-6.3.1/lib");
}

TEST_F(RocmRoot, OfEveryReleaseHasItsLibraryFound) {
  install("/opt/rocm-6.3.0/lib", "libww_rocm_stub.so.2", WW_ROCM_STUB);
  EXPECT_EQ(found(), "/opt/rocm-6.3.0/lib/libww_rocm_stub.so.2");
  install("/opt/rocm/lib", "libww_rocm_stub.so.3", WW_ROCM_STUB);  // 7.x
  EXPECT_EQ(found(), "/opt/rocm/lib/libww_rocm_stub.so.3");
  SetUp();
  install("/opt/rocm/core-10.0/lib", "libww_rocm_stub.so.3", WW_ROCM_STUB);
  EXPECT_EQ(found(), "/opt/rocm/core-10.0/lib/libww_rocm_stub.so.3");
  SetUp();
  places_.venv = "/venv";
  install("/venv/lib/python3.12/site-packages/_rocm_sdk_core/lib", "libww_rocm_stub.so.3",
          WW_ROCM_STUB);
  EXPECT_THAT(found(), HasSubstr("_rocm_sdk_core/lib/libww_rocm_stub.so.3"));
}

TEST_F(RocmRoot, PassesOverFilesThatCannotBeUsedAndNamesThem) {
  fs::create_directories(root_ / "opt/rocm/lib");
  std::ofstream(root_ / "opt/rocm/lib/libww_rocm_stub.so.3") << "no library";
  EXPECT_THAT(found(), HasSubstr("libww_rocm_stub.so.3"));
  EXPECT_THAT(found(), HasSubstr("stub-package"));
  EXPECT_THAT(found(), HasSubstr("ROCM_PATH"));
  // One that loads and lacks the entry is no better.
  install("/opt/rocm/lib", "libww_rocm_stub.so.2", WW_ROCM_STUB_OLD);
  EXPECT_THAT(found(), HasSubstr("has no ww_stub_entry"));
  install("/opt/rocm-6.3.0/lib", "libww_rocm_stub.so.2", WW_ROCM_STUB);
  EXPECT_EQ(found(), "/opt/rocm-6.3.0/lib/libww_rocm_stub.so.2");
}

TEST_F(RocmRoot, PrefersTheNewestLibraryUnlessAFolderIsNamed) {
  install("/opt/rocm/lib", "libww_rocm_stub.so.2", WW_ROCM_STUB);
  install("/opt/rocm/core-10.0/lib", "libww_rocm_stub.so.3", WW_ROCM_STUB);
  EXPECT_EQ(found(), "/opt/rocm/core-10.0/lib/libww_rocm_stub.so.3");
  places_.rocm_path = "/opt/rocm";
  EXPECT_EQ(found(), "/opt/rocm/lib/libww_rocm_stub.so.2");
}

}  // namespace
}  // namespace ww
