// Parboil's sparse matrix-vector product, in the JDS format.
#include <algorithm>
#include <numeric>

#include "session.hpp"

namespace ww::workloads {

void run_spmv(Session& s) {
  const auto n = s.pick<std::uint32_t>(8192, 65536, 262144);
  const std::uint32_t longest = 48;
  std::vector<std::uint32_t> length(n);
  std::vector<std::vector<std::pair<std::uint32_t, float>>> rows(n);
  std::vector<float> x(n), want(n);
  for (auto& v : x) v = s.random.uniform(-1, 1);
  for (std::uint32_t r = 0; r < n; ++r) {
    // Half the entries near the diagonal, half anywhere.
    length[r] = 1 + s.random.below(longest);
    double sum = 0;
    for (std::uint32_t k = 0; k < length[r]; ++k) {
      const std::uint32_t c = k % 2 == 0 ? (r + s.random.below(64)) % n : s.random.below(n);
      const float v = s.random.uniform(-1, 1);
      rows[r].emplace_back(c, v);
      sum += double{v} * x[c];
    }
    want[r] = static_cast<float>(sum);
  }
  std::vector<std::uint32_t> order(n);
  std::iota(order.begin(), order.end(), 0U);
  std::ranges::stable_sort(order, [&](auto a, auto b) { return length[a] > length[b]; });
  std::vector<float> value;
  std::vector<std::uint32_t> column, start, sorted_length;
  for (const std::uint32_t r : order) sorted_length.push_back(length[r]);
  for (std::uint32_t k = 0; k < longest; ++k) {
    start.push_back(static_cast<std::uint32_t>(value.size()));
    for (const std::uint32_t r : order) {
      if (length[r] <= k) break;
      column.push_back(rows[r][k].first);
      value.push_back(rows[r][k].second);
    }
  }
  s.build("spmv.cl");
  const Buffer values = s.upload(value);
  const Buffer y = s.zeros<float>(n);
  s.launch("multiply", {n}, {256}, values, s.upload(column), s.upload(start),
           s.upload(sorted_length), s.upload(order), s.upload(x), y);
  s.check("y", s.download<float>(y), want, 1e-4, 1e-5);
  // Values and columns once (not aligned: a fifth line to four), x at most a line an entry, the
  // result scattered by the row's order.
  const auto entries = static_cast<double>(value.size());
  s.reads(2 * 4 * entries, (2 * 4 * 1.3 + 64) * entries + 64.0 * n);
  s.writes(4.0 * n, 64.0 * n);
}

}  // namespace ww::workloads
