// The contract of compute hosts, on whatever is present: every OpenCL device that the loader shows
// (the virtual GPU and PoCL always, real cards where there are any), HIP and CUDA over the drivers
// installed or, where none is, over stubs that execute (test_support/).
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>
#include <set>

#include "device/device.hpp"
#include "host/opencl_host.hpp"
#include "host/pinning.hpp"
#include "ww/core/temporary_folder.hpp"
#include "ww/kernels/patterns.hpp"
#include "ww/kernels/sources.hpp"
#include "ww/microbench/hosts.hpp"

namespace ww::microbench {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

constexpr std::uint32_t kMarker = 0x5EC0DE01u;
constexpr std::size_t kGroupSize = 256;

// PoCL ends the process where it cannot look at the machine (no /sys, as in a bare chroot), so it
// is tried in another one first.
bool pocl_starts() {
  static const bool starts =
      std::system("OCL_ICD_VENDORS=libpocl.so.2 clinfo -l >/dev/null 2>&1") == 0;
  return starts;
}

// A vendors' folder with the virtual GPU beside whatever is installed.
void show_every_platform() {
  static const ScratchFolder scratch = ScratchFolder::create("vendors").value();
  const fs::path& folder = scratch.path();
  std::error_code ec;
  for (const auto& entry : fs::directory_iterator("/etc/OpenCL/vendors", ec)) {
    if (entry.path().filename() == "pocl.icd") continue;
    fs::copy_file(entry.path(), folder / entry.path().filename(),
                  fs::copy_options::overwrite_existing, ec);
  }
  if (pocl_starts()) {
    std::ofstream(folder / "pocl.icd") << "libpocl.so.2\n";
  } else {
    std::fputs("PoCL does not start on this machine: its part of the contract is left out\n",
               stderr);
  }
  std::ofstream(folder / "wirewatt.icd") << virtual_driver_path().string() << "\n";
  setenv("OCL_ICD_VENDORS", folder.c_str(), 1);
  setenv("WIREWATT_THREADS", "1", 0);
  setenv("WIREWATT_ON_FAULT", "stop", 1);  // a fault is to be an error, not a finding
  // PoCL keeps compiled kernels; a test's belong with the test.
  setenv("POCL_CACHE_DIR", (folder / "pocl").c_str(), 0);
}

struct Param {
  std::string name;   // of open_host
  std::string label;  // of the test
  bool survives_fault{true};
};

std::vector<Param> hosts() {
  show_every_platform();
  std::vector<Param> params;
  if (const auto api = load_opencl()) {
    if (const auto devices = enumerate_opencl(**api)) {
      for (const OpenClDevice& device : *devices) {
        Param param;
        param.name =
            "opencl:" + std::to_string(device.platform) + "." + std::to_string(device.device);
        param.label = device.platform_name + "_" + std::to_string(device.device);
        // A processor's driver runs the kernel in this process: its fault is ours.
        param.survives_fault = device.is_gpu;
        params.push_back(param);
      }
    }
  }
  params.push_back({"hip:0", "hip", true});
  params.push_back({"cuda:0", "cuda", true});
  for (Param& param : params) {
    std::ranges::replace_if(
        param.label, [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0; }, '_');
  }
  return params;
}

class HostContract : public ::testing::TestWithParam<Param> {
 protected:
  void SetUp() override {
    auto opened = open_host(GetParam().name);
    ASSERT_TRUE(opened) << opened.error().text();
    host_ = std::move(*opened);
    const std::string target = host_->facts().target;
    if (auto made = make_pinning(target)) pinning_ = std::move(*made);
    if (pinning_) {
      macros_.target = pinning_->target();
    } else {
      macros_.target.dialect = kernels::Dialect::portable;
    }
    macros_.group_size = kGroupSize;
  }

