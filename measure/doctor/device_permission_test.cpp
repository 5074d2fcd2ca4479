#include "ww/measure/environment.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

#include "ww/core/temporary_folder.hpp"

namespace ww::measure {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::Not;

class DevicePermission : public ::testing::Test {
 protected:
  DevicePermission() {
    write("dev/kfd", "");
    write("etc/group", "root:x:0:\nrender:x:" + std::to_string(group()) + ":\n");
  }
  // The mask of files that this process makes.
  static unsigned group() { return ::getegid(); }
  void write(const std::string& name, const std::string& text) const {
    fs::create_directories((root_ / name).parent_path());
    std::ofstream(root_ / name) << text;
  }
  ScratchFolder scratch_ = ScratchFolder::create("permission").value();
  const fs::path& root_ = scratch_.path();
};

TEST_F(DevicePermission, OnAMachineIsTheGroupOfTheUser) {
  EXPECT_THAT(how_to_open_devices(root_), HasSubstr("usermod -aG render"));
}

TEST_F(DevicePermission, InAContainerIsHowTheContainerIsStarted) {
  for (const char* sign : {".dockerenv", "run/.containerenv"}) {
    write(sign, "");
    const std::string hint = how_to_open_devices(root_);
    EXPECT_THAT(hint, HasSubstr("--group-add keep-groups"));
    EXPECT_THAT(hint, HasSubstr("--group-add " + std::to_string(group()) + " (Docker)"));
    EXPECT_THAT(hint, Not(HasSubstr("usermod")));
    fs::remove(root_ / sign);
  }
}

TEST_F(DevicePermission, WhereTheGroupHasNoNameIsTakenForAContainers) {
  write("etc/group", "nobody:x:65534:\n");
  EXPECT_THAT(how_to_open_devices(root_), HasSubstr("--group-add"));
}

}  // namespace
}  // namespace ww::measure
