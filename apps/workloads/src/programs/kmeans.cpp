// K-means (Lloyd): assignment on the GPU, new centres on the host, as Rodinia does.
#include "session.hpp"

namespace ww::workloads {

void run_kmeans(Session& s) {
  const auto n = s.extent(256);
  const std::size_t dims = s.pick<std::size_t>(8, 34, 34);
  const std::size_t clusters = 5;
  const int rounds = s.pick(4, 6, 3, 20);
  std::vector<float> features(n * dims), centres(clusters * dims), seeds(clusters * dims);
  for (auto& v : seeds) v = s.random.uniform(0, 1);
  for (std::size_t i = 0; i < n; ++i) {
    const std::size_t cluster = s.random.below(clusters);
    for (std::size_t k = 0; k < dims; ++k) {
      features[k * n + i] = seeds[cluster * dims + k] + s.random.uniform(-0.3F, 0.3F);
    }
  }
  for (std::size_t c = 0; c < clusters; ++c) {
    for (std::size_t k = 0; k < dims; ++k) centres[c * dims + k] = features[k * n + c];
  }
  s.build("kmeans.cl");
  const Buffer in = s.upload(features);
  const Buffer centre = s.upload(centres);
  const Buffer out = s.zeros<std::uint32_t>(n);
  for (int round = 0; round < rounds; ++round) {
    s.update(centre, centres);
    s.launch("assign", {n}, {256}, in, centre, out, static_cast<std::uint32_t>(n),
             static_cast<std::uint32_t>(dims), static_cast<std::uint32_t>(clusters));
    const auto member = s.download<std::uint32_t>(out);
    std::vector<double> sum(clusters * dims);
    std::vector<double> count(clusters);
    std::vector<double> got(n), best(n);
    for (std::size_t i = 0; i < n; ++i) {
      // Rounding may tip a tie, so distances are compared rather than numbers of clusters.
      best[i] = 1e30;
      for (std::size_t c = 0; c < clusters; ++c) {
        double d = 0;
        for (std::size_t k = 0; k < dims; ++k) {
          const double delta = double{features[k * n + i]} - centres[c * dims + k];
          d += delta * delta;
        }
        best[i] = d < best[i] ? d : best[i];
        if (c == member[i]) got[i] = d;
      }
      if (member[i] >= clusters) return s.require(false, "a point belongs to no cluster");
      count[member[i]] += 1;
      for (std::size_t k = 0; k < dims; ++k) sum[member[i] * dims + k] += features[k * n + i];
    }
    s.check("distance to the chosen centre", got, best, 1e-5, 1e-6);
    for (std::size_t i = 0; i < sum.size(); ++i) {
      if (count[i / dims] > 0) centres[i] = static_cast<float>(sum[i] / count[i / dims]);
    }
  }
  // All features for every cluster unless the L1 has them still; centres are scalar loads.
  const double bytes = rounds * static_cast<double>(in.bytes);
  s.reads(bytes, bytes * static_cast<double>(clusters));
  s.writes(rounds * static_cast<double>(out.bytes), rounds * static_cast<double>(out.bytes));
}

}  // namespace ww::workloads