  [[nodiscard]] std::string text(const char* name) const {
    return kernels::program_text(kernels::find_source(name).value(), macros_).value();
  }
  Result<std::unique_ptr<LoadedKernel>> kernel(const char* name, bool patched = false) {
    WW_ASSIGN(binary, host_->build(text(name), name));
    if (patched) {
      WW_ASSIGN(changed, pinning_->patch(binary, name));
      return host_->load(changed, name);
    }
    return host_->load(binary, name);
  }
  std::unique_ptr<DeviceBuffer> buffer(std::size_t bytes) {
    auto made = host_->create_buffer(bytes);
    EXPECT_TRUE(made) << made.error().text();
    return made ? std::move(*made) : nullptr;
  }
  // Copies through the known_bytes kernel, `times` times.
  void expect_copies(std::size_t bytes, int times) {
    auto copy = kernel("known_bytes");
    ASSERT_TRUE(copy) << copy.error().text();
    const auto from = buffer(bytes);
    const auto to = buffer(bytes);
    std::vector<std::byte> content(bytes);
    kernels::fill(content, kernels::Pattern::random, 7);
    ASSERT_TRUE(from->write(0, content));
    ASSERT_TRUE((*copy)->set(0, *from));
    ASSERT_TRUE((*copy)->set(1, *to));
    ASSERT_TRUE((*copy)->set(2, static_cast<std::uint32_t>(bytes / 16)));
    const std::size_t groups = (bytes / 16 + kGroupSize - 1) / kGroupSize;
    for (int i = 0; i < times; ++i) {
      const auto launched = (*copy)->launch(groups, kGroupSize);
      ASSERT_TRUE(launched) << launched.error().text();
      // Launches run in order: the next one reads what this one wrote.
      if (i + 1 < times) {
        ASSERT_TRUE((*copy)->set(0, i % 2 == 0 ? *to : *from));
        ASSERT_TRUE((*copy)->set(1, i % 2 == 0 ? *from : *to));
      }
    }
    ASSERT_TRUE(host_->finish());
    std::vector<std::byte> copied(bytes);
    ASSERT_TRUE((times % 2 == 1 ? to : from)->read(0, copied));
    const std::byte flip = times % 2 == 1 ? std::byte{0xA5} : std::byte{0};
    for (std::size_t i = 0; i < bytes; ++i) ASSERT_EQ(copied[i], content[i] ^ flip) << i;
  }

