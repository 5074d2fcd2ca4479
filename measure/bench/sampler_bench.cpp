// The sampler at 1 kHz on files as amdgpu has them: missed ticks, jitter and the thread's share of
// a core. sampler_bench [SECONDS], default 60. Exit code 1 where the 99th percentile of the jitter
// is 200 us or more although real-time priority is allowed, or the thread takes 2% of a core or
// more.
#include <fmt/format.h>
#include <time.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <thread>

#include "testing/fake_amd_tree.hpp"
#include "ww/measure/amd_gpu.hpp"
#include "ww/measure/sampler.hpp"

// Measures the cost of waking up a thousand times a second on this machine, without any work [share
// of a core].
static double waking_alone() {
  constexpr int ticks = 2000;
  constexpr long period_ns = 1'000'000;
  const auto now = [](clockid_t clock) {
    timespec time{};
    clock_gettime(clock, &time);
    return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
  };
  const std::int64_t before = now(CLOCK_THREAD_CPUTIME_ID);
  std::int64_t due = now(CLOCK_MONOTONIC);
  for (int i = 0; i < ticks; ++i) {
    due += period_ns;
    const timespec until{due / 1'000'000'000, due % 1'000'000'000};
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, nullptr);
  }
  return static_cast<double>(now(CLOCK_THREAD_CPUTIME_ID) - before) / ticks / period_ns;
}

int main(int argc, char** argv) {
  namespace fs = std::filesystem;
  using namespace ww::measure;
  const double seconds = argc > 1 ? std::atof(argv[1]) : 60;
  // The files lie in memory, as the kernel's are.
  const fs::path top = fs::path("/dev/shm") / fmt::format("ww_sampler_bench_{}", getpid());
  int code = 0;
  fmt::print("waking up 1000 times a second and doing nothing: {:.2f}% of a core\n",
             100 * waking_alone());
  for (const bool real_time : {true, false}) {
    const testing::FakeAmdTree tree(top / (real_time ? "a" : "b"));
    const auto gpus = list_amd_gpus(top / (real_time ? "a" : "b"));
    auto source =
        gpus.empty() ? ww::fail(ww::ErrorCode::not_found, "no card") : open_amd_sysfs(gpus.front());
    if (!source) {
      fmt::print(stderr, "{}\n", source.error().text());
      return 3;
    }
    auto sampler = Sampler::start(**source, {.real_time = real_time, .stretch = false});
    if (!sampler) {
      fmt::print(stderr, "{}\n", sampler.error().text());
      return 3;
    }
    std::vector<Sample> samples;
    const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
    std::size_t taken = 0;
    while (std::chrono::steady_clock::now() < end) {
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
      samples.clear();
      (*sampler)->drain(samples);
      taken += samples.size();
    }
    const SamplerStats stats = (*sampler)->stats();
    fmt::print(
        "{}: {:.1f} s at {:.0f} Hz, {} ticks, {} missed, {} dropped, {} taken; jitter p50 {:.0f} "
        "us, "
        "p99 {:.0f} us, max {:.0f} us; a poll takes {:.0f} us (p99 {:.0f} us); {:.2f}% of a core\n",
        stats.real_time ? "real-time priority" : "ordinary priority", stats.elapsed_s,
        1e9 / static_cast<double>(stats.period_ns), stats.ticks, stats.missed, stats.dropped, taken,
        stats.jitter_p50_us, stats.jitter_p99_us, stats.jitter_max_us, stats.read_p50_us,
        stats.read_p99_us, 100 * stats.cpu_share);
    if (real_time && !stats.real_time) fmt::print("{}\n", stats.real_time_reason);
    if (stats.real_time && stats.jitter_p99_us >= 200) code = 1;
    if (stats.cpu_share >= 0.02) code = 1;
  }
  std::error_code ec;
  fs::remove_all(top, ec);
  return code;
}
