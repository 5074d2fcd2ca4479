#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <set>

#include "fast/contents/content_version.hpp"
#include "machine/launch/program.hpp"
#include "machine/testing/test_gpu.hpp"

namespace ww::sim::gpu::virtual_gpu_test {
namespace {

using test::TestGpu;

std::vector<std::uint32_t> random_words(std::size_t count) {
  std::vector<std::uint32_t> words(count);
  std::uint32_t state = 12345;
  for (auto& word : words) word = state = state * 1664525U + 1013904223U;
  return words;
}

TEST(Launch, RunsSaxpyAsTheHostWould) {
  TestGpu test;
  std::vector<float> x(1024), y(1024), expected(1024);
  for (std::size_t i = 0; i < x.size(); ++i) {
    x[i] = static_cast<float>(i) * 0.25F;
    y[i] = 3.0F - static_cast<float>(i);
    expected[i] = 2.5F * x[i] + y[i];
  }
  const auto dx = test.buffer(x);
  const auto dy = test.buffer(y);
  test.launch("saxpy", 1024, 256, dy, dx, 2.5F);
  EXPECT_EQ(test.read<float>(dy, 1024), expected);
}

TEST(Launch, CountsSaxpyExactly) {
  TestGpu test;
  const auto dx = test.buffer(std::vector<float>(1024, 1.0F));
  const auto dy = test.buffer(std::vector<float>(1024, 1.0F));
  test.launch("saxpy", 1024, 256, dy, dx, 2.5F);
  EXPECT_EQ(test.counter("SQ_WAVES"), 16);
  EXPECT_EQ(test.counter("SQ_INSTS_FLAT"), 48);
  EXPECT_EQ(test.counter("SQ_INSTS_VMEM_RD"), 32);
  EXPECT_EQ(test.counter("SQ_INSTS_VMEM_WR"), 16);
  // 4 KiB each way: 64 lines of x, of y, and of y back.
  EXPECT_EQ(test.counter("TCP_TCC_READ_REQ_sum"), 128);
  EXPECT_EQ(test.counter("TCP_TCC_WRITE_REQ_sum"), 64);
  EXPECT_EQ(test.counter("TCC_REQ_sum"), 192);
  EXPECT_EQ(test.counter("TCC_HIT_sum") + test.counter("TCC_MISS_sum"), 192);
  EXPECT_EQ(test.counter("TCC_MC_RDREQ_sum") * 32, 8192);
  EXPECT_EQ(test.totals.reads, 128U);
  EXPECT_EQ(test.totals.writes, 64U);
  EXPECT_EQ(test.totals.payload_bytes, 192U * 64);
  EXPECT_TRUE(test.totals.ordered);
}

TEST(Launch, GivesEveryWorkItemItsIds) {
  TestGpu test;
  const auto out = test.buffer(8 * 6 * 4 * 16);
  const Grid grid{3, {8, 6, 4}, {4, 3, 2}};
  // Hidden arguments (global offsets) follow the pointer; they are zero.
  ASSERT_TRUE(test.try_launch("ids", grid, out));
  const auto words = test.read<std::uint32_t>(out, 8 * 6 * 4 * 4);
  for (std::uint32_t z = 0, i = 0; z < 4; ++z) {
    for (std::uint32_t y = 0; y < 6; ++y) {
      for (std::uint32_t x = 0; x < 8; ++x, ++i) {
        ASSERT_EQ(words[4 * i], x % 4 | y % 3 << 8 | z % 2 << 16);
        ASSERT_EQ(words[4 * i + 1], x / 4 | y / 3 << 8 | z / 2 << 16);
        ASSERT_EQ(words[4 * i + 2], 2U | 2U << 8 | 2U << 16);
        ASSERT_EQ(words[4 * i + 3], 3U);
      }
    }
  }
}

// The last group along an axis has the work-items that are left, in an order of their own.
TEST(Launch, GivesTheLastGroupTheWorkItemsThatAreLeft) {
  TestGpu test;
  const auto out = test.buffer(4096);
  const Grid grid{3, {7, 5, 3}, {4, 3, 2}};
  ASSERT_TRUE(test.try_launch("ids", grid, out));
  const auto words = test.read<std::uint32_t>(out, 7 * 5 * 3 * 4 + 4);
  for (std::uint32_t z = 0, i = 0; z < 3; ++z) {
    for (std::uint32_t y = 0; y < 5; ++y) {
      for (std::uint32_t x = 0; x < 7; ++x, ++i) {
        ASSERT_EQ(words[4 * i], x % 4 | y % 3 << 8 | z % 2 << 16);
        ASSERT_EQ(words[4 * i + 1], x / 4 | y / 3 << 8 | z / 2 << 16);
      }
    }
  }
  EXPECT_EQ(words[7 * 5 * 3 * 4], 0U);
}

TEST(Launch, SpreadsGroupsOverAllEnginesAndComputeUnits) {
  TestGpu test;
  const auto out = test.buffer(44 * 64 * 4);
  test.launch("where_am_i", 44 * 64, 64, out);
  const auto words = test.read<std::uint32_t>(out, 44 * 64);
  std::set<std::pair<std::uint32_t, std::uint32_t>> places;
  for (std::uint32_t group = 0; group < 44; ++group) {
    const std::uint32_t id = words[group * 64];
    for (std::uint32_t lane = 0; lane < 64; ++lane) ASSERT_EQ(words[group * 64 + lane], id);
    EXPECT_EQ(id >> 13 & 3U, group % 4) << "groups go round the engines";
    places.emplace(id >> 13 & 3U, id >> 8 & 15U);
  }
  EXPECT_EQ(places.size(), 44U);
}

TEST(Launch, ReducesThroughLocalMemoryAndBarriers) {
  TestGpu test;
  std::vector<float> in(4096);
  for (std::size_t i = 0; i < in.size(); ++i) in[i] = static_cast<float>(i % 97);
  const auto din = test.buffer(in);
  const auto out = test.buffer(16 * 4);
  test.lds_bytes = 256 * 4;
  test.launch("reduce", 4096, 256, din, out, std::uint32_t{0});
  const auto sums = test.read<float>(out, 16);
  for (std::size_t g = 0; g < 16; ++g) {
    EXPECT_EQ(sums[g], std::accumulate(in.begin() + static_cast<long>(g) * 256,
                                       in.begin() + static_cast<long>(g + 1) * 256, 0.0F));
  }
  EXPECT_GT(test.counter("SQ_INSTS_LDS"), 0);
}

TEST(Launch, GivesAtomicsEveryTicketOnce) {
  TestGpu test;
  const auto counter = test.buffer(std::vector<std::uint32_t>{0});
  const auto tickets = test.buffer(2048 * 4);
  test.launch("count_up", 2048, 256, counter, tickets);
  auto taken = test.read<std::uint32_t>(tickets, 2048);
  std::sort(taken.begin(), taken.end());
  for (std::uint32_t i = 0; i < 2048; ++i) ASSERT_EQ(taken[i], i);
  EXPECT_EQ(test.read<std::uint32_t>(counter, 1)[0], 2048U);
  const bool rdna = binpatch::to_string(test::read_kernels().target()).starts_with("gfx1");
  EXPECT_GT(test.counter(rdna ? "GL2C_ATOMIC_sum" : "TCC_ATOMIC_sum"), 0);
}

TEST(Launch, AddsUpAHistogramInLocalMemory) {
  TestGpu test;
  const auto words = random_words(10000);
  std::vector<std::uint32_t> expected(64);
  for (const auto word : words) ++expected[word & 63];
  const auto in = test.buffer(words);
  const auto bins = test.buffer(std::vector<std::uint32_t>(64));
  test.launch("histogram", 2048, 128, in, bins, std::uint32_t{10000});
  EXPECT_EQ(test.read<std::uint32_t>(bins, 64), expected);
}

TEST(Launch, KeepsPrivateArraysApart) {
  TestGpu test;
  const auto words = random_words(32 * 512);
  const auto in = test.buffer(words);
  const auto out = test.buffer(512 * 4);
  test.launch("scatter_private", 512, 64, in, out);
  const auto sums = test.read<std::uint32_t>(out, 512);
  for (std::size_t i = 0; i < 512; ++i) {
    std::uint32_t table[32] = {};
    bool whole[32] = {};
    for (std::uint32_t k = 0; k < 32; ++k) {
      table[(words[i * 32 + k] + k) & 31] = words[i * 32 + k];
      whole[(words[i * 32 + k] + k) & 31] = true;
    }
    if (!std::all_of(std::begin(whole), std::end(whole), [](bool b) { return b; })) continue;
    std::uint32_t sum = 0;
    for (std::uint32_t k = 0; k < 32; ++k) sum = sum * 31 + table[(sum + k) & 31];
    ASSERT_EQ(sums[i], sum) << i;
  }
}

TEST(Replay, GivesTheSameAsExecutionAndIsMarked) {
  std::vector<std::vector<double>> counters[2];
  std::vector<std::int64_t> times[2];
  for (const bool replay : {false, true}) {
    TestGpu test(test::TrickOptions{{.threads = 1}, {.replay = replay}});
    const auto data = test.buffer(random_words(1 << 16));
    const auto out = test.buffer(2 * 4096 * 4);
    bool replayed = false;
    for (int i = 0; i < 6; ++i) {
      for (const std::uint32_t stride : {64U, 1024U}) {
        // Each writes its own output: the other's would change memory.
        const auto result =
            test.launch("stream", 4096, 256, data, out + (stride == 64 ? 0 : 16384), 16U, stride);
        replayed = replayed || result.replayed;
        counters[replay].push_back(test.counters(result.dispatch));
        times[replay].push_back(result.start_ns);
        times[replay].push_back(result.end_ns);
      }
    }
    EXPECT_EQ(replayed, replay);
  }
  EXPECT_EQ(counters[0], counters[1]);
  EXPECT_EQ(times[0], times[1]);
}

// Kernels that share the L2: those whose lines are all there hit, in whatever order the L2 used
// them before; others miss and evict.
TEST(Replay, GivesTheSameFromEveryStateThatHoldsTheLines) {
  std::vector<std::vector<double>> counters[2];
  std::vector<std::int64_t> times[2];
  std::size_t replayed = 0;
  for (const bool replay : {false, true}) {
    TestGpu test(test::TrickOptions{{.threads = 1}, {.replay = replay}});
    // Two of the buffers fit in the L2 of 1 MiB, three do not.
    std::uint64_t data[3];
    std::uint64_t out[3];
    for (int i = 0; i < 3; ++i) {
      data[i] = test.buffer(random_words(96 << 10));
      out[i] = test.buffer(4096 * 4);
    }
    // Some find their lines in a state of the L2 that was never there before.
    for (const int which : {0, 0, 1, 1, 0, 1, 0, 0, 2, 2, 0, 1, 1, 0, 2, 1, 2, 0}) {
      const auto result = test.launch("stream", 4096, 256, data[which], out[which], 24U, 4096U);
      if (result.replayed) ++replayed;
      counters[replay].push_back(test.counters(result.dispatch));
      times[replay].push_back(result.start_ns);
      times[replay].push_back(result.end_ns);
    }
  }
  EXPECT_GE(replayed, 4U);
  EXPECT_EQ(counters[0], counters[1]);
  EXPECT_EQ(times[0], times[1]);
}

TEST(Replay, NeverHidesAKernelThatChangesMemory) {
  TestGpu test;
  const auto data = test.buffer(std::vector<std::uint32_t>(256));
  for (std::uint32_t i = 1; i <= 5; ++i) {
    EXPECT_FALSE(test.launch("add_one", 256, 64, data).replayed);
    EXPECT_EQ(test.read<std::uint32_t>(data, 256), std::vector<std::uint32_t>(256, i));
  }
}

// A kernel that counts: the host sets its counter to zero behind each launch.
TEST(Replay, ChangesFewLinesOfMemoryAsExecutionDoes) {
  std::vector<std::vector<double>> counters[2];
  std::vector<std::vector<std::uint32_t>> contents[2];
  std::size_t replayed = 0;
  for (const bool replay : {false, true}) {
    TestGpu test(test::TrickOptions{{.threads = 1}, {.replay = replay}});
    const auto counter = test.buffer(std::vector<std::uint32_t>(1));
    const auto tickets = test.buffer(4096 * 4);
    const auto other = test.buffer(std::vector<std::uint32_t>(64));
    for (int i = 0; i < 6; ++i) {
      const auto result = test.launch("count_up", 4096, 256, counter, tickets);
      if (result.replayed) ++replayed;
      counters[replay].push_back(test.counters(result.dispatch));
      contents[replay].push_back(test.read<std::uint32_t>(counter, 1));
      contents[replay].push_back(test.read<std::uint32_t>(tickets, 4096));
      // A launch that is replayed behind it sees the changes, too.
      if (test.launch("add_one", 64, 64, other).replayed) ++replayed;
      contents[replay].push_back(test.read<std::uint32_t>(other, 64));
      const std::vector<std::uint32_t> zeros(64);
      const auto bytes = std::as_bytes(std::span<const std::uint32_t>(zeros));
      ASSERT_TRUE(test.gpu().write(counter, bytes.first(4)));
      ASSERT_TRUE(test.gpu().write(other, bytes));
    }
  }
  EXPECT_GE(replayed, 4U);
  EXPECT_EQ(counters[0], counters[1]);
  EXPECT_EQ(contents[0], contents[1]);
}

TEST(Replay, NeverHidesAKernelThatChangesMuchMemory) {
  TestGpu test;
  constexpr std::uint32_t words = 16 * (exec::ContentVersion::kMaxChanges + 64);
  const std::vector<std::uint32_t> zeros(words);
  const auto data = test.buffer(zeros);
  for (int i = 0; i < 3; ++i) {
    EXPECT_FALSE(test.launch("add_one", words, 256, data).replayed);
    EXPECT_EQ(test.read<std::uint32_t>(data, words), std::vector<std::uint32_t>(words, 1));
    ASSERT_TRUE(test.gpu().write(data, std::as_bytes(std::span(zeros))));
  }
}

TEST(Replay, FindsContentsAgainThatTheHostRestored) {
  TestGpu test;
  const auto words = random_words(4096);
  const auto data = test.buffer(words);
  const auto out = test.buffer(256 * 4);
  const auto launch = [&] { return test.launch("stream", 256, 64, data, out, 8U, 256U).replayed; };
  for (int i = 0; i < 3; ++i) launch();
  ASSERT_TRUE(launch());
  // Not aligned to a line, and across several.
  const auto bytes = std::as_bytes(std::span(words)).subspan(100, 300);
  const std::vector<std::byte> other(bytes.size());
  ASSERT_TRUE(test.gpu().write(data + 100, other));
  ASSERT_TRUE(test.gpu().write(data + 100, bytes));
  EXPECT_TRUE(launch());
  ASSERT_TRUE(test.gpu().write(data + 100, other));
  EXPECT_FALSE(launch());
}

TEST(Replay, NeverHidesWhatTheHostWroteWithoutSayingSo) {
  TestGpu test;
  test.gpu().host_may_write();
  auto words = random_words(4096);
  const auto data = test.buffer(words);
  const auto out = test.buffer(256 * 4);
  const auto elsewhere = test.buffer(words);
  const auto launch = [&] { return test.launch("stream", 256, 64, data, out, 8U, 256U).replayed; };
  for (int i = 0; i < 3; ++i) launch();
  ASSERT_TRUE(launch());
  const auto before = test.read<std::uint32_t>(out, 256);
  const auto store = [&](std::uint64_t address, std::uint32_t value) {
    auto place = test.gpu().host_pointer(address, sizeof value);
    ASSERT_TRUE(place);
    std::memcpy(*place, &value, sizeof value);
  };
  store(elsewhere, words[0] + 1);
  EXPECT_TRUE(launch()) << "the kernel does not use that page";
  store(data + 4 * 100, words[100] + 1);
  EXPECT_FALSE(launch());
  const auto after = test.read<std::uint32_t>(out, 256);
  EXPECT_NE(after[100], before[100]);
  for (int i = 0; i < 3; ++i) launch();
  EXPECT_TRUE(launch());
  store(out + 4, 7);  // what the kernel wrote before
  EXPECT_FALSE(launch());
  EXPECT_EQ(test.read<std::uint32_t>(out, 256), after);
}

TEST(Replay, RecordsNoLaunchDuringWhichTheHostWrote) {
  TestGpu test;
  test.gpu().host_may_write();
  const auto words = random_words(1 << 16);
  const auto data = test.buffer(words);
  const auto out = test.buffer(256 * 4);
  const auto place = test.gpu().host_pointer(data, sizeof words[0]);
  ASSERT_TRUE(place);
  const auto store = [&](std::uint32_t value) { std::memcpy(*place, &value, sizeof value); };
  const auto launch = [&] {
    return test.launch("stream", 256, 64, data, out, 256U, 256U).replayed;
  };
  EXPECT_FALSE(launch());
  int steps = 0;
  test.gpu().set_host_service([&] {
    if (++steps == 20) store(words[0] + 1);
  });
  EXPECT_FALSE(launch());  // the key comes again: the launch would be recorded
  ASSERT_GE(steps, 20);
  test.gpu().set_host_service({});
  store(words[0]);
  EXPECT_FALSE(launch()) << "the contents are those of before, and the results may be others";
  EXPECT_TRUE(launch());
}

// Launches that read zeros and write the zeros that are there.
class ReplayOfZeros : public ::testing::Test {
 protected:
  bool launch(std::uint32_t items, std::uint32_t local, std::uint32_t count, std::uint32_t stride) {
    return test_.launch("stream", items, local, data_, out_, count, stride).replayed;
  }

