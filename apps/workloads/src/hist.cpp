// Histogram of an image's grey values.
#include "session.hpp"

namespace ww::workloads {

void run_hist(Session& s) {
  const auto words = s.pick<std::size_t>(1 << 17, 1 << 20, 1 << 24);
  std::vector<std::uint32_t> data(words);
  std::vector<std::uint32_t> want(256);
  for (auto& word : data) {
    for (int byte = 0; byte < 4; ++byte) {
      // The sum of two draws: a triangular distribution, so that some bins are contended.
      const std::uint32_t value = (s.random.below(256) + s.random.below(256)) / 2;
      word |= value << (8 * byte);
      ++want[value];
    }
  }
  s.build("hist.cl");
  const Buffer in = s.upload(data);
  s.approximable(in, microbench::ApproximableType::uint8);
  const Buffer bins = s.zeros<std::uint32_t>(256);
  const std::size_t groups = 128;
  s.launch("histogram256", {groups * 256}, {256}, in, bins, static_cast<std::uint32_t>(words));
  s.check("bin", s.download<std::uint32_t>(bins), want);
  const auto bytes = static_cast<double>(in.bytes);
  s.reads(bytes, bytes);
  s.atomics(1024.0 * groups, 1024.0 * groups);
}

}  // namespace ww::workloads
