// A session must notice what is wrong: a check that cannot fail would make every workload green.
#include "session.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "registry.hpp"

namespace ww::workloads {
namespace {

class FakeBuffer final : public microbench::DeviceBuffer {
 public:
  explicit FakeBuffer(std::size_t bytes) : data(bytes) {}
  std::size_t size() const override { return data.size(); }
  Status write(std::size_t offset, std::span<const std::byte> from) override {
    std::copy(from.begin(), from.end(), data.begin() + static_cast<std::ptrdiff_t>(offset));
    return {};
  }
  Status read(std::size_t, std::span<std::byte> to) override {
    std::copy_n(data.begin(), to.size(), to.begin());
    return {};
  }
  std::vector<std::byte> data;
};

class FakeKernel final : public microbench::LoadedKernel {
 public:
  Status set(unsigned, std::span<const std::byte>) override { return {}; }
  Status set(unsigned, const microbench::DeviceBuffer&) override { return {}; }
  Status launch(std::size_t, std::size_t) override { return {}; }
  Status launch_grid(const std::array<std::size_t, 3>&,
                     const std::array<std::size_t, 3>&) override {
    return {};
  }
};

class FakeHost final : public microbench::ComputeHost {
 public:
  explicit FakeHost(bool compiles) : compiles_(compiles) {}
  std::string device_name() const override { return "fake"; }
  std::string driver_version() const override { return "0"; }
  Result<std::unique_ptr<microbench::DeviceBuffer>> create_buffer(std::size_t bytes) override {
    return std::make_unique<FakeBuffer>(bytes);
  }
  Result<std::vector<std::byte>> build(const std::string&, const std::string& name) override {
    if (!compiles_) return fail(ErrorCode::device_error, "no compiler today", name);
    return std::vector<std::byte>{};
  }
  Result<std::unique_ptr<microbench::LoadedKernel>> load(std::span<const std::byte>,
                                                         const std::string&) override {
    return std::make_unique<FakeKernel>();
  }
  Status flush() override { return {}; }
  Status finish() override { return {}; }

