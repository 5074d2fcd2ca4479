// k nearest neighbours among hurricane records.
#include <algorithm>

#include "session.hpp"

namespace ww::workloads {

void run_nn(Session& s) {
  const auto n = s.pick<std::size_t>(1 << 17, 1 << 20, 4 << 20);
  std::vector<float> places(2 * n);
  for (std::size_t i = 0; i < n; ++i) {
    places[2 * i] = s.random.uniform(0, 90);
    places[2 * i + 1] = s.random.uniform(0, 180);
  }
  const float lat = 30, lng = 90;
  std::vector<float> want(n);
  for (std::size_t i = 0; i < n; ++i)
    want[i] = std::hypot(lat - places[2 * i], lng - places[2 * i + 1]);
  s.build("nn.cl");
  const Buffer in = s.upload(places);
  const Buffer out = s.zeros<float>(n);
  s.launch("distance_to", {n}, {256}, in, out, lat, lng);
  auto got = s.download<float>(out);
  s.check("distance", got, want, 1e-5, 1e-6);
  const std::size_t k = 10;
  std::ranges::partial_sort(got, got.begin() + k);
  std::ranges::partial_sort(want, want.begin() + k);
  s.check("neighbour", std::vector(got.begin(), got.begin() + k),
          std::vector(want.begin(), want.begin() + k), 1e-5, 1e-6);
  s.reads(static_cast<double>(in.bytes), static_cast<double>(in.bytes));
  s.writes(static_cast<double>(out.bytes), static_cast<double>(out.bytes));
}

}  // namespace ww::workloads