 private:
  TestGpu test_;
  std::uint64_t data_ = test_.buffer(std::vector<std::uint32_t>(4096));
  std::uint64_t out_ = test_.buffer(std::vector<std::uint32_t>(4096));
};

// Most keys never come again, and to record a short launch takes half as long as to execute it.
TEST_F(ReplayOfZeros, RecordsWhatComesAgain) {
  const auto short_launch = [&](std::uint32_t count) { return launch(256, 64, count, 256); };
  for (int i = 0; i < 3; ++i) short_launch(8);
  // All that these read is in the L2.
  EXPECT_FALSE(short_launch(4));
  EXPECT_FALSE(short_launch(4));
  EXPECT_TRUE(short_launch(4));
}

TEST_F(ReplayOfZeros, RecordsAKernelThatTakesLongAtOnce) {
  const auto launch_of = [&](std::uint32_t count) { return launch(4096, 256, count, 0); };
  launch_of(1024);
  EXPECT_FALSE(launch_of(1023));
  EXPECT_TRUE(launch_of(1023));
  // The kernel's launches are short from here on, the first of these, too.
  EXPECT_FALSE(launch_of(8));
  EXPECT_FALSE(launch_of(8));
  EXPECT_FALSE(launch_of(7));
  EXPECT_FALSE(launch_of(7));
  EXPECT_TRUE(launch_of(7));
}

TEST(Replay, EndsWhenTheHostWrites) {
  TestGpu test;
  const auto data = test.buffer(random_words(4096));
  const auto out = test.buffer(256 * 4);
  bool replayed = false;
  for (int i = 0; i < 4; ++i)
    replayed = test.launch("stream", 256, 64, data, out, 8U, 256U).replayed;
  EXPECT_TRUE(replayed);
  const auto before = test.read<std::uint32_t>(out, 256);
  const std::vector<std::uint32_t> other{0xDEADBEEF};
  ASSERT_TRUE(test.gpu().write(data, std::as_bytes(std::span<const std::uint32_t>(other))));
  EXPECT_FALSE(test.launch("stream", 256, 64, data, out, 8U, 256U).replayed);
  EXPECT_NE(test.read<std::uint32_t>(out, 256)[0], before[0]);
}

TEST(Dispatches, KeepTheLatestWhereSoManyAreAskedFor) {
  TestGpu test(Options{.threads = 1, .most_dispatches = 2, .keep_energies = false});
  const auto data = test.buffer(std::vector<std::uint32_t>(256));
  for (std::uint64_t i = 0; i < 3; ++i) {
    EXPECT_EQ(test.launch("add_one", 256, 64, data).dispatch, i);
  }
  EXPECT_EQ(test.gpu().dispatch_count(), 3);
  const auto forgotten = test.gpu().dispatch(0);
  ASSERT_FALSE(forgotten);
  EXPECT_NE(forgotten.error().text().find("forgotten"), std::string::npos);
  EXPECT_EQ(test.gpu().dispatch(2)->kernel, "add_one");
  EXPECT_EQ(test.counters(1), test.counters(2));
  EXPECT_FALSE(test.gpu().sealed_energy_j(2));
}

// A plateau of minutes is more launches than are kept, and its traffic is the sum of their
// counters.
TEST(Dispatches, KeepTheirCountersWhenTheyAreForgotten) {
  TestGpu all(Options{.threads = 1});
  TestGpu few(Options{.threads = 1, .most_dispatches = 2, .keep_energies = false});
  for (TestGpu* test : {&all, &few}) {
    const auto data = test->buffer(std::vector<std::uint32_t>(1024));
    for (std::uint64_t i = 0; i < 9; ++i) {
      test->launch("add_one", i / 3 % 2 == 0 ? 256U : 1024U, 64, data);
    }
  }
  for (std::uint64_t id = 0; id < 9; ++id) {
    EXPECT_EQ(few.counters(id), all.counters(id)) << id;
  }
  EXPECT_NE(few.counters(1), few.counters(4));
  std::vector<double> values(few.gpu().counter_names().size());
  EXPECT_FALSE(few.gpu().counters(9, values));
}

TEST(Threads, DoNotChangeAnything) {
  struct Outcome {
    std::vector<std::uint32_t> out, tickets;
    std::vector<double> counters;
    std::uint64_t hash;
    bool operator==(const Outcome&) const = default;
  };
  const auto run = [](unsigned threads, std::uint32_t parallel_commit_min_requests) {
    TestGpu test(test::TrickOptions{
        {.threads = threads},
        {.replay = false, .parallel_commit_min_requests = parallel_commit_min_requests}});
    const auto data = test.buffer(random_words(1 << 17));
    const auto out = test.buffer(16384 * 4);
    const auto counter = test.buffer(std::vector<std::uint32_t>{0});
    const auto tickets = test.buffer(8192 * 4);
    std::vector<Outcome> outcomes;
    test.launch("stream", 16384, 256, data, out, 16U, 4096U);
    outcomes.push_back(
        {test.read<std::uint32_t>(out, 16384), {}, test.counters(0), test.totals.hash});
    test.launch("count_up", 8192, 256, counter, tickets);
    outcomes.push_back(
        {{}, test.read<std::uint32_t>(tickets, 8192), test.counters(1), test.totals.hash});
    test.launch("race", 8192, 256, data, out, 20U);
    outcomes.push_back({test.read<std::uint32_t>(out, 8192), test.read<std::uint32_t>(data, 256),
                        test.counters(2), test.totals.hash});
    return outcomes;
  };
  const auto one = run(1, 1);
  for (const std::uint32_t parallel_commit_min_requests : {0U, 1U, ~0U}) {
    EXPECT_EQ(one, run(2, parallel_commit_min_requests));
    EXPECT_EQ(one, run(3, parallel_commit_min_requests));
  }
}

// Runs with the chip's own accounting.
TEST(Threads, DoNotChangeEnergies) {
  const auto run = [](unsigned threads, std::uint32_t parallel_commit_min_requests) {
    const auto object = test::read_kernels();
    const auto gpu = test::create(
        test::chip_for(object),
        test::TrickOptions{
            {.threads = threads},
            {.replay = false, .parallel_commit_min_requests = parallel_commit_min_requests}});
    const ProgramId program = *gpu->load(object);
    const auto words = random_words(1 << 17);
    const auto data = *gpu->allocate(4 * words.size());
    const auto out = *gpu->allocate(16384 * 4);
    EXPECT_TRUE(gpu->write(data, std::as_bytes(std::span<const std::uint32_t>(words))));
    std::vector<double> seen;
    const auto launch = [&](const char* kernel, std::uint32_t global, const auto& arguments) {
      const auto result =
          gpu->launch(program, kernel, Grid{1, {global, 1, 1}, {256, 1, 1}}, arguments, 0);
      if (!result) throw std::runtime_error(result.error().text());
      const LaunchActivity::Parts parts = *gpu->sealed_energy_j(result->dispatch);
      for (const double part : {parts.crossbar_wires, parts.crossbar_control, parts.registers_l1,
                                parts.l2_memory, parts.caches, parts.alu, parts.clock,
                                parts.crossbar_arbiters, static_cast<double>(result->end_ns)}) {
        seen.push_back(part);
      }
      std::vector<double> counters(gpu->counter_names().size());
      EXPECT_TRUE(gpu->counters(result->dispatch, counters));
      seen.insert(seen.end(), counters.begin(), counters.end());
    };
    launch("stream", 16384, TestGpu::arguments(data, out, 16U, 4096U));
    launch("add_one", 1 << 17, TestGpu::arguments(data));
    launch("saxpy", 16384, TestGpu::arguments(out, data, 1.5F));
    launch("stream", 16384, TestGpu::arguments(data, out, 16U, 4096U));
    return seen;
  };
  const auto one = run(1, 1);
  EXPECT_GT(one.front(), 0);
  EXPECT_EQ(run(1, 1), one);
  for (const std::uint32_t parallel_commit_min_requests : {0U, 1U, ~0U}) {
    EXPECT_EQ(run(2, parallel_commit_min_requests), one);
    EXPECT_EQ(run(4, parallel_commit_min_requests), one);
  }
}

TEST(BadInput, NamesTheKernelTheLaneAndTheAddressOfAMemoryFault) {
  TestGpu test;
  const auto data = test.buffer(4000);
  const auto result = test.try_launch("out_of_bounds", Grid{1, {64, 1, 1}, {64, 1, 1}}, data, 950U);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::device_error);
  EXPECT_THAT(result.error().text(), testing::HasSubstr("out_of_bounds"));
  EXPECT_THAT(result.error().text(), testing::HasSubstr("lane 50"));
  EXPECT_THAT(result.error().text(), testing::HasSubstr("0x"));
  // The GPU lives on.
  test.launch("add_one", 64, 64, data);
}

TEST(BadInput, RefusesCodeOfAGenerationThatItDoesNotExecute) {
  const auto kernels = test::read_kernels();
  std::vector<std::byte> bytes(kernels.bytes().begin(), kernels.bytes().end());
  bytes.at(48) = std::byte{0x2e};  // e_flags: gfx904
  const auto object = binpatch::CodeObject::parse(bytes);
  ASSERT_TRUE(object) << object.error().text();
  const auto memory = exec::DeviceMemory::create(1 << 20);
  ASSERT_TRUE(memory);
  const auto program = exec::Program::load(*object, "gfx904", **memory, 0, 4);
  ASSERT_FALSE(program);
  EXPECT_EQ(program.error().code, ErrorCode::unsupported);
  EXPECT_THAT(program.error().text(), testing::HasSubstr("does not execute gfx904"));
}

// The waves' parts of private memory begin within 4 GiB: of the 40 waves of each of 44 compute
// units 28 have room there with 48 KiB a work-item, and 12 with 100 KiB.
TEST(PrivateMemory, LimitsTheWavesThatRunAtATime) {
  TestGpu test(Options{.threads = 1}, false);
  const std::array<std::uint32_t, 3> group{64, 1, 1};
  EXPECT_EQ(test.gpu().groups_per_cu(test.program(), "scatter_private", group, 0), 40);
  EXPECT_EQ(test.gpu().groups_per_cu(test.program(), "private_48k", group, 0), 28);
  EXPECT_EQ(test.gpu().groups_per_cu(test.program(), "private_100k", group, 0), 12);
  const std::vector<std::uint32_t> in{0, 11000, 500, 9000, 77, 12287, 3, 6000};
  std::uint32_t sum = 28;
  for (const std::uint32_t word : in) sum += word;
  const auto data = test.buffer(in);
  constexpr std::uint32_t kItems = 45 * 64;  // one more wave than compute units
  for (const char* kernel : {"private_48k", "private_100k"}) {
    const auto out = test.buffer(kItems * 4);
    test.launch(kernel, kItems, 64, data, out);
    const auto sums = test.read<std::uint32_t>(out, kItems);
    for (std::uint32_t i = 0; i < kItems; ++i) ASSERT_EQ(sums[i], sum + i % 64) << kernel << i;
  }
  const auto result =
      test.try_launch("private_100k", Grid{1, {1024, 1, 1}, {1024, 1, 1}}, data, data);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::out_of_range);
  EXPECT_THAT(result.error().text(), testing::HasSubstr("bytes of private memory"));
}

