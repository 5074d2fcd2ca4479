// An NVIDIA card without one: CUDA's driver is a stub that executes PTX, NVML is a stub that shows
// the power which that draws, and the program lives in the chip's time (microbench/test_support).
#pragma once

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "process.hpp"

namespace ww::e2e {

class NvidiaStub {
 public:
  // Where a driver is installed the stubs would not be found.
  [[nodiscard]] static bool real_one_here() { return std::filesystem::exists("/dev/nvidiactl"); }

  // "key value" lines of the card and its sensor. One lane and sixteen rounds of each warp stand
  // for all: each does the same. A call of NVML takes a tenth of a millisecond.
  void configure(const std::string& lines) const {
    std::ofstream(path() / "config") << "lanes 1\nloops 16\ncall_s 1e-4\n" << lines;
  }
  [[nodiscard]] const std::filesystem::path& path() const { return folder_.path(); }
  [[nodiscard]] std::string file(const std::string& name) const { return (path() / name).string(); }
  [[nodiscard]] Environment environment() const {
    const auto lib = build_folder() / "lib";
    return {{"LD_PRELOAD", (lib / "stubs/libchip_clock.so").string()},
            {"LD_LIBRARY_PATH", (lib / "stubs").string() + ":" + (lib / "nvml_stub").string()},
            {"WW_STUB_CUDA_CHIP", "1"},
            {"WW_STUB_CUDA_PCI", "0000:c1:00.0"},
            {"WW_NVML_STUB", path().string()},
            {"CUDA_HOME", file("no-cuda")},  // where this machine's own CUPTI is not
            {"XDG_CACHE_HOME", file("cache")},
            {"WIREWATT_STATE_DIR", file("state")}};
  }
  // wirewatt --quiet, on the stub.
  [[nodiscard]] Finished wirewatt_on(std::vector<std::string> words,
                                     const Environment& more = {}) const {
    words.insert(words.begin(), {wirewatt(), "--quiet"});
    Environment all = environment();
    all.insert(all.end(), more.begin(), more.end());
    return run(words, all);
  }
  [[nodiscard]] Finished calibrate(const std::string& out, const std::string& device = "cuda:0",
                                   const Environment& more = {}) const {
    return wirewatt_on({"calibrate", "--device", device, "--quick", "--no-clock-control", "--out",
                        file(out), "--json"},
                       more);
  }
  [[nodiscard]] Finished doctor(const std::string& device = "cuda:0") const {
    return wirewatt_on(
        {"doctor", "--device", device, "--no-clock-control", "--no-counters", "--json"});
  }

 private:
  TemporaryFolder folder_;
};

}  // namespace ww::e2e
