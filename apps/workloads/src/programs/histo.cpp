// Parboil's histogram of a silicon wafer's scan: most samples fall near the middle.
#include <algorithm>

#include "session.hpp"

namespace ww::workloads {

void run_histo(Session& s) {
  const auto n = s.pick<std::size_t>(1 << 16, 1 << 19, 1 << 22);
  const std::uint32_t width = 1024;
  const std::uint32_t height = 256;
  std::vector<std::uint32_t> samples(n);
  std::vector<std::uint32_t> bins(width * height);
  for (auto& sample : samples) {
    // The mean of four draws: a bell of a standard deviation of a seventh of the range.
    const auto bell = [&](std::uint32_t range) {
      std::uint32_t sum = 0;
      for (int i = 0; i < 4; ++i) sum += s.random.below(range);
      return sum / 4;
    };
    sample = bell(height) * width + bell(width);
    ++bins[sample];
  }
  std::vector<std::uint8_t> want(bins.size());
  for (std::size_t i = 0; i < bins.size(); ++i) {
    want[i] = static_cast<std::uint8_t>(std::min(bins[i], 255U));
  }
  s.build("histo.cl");
  const Buffer in = s.upload(samples);
  const Buffer counts = s.zeros<std::uint32_t>(bins.size());
  const Buffer out = s.zeros<std::uint8_t>(bins.size());
  s.launch("count", {n}, {256}, in, counts);
  s.launch("saturate", {bins.size() / 4}, {256}, counts, out);
  s.check("bin", s.download<std::uint8_t>(out), want);
  const auto bytes = static_cast<double>(in.bytes + counts.bytes);
  s.reads(bytes, bytes);
  s.writes(static_cast<double>(out.bytes), static_cast<double>(out.bytes));
  // Scattered: nearly a line for each sample.
  s.atomics(32.0 * static_cast<double>(n), 64.0 * static_cast<double>(n));
}

}  // namespace ww::workloads
