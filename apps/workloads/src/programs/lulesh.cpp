// LULESH's (Karlin et al., 2013) shape of work on an ideal gas: a blast from one corner.
#include <array>

#include "session.hpp"

namespace ww::workloads {
namespace {

using Vector = std::array<double, 3>;
constexpr std::array<std::array<std::size_t, 4>, 6> faces{
    {{0, 1, 2, 3}, {0, 4, 5, 1}, {1, 5, 6, 2}, {2, 6, 7, 3}, {3, 7, 4, 0}, {4, 7, 6, 5}}};

struct Mesh {
  std::size_t n{};
  std::array<std::vector<double>, 3> position, speed;
  std::vector<double> mass, volume, energy, pressure;

  [[nodiscard]] std::size_t node(std::size_t element, std::size_t corner) const {
    const std::size_t x = element % n + ((corner + 1) >> 1 & 1);
    const std::size_t y = element / n % n + (corner >> 1 & 1);
    const std::size_t z = element / n / n + (corner >> 2);
    return (z * (n + 1) + y) * (n + 1) + x;
  }
  // Outward areas by corner.
  [[nodiscard]] std::array<Vector, 8> normals(std::size_t e) const {
    std::array<Vector, 8> normal{};
    for (const auto& [a, b, c, d] : faces) {
      Vector s0{}, s1{};
      for (std::size_t k = 0; k < 3; ++k) {
        const auto& x = position[k];
        s0[k] = 0.5 * (x[node(e, d)] + x[node(e, c)] - x[node(e, b)] - x[node(e, a)]);
        s1[k] = 0.5 * (x[node(e, c)] + x[node(e, b)] - x[node(e, d)] - x[node(e, a)]);
      }
      for (std::size_t k = 0; k < 3; ++k) {
        const std::size_t i = (k + 1) % 3, j = (k + 2) % 3;
        for (const std::size_t corner : {a, b, c, d}) {
          normal[corner][k] += 0.25 * (s0[i] * s1[j] - s0[j] * s1[i]);
        }
      }
    }
    return normal;
  }
  [[nodiscard]] double volume_of(std::size_t e) const {
    const auto normal = normals(e);
    double sum = 0;
    for (std::size_t c = 0; c < 8; ++c) {
      for (std::size_t k = 0; k < 3; ++k) sum += position[k][node(e, c)] * normal[c][k];
    }
    return std::abs(sum) / 3;
  }
  void step(double dt) {
    std::array<std::vector<double>, 3> force;
    for (auto& f : force) f.resize(mass.size());
    for (std::size_t e = 0; e < volume.size(); ++e) {
      const auto normal = normals(e);
      for (std::size_t c = 0; c < 8; ++c) {
        for (std::size_t k = 0; k < 3; ++k) force[k][node(e, c)] -= pressure[e] * normal[c][k];
      }
    }
    const std::size_t edge = n + 1;
    for (std::size_t i = 0; i < mass.size(); ++i) {
      const std::array<std::size_t, 3> at{i % edge, i / edge % edge, i / edge / edge};
      for (std::size_t k = 0; k < 3; ++k) {
        speed[k][i] = at[k] == 0 ? 0 : speed[k][i] + dt * force[k][i] / mass[i];
        position[k][i] += dt * speed[k][i];
      }
    }
    for (std::size_t e = 0; e < volume.size(); ++e) {
      const double now = volume_of(e);
      energy[e] -= pressure[e] * (now - volume[e]);
      volume[e] = now;
      pressure[e] = 0.4 * energy[e] / now;
    }
  }
};

Mesh make_mesh(std::size_t n) {
  Mesh mesh;
  mesh.n = n;
  const std::size_t edge = n + 1;
  const std::size_t nodes = edge * edge * edge;
  for (std::size_t k = 0; k < 3; ++k) mesh.speed[k].resize(nodes);
  for (std::size_t i = 0; i < nodes; ++i) {
    mesh.position[0].push_back(static_cast<double>(i % edge));
    mesh.position[1].push_back(static_cast<double>(i / edge % edge));
    const std::size_t layer = i / edge / edge;
    mesh.position[2].push_back(static_cast<double>(layer));
  }
  mesh.mass.resize(nodes);
  for (std::size_t e = 0; e < n * n * n; ++e) {
    mesh.volume.push_back(1);
    mesh.energy.push_back(e == 0 ? 50 : 1);
    mesh.pressure.push_back(0.4 * mesh.energy[e]);
    for (std::size_t c = 0; c < 8; ++c) mesh.mass[mesh.node(e, c)] += 0.125;
  }
  return mesh;
}

}  // namespace

void run_lulesh(Session& s) {
  const auto n = s.extent();
  const int steps = s.pick(4, 10, 4, 40);
  const double dt = 0.01;
  Mesh mesh = make_mesh(n);
  const std::size_t elements = n * n * n;
  const std::size_t nodes = mesh.mass.size();

  s.build("lulesh.cl", "#define N " + std::to_string(n) + "\n");
  std::array<Buffer, 3> x, v, f;
  for (std::size_t k = 0; k < 3; ++k) {
    x[k] = s.upload(mesh.position[k]);
    v[k] = s.upload(mesh.speed[k]);
    f[k] = s.zeros<double>(8 * elements);
  }
  const Buffer mass = s.upload(mesh.mass);
  const Buffer volume = s.upload(mesh.volume);
  const Buffer energy = s.upload(mesh.energy);
  const Buffer pressure = s.upload(mesh.pressure);
  const Range over_elements{(elements + 63) / 64 * 64};
  const Range over_nodes{(nodes + 63) / 64 * 64};
  for (int step = 0; step < steps; ++step) {
    s.launch("corner_forces", over_elements, {64}, x[0], x[1], x[2], pressure, f[0], f[1], f[2]);
    for (std::size_t k = 0; k < 3; ++k) {
      s.launch("move_nodes", over_nodes, {64}, x[k], v[k], f[k], mass, static_cast<int>(k), dt);
    }
    s.launch("new_state", over_elements, {64}, x[0], x[1], x[2], volume, energy, pressure);
    mesh.step(dt);
  }
  s.check("position", s.download<double>(x[0]), mesh.position[0], 1e-10, 1e-10);
  s.check("speed", s.download<double>(v[2]), mesh.speed[2], 1e-9, 1e-10);
  s.check("pressure", s.download<double>(pressure), mesh.pressure, 1e-9);
  s.require(mesh.speed[0][nodes / 2] != 0 || mesh.pressure[1] != mesh.pressure[elements - 1],
            "the blast moved nothing");
  // Corner forces are 24 doubles an element, written once and gathered once; coordinates eight
  // times for each of two kernels at most; small arrays on top. Lines are often unaligned.
  const double per_element = 8.0 * static_cast<double>(elements) * steps;
  const double per_node = 8.0 * static_cast<double>(nodes) * steps;
  s.reads(24 * per_element, 2.5 * (24 + 48 + 4) * per_element + 3 * 4 * per_node);
  s.writes(24 * per_element + 6 * per_node, 1.3 * (27 * per_element + 6 * per_node));
}

}  // namespace ww::workloads