TEST(BadInput, EndsARunawayKernelByTheWatchdog) {
  TestGpu test(Options{.threads = 1, .watchdog_cycles = 1'000'000});
  const auto flag = test.buffer(std::vector<std::uint32_t>{0});
  const auto result = test.try_launch("spin", Grid{1, {64, 1, 1}, {64, 1, 1}}, flag);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::device_error);
  EXPECT_THAT(result.error().text(), testing::HasSubstr("watchdog"));
}

TEST(Progress, IsToldUntilALaunchEndsWellOrNot) {
  constexpr std::uint32_t kGroups = 4096;  // more than run at once
  TestGpu test(test::TrickOptions{{.threads = 1, .watchdog_cycles = 1'000'000}, {.replay = false}});
  const auto data = test.buffer(random_words(1 << 19));
  const auto out = test.buffer(kGroups * 64 * 4);
  struct Told {
    std::uint64_t ended, instructions;
    bool is_over;
  };
  std::vector<Told> told;
  const auto tell = [&told](const LaunchProgress& launch) {
    EXPECT_THAT(launch.kernel, testing::AnyOf("stream", "spin"));
    EXPECT_EQ(launch.groups, launch.kernel == "spin" ? 1 : kGroups);
    told.push_back({launch.groups_ended, launch.instructions, launch.ended});
  };
  test.gpu().set_progress(tell, std::chrono::milliseconds(0));
  test.launch("stream", kGroups * 64, 64, data, out, 8U, 64U);
  ASSERT_GT(told.size(), 2u);
  for (std::size_t i = 1; i < told.size(); ++i) {
    EXPECT_GE(told[i].ended, told[i - 1].ended);
    EXPECT_GE(told[i].instructions, told[i - 1].instructions);
    EXPECT_EQ(told[i].is_over, i + 1 == told.size());
  }
  EXPECT_LT(told.front().ended, kGroups);
  EXPECT_EQ(told.back().ended, kGroups);

  told.clear();
  const auto flag = test.buffer(std::vector<std::uint32_t>{0});
  EXPECT_FALSE(test.try_launch("spin", Grid{1, {64, 1, 1}, {64, 1, 1}}, flag));
  ASSERT_FALSE(told.empty());
  EXPECT_TRUE(told.back().is_over);
  EXPECT_EQ(told.back().ended, 0u);

  told.clear();
  test.gpu().set_progress({}, {});
  test.launch("stream", 64, 64, data, out, 8U, 64U);
  EXPECT_TRUE(told.empty());
}

TEST(BadInput, RefusesGridsAndGroupsThatDoNotFit) {
  TestGpu test;
  const auto data = test.buffer(1 << 16);
  const auto code = [&](const Grid& grid) {
    const auto result = test.try_launch("add_one", grid, data);
    return result ? ErrorCode::cancelled : result.error().code;
  };
  EXPECT_EQ(code({1, {100, 1, 1}, {64, 1, 1}}), ErrorCode::cancelled);  // it runs
  EXPECT_EQ(code({1, {0, 1, 1}, {1, 1, 1}}), ErrorCode::out_of_range);
  EXPECT_EQ(code({1, {4096, 1, 1}, {2048, 1, 1}}), ErrorCode::out_of_range);
  EXPECT_EQ(test.try_launch("no_such_kernel", Grid{}, data).error().code, ErrorCode::not_found);
  test.lds_bytes = 65 * 1024;
  EXPECT_EQ(code({1, {64, 1, 1}, {64, 1, 1}}), ErrorCode::out_of_range);
}

}  // namespace
}  // namespace ww::sim::gpu::virtual_gpu_test
