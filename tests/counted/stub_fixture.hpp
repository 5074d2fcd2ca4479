// Tests that count programs from inside, through the stub of rocprofiler-sdk over the virtual GPU.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "process.hpp"
#include "ww/measure/counter_file.hpp"

namespace ww::e2e {

namespace fs = std::filesystem;

inline const std::vector<std::string> kCounters = {
    "TCP_TOTAL_CACHE_ACCESSES_sum", "TCP_TCC_READ_REQ_sum",
    "TCP_TCC_WRITE_REQ_sum",        "TCC_EA_RDREQ_sum",
    "TCC_EA_RDREQ_32B_sum",         "TCC_EA_WRREQ_sum",
    "TCC_EA_WRREQ_64B_sum"};

inline std::string program(const std::string& name) {
  return (build_folder() / "bin" / name).string();
}

// Variables of this process, which children get, set until the object goes.
class Variables {
 public:
  void set(const std::string& name, const std::string& value) {
    names_.insert(name);
    ::setenv(name.c_str(), value.c_str(), 1);
  }
  ~Variables() {
    for (const std::string& name : names_) ::unsetenv(name.c_str());
  }

 private:
  std::set<std::string> names_;
};

class OnTheStub : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!fs::exists(program("counted_processes"))) {
      GTEST_SKIP() << "Debian's packages clang-19 and lld-19 are not installed";
    }
    set("WIREWATT_CHIP", "mi210");
    set("WIREWATT_THREADS", "1");
    set("ROCM_PATH", rocm().string());
    set("LD_LIBRARY_PATH",
        (build_folder() / "lib/wirewatt/hip").string() + ":" + (rocm() / "lib").string());
  }
  void set(const std::string& name, const std::string& value) { variables_.set(name, value); }
  [[nodiscard]] fs::path rocm() const { return folder_.path() / "rocm"; }
  [[nodiscard]] fs::path oracle() const { return folder_.path() / "oracle"; }

  // Puts a release of the stub where ROCm's libraries are.
  void install(const std::string& release) {
    const std::string generation = release.substr(0, 1) == "0" ? "0" : "1";
    const std::string name = "librocprofiler-sdk.so." + generation;
    fs::remove_all(rocm());
    fs::create_directories(rocm() / "lib");
    fs::copy(build_folder() / "lib/rocprofiler_stub" / generation / name, rocm() / "lib" / name);
    fs::create_symlink(name, rocm() / "lib/librocprofiler-sdk.so");
    set("WW_STUB_SDK", release);
  }
  // Has the virtual GPU write its own counts beside, of each process.
  void keep_oracle() {
    fs::remove_all(oracle());
    fs::create_directories(oracle());
    set("WIREWATT_COUNTERS", (oracle() / "%p.csv").string());
  }
  // By process and number of the launch.
  using Launches = std::map<std::pair<std::string, std::uint64_t>, measure::CounterDispatch>;
  [[nodiscard]] Launches expected() const {
    Launches launches;
    for (const auto& file : fs::directory_iterator(oracle())) {
      const auto read = measure::read_counter_file(file.path().string(), "gfx90a");
      EXPECT_TRUE(read) << read.error().text();
      for (const auto& dispatch : read->dispatches) {
        launches[{dispatch.process, dispatch.id}] = dispatch;
      }
    }
    return launches;
  }

  TemporaryFolder folder_;
  Variables variables_;
};

}  // namespace ww::e2e
