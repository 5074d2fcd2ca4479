// The memory trace of launches: exact, and the same for any number of threads.
#include <gtest/gtest.h>

#include <filesystem>

#include "machine/testing/test_gpu.hpp"
#include "ww/core/atomic_file.hpp"
#include "ww/core/temporary_folder.hpp"
#include "ww/sim/trace/reader.hpp"
#include "ww/sim/trace/writer.hpp"

namespace ww::sim::gpu::trace_test {
namespace {

using test::TestGpu;

class TraceTest : public testing::Test {
 protected:
  // Runs `launches` with a trace and gives its file.
  template <class Launches>
  std::filesystem::path record(unsigned threads, Launches&& launches) {
    auto file = folder_ / std::to_string(++files_);
    auto writer = trace::Writer::create(file, "test");
    EXPECT_TRUE(writer);
    {
      TestGpu gpu(Options{.threads = threads, .trace = writer->get()});
      launches(gpu);
    }
    EXPECT_TRUE((*writer)->finish());
    return file;
  }
  // Calls f(access, instruction) for each access and gives the totals.
  template <class F>
  trace::Totals read(const std::filesystem::path& file, F&& f) {
    auto reader = trace::Reader::open(file);
    EXPECT_TRUE(reader);
    trace::Access access;
    while (true) {
      const auto more = reader->next(access);
      if (!more) ADD_FAILURE() << more.error().text();
      if (!more || !*more) return reader->totals();
      f(access, reader->instructions()[access.instruction]);
    }
  }
  static std::uint32_t word(const trace::Access& access, unsigned lane) {
    std::uint32_t value = 0;
    std::memcpy(&value, access.value.data() + lane * trace::kMaxValueBytes, 4);
    return value;
  }

  ScratchFolder scratch_ = ScratchFolder::create("trace").value();
  std::filesystem::path folder_ = scratch_.path();
  int files_{};
};

TEST_F(TraceTest, SaxpysAccessesEqualTheArithmetic) {
  constexpr std::size_t n = 4096;
  std::vector<float> x(n), y(n);
  for (std::size_t i = 0; i < n; ++i) {
    x[i] = static_cast<float>(i);
    y[i] = static_cast<float>(i * i % 97);
  }
  std::uint64_t dx = 0;
  std::uint64_t dy = 0;
  double counted = 0;
  const auto file = record(2, [&](TestGpu& gpu) {
    dx = gpu.buffer(x);
    dy = gpu.buffer(y);
    gpu.launch("saxpy", n, 256, dy, dx, 2.0F);
    counted = gpu.counter("SQ_INSTS_FLAT");
  });
  std::vector<int> seen(3 * n);
  const auto totals = read(file, [&](const trace::Access& access, const trace::Instruction& i) {
    ASSERT_TRUE(access.has_values);
    for (unsigned lane = 0; lane < 64; ++lane) {
      const std::uint64_t address = access.address[lane];
      const std::size_t item = access.group * std::size_t{256} + access.wave * 64 + lane;
      ASSERT_LT(item, n);
      const float value = std::bit_cast<float>(word(access, lane));
      if (i.operation == trace::Operation::store) {
        ASSERT_EQ(address, dy + item * 4);
        ASSERT_EQ(value, 2.0F * x[item] + y[item]);
        ++seen[item];
      } else if (address >= dx && address < dx + n * 4) {
        ASSERT_EQ(address, dx + item * 4);
        ASSERT_EQ(value, x[item]);
        ++seen[n + item];
      } else {
        ASSERT_EQ(address, dy + item * 4);
        ASSERT_EQ(value, y[item]);
        ++seen[2 * n + item];
      }
    }
  });
  EXPECT_EQ(totals.launches, 1U);
  EXPECT_EQ(totals.instructions, 3U);
  EXPECT_EQ(static_cast<double>(totals.wave_accesses), counted);
  EXPECT_EQ(totals.lane_accesses, 3 * n);
  EXPECT_EQ(totals.loaded_bytes, 2 * n * 4);
  EXPECT_EQ(totals.stored_bytes, n * 4);
  EXPECT_EQ(std::count(seen.begin(), seen.end(), 1), static_cast<std::ptrdiff_t>(3 * n));
}

void many_kernels(TestGpu& gpu) {
  std::vector<std::uint32_t> words(1 << 15);
  for (std::uint32_t i = 0; i < words.size(); ++i) words[i] = i * 2654435761U;
  const auto data = gpu.buffer(words);
  const auto out = gpu.buffer(1 << 20);
  const auto counter = gpu.buffer(std::vector<std::uint32_t>(1024, 0));
  gpu.launch("stream", 4096, 256, data, out, 16U, 64U);
  gpu.launch("stream", 4096, 256, data, out, 16U, 64U);  // would be replayed
  gpu.launch("count_up", 2048, 128, counter, out);
  gpu.launch("histogram", 2048, 256, data, counter, 8192U);
  gpu.launch("scatter_private", 1024, 64, data, out);
  gpu.launch("wide_vectors", 512, 64, data, out, data);
}

TEST_F(TraceTest, OneAndTwoThreadsGiveTheSameBytes) {
  const auto one = *read_file(record(1, many_kernels));
  EXPECT_GT(one.size(), 10'000U);
  EXPECT_EQ(one, *read_file(record(2, many_kernels)));
  EXPECT_EQ(one, *read_file(record(2, many_kernels)));
}

TEST_F(TraceTest, EveryLaunchIsThereAndTheCountersStay) {
  std::vector<double> traced;
  const auto file = record(2, [&](TestGpu& gpu) {
    many_kernels(gpu);
    traced = gpu.counters(2);
  });
  std::vector<std::uint64_t> accesses(6);
  const auto totals = read(file, [&](const trace::Access& access, const trace::Instruction&) {
    ++accesses[access.launch];
  });
  EXPECT_EQ(totals.launches, 6U);
  EXPECT_EQ(accesses[0], accesses[1]);
  TestGpu plain(test::TrickOptions{{.threads = 2}, {.replay = false}});
  many_kernels(plain);
  EXPECT_EQ(traced, plain.counters(2));
  // Vector memory instructions, all of which reach memory here.
  for (std::uint64_t launch = 0; launch < 6; ++launch) {
    const auto counters = plain.counters(launch);
    EXPECT_EQ(static_cast<double>(accesses[launch]), counters[5] + counters[6]) << launch;
  }
}

TEST_F(TraceTest, AtomicsCarryTheirOperands) {
  const auto file = record(1, [&](TestGpu& gpu) {
    const auto counter = gpu.buffer(std::vector<std::uint32_t>(1, 0));
    const auto ticket = gpu.buffer(256 * 4);
    gpu.launch("count_up", 256, 64, counter, ticket);
  });
  std::vector<int> tickets(256);
  const auto totals = read(file, [&](const trace::Access& access, const trace::Instruction& i) {
    for (auto set = access.lanes; set != 0; set &= set - 1) {
      const auto lane = static_cast<unsigned>(std::countr_zero(set));
      if (i.operation == trace::Operation::store) ++tickets.at(word(access, lane));
    }
  });
  EXPECT_GT(totals.atomic_bytes, 0U);
  EXPECT_EQ(std::count(tickets.begin(), tickets.end(), 1), 256);
}

}  // namespace
}  // namespace ww::sim::gpu::trace_test
