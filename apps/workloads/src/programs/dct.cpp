// 8x8 DCT (Ahmed, Natarajan, Rao, 1974), as image codecs use it.
#include <numbers>

#include "picture.hpp"
#include "session.hpp"

namespace ww::workloads {

void run_dct(Session& s) {
  const auto n = s.pick<std::size_t>(256, 1024, 2048);
  const auto grey = grey_picture(s.random, n, n);
  const std::vector<float> image(grey.begin(), grey.end());
  std::vector<float> basis(64);
  for (int u = 0; u < 8; ++u) {
    for (int k = 0; k < 8; ++k) {
      basis[static_cast<std::size_t>(u * 8 + k)] = static_cast<float>(
          (u == 0 ? std::sqrt(0.125) : 0.5) * std::cos((2 * k + 1) * u * std::numbers::pi / 16));
    }
  }
  std::vector<float> want(image.size());
  std::vector<float> rows(image.size());
  for (std::size_t i = 0; i < image.size(); ++i) {
    double sum = 0;
    for (std::size_t k = 0; k < 8; ++k) sum += basis[i % 8 * 8 + k] * image[i / 8 * 8 + k];
    rows[i] = static_cast<float>(sum);
  }
  for (std::size_t i = 0; i < image.size(); ++i) {
    const std::size_t x = i % n;
    const std::size_t y = i / n;
    double sum = 0;
    for (std::size_t k = 0; k < 8; ++k) sum += basis[y % 8 * 8 + k] * rows[(y / 8 * 8 + k) * n + x];
    want[i] = static_cast<float>(sum);
  }

  s.build("dct.cl");
  const Buffer in = s.upload(image);
  const Buffer out = s.zeros<float>(image.size());
  s.approximable(in, microbench::ApproximableType::float32);
  s.launch("dct8x8", {n, n}, {32, 8}, in, out, s.upload(basis), static_cast<int>(n));
  s.check("coefficient", s.download<float>(out), want, 1e-5, 4e-3);
  // Every pixel crosses once each way; the 256-byte basis at most once for each group, or for each
  // of its waves behind each of the two barriers.
  const auto bytes = static_cast<double>(in.bytes);
  const std::size_t times = s.barriers_empty_l1() ? 2 * 256 / s.wave_size() : 1;
  const std::size_t groups = n * n / 256;
  s.reads(bytes, bytes + 256.0 * static_cast<double>(groups * times));
  s.writes(bytes, bytes);
}

}  // namespace ww::workloads
