// The AMD APP SDK's FastWalshTransform. Device and host add in the same order, so that every
// coefficient agrees to the bit.
#include <bit>

#include "reference.hpp"
#include "session.hpp"

namespace ww::workloads {

void run_sdk_fwt(Session& s) {
  const std::size_t n = std::bit_ceil(s.extent());
  std::vector<float> data(n);
  for (auto& value : data) value = s.random.uniform(0, 255);
  auto want = data;
  for (std::size_t stride = 1; stride < n; stride *= 2) butterfly(want, stride);
  s.build("sdk_fwt.cl");
  const Buffer buffer = s.upload(data);
  double passes = 0;
  for (std::size_t stride = 1; stride < n; stride *= 2, ++passes) {
    s.launch("butterfly", {n / 2}, {256}, buffer, static_cast<int>(stride));
  }
  s.check("coefficient", s.download<float>(buffer), want);
  // Below 16 words, both halves of a pair lie in one line, which two loads and two stores may move.
  const double bytes = passes * static_cast<double>(buffer.bytes);
  const double twice = 4 * static_cast<double>(buffer.bytes);
  s.reads(bytes, bytes + twice);
  s.writes(bytes, bytes + twice);
}

}  // namespace ww::workloads
