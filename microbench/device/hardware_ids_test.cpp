// Places by hardware ids that a host makes up: registers that kernels cannot read, and some that
// they can.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <functional>

#include "host/pinning.hpp"
#include "ww/kernels/sources.hpp"
#include "ww/microbench/topology.hpp"

namespace ww::microbench {
namespace {

using ::testing::HasSubstr;
using Ids = std::function<std::uint32_t(std::size_t wave)>;

class MadeBuffer final : public DeviceBuffer {
 public:
  explicit MadeBuffer(std::size_t bytes) : bytes_(bytes) {}
  std::size_t size() const override { return bytes_.size(); }
  Status write(std::size_t offset, std::span<const std::byte> data) override {
    std::ranges::copy(data, bytes_.begin() + static_cast<std::ptrdiff_t>(offset));
    return {};
  }
  Status read(std::size_t offset, std::span<std::byte> data) override {
    std::memcpy(data.data(), bytes_.data() + offset, data.size());
    return {};
  }

 private:
  std::vector<std::byte> bytes_;
};

// Logs the ids where the kernel is `places`; every launch takes as long.
class MadeKernel final : public LoadedKernel {
 public:
  MadeKernel(const Ids* ids, unsigned wave_size) : ids_(ids), wave_size_(wave_size) {}
  Status set(unsigned, std::span<const std::byte>) override { return {}; }
  Status set(unsigned index, const DeviceBuffer& buffer) override {
    if (index == 0) log_ = const_cast<DeviceBuffer*>(&buffer);
    return {};
  }
  Status launch(std::size_t groups, std::size_t group_size) override {
    if (ids_ == nullptr) return {};
    std::vector<std::uint32_t> log(groups * group_size / wave_size_);
    for (std::size_t wave = 0; wave < log.size(); ++wave) log[wave] = (*ids_)(wave);
    return log_->write(0, std::as_bytes(std::span(log)));
  }
  Result<double> time_launch(std::size_t, std::size_t) override { return 1e-6; }

 private:
  const Ids* ids_;
  unsigned wave_size_;
  DeviceBuffer* log_{};
};

class MadeHost final : public ComputeHost {
 public:
  // `code`: the target whose code objects stand for those of `target`.
  explicit MadeHost(Ids ids, std::string target = "gfx1201", std::string code = "gfx1201")
      : ids_(std::move(ids)), target_(std::move(target)), code_(std::move(code)) {}
  std::string device_name() const override { return "made up"; }
  std::string driver_version() const override { return "1"; }
  HostFacts facts() const override {
    HostFacts facts = ComputeHost::facts();
    facts.target = target_;
    facts.compute_units = 64;
    return facts;
  }
  Result<std::unique_ptr<DeviceBuffer>> create_buffer(std::size_t bytes) override {
    return std::make_unique<MadeBuffer>(bytes);
  }
  Result<std::vector<std::byte>> build(const std::string& text, const std::string& name) override {
    return kernels::code_object_for(name, text, code_);
  }
  Result<std::unique_ptr<LoadedKernel>> load(std::span<const std::byte>,
                                             const std::string& kernel) override {
    return std::make_unique<MadeKernel>(kernel == "places" ? &ids_ : nullptr,
                                        kernel_target(target_).wave_size);
  }
  Status flush() override { return {}; }
  Status finish() override { return {}; }

 private:
  Ids ids_;
  std::string target_, code_;
};

Result<Topology> topology_with(Ids ids) {
  MadeHost host(std::move(ids));
  return discover_topology(host, {});
}

class HardwareIds : public ::testing::Test {
 protected:
  void SetUp() override {
    if (kernels::precompiled_targets().empty()) GTEST_SKIP() << "this build has no clang-19";
  }
};

TEST_F(HardwareIds, OfOneValueInAllWavefrontsAreRefused) {
  for (const std::uint32_t value : {0u, 0x00040c01u}) {
    const auto topology = topology_with([value](std::size_t) { return value; });
    ASSERT_TRUE(topology) << topology.error().text();
    EXPECT_FALSE(topology->pinned);
    EXPECT_THAT(topology->pinning_reason, HasSubstr("cannot read the register"));
    EXPECT_TRUE(topology->places.empty());
    EXPECT_EQ(topology->places_reason, topology->pinning_reason);
    EXPECT_EQ(topology->latency.reason, topology->pinning_reason);
    // Probes that need no place still run.
    EXPECT_THAT(topology->address.reason, HasSubstr("no contention"));
  }
}

// The wave's slot is shown, and neither WGP nor engine is.
TEST_F(HardwareIds, ThatNameOnePlaceOnManyComputeUnitsAreRefused) {
  const auto topology =
      topology_with([](std::size_t wave) { return static_cast<std::uint32_t>(wave % 16); });
  ASSERT_TRUE(topology) << topology.error().text();
  EXPECT_FALSE(topology->pinned);
  EXPECT_THAT(topology->pinning_reason, HasSubstr("64 compute units"));
}

// No code object was compiled beforehand for gfx950: that of gfx942 is pinned equally.
TEST_F(HardwareIds, ThatDiesRepeatNameNoPlaceForALatency) {
  for (const char* target : {"gfx942:sramecc+:xnack-", "gfx950"}) {
    MadeHost host([](std::size_t wave) { return static_cast<std::uint32_t>(wave % 32) << 8; },
                  target, "gfx942");
    const auto topology = discover_topology(host, {});
    ASSERT_TRUE(topology) << topology.error().text();
    EXPECT_TRUE(topology->pinned) << topology->pinning_reason;
    EXPECT_THAT(topology->latency.reason, HasSubstr("repeat the same hardware ids")) << target;
  }
}

TEST_F(HardwareIds, ThatDifferAreThePlaces) {
  // WGP from bit 10, array 16, engine from bit 18, as on RDNA 3.
  const auto topology = topology_with([](std::size_t wave) {
    const auto wgp = static_cast<std::uint32_t>(wave % 4);
    const auto engine = static_cast<std::uint32_t>(wave / 4 % 5);
    return static_cast<std::uint32_t>(wave % 3) | wgp << 10 | engine << 18;
  });
  ASSERT_TRUE(topology) << topology.error().text();
  EXPECT_TRUE(topology->pinned);
  EXPECT_EQ(topology->places.size(), 20u);
  EXPECT_EQ(topology->engines(), (std::vector<int>{0, 1, 2, 3, 4}));
}

}  // namespace
}  // namespace ww::microbench
