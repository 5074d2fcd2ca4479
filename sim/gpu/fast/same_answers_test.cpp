// Each shortcut alone leaves what execution of every instruction leaves: bytes, counters, chip
// time, the sensor's samples and energies.
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <tuple>

#include "machine/testing/test_gpu.hpp"

namespace ww::sim::gpu::same_answers_test {
namespace {

// A launch to be compared, with buffers that lie at the same addresses on every virtual GPU.
struct Answers {
  std::vector<std::vector<double>> counters;
  std::vector<double> energies_j;
  std::vector<std::int64_t> times_ns;
  std::vector<std::int64_t> samples;
  std::vector<std::uint32_t> memory;
  int replayed{};
};

class Machine {
 public:
  Machine(Speed speed, unsigned threads)
      : object_(test::read_kernels()),
        gpu_(
            test::create(test::chip_for(object_), {{.threads = threads}, exec::Tricks::of(speed)})),
        program_(gpu_->load(object_).value()) {}

  std::uint64_t buffer(const std::vector<std::uint32_t>& words) {
    const auto address = gpu_->allocate(words.size() * 4).value();
    EXPECT_TRUE(gpu_->write(address, std::as_bytes(std::span(words))));
    buffers_.emplace_back(address, words.size());
    return address;
  }
  // Launches several times: the second of equal launches may be recorded, and the third replayed.
  template <class... Args>
  void launch(const char* kernel, std::uint32_t global, std::uint32_t local, Args... args) {
    for (int i = 0; i < kTimes; ++i) {
      const auto result = gpu_->launch(program_, kernel, Grid{1, {global, 1, 1}, {local, 1, 1}},
                                       test::TestGpu::arguments(args...), lds_bytes);
      ASSERT_TRUE(result) << kernel << ": " << result.error().text();
      auto& counters = answers_.counters.emplace_back(gpu_->counter_names().size());
      EXPECT_TRUE(gpu_->counters(result->dispatch, counters));
      const auto parts = gpu_->sealed_energy_j(result->dispatch).value();
      for (const double part :
           {parts.crossbar_wires, parts.crossbar_control, parts.registers_l1, parts.l2_memory,
            parts.caches, parts.alu, parts.clock, parts.crossbar_arbiters}) {
        answers_.energies_j.push_back(part);
      }
      answers_.times_ns.push_back(result->start_ns);
      answers_.times_ns.push_back(result->end_ns);
      answers_.replayed += result->replayed ? 1 : 0;
    }
  }
  // Returns what the launches so far left.
  Answers answers() {
    for (const auto& [address, words] : buffers_) {
      std::vector<std::uint32_t> read(words);
      EXPECT_TRUE(gpu_->read(address, std::as_writable_bytes(std::span(read))));
      answers_.memory.insert(answers_.memory.end(), read.begin(), read.end());
    }
    gpu_->idle_until(gpu_->now_ns() + 1'000'000'000);
    std::vector<ww_vgpu_sample> samples(1 << 16);
    samples.resize(gpu_->samples_since(0, samples));
    for (const auto& sample : samples) {
      answers_.samples.push_back(sample.time_ns);
      answers_.samples.push_back(sample.power_uw);
      answers_.samples.push_back(sample.energy_ticks);
    }
    return answers_;
  }

  std::uint32_t lds_bytes{};

 private:
  static constexpr int kTimes = 4;

  binpatch::CodeObject object_;
  std::unique_ptr<VirtualGpu> gpu_;
  ProgramId program_;
  std::vector<std::pair<std::uint64_t, std::size_t>> buffers_;  // address, words
  Answers answers_;
};

// Kernels with loops, divergence, loads that overlap arithmetic, barriers, atomics, private memory.
Answers answers_of(Speed speed, unsigned threads) {
  Machine machine(speed, threads);
  std::mt19937 random(7);
  std::vector<std::uint32_t> words(1 << 16);
  for (auto& word : words) word = static_cast<std::uint32_t>(random());
  std::vector<std::uint32_t> floats(1 << 14);
  for (auto& value : floats) {
    value = std::bit_cast<std::uint32_t>(static_cast<float>(random() % 10'000) / 37.0F - 50.0F);
  }
  const auto data = machine.buffer(words);
  const auto numbers = machine.buffer(floats);
  const auto out = machine.buffer(std::vector<std::uint32_t>(1 << 18));
  const auto bins = machine.buffer(std::vector<std::uint32_t>(1024));
  machine.launch("stream", 4096, 256, data, out, 8U, 64U);
  machine.launch("pinned_stream", 8192, 256, data, out, 1U, 2U, 8U);
  machine.launch("histogram", 2048, 256, data, bins, 9000U);
  machine.launch("scatter_private", 512, 64, data, out);
  machine.launch("math_f32", 1024, 128, numbers, out);
  machine.launch("divide_f32", 1024, 128, numbers, data, out);
  machine.launch("integers", 512, 64, data, data, out);
  machine.launch("longs", 512, 64, data, data, out);
  machine.launch("wide_vectors", 512, 64, data, out, data);
  machine.launch("narrow", 1000, 100, data, data, out, out + 8192);
  machine.launch("count_up", 2048, 256, bins, out);
  machine.lds_bytes = 256 * 4;
  machine.launch("reduce", 2048, 256, numbers, out, 0U);
  // More waves than the chip takes at once.
  constexpr std::uint32_t kAllWaves = 44 * 40 * 64;
  const auto sums = machine.buffer(std::vector<std::uint32_t>(2 * kAllWaves + 256));
  machine.launch("reduce", kAllWaves, 256, sums, out, 0U);
  for (const std::uint32_t waves : {5U, 8U}) {
    machine.launch("multiply_adds", 44 * waves * 256, 256, sums, 5U);
  }
  machine.launch("multiply_adds", 2 * kAllWaves + 256, 256, sums, 9U);
  return machine.answers();
}

const Answers& of_none() {
  static const Answers& answers = *new Answers(answers_of(Speed::none, 1));
  return answers;
}

class SameAnswers : public ::testing::TestWithParam<std::tuple<Speed, unsigned>> {};

TEST_P(SameAnswers, AsEveryInstructionOneByOne) {
  const auto [speed, threads] = GetParam();
  const Answers& expected = of_none();
  const Answers found = answers_of(speed, threads);
  EXPECT_EQ(found.counters, expected.counters);
  EXPECT_EQ(found.energies_j, expected.energies_j);
  EXPECT_EQ(found.times_ns, expected.times_ns);
  EXPECT_EQ(found.samples, expected.samples);
  EXPECT_TRUE(found.memory == expected.memory);
  EXPECT_GT(expected.samples.size(), 2U);
  EXPECT_EQ(expected.replayed, 0);
  const bool replays = speed == Speed::replay || speed == Speed::all;
  EXPECT_EQ(found.replayed > 0, replays) << found.replayed;
}

std::string name_of(const ::testing::TestParamInfo<SameAnswers::ParamType>& info) {
  return std::string(to_string(std::get<0>(info.param))) + "_" +
         std::to_string(std::get<1>(info.param));
}
INSTANTIATE_TEST_SUITE_P(EachShortcut, SameAnswers,
                         ::testing::Combine(::testing::ValuesIn(kSpeeds),
                                            ::testing::Values(1U, 2U)),
                         name_of);

}  // namespace
}  // namespace ww::sim::gpu::same_answers_test
