#include "ww/microbench/segments.hpp"

#include <gtest/gtest.h>

namespace ww::microbench {
namespace {

TEST(Segments, RefuseRealDevicesByName) {
  SegmentsRequest request;
  request.device.name = "cuda:0";
  request.folder = "/nonexistent";
  const auto status = run_segments(request, {});
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, ErrorCode::unsupported);
}

}  // namespace
}  // namespace ww::microbench
