// Monte Carlo option pricing (Boyle, 1977).
#include <algorithm>
#include <numbers>

#include "session.hpp"

namespace ww::workloads {

void run_montecarlo(Session& s) {
  const auto options = s.pick<std::size_t>(128, 512, 2048);
  const auto paths = s.pick<std::size_t>(8192, 65536, 262144);
  std::vector<float> option(4 * options), normals(paths);
  for (std::size_t i = 0; i < options; ++i) {
    const float years = s.random.uniform(1, 5);
    option[4 * i] = s.random.uniform(5, 50);
    option[4 * i + 1] = s.random.uniform(10, 25);
    option[4 * i + 2] = (0.06F - 0.5F * 0.1F * 0.1F) * years;
    option[4 * i + 3] = 0.1F * std::sqrt(years);
  }
  for (auto& z : normals) {
    const double u = s.random.uniform(0x1p-24F, 1);
    const double v = s.random.uniform(0, 1);
    z = static_cast<float>(std::sqrt(-2 * std::log(u)) * std::cos(2 * std::numbers::pi * v));
  }
  std::vector<float> want(2 * options);
  for (std::size_t i = 0; i < options; ++i) {
    double sum = 0;
    double squares = 0;
    for (const float z : normals) {
      const double end =
          option[4 * i] * std::exp(double{option[4 * i + 2]} + double{option[4 * i + 3]} * z);
      const double pay = std::max(end - option[4 * i + 1], 0.0);
      sum += pay;
      squares += pay * pay;
    }
    want[2 * i] = static_cast<float>(sum);
    want[2 * i + 1] = static_cast<float>(squares);
  }
  s.build("montecarlo.cl");
  const Buffer draws = s.upload(normals);
  const Buffer out = s.zeros<float>(2 * options);
  s.launch("price", {options * 256}, {256}, s.upload(option), draws, out,
           static_cast<std::uint32_t>(paths));
  // A call that is hardly ever in the money sums few, badly conditioned terms.
  s.check("sum", s.download<float>(out), want, 1e-4, 0.05);
  // Every group reads all draws (groups of one CU may share them); results are a line a group.
  const auto bytes = static_cast<double>(draws.bytes);
  const auto groups = static_cast<double>(options);
  s.reads(bytes, groups * (bytes + 4 * 64));
  s.writes(64 * groups, 64 * groups);
}

}  // namespace ww::workloads
