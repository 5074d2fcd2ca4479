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

// Seconds of kernel `cross` without traffic, at a wait; nothing where a call failed.
std::optional<double> seconds_of(ComputeHost& host, const std::string& ptx, std::uint32_t wait) {
  const auto bytes = std::as_bytes(std::span(ptx));
  const auto pinning = make_pinning(host.facts().target);
  if (!pinning) return {};
  const auto binary = (*pinning)->patch({bytes.begin(), bytes.end()}, "cross");
  if (!binary) return {};
  const auto kernel = host.load(*binary, "cross");
  const auto memory = host.create_buffer(4096);
  const auto places = host.create_buffer(4096);
  const auto done = host.create_buffer(4096);
  if (!kernel || !memory || !places || !done) return {};
  const std::vector<std::byte> everywhere(4096, std::byte{0xFF});
  bool good = (*places)->write(0, everywhere).has_value();
  good = good && (*kernel)->set(0, **memory) && (*kernel)->set(1, **memory);
  for (const auto& [index, value] : {std::pair{2u, 0u}, {3u, 8u}, {4u, 0u}, {5u, wait}}) {
    good = good && (*kernel)->set(index, value);
  }
  good = good && (*kernel)->set(6, **places) && (*kernel)->set(7, **done);
  if (!good) return {};
  const auto seconds = (*kernel)->time_launch(1, kernels::ptx_group_size);
  return seconds ? std::optional(*seconds) : std::nullopt;
}

TEST(StubCuda, ErasesAWaitWithoutEffectAsTheAssemblerDoes) {
  const auto host = open_host("cuda:0");
  ASSERT_TRUE(host) << host.error().text();
  if ((*host)->facts().device.find("Stub") == std::string::npos) {
    GTEST_SKIP() << "a real CUDA driver is installed here: " << (*host)->facts().device;
  }
  kernels::Macros macros;
  macros.target = (*make_pinning((*host)->facts().target))->target();
  macros.group_size = kernels::ptx_group_size;
  macros.unroll = kernels::ptx_unroll;
  const auto text = kernels::program_text(*kernels::find_source("cross"), macros);
  ASSERT_TRUE(text) << text.error().text();
  const auto ptx = kernels::ptx_for("cross", *text);
  ASSERT_TRUE(ptx) << ptx.error().text();
  const auto brief = seconds_of(**host, *ptx, 1);
  const auto lengthy = seconds_of(**host, *ptx, 1000);
  ASSERT_TRUE(brief && lengthy);
  EXPECT_GT(*lengthy, 5 * *brief);

  // A hundred thousand units take three sleeps in a loop. Without the sleep its body is arithmetic
  // that nobody reads.
  std::string empty = *ptx;
  const auto at = empty.find("nanosleep.u32");
  ASSERT_NE(at, std::string::npos);
  empty.erase(at, empty.find(';', at) + 1 - at);
  const auto one = seconds_of(**host, empty, 1);
  const auto many = seconds_of(**host, empty, 120'000);
  ASSERT_TRUE(one && many);
  EXPECT_DOUBLE_EQ(*many, *one);
}

}  // namespace
}  // namespace ww::microbench
