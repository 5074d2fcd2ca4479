// The stub libcuda against what NVIDIA's assembler is known to do.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "host/pinning.hpp"
#include "ww/kernels/sources.hpp"
#include "ww/microbench/hosts.hpp"

namespace ww::microbench {
namespace {

struct Ran {
  double seconds{};
  std::uint32_t updates{};          // that the kernel counted
  std::vector<std::uint32_t> line;  // what they left
};

// Kernel `cross` at a wait, without traffic or on one line; nothing where a call failed.
std::optional<Ran> run_of(ComputeHost& host, const std::string& ptx, std::uint32_t wait,
                          std::uint32_t lines) {
  const auto bytes = std::as_bytes(std::span(ptx));
  const auto pinning = make_pinning(host.facts().target);
  if (!pinning) return {};
  const auto binary = (*pinning)->patch({bytes.begin(), bytes.end()}, "cross");
  if (!binary) return {};
  const auto kernel = host.load(*binary, "cross");
  const auto memory = host.create_buffer(4096);
  const auto offsets = host.create_buffer(4096);
  const auto places = host.create_buffer(4096);
  const auto done = host.create_buffer(4096);
  if (!kernel || !memory || !offsets || !places || !done) return {};
  const std::vector<std::byte> everywhere(4096, std::byte{0xFF});
  bool good = (*places)->write(0, everywhere).has_value();
  const std::vector<std::byte> zeros(4096);
  good = good && (*memory)->write(0, zeros) && (*offsets)->write(0, zeros);
  good = good && (*done)->write(0, zeros);
  good = good && (*kernel)->set(0, **memory) && (*kernel)->set(1, **offsets);
  for (const auto& [index, value] : {std::pair{2u, lines}, {3u, 8u}, {4u, ~0u}, {5u, wait}}) {
    good = good && (*kernel)->set(index, value);
  }
  good = good && (*kernel)->set(6, **places) && (*kernel)->set(7, **done);
  if (!good) return {};
  const auto seconds = (*kernel)->time_launch(1, kernels::kPtxGroupSize);
  std::vector<std::uint32_t> counts(1024);
  Ran ran;
  ran.line.resize(32);
  if (!seconds || !(*done)->read(0, std::as_writable_bytes(std::span(counts))) ||
      !(*memory)->read(0, std::as_writable_bytes(std::span(ran.line)))) {
    return {};
  }
  ran.seconds = *seconds;
  for (const std::uint32_t count : counts) ran.updates += count;
  return ran;
}

std::optional<double> seconds_of(ComputeHost& host, const std::string& ptx, std::uint32_t wait) {
  const auto ran = run_of(host, ptx, wait, 0);
  return ran ? std::optional(ran->seconds) : std::nullopt;
}

// The project's PTX of `cross` for the stub.
std::string cross_ptx(const ComputeHost& host) {
  kernels::Macros macros;
  macros.target = (*make_pinning(host.facts().target))->target();
  macros.group_size = kernels::kPtxGroupSize;
  macros.unroll = kernels::kPtxUnroll;
  const auto text = kernels::program_text(*kernels::find_source("cross"), macros);
  const auto ptx = text ? kernels::ptx_for("cross", *text) : Result<std::string>("");
  return ptx.value_or("");
}

TEST(StubCuda, ErasesAWaitWithoutEffectAsTheAssemblerDoes) {
  const auto host = open_host("cuda:0");
  ASSERT_TRUE(host) << host.error().text();
  if ((*host)->facts().device.find("Stub") == std::string::npos) {
    GTEST_SKIP() << "a real CUDA driver is installed here: " << (*host)->facts().device;
  }
  const std::string ptx = cross_ptx(**host);
  ASSERT_FALSE(ptx.empty());
  const auto brief = seconds_of(**host, ptx, 1);
  const auto lengthy = seconds_of(**host, ptx, 1000);
  ASSERT_TRUE(brief && lengthy);
  EXPECT_GT(*lengthy, 5 * *brief);

  // A hundred thousand units take three sleeps in a loop. Without the sleep its body is arithmetic
  // that nobody reads.
  std::string empty = ptx;
  const auto at = empty.find("nanosleep.u32");
  ASSERT_NE(at, std::string::npos);
  empty.erase(at, empty.find(';', at) + 1 - at);
  const auto one = seconds_of(**host, empty, 1);
  const auto many = seconds_of(**host, empty, 120'000);
  ASSERT_TRUE(one && many);
  EXPECT_DOUBLE_EQ(*many, *one);
}

// An assembler makes REDG of an atomic whose old value nobody reads; PTX can also say so itself.
TEST(StubCuda, TakesAReductionAsAnAtomicWhoseOldValueNobodyReads) {
  const auto host = open_host("cuda:0");
  ASSERT_TRUE(host) << host.error().text();
  if ((*host)->facts().device.find("Stub") == std::string::npos) {
    GTEST_SKIP() << "a real CUDA driver is installed here: " << (*host)->facts().device;
  }
  const std::string ptx = cross_ptx(**host);
  std::string reductions = ptx;
  int changed = 0;
  for (auto at = reductions.find("atom.global."); at != std::string::npos;
       at = reductions.find("atom.global.", at)) {
    // "atom.global.xor.b32 %r1, [%rd1], %r2;" loses its first operand.
    reductions.replace(at, 4, "red");
    const auto first = reductions.find('%', at);
    reductions.erase(first, reductions.find('[', at) - first);
    ++changed;
  }
  EXPECT_EQ(changed, 2);
  const auto atomics = run_of(**host, ptx, 1, 1);
  const auto reduced = run_of(**host, reductions, 1, 1);
  ASSERT_TRUE(atomics && reduced);
  EXPECT_GT(atomics->updates, 0u);
  EXPECT_EQ(reduced->updates, atomics->updates);
  EXPECT_EQ(reduced->line, atomics->line);
  EXPECT_NE(reduced->line, std::vector<std::uint32_t>(32));
  EXPECT_DOUBLE_EQ(reduced->seconds, atomics->seconds);

  // One whose old value is read is waited for.
  std::string awaited = ptx;
  const auto xor_at = awaited.find("atom.global.xor");
  const auto begin = awaited.find('%', xor_at);
  const std::string old = awaited.substr(begin, awaited.find(',', begin) - begin);
  awaited.insert(awaited.find(';', xor_at) + 1, "\n\tadd.s32 " + old + ", " + old + ", 0;");
  const auto slow = run_of(**host, awaited, 1, 1);
  ASSERT_TRUE(slow);
  EXPECT_GT(slow->seconds, 1.5 * atomics->seconds);
}

}  // namespace
}  // namespace ww::microbench
