// GEM: electrostatics of a biomolecule (Gordon, Fenley, Onufriev, 2008).
#include <numbers>

#include "session.hpp"

namespace ww::workloads {

void run_gem(Session& s) {
  const auto atoms = s.pick<std::size_t>(512, 4096, 4096, 16384);
  const auto vertices = s.extent(256);
  std::vector<float> atom(4 * atoms), vertex(4 * vertices);
  for (std::size_t i = 0; i < atoms; ++i) {
    for (std::size_t k = 0; k < 3; ++k) atom[4 * i + k] = s.random.uniform(-10, 10);
    atom[4 * i + 3] = s.random.uniform(-1, 1);
  }
  for (std::size_t i = 0; i < vertices; ++i) {
    // Places points on a rough sphere around the cube of atoms.
    const float r = s.random.uniform(20, 22);
    const float z = s.random.uniform(-1, 1);
    const float angle = s.random.uniform(0, 2 * std::numbers::pi_v<float>);
    const float across = r * std::sqrt(1 - z * z);
    vertex[4 * i] = across * std::cos(angle);
    vertex[4 * i + 1] = across * std::sin(angle);
    vertex[4 * i + 2] = r * z;
    vertex[4 * i + 3] = r;
  }
  std::vector<float> want(vertices);
  const double alpha = 0.580127;
  const double ratio = 4.0 / 80.0;
  for (std::size_t i = 0; i < vertices; ++i) {
    double sum = 0;
    for (std::size_t j = 0; j < atoms; ++j) {
      double square = 0;
      for (std::size_t k = 0; k < 3; ++k) {
        const double d = double{vertex[4 * i + k]} - atom[4 * j + k];
        square += d * d;
      }
      sum += atom[4 * j + 3] / (80.0 * (1 + alpha * ratio)) *
             ((1 + alpha) / std::sqrt(square) - alpha * (1 - ratio) / vertex[4 * i + 3]);
    }
    want[i] = static_cast<float>(sum);
  }
  s.build("gem.cl");
  const Buffer a = s.upload(atom);
  const Buffer v = s.upload(vertex);
  const Buffer out = s.zeros<float>(vertices);
  s.launch("potential", {vertices}, {128}, a, v, out, static_cast<std::uint32_t>(atoms));
  s.check("potential", s.download<float>(out), want, 1e-4,
          1e-6 * std::sqrt(static_cast<double>(atoms)));
  const auto groups = vertices / 128;
  s.reads(static_cast<double>(a.bytes + v.bytes), static_cast<double>(a.bytes * groups + v.bytes));
  s.writes(static_cast<double>(out.bytes), static_cast<double>(out.bytes));
}

}  // namespace ww::workloads