 private:
  bool compiles_;
};

class FakeCounters final : public measure::Counters {
 public:
  std::uint64_t dispatch_count() const override { return 0; }
  Result<measure::Dispatch> dispatch(std::uint64_t) const override { return measure::Dispatch{}; }
  Result<std::map<std::string, double>> sum(std::uint64_t, std::uint64_t) const override {
    return values;
  }
  std::map<std::string, double> values{{"TCP_TCC_READ_REQ_sum", 2},
                                       {"TCP_TCC_WRITE_REQ_sum", 1},
                                       {"TCP_TCC_ATOMIC_REQ_sum", 0},
                                       {"SQ_WAVES", 3}};
};

microbench::ComputeDevice fake_device(bool compiles = true) {
  microbench::ComputeDevice device;
  device.host = std::make_unique<FakeHost>(compiles);
  device.counters = std::make_unique<FakeCounters>();
  return device;
}

// Three waves, two lines read, one written: what the fake counters report.
void run_as_counted(Session& s) {
  s.build("scan.cl");
  s.launch("any", {192}, {64}, s.zeros<int>(1));
  s.reads(128, 128);
  s.writes(64, 64);
}

TEST(Session, PassesWhenResultsAndTrafficAreAsStated) {
  auto device = fake_device();
  Session s(device, {Size::small}, 1);
  run_as_counted(s);
  s.check("value", s.download<int>(s.upload(std::vector{1, 2})), {1, 2});
  EXPECT_EQ(s.finish("w").outcome, Outcome::pass);
}

TEST(Session, NamesTheFirstElementThatIsWrong) {
  auto device = fake_device();
  Session s(device, {Size::small}, 1);
  run_as_counted(s);
  s.check("value", std::vector{1.0F, 2.0F, 3.0F}, {1.0F, 2.5F, 4.0F}, 1e-3);
  const Report report = s.finish("w");
  EXPECT_EQ(report.outcome, Outcome::fail);
  EXPECT_EQ(report.reason, "value[1] is 2, expected 2.5");
}

TEST(Session, TakesNanAndOtherLengthsForWrong) {
  for (const auto& got : {std::vector{std::nanf("")}, std::vector<float>{}}) {
    auto device = fake_device();
    Session s(device, {Size::small}, 1);
    run_as_counted(s);
    s.check("value", got, {1.0F}, 1e9, 1e9);
    EXPECT_EQ(s.finish("w").outcome, Outcome::fail);
  }
}

TEST(Session, FailsWhenCountersLieOutsideTheStatedTraffic) {
  const auto outcome = [](double least, double most) {
    auto device = fake_device();
    Session s(device, {Size::small}, 1);
    run_as_counted(s);
    s.reads(least, most);
    return s.finish("w").outcome;
  };
  EXPECT_EQ(outcome(100, 130), Outcome::pass);
  EXPECT_EQ(outcome(129, 500), Outcome::fail);
  EXPECT_EQ(outcome(1, 127), Outcome::fail);
  EXPECT_EQ(outcome(0, 0), Outcome::fail);
}

TEST(Session, FailsWhenAnotherNumberOfWavesRan) {
  auto device = fake_device();
  Session s(device, {Size::small}, 1);
  run_as_counted(s);
  s.launch("any", {64}, {64}, s.zeros<int>(1));
  EXPECT_EQ(s.finish("w").outcome, Outcome::fail);
}

TEST(Session, ReportsTheFirstErrorOfTheDevice) {
  auto device = fake_device(false);
  Session s(device, {Size::small}, 1);
  run_as_counted(s);
  s.check("value", 1, 2);
  const Report report = s.finish("w");
  EXPECT_EQ(report.outcome, Outcome::error);
  EXPECT_NE(report.reason.find("no compiler today"), std::string::npos) << report.reason;
}

TEST(Session, PicksByTheSizeAndRoundsItsExtentUp) {
  auto device = fake_device();
  EXPECT_EQ(Session(device, {Size::medium}, 1).pick(1, 2, 3), 2);
  EXPECT_EQ(Session(device, {Size::suite}, 1).pick(1, 2, 3), 3);
  EXPECT_EQ(Session(device, {Size::suite}, 1).pick(1, 2, 3, 4), 4);
  EXPECT_EQ(Session(device, {Size::paper, 100}, 1).extent(), 100U);
  EXPECT_EQ(Session(device, {Size::paper, 100}, 1).extent(64), 128U);
  EXPECT_EQ(Session(device, {Size::paper, 128}, 1).extent(64), 128U);
}

TEST(Input, IsANameOrANumber) {
  const auto named = input_from_string("suite");
  ASSERT_TRUE(named);
  EXPECT_EQ(named->size, Size::suite);
  EXPECT_EQ(to_string(*named), "suite");
  const auto number = input_from_string("1024");
  ASSERT_TRUE(number);
  EXPECT_EQ(number->extent, 1024U);
  EXPECT_EQ(to_string(*number), "1024");
  for (const char* wrong : {"", "0", "-1", "12x", "huge", "99999999999999999999"}) {
    EXPECT_FALSE(input_from_string(wrong)) << wrong;
  }
}

TEST(Input, GetsTheExtentOfItsSize) {
  const Info info{"w", "p", "s", "t", {"rows", {10, 20, 40, 80}}};
  EXPECT_EQ(complete_input(info, {Size::medium})->extent, 20U);
  EXPECT_EQ(complete_input(info, {Size::paper, 33})->extent, 33U);
  const auto few = complete_input(info, {Size::paper, 9});
  ASSERT_FALSE(few);
  EXPECT_EQ(few.error().message, "w takes 10 to 320 rows, not 9");
  EXPECT_FALSE(complete_input(info, {Size::paper, 321}));
  const Info plain{"w", "p", "s", "t"};
  EXPECT_EQ(complete_input(plain, {Size::medium})->extent, 0U);
  EXPECT_FALSE(complete_input(plain, {Size::paper, 33}));
}

// A device whose kernels do nothing leaves zeros: no workload may take them for its result.
TEST(Workload, NoneAcceptsADeviceThatComputesNothing) {
  for (const Entry& entry : registry()) {
    const auto input = complete_input(entry.info, {Size::small});
    ASSERT_TRUE(input) << entry.info.name;
    auto device = fake_device();
    Session s(device, *input, 1);
    entry.body(s);
    EXPECT_TRUE(s.found_wrong_result()) << entry.info.name;
  }
}

}  // namespace
}  // namespace ww::workloads
