// Wave instructions a second of the emulator on one core, replays a second, and fills of memory.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <random>

#include "machine/testing/test_gpu.hpp"
#include "ww/core/temporary_folder.hpp"
#include "ww/sim/trace/writer.hpp"

namespace ww::sim::gpu {
namespace {

double instructions(test::TestGpu& gpu) {
  return gpu.counter("SQ_INSTS_VALU") + gpu.counter("SQ_INSTS_SALU") +
         gpu.counter("SQ_INSTS_SMEM") + gpu.counter("SQ_INSTS_VMEM_RD") +
         gpu.counter("SQ_INSTS_VMEM_WR") + gpu.counter("SQ_INSTS_LDS");
}

// Requests to the L2, by either family's name.
double lines_of(test::TestGpu& gpu) {
  const auto& names = gpu.gpu().counter_names();
  const bool gcn = std::ranges::find(names, "TCC_REQ_sum") != names.end();
  return gpu.counter(gcn ? "TCC_REQ_sum" : "GL2C_REQ_sum");
}

// Executes every launch, on as many threads as the benchmark's argument says.
test::TrickOptions executing(const benchmark::State& state) {
  return {{.threads = static_cast<unsigned>(state.range(0))}, {.replay = false}};
}

// `groups` work-groups of four waves a compute unit, which together read the same number of words.
void stream_with(benchmark::State& state, std::uint32_t groups) {
  test::TestGpu gpu(executing(state), false);
  const std::uint32_t items = 44 * 256 * groups;
  const std::uint32_t count = 1024 / groups;
  const auto data = gpu.buffer(std::vector<std::uint32_t>(1 << 18, 0x5A5A5A5A));
  const auto out = gpu.buffer(items * 4);
  gpu.launch("stream", items, 256, data, out, count, 64U);  // commits the host's pages
  double total = 0;
  double lines = 0;
  for (auto _ : state) {
    gpu.launch("stream", items, 256, data, out, count, 64U);
    total += instructions(gpu);
    lines += lines_of(gpu);
  }
  state.counters["wave_instructions"] = benchmark::Counter(total, benchmark::Counter::kIsRate);
  state.counters["lines"] = benchmark::Counter(lines, benchmark::Counter::kIsRate);
}

void stream(benchmark::State& state) {
  stream_with(state, 4);
}
BENCHMARK(stream)->Arg(1)->Arg(2)->UseRealTime()->Unit(benchmark::kMillisecond);

// Shows what fewer waves' registers spare the host's caches.
void stream_one_group(benchmark::State& state) {
  stream_with(state, 1);
}
BENCHMARK(stream_one_group)->Arg(1)->Arg(2)->UseRealTime()->Unit(benchmark::kMillisecond);

// One wave alone on the chip, which waits for each of its loads.
void stream_one_wave(benchmark::State& state) {
  test::TestGpu gpu(executing(state), false);
  const auto data = gpu.buffer(std::vector<std::uint32_t>(1 << 18, 0x5A5A5A5A));
  const auto out = gpu.buffer(64 * 4);
  gpu.launch("stream", 64, 64, data, out, 1024U, 64U);
  double total = 0;
  for (auto _ : state) {
    gpu.launch("stream", 64, 64, data, out, 1024U, 64U);
    total += instructions(gpu);
  }
  state.counters["wave_instructions"] = benchmark::Counter(total, benchmark::Counter::kIsRate);
}
BENCHMARK(stream_one_wave)->Arg(1)->Arg(2)->UseRealTime()->Unit(benchmark::kMicrosecond);

// Arithmetic alone, by as many waves as fit.
void multiply_adds(benchmark::State& state) {
  test::TestGpu gpu(executing(state), false);
  constexpr std::uint32_t kItems = 44 * 256 * 20;
  const auto out = gpu.buffer(kItems * 4);
  gpu.launch("multiply_adds", kItems, 256, out, 64U);
  double total = 0;
  for (auto _ : state) {
    gpu.launch("multiply_adds", kItems, 256, out, 64U);
    total += instructions(gpu);
  }
  state.counters["wave_instructions"] = benchmark::Counter(total, benchmark::Counter::kIsRate);
}
BENCHMARK(multiply_adds)->Arg(1)->Arg(2)->UseRealTime()->Unit(benchmark::kMillisecond);

void pinned_stream(benchmark::State& state) {
  test::TestGpu gpu(executing(state), false);
  const auto data = gpu.buffer(std::vector<std::uint32_t>(1 << 18, 0x5A5A5A5A));
  const auto out = gpu.buffer(44 * 1024 * 4);
  gpu.launch("pinned_stream", 44 * 1024, 256, data, out, 0U, 4U, 128U);
  double total = 0;
  double lines = 0;
  for (auto _ : state) {
    gpu.launch("pinned_stream", 44 * 1024, 256, data, out, 0U, 4U, 128U);
    total += instructions(gpu);
    lines += lines_of(gpu);
  }
  state.counters["wave_instructions"] = benchmark::Counter(total, benchmark::Counter::kIsRate);
  state.counters["lines"] = benchmark::Counter(lines, benchmark::Counter::kIsRate);
}
BENCHMARK(pinned_stream)->Arg(1)->Arg(2)->UseRealTime()->Unit(benchmark::kMillisecond);

// Runs the pinned stream with the chip's real accounting.
void pinned_stream_with_ledger(benchmark::State& state) {
  const auto gpu = test::create(test::load_w9100(), executing(state));
  const ProgramId program = *gpu->load(test::read_kernels());
  std::vector<std::uint32_t> words(1 << 18);
  for (std::uint32_t i = 0; i < words.size(); ++i) words[i] = i * 2654435761U;
  const auto data = *gpu->allocate(1 << 20);
  const auto out = *gpu->allocate(1 << 20);
  if (!gpu->write(data, std::as_bytes(std::span<const std::uint32_t>(words)))) return;
  const auto arguments = test::TestGpu::arguments(data, out, 0U, 4U, 128U);
  std::vector<double> counters(gpu->counter_names().size());
  double lines = 0;
  double total = 0;
  for (auto _ : state) {
    auto result = gpu->launch(program, "pinned_stream", Grid{1, {44 * 1024, 1, 1}, {256, 1, 1}},
                              arguments, 0);
    if (!result || !gpu->counters(result->dispatch, counters)) state.SkipWithError("launch");
    total += counters[2] + counters[3] + counters[4] + counters[5] + counters[6] + counters[8];
    lines += counters[14];
  }
  state.counters["wave_instructions"] = benchmark::Counter(total, benchmark::Counter::kIsRate);
  state.counters["lines"] = benchmark::Counter(lines, benchmark::Counter::kIsRate);
}
BENCHMARK(pinned_stream_with_ledger)->Arg(1)->Arg(2)->UseRealTime()->Unit(benchmark::kMillisecond);

std::unique_ptr<trace::Writer> bench_trace() {
  static const auto folder = ScratchFolder::create("bench").value();
  return std::move(*trace::Writer::create(folder.path() / "bench.wwt", "bench"));
}

void count_trace(benchmark::State& state, const trace::Writer& writer) {
  const auto accesses = static_cast<double>(writer.totals().lane_accesses);
  if (accesses == 0) return;
  state.counters["accesses"] = benchmark::Counter(accesses, benchmark::Counter::kIsRate);
  state.counters["bytes_per_access"] = static_cast<double>(writer.file_bytes()) / accesses;
}

// Runs the stream with a trace, values included.
void stream_traced(benchmark::State& state) {
  auto writer = bench_trace();
  test::TestGpu gpu(Options{.threads = static_cast<unsigned>(state.range(0)),
                            .trace = state.range(1) != 0 ? writer.get() : nullptr},
                    false);
  std::vector<std::uint32_t> words(1 << 18);
  for (std::uint32_t i = 0; i < words.size(); ++i) words[i] = i * 2654435761U ^ i >> 7;
  const auto data = gpu.buffer(words);
  const auto out = gpu.buffer(44 * 1024 * 4);
  double instructions_run = 0;
  for (auto _ : state) {
    words[0] ^= 1;  // other contents: nothing is replayed
    static_cast<void>(gpu.gpu().write(data, std::as_bytes(std::span(words).first(1))));
    gpu.launch("stream", 44 * 1024, 256, data, out, 256U, 64U);
    instructions_run += instructions(gpu);
  }
  state.counters["wave_instructions"] =
      benchmark::Counter(instructions_run, benchmark::Counter::kIsRate);
  count_trace(state, *writer);
}
BENCHMARK(stream_traced)
    ->Args({1, 0})
    ->Args({1, 1})
    ->Args({2, 0})
    ->Args({2, 1})
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);

// Every value new: vector add over random floats.
void saxpy_traced(benchmark::State& state) {
  auto writer = bench_trace();
  test::TestGpu gpu(Options{.threads = static_cast<unsigned>(state.range(0)),
                            .trace = state.range(1) != 0 ? writer.get() : nullptr},
                    false);
  constexpr std::uint32_t n = 1 << 20;
  std::mt19937 random(1);
  std::uniform_real_distribution<float> unit;
  std::vector<float> x(n), y(n);
  for (auto& value : x) value = unit(random);
  for (auto& value : y) value = unit(random);
  const auto dx = gpu.buffer(x);
  const auto dy = gpu.buffer(y);
  for (auto _ : state) gpu.launch("saxpy", n, 256, dy, dx, 1.5F);
  count_trace(state, *writer);
}
BENCHMARK(saxpy_traced)
    ->Args({1, 0})
    ->Args({1, 1})
    ->Args({2, 0})
    ->Args({2, 1})
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);

