// Whether two launches on two virtual GPUs did the same.
#pragma once

#include <gtest/gtest.h>

#include <cstring>

#include "testing/test_gpu.hpp"

namespace ww::sim::gpu::test {

// The latest launch of each. `observed`: false: the observer of one saw nothing of it.
inline void expect_same_launches(TestGpu& one, const LaunchResult& of_one, TestGpu& other,
                                 const LaunchResult& of_other, bool observed = true) {
  EXPECT_EQ(of_one.start_ns, of_other.start_ns);
  EXPECT_EQ(of_one.end_ns, of_other.end_ns);
  EXPECT_EQ(one.counters(of_one.dispatch), other.counters(of_other.dispatch));
  if (!observed) return;
  const auto& a = one.totals;
  const auto& b = other.totals;
  EXPECT_EQ(a.hash, b.hash) << "payloads, addresses, cycles and order on each path";
  EXPECT_EQ(a.writebacks, b.writebacks);
  EXPECT_EQ(a.fills, b.fills);
  ASSERT_EQ(a.cus.size(), b.cus.size());
  for (std::size_t i = 0; i < a.cus.size(); ++i) {
    EXPECT_EQ(std::memcmp(&a.cus[i], &b.cus[i], sizeof a.cus[i]), 0) << "compute unit " << i;
  }
  ASSERT_EQ(a.channels.size(), b.channels.size());
  EXPECT_EQ(std::memcmp(a.channels.data(), b.channels.data(),
                        a.channels.size() * sizeof(ChannelActivity)),
            0);
}

}  // namespace ww::sim::gpu::test
