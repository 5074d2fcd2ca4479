// A card that is none: HIP's runtime is a stub that executes code objects on a virtual chip, and a
// tree of kernel files (FakeAmdTree) stands for the driver's.
#pragma once

#include <filesystem>
#include <string>

#include "process.hpp"

namespace ww::e2e {

// What a program needs to find it: the stub of HIP, a clock as fast as the chip, the kernel's files
// in `folder`/sys and what the program keeps in `folder`/state. Programs like rocprof are those of
// `folder`/bin.
[[nodiscard]] inline Environment stub_card_environment(const std::filesystem::path& folder,
                                                       const std::string& chip) {
  const auto stubs = build_folder() / "lib/stubs";
  const std::string tree = (folder / "sys").string();
  return {{"LD_PRELOAD", (stubs / "libchip_clock.so").string()},
          {"LD_LIBRARY_PATH", stubs.string()},
          {"WIREWATT_SYSFS", tree},
          {"WW_STUB_HIP_TREE", tree},
          {"WW_STUB_HIP_CHIP", chip},
          {"WIREWATT_STATE_DIR", (folder / "state").string()},
          {"PATH", (folder / "bin").string() + ":/usr/bin:/bin"}};
}

}  // namespace ww::e2e