void replay(benchmark::State& state) {
  test::TestGpu gpu(Options{.threads = 1}, false);
  const auto data = gpu.buffer(std::vector<std::uint32_t>(1 << 16, 1));
  const auto out = gpu.buffer(4096 * 4);
  const std::string kernel = "stream";
  const auto arguments = test::TestGpu::arguments(data, out, 16U, 64U);
  const Grid grid{1, {4096, 1, 1}, {256, 1, 1}};
  for (int i = 0; i < 4; ++i) {
    static_cast<void>(gpu.gpu().launch(gpu.program(), kernel, grid, arguments, 0));
  }
  for (auto _ : state) {
    auto result = gpu.gpu().launch(gpu.program(), kernel, grid, arguments, 0);
    if (!result || !result->replayed) state.SkipWithError("not replayed");
  }
}
BENCHMARK(replay);

// A quarter of a gigabyte by a pattern of four bytes: zeros over zeros, or another value each time.
void fill(benchmark::State& state) {
  constexpr std::int64_t kBytes = 256 << 20;
  test::TestGpu gpu(Options{.threads = 1}, false);
  const auto data = *gpu.gpu().allocate(kBytes);
  std::uint32_t value = 0;
  const auto set = [&] {
    const auto pattern = std::as_bytes(std::span<const std::uint32_t, 1>(&value, 1));
    if (!gpu.gpu().fill(data, kBytes, pattern)) state.SkipWithError("fill");
  };
  if (state.range(0) != 0) {  // the host clears its pages before the clock runs
    value = 1;
    set();
  }
  for (auto _ : state) {
    value += static_cast<std::uint32_t>(state.range(0));
    set();
  }
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations()) * kBytes);
}
BENCHMARK(fill)->ArgName("other_values")->Arg(0)->Arg(1)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace ww::sim::gpu