  std::unique_ptr<ComputeHost> host_;
  std::unique_ptr<Pinning> pinning_;
  kernels::Macros macros_;
};

TEST_P(HostContract, NamesItsDeviceAndDriver) {
  const HostFacts facts = host_->facts();
  EXPECT_THAT(GetParam().name, HasSubstr(facts.api));
  EXPECT_FALSE(facts.api.empty());
  EXPECT_FALSE(facts.device.empty());
  EXPECT_FALSE(facts.driver.empty());
}

TEST_P(HostContract, SaysHowMuchMemoryItsDeviceHas) {
  const std::int64_t bytes = host_->facts().memory_bytes;
  EXPECT_GE(bytes, std::int64_t{64} << 20);
  EXPECT_FALSE(host_->create_buffer(static_cast<std::size_t>(bytes) + 1));
}

TEST_P(HostContract, MemoryComesBackAsItWent) {
  constexpr std::size_t bytes = 100'003;
  const auto memory = buffer(bytes);
  ASSERT_NE(memory, nullptr);
  EXPECT_EQ(memory->size(), bytes);
  std::vector<std::byte> content(bytes);
  kernels::fill(content, kernels::Pattern::random, 3);
  ASSERT_TRUE(memory->write(0, content));
  const std::vector<std::byte> middle(17, std::byte{0xEE});
  ASSERT_TRUE(memory->write(1001, middle));
  std::ranges::copy(middle, content.begin() + 1001);
  std::vector<std::byte> seen(bytes - 3);
  ASSERT_TRUE(memory->read(3, seen));
  EXPECT_TRUE(std::equal(seen.begin(), seen.end(), content.begin() + 3));
}

TEST_P(HostContract, TransfersBeyondABufferAreRefused) {
  const auto memory = buffer(64);
  std::vector<std::byte> data(65);
  EXPECT_EQ(memory->write(0, data).error().code, ErrorCode::out_of_range);
  data.resize(1);
  EXPECT_EQ(memory->read(64, data).error().code, ErrorCode::out_of_range);
}

TEST_P(HostContract, BuffersOfNothingOrOfEverythingAreRefused) {
  EXPECT_EQ(host_->create_buffer(0).error().code, ErrorCode::invalid_argument);
  const auto huge = host_->create_buffer(std::size_t{1} << 50);
  ASSERT_FALSE(huge);
  EXPECT_EQ(huge.error().code, ErrorCode::out_of_range) << huge.error().text();
  expect_copies(4096, 1);
}

TEST_P(HostContract, BuildsLoadsAndRunsAKernel) {
  expect_copies(64 * 1024 + 16, 1);
}

TEST_P(HostContract, LaunchesRunInOrder) {
  expect_copies(8192, 4);
}

TEST_P(HostContract, AKernelThatDoesNotCompileIsAnErrorWithItsReason) {
  const auto built =
      host_->build("__kernel void broken(__global int* a) { a[0] = nonsense; }", "broken");
  ASSERT_FALSE(built);
  if (GetParam().name.starts_with("cuda")) {
    EXPECT_EQ(built.error().code, ErrorCode::unsupported);
    EXPECT_THAT(built.error().message, HasSubstr("no compiler"));
  } else {
    EXPECT_EQ(built.error().code, ErrorCode::device_error);
    EXPECT_THAT(built.error().message, HasSubstr("nonsense"));
  }
  expect_copies(4096, 1);
}

TEST_P(HostContract, BytesThatAreNoBinaryAreRefused) {
  std::vector<std::byte> bytes(1000, std::byte{0x5A});
  EXPECT_FALSE(host_->load(bytes, "known_bytes"));
  expect_copies(4096, 1);
}

TEST_P(HostContract, AKernelThatTheBinaryHasNotIsNotFound) {
  const auto binary = host_->build(text("known_bytes"), "known_bytes");
  ASSERT_TRUE(binary) << binary.error().text();
  const auto loaded = host_->load(*binary, "unknown_bytes");
  ASSERT_FALSE(loaded);
  EXPECT_EQ(loaded.error().code, ErrorCode::not_found) << loaded.error().text();
}

TEST_P(HostContract, WrongArgumentsAreRefused) {
  auto copy = kernel("known_bytes");
  ASSERT_TRUE(copy) << copy.error().text();
  EXPECT_EQ((*copy)->set(9, std::uint32_t{1}).error().code, ErrorCode::invalid_argument);
  EXPECT_EQ((*copy)->set(2, std::uint64_t{1}).error().code, ErrorCode::invalid_argument);
  // Arguments 0 to 2 are not set.
  EXPECT_EQ((*copy)->launch(1, kGroupSize).error().code, ErrorCode::invalid_argument);
}

TEST_P(HostContract, AWorkGroupTooLargeIsRefused) {
  auto copy = kernel("known_bytes");
  ASSERT_TRUE(copy) << copy.error().text();
  const auto memory = buffer(4096);
  ASSERT_TRUE((*copy)->set(0, *memory));
  ASSERT_TRUE((*copy)->set(1, *memory));
  ASSERT_TRUE((*copy)->set(2, std::uint32_t{1}));
  const auto launched = (*copy)->launch(1, std::size_t{1} << 20);
  ASSERT_FALSE(launched);
  EXPECT_EQ(launched.error().code, ErrorCode::out_of_range) << launched.error().text();
}

TEST_P(HostContract, EventsTellMoreWorkFromLess) {
  auto furnace = kernel("furnace");
  ASSERT_TRUE(furnace) << furnace.error().text();
  const auto output = buffer(256);
  ASSERT_TRUE((*furnace)->set(1, *output));
  const auto shortest = [&](std::uint32_t work) {  // others may hold the processor up
    double seconds = std::numeric_limits<double>::infinity();
    EXPECT_TRUE((*furnace)->set(0, work));
    for (int i = 0; i < 5; ++i) {
      const auto launch = (*furnace)->time_launch(1, kGroupSize);
      if (!launch) ADD_FAILURE() << launch.error().text();
      seconds = std::min(seconds, launch.value_or(0.0));
    }
    return seconds;
  };
  const double little = shortest(1);
  EXPECT_GT(little, 0.0);
  EXPECT_GT(shortest(200), 2 * little);
}

// Pinned binaries report places; unpatched ones, and platforms without a marker, report work-groups
// under the marker's xor, which the host can recognise.
TEST_P(HostContract, SaysHonestlyWhetherKernelsArePinned) {
  constexpr std::size_t groups = 24;
  const unsigned wave = macros_.target.wave_size;
  const std::size_t waves = groups * kGroupSize / wave;
  const auto log_of = [&](bool patched) {
    std::vector<std::uint32_t> log(waves, 0xFFFFFFFFu);
    auto places = kernel("places", patched);
    EXPECT_TRUE(places) << places.error().text();
    if (!places) return log;
    const auto memory = buffer(4 * waves);
    const auto output = buffer(256);
    EXPECT_TRUE(memory->write(0, std::as_bytes(std::span(log))));
    EXPECT_TRUE((*places)->set(0, *memory));
    EXPECT_TRUE((*places)->set(1, std::uint32_t{50}));
    EXPECT_TRUE((*places)->set(2, *output));
    EXPECT_TRUE((*places)->launch(groups, kGroupSize));
    EXPECT_TRUE(memory->read(0, std::as_writable_bytes(std::span(log))));
    return log;
  };
  const auto unpatched = log_of(false);
  for (std::size_t i = 0; i < waves; ++i) {
    ASSERT_EQ(unpatched[i], static_cast<std::uint32_t>(i * wave / kGroupSize) ^ kMarker) << i;
  }
  if (pinning_ == nullptr) {
    EXPECT_THAT(make_pinning(host_->facts().target).error().text(), HasSubstr("unpinned"));
    return;
  }
  std::set<std::pair<int, int>> seen;
  for (const std::uint32_t id : log_of(true)) {
    const auto place = pinning_->place(id);
    ASSERT_TRUE(place) << place.error().text();
    seen.emplace(place->engine, place->cu);
  }
  EXPECT_GE(seen.size(), 4u);  // 24 work-groups lie on more than one CU
}

TEST_P(HostContract, AFaultIsAnErrorAndAFreshHostWorks) {
  if (!GetParam().survives_fault) {
    GTEST_SKIP() << "this driver runs kernels in the program's own process";
  }
  {
    auto copy = kernel("known_bytes");
    ASSERT_TRUE(copy) << copy.error().text();
    const auto memory = buffer(4096);
    ASSERT_TRUE((*copy)->set(0, *memory));
    ASSERT_TRUE((*copy)->set(1, *memory));
    ASSERT_TRUE((*copy)->set(2, std::uint32_t{1} << 28));
    Status status = (*copy)->launch(std::size_t{1} << 20, kGroupSize);
    if (status) status = host_->finish();
    ASSERT_FALSE(status);
    EXPECT_EQ(status.error().code, ErrorCode::device_error) << status.error().text();
    if (host_->facts().api != "opencl") {
      EXPECT_THAT(status.error().message, HasSubstr("context is lost"));
      const auto again = host_->create_buffer(64);
      ASSERT_FALSE(again);
      EXPECT_EQ(again.error().code, ErrorCode::device_error);
      EXPECT_THAT(again.error().message, HasSubstr("lost earlier"));
    }
  }
  host_.reset();
  SetUp();
  expect_copies(4096, 1);
}

INSTANTIATE_TEST_SUITE_P(EveryHost, HostContract, ::testing::ValuesIn(hosts()),
                         [](const auto& info) { return info.param.label; });

TEST(HostContractCovers, TheVirtualGpuAndPocl) {
  const auto devices = enumerate_opencl(**load_opencl());
  ASSERT_TRUE(devices) << devices.error().text();
  std::string platforms;
  for (const OpenClDevice& device : *devices) platforms += device.platform_name + "\n";
  EXPECT_THAT(platforms, HasSubstr("wirewatt"));
  if (!pocl_starts()) GTEST_SKIP() << "PoCL does not start on this machine";
  // pocl-opencl-icd of scripts/packages.txt.
  EXPECT_THAT(platforms, HasSubstr("Portable Computing Language"));
}

TEST(OpenHost, RefusesNamesThatNoHostHas) {
  for (const char* name :
       {"", "cuda", "cuda:", "cuda:x", "cuda:-1", "opencl:0", "opencl:0.", "vulkan:0", "hip:0x1"}) {
    const auto host = open_host(name);
    ASSERT_FALSE(host) << name;
    EXPECT_EQ(host.error().code, ErrorCode::invalid_argument) << name;
  }
  EXPECT_EQ(open_host("cuda:99").error().code, ErrorCode::missing_dependency);
  EXPECT_EQ(open_host("hip:99").error().code, ErrorCode::missing_dependency);
  EXPECT_EQ(open_host("opencl:99.0").error().code, ErrorCode::missing_dependency);
}

TEST(OpenHost, RefusesAnNvidiaPartWithoutNanosleepByName) {
  setenv("WW_STUB_CUDA_MAJOR", "6", 1);
  const auto host = open_host("cuda:0");
  unsetenv("WW_STUB_CUDA_MAJOR");
  ASSERT_FALSE(host);
  EXPECT_EQ(host.error().code, ErrorCode::unsupported);
  EXPECT_THAT(host.error().message,
              AllOf(HasSubstr("is sm_60"), HasSubstr("sm_70 (Volta)"), HasSubstr("nanosleep")));
}

TEST(ListDriverHosts, ShowsDevicesWithTheirFacts) {
  const auto listings = list_driver_hosts();
  for (const char* name : {"hip:0", "cuda:0"}) {
    const auto found = std::ranges::find(listings, name, &HostListing::name);
    ASSERT_NE(found, listings.end()) << name;
    EXPECT_TRUE(found->reason.empty()) << found->reason;
    EXPECT_FALSE(found->facts.target.empty());
    EXPECT_TRUE(make_pinning(found->facts.target));
  }
}

}  // namespace
}  // namespace ww::microbench
