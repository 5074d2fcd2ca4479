// The AMD APP SDK's ScanLargeArrays: blocks of 256, the sums of blocks as often as needed, and the
// way back.
#include "session.hpp"

namespace ww::workloads {

void run_sdk_scan(Session& s) {
  const std::size_t block = 256;
  const auto n = s.extent(block);
  std::vector<float> data(n), want(n);
  double sum = 0;
  for (std::size_t i = 0; i < n; ++i) {
    data[i] = s.random.uniform(0, 255);
    want[i] = static_cast<float>(sum);
    sum += data[i];
  }
  s.build("sdk_scan.cl");
  // Each level scans the sums of the level before.
  std::vector<Buffer> scanned;
  Buffer in = s.upload(data);
  double elements = 0;
  double groups = 0;
  for (std::size_t length = n; length > 1; length /= block) {
    const std::size_t width = std::min(block, length);
    scanned.push_back(s.zeros<float>(length));
    const std::size_t blocks = length / width;
    const Buffer sums = s.zeros<float>(blocks);
    s.launch("scan_block", {length / 2}, {width / 2}, scanned.back(), in, sums);
    in = sums;
    elements += static_cast<double>(length);
    groups += static_cast<double>(blocks);
  }
  for (std::size_t level = scanned.size() - 1; level > 0; --level) {
    const std::size_t length = scanned[level - 1].bytes / sizeof(float);
    s.launch("add_sum", {length}, {block}, scanned[level], scanned[level - 1]);
    const std::size_t blocks = length / block;
    elements += static_cast<double>(length);
    groups += static_cast<double>(blocks);
  }
  s.check("prefix", s.download<float>(scanned.front()), want, 1e-5, 1e-3);
  // Even and odd elements may be stored one after the other, a line twice. A group reads one sum,
  // or each of its two waves writes one.
  s.reads(4 * elements, 2 * 4 * elements + 64 * groups);
  s.writes(4 * elements, 2 * 4 * elements + 2 * 64 * groups);
}

}  // namespace ww::workloads
