// A card that is none: HIP's runtime or AMD's OpenCL is a stub that executes code objects on a
// virtual chip, and a tree of kernel files (FakeAmdTree) stands for the driver's.
#pragma once

#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <string>

#include "process.hpp"

namespace ww::e2e {

// Returns what a program needs to find the card: the stub of HIP, a clock as fast as the chip, the
// kernel's files in `folder`/sys and what the program keeps in `folder`/state. Programs like
// rocprof are those of `folder`/bin.
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

// As stub_card_environment, where the machine has AMD's OpenCL and no HIP.
[[nodiscard]] inline Environment stub_opencl_environment(const std::filesystem::path& folder,
                                                         const std::string& chip) {
  const auto stubs = build_folder() / "lib/stubs";
  const std::string tree = (folder / "sys").string();
  return {{"LD_PRELOAD", (stubs / "libchip_clock.so").string()},
          {"OCL_ICD_VENDORS", (stubs / "libstub_amd_opencl.so").string()},
          {"WIREWATT_SYSFS", tree},
          {"WW_STUB_OPENCL_TREE", tree},
          {"WIREWATT_CHIP", chip},
          {"WIREWATT_THREADS", "1"},
          {"WIREWATT_STATE_DIR", (folder / "state").string()},
          {"PATH", (folder / "bin").string() + ":/usr/bin:/bin"}};
}

// The built-in chip `name` with `units` compute units an engine and an L2 of `l2_bytes`, as a chip
// file in `folder`; returns its path. A campaign's launches are executed in a fraction of the time,
// and wires are as long as on the whole chip.
[[nodiscard]] inline std::string write_small_chip(const std::filesystem::path& folder,
                                                  const std::string& name, int units,
                                                  int l2_bytes) {
  std::ifstream whole(source_folder() / "sim/gpu/chips" / (name + ".toml"));
  std::string text(std::istreambuf_iterator<char>(whole), {});
  const auto replace = [&text](const std::string& pattern, const std::string& with) {
    text = std::regex_replace(text, std::regex(pattern), with);
  };
  replace("cus_off_per_die = \\d+", "cus_off_per_die = 0");
  replace("cus_per_engine = \\d+", "cus_per_engine = " + std::to_string(units));
  replace("\nl2_bytes = \\d+", "\nl2_bytes = " + std::to_string(l2_bytes));
  // The places of an engine's first units.
  std::string place = "\\[[^\\]]*\\]";
  for (int unit = 1; unit < units; ++unit) {
    place += ",\\s*\\[[^\\]]*\\]";
  }
  replace("cu = \\[\\s*(" + place + ")[^=]*?\n\\]", "cu = [$1]");
  const auto file = folder / ("small_" + name + ".toml");
  std::ofstream(file) << text;
  return file.string();
}

}  // namespace ww::e2e
