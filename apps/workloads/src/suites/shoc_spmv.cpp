// SHOC's Spmv in single precision, on its random matrix: each place has an entry with a probability
// of one in a hundred.
#include <algorithm>

#include "session.hpp"

namespace ww::workloads {

void run_shoc_spmv(Session& s) {
  const auto n = s.extent(256);  // the suite: 1024, 8192, 12288, 16384
  std::vector<float> x(n), want(n), value;
  std::vector<int> column, first{0}, length(n);
  for (auto& v : x) v = s.random.uniform(0, 10);
  std::size_t longest = 0;
  for (std::size_t row = 0; row < n; ++row) {
    double sum = 0;
    for (std::size_t c = 0; c < n; ++c) {
      if (s.random.below(100) != 0) continue;
      column.push_back(static_cast<int>(c));
      value.push_back(s.random.uniform(0, 10));
      sum += double{value.back()} * x[c];
    }
    want[row] = static_cast<float>(sum);
    first.push_back(static_cast<int>(value.size()));
    length[row] = first[row + 1] - first[row];
    longest = std::max(longest, static_cast<std::size_t>(length[row]));
  }
  std::vector<float> by_column(n * longest);
  std::vector<int> columns(n * longest);
  for (std::size_t row = 0; row < n; ++row) {
    for (std::size_t k = 0; k < static_cast<std::size_t>(length[row]); ++k) {
      const auto from = static_cast<std::size_t>(first[row]) + k;
      by_column[k * n + row] = value[from];
      columns[k * n + row] = column[from];
    }
  }
  s.build("shoc_spmv.cl");
  const Buffer values = s.upload(value);
  const Buffer indices = s.upload(column);
  const Buffer starts = s.upload(first);
  const Buffer vector = s.upload(x);
  const auto check = [&](const char* what, Buffer y) {
    s.check(what, s.download<float>(y), want, 1e-4, 1e-4);
  };
  const Buffer scalar = s.zeros<float>(n);
  s.launch("csr_scalar", {n}, {128}, values, vector, indices, starts, scalar);
  check("y of csr_scalar", scalar);
  const Buffer wave = s.zeros<float>(n);
  s.launch("csr_vector", {n * 64}, {128}, values, vector, indices, starts, wave);
  check("y of csr_vector", wave);
  const Buffer ellpack = s.zeros<float>(n);
  s.launch("ellpack_r", {n}, {128}, s.upload(by_column), vector, s.upload(columns),
           s.upload(length), static_cast<int>(n), ellpack);
  check("y of ellpack_r", ellpack);
  // Matrices once at least. In csr_scalar each lane reads a line of its own, which may have left
  // the L1 before its next word is asked for; elsewhere only x is gathered.
  const auto entries = static_cast<double>(value.size());
  const auto rows = static_cast<double>(n);
  s.reads(3 * 8 * entries, 64 * (3 * entries + 2 * entries + 6 * rows) + 2 * 8 * 1.5 * entries);
  s.writes(3 * 4 * rows, 4 * (2 + 16) * rows);
}

}  // namespace ww::workloads
