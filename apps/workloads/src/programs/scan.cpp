// Prefix sum in three launches: blocks, the blocks' sums, and their addition.
#include "session.hpp"

namespace ww::workloads {

void run_scan(Session& s) {
  const std::size_t block = 512;
  const auto blocks = s.pick<std::size_t>(512, 512 * 16, 512 * 64);
  const std::size_t n = blocks * block;
  std::vector<std::uint32_t> data(n), want(n);
  std::uint32_t sum = 0;
  for (std::size_t i = 0; i < n; ++i) {
    data[i] = s.random.bits();
    want[i] = sum;
    sum += data[i];  // wraps, as the device's does
  }
  s.build("scan.cl");
  const Buffer values = s.upload(data);
  const Buffer sums = s.zeros<std::uint32_t>(blocks);
  const Buffer of_sums = s.zeros<std::uint32_t>(blocks / block);
  const Buffer total = s.zeros<std::uint32_t>(block);
  s.launch("scan_blocks", {blocks * 256}, {256}, values, sums);
  s.launch("scan_blocks", {blocks / block * 256}, {256}, sums, of_sums);
  if (blocks > block) {
    // The third level is smaller than a block; pad it.
    auto top = s.download<std::uint32_t>(of_sums);
    top.resize(block);
    const Buffer padded = s.upload(top);
    s.launch("scan_blocks", {256}, {256}, padded, total);
    s.launch("add_sums", {blocks / block * 256}, {256}, sums, padded);
  }
  s.launch("add_sums", {blocks * 256}, {256}, values, sums);
  s.check("prefix", s.download<std::uint32_t>(values), want);
  // Twice each way; sums add a little: one line a block when written alone.
  const auto bytes = static_cast<double>(values.bytes);
  s.reads(2 * bytes, 2 * bytes + 256.0 * static_cast<double>(blocks));
  s.writes(2 * bytes, 2 * bytes + 128.0 * static_cast<double>(blocks));
}

}  // namespace ww::workloads
