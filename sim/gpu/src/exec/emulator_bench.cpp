// Wave instructions a second of the emulator on one core, and replays a second.
#include <benchmark/benchmark.h>

#include "exec/test_gpu.hpp"

namespace ww::sim::gpu {
namespace {

double instructions(test::TestGpu& gpu) {
  return gpu.counter("SQ_INSTS_VALU") + gpu.counter("SQ_INSTS_SALU") +
         gpu.counter("SQ_INSTS_SMEM") + gpu.counter("SQ_INSTS_VMEM_RD") +
         gpu.counter("SQ_INSTS_VMEM_WR") + gpu.counter("SQ_INSTS_LDS");
}

void stream(benchmark::State& state) {
  test::TestGpu gpu(Options{.threads = static_cast<unsigned>(state.range(0)), .replay = false},
                    false);
  const auto data = gpu.buffer(std::vector<std::uint32_t>(1 << 18, 0x5A5A5A5A));
  const auto out = gpu.buffer(44 * 1024 * 4);
  double total = 0;
  double lines = 0;
  for (auto _ : state) {
    gpu.launch("stream", 44 * 1024, 256, data, out, 256U, 64U);
    total += instructions(gpu);
    lines += gpu.counter("TCC_REQ_sum");
  }
  state.counters["wave_instructions"] = benchmark::Counter(total, benchmark::Counter::kIsRate);
  state.counters["lines"] = benchmark::Counter(lines, benchmark::Counter::kIsRate);
}
BENCHMARK(stream)->Arg(1)->Arg(2)->UseRealTime()->Unit(benchmark::kMillisecond);

void pinned_stream(benchmark::State& state) {
  test::TestGpu gpu(Options{.threads = static_cast<unsigned>(state.range(0)), .replay = false},
                    false);
  const auto data = gpu.buffer(std::vector<std::uint32_t>(1 << 18, 0x5A5A5A5A));
  const auto out = gpu.buffer(44 * 1024 * 4);
  double total = 0;
  double lines = 0;
  for (auto _ : state) {
    gpu.launch("pinned_stream", 44 * 1024, 256, data, out, 0U, 4U, 128U);
    total += instructions(gpu);
    lines += gpu.counter("TCC_REQ_sum");
  }
  state.counters["wave_instructions"] = benchmark::Counter(total, benchmark::Counter::kIsRate);
  state.counters["lines"] = benchmark::Counter(lines, benchmark::Counter::kIsRate);
}
BENCHMARK(pinned_stream)->Arg(1)->Arg(2)->UseRealTime()->Unit(benchmark::kMillisecond);

void arithmetic(benchmark::State& state) {
  test::TestGpu gpu(Options{.threads = 1, .replay = false}, false);
  const auto a = gpu.buffer(std::vector<std::int32_t>(44 * 1024, 12345));
  const auto b = gpu.buffer(std::vector<std::int32_t>(44 * 1024, 77));
  const auto out = gpu.buffer(44 * 1024 * 64);
  double total = 0;
  for (auto _ : state) {
    gpu.launch("integers", 44 * 1024, 256, a, b, out);
    total += instructions(gpu);
  }
  state.counters["wave_instructions"] = benchmark::Counter(total, benchmark::Counter::kIsRate);
}
BENCHMARK(arithmetic)->UseRealTime()->Unit(benchmark::kMillisecond);

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

}  // namespace
}  // namespace ww::sim::gpu
