// CoMD's two force kernels, Lennard-Jones and the embedded-atom method, on a face-centred cubic
// lattice with thermal displacements. The check sums over all pairs, for a sample of the atoms.
#include <algorithm>
#include <array>

#include "session.hpp"

namespace ww::workloads {
namespace {

using Vector = std::array<double, 3>;
constexpr std::size_t kCapacity = 32;
constexpr std::size_t kTableSize = 512;
constexpr double kLattice = 1.5874;  // Lennard-Jones solid: 2^(2/3)

struct Crystal {
  std::size_t cells{};
  double box{};
  double cutoff{};
  std::vector<float> place;  // [slot][4]
  std::vector<std::int32_t> count;
  std::vector<std::size_t> atoms;  // the slots that are taken
};

Crystal make_crystal(Session& s, double cutoff) {
  const auto side = s.extent();
  Crystal c;
  c.box = static_cast<double>(side) * kLattice;
  c.cutoff = cutoff;
  c.cells = static_cast<std::size_t>(c.box / cutoff);
  const std::size_t all = c.cells * c.cells * c.cells;
  const std::size_t padded = all + all % 2;  // whole wavefronts: an empty cell at the end
  c.place.resize(padded * kCapacity * 4);
  c.count.resize(padded);
  constexpr std::array<Vector, 4> basis{{{0, 0, 0}, {0.5, 0.5, 0}, {0.5, 0, 0.5}, {0, 0.5, 0.5}}};
  for (std::size_t unit = 0; unit < side * side * side; ++unit) {
    const std::array<std::size_t, 3> corner{unit % side, unit / side % side, unit / side / side};
    for (const Vector& offset : basis) {
      std::array<float, 3> at{};
      std::size_t cell = 0;
      for (std::size_t k = 3; k-- > 0;) {
        const double x = (static_cast<double>(corner[k]) + offset[k] + 0.25) * kLattice;
        at[k] = static_cast<float>(x) + s.random.uniform(-0.05F, 0.05F);
        const auto in = static_cast<std::size_t>(at[k] / c.box * static_cast<double>(c.cells));
        cell = cell * c.cells + std::min(in, c.cells - 1);
      }
      const auto slot = cell * kCapacity + static_cast<std::size_t>(c.count[cell]++);
      s.require(slot < (cell + 1) * kCapacity, "a cell overflowed");
      if (slot >= (cell + 1) * kCapacity) return c;
      for (std::size_t k = 0; k < 3; ++k) c.place[slot * 4 + k] = at[k];
      c.place[slot * 4 + 3] = 1;
      c.atoms.push_back(slot);
    }
  }
  return c;
}

// Calls body(other slot, d, r^2) for all atoms within the cutoff of `slot`.
template <class Body>
void for_pairs(const Crystal& c, std::size_t slot, const Body& body) {
  for (const std::size_t other : c.atoms) {
    if (other == slot) continue;
    Vector d{};
    double r2 = 0;
    for (std::size_t k = 0; k < 3; ++k) {
      d[k] = double{c.place[slot * 4 + k]} - c.place[other * 4 + k];
      d[k] -= c.box * std::rint(d[k] / c.box);
      r2 += d[k] * d[k];
    }
    if (r2 < c.cutoff * c.cutoff) body(other, d, r2);
  }
}

std::string defines(const Crystal& c, double per_rho) {
  return "#define CAPACITY 32\n#define TABLE 512\n#define CUTOFF2 " +
         std::to_string(c.cutoff * c.cutoff) + "f\n#define PER_R " +
         std::to_string((kTableSize - 1) / c.cutoff) + "f\n#define PER_RHO " +
         std::to_string(per_rho) + "f\n";
}

void check_sample(Session& s, const Crystal& c, const std::vector<float>& got,
                  const std::vector<std::size_t>& sample, const std::vector<double>& want) {
  std::vector<double> found;
  for (const std::size_t slot : sample) {
    for (std::size_t k = 0; k < 4; ++k) found.push_back(got[slot * 4 + k]);
  }
  s.check("force or energy", found, want, 1e-3, 2e-3);
  // Newton's third law: the whole crystal pulls itself nowhere.
  Vector sum{};
  for (const std::size_t slot : c.atoms) {
    for (std::size_t k = 0; k < 3; ++k) sum[k] += got[slot * 4 + k];
  }
  s.check("total force", std::vector(sum.begin(), sum.end()), std::vector<double>(3), 0,
          1e-4 * static_cast<double>(c.atoms.size()));
}

// One kernel's pass over all pairs of neighbouring cells: positions at least once, at most a line
// for each candidate of each atom (slots of a cell, 27 cells).
double most_reads(const Crystal& c, double values_each) {
  return static_cast<double>(c.atoms.size()) * 27 * kCapacity * 64 * values_each;
}

}  // namespace

void run_comd_lj(Session& s) {
  const Crystal c = make_crystal(s, 2.5);
  std::vector<std::size_t> sample;
  for (std::size_t i = 0; i < c.atoms.size(); i += c.atoms.size() / 128)
    sample.push_back(c.atoms[i]);
  std::vector<double> want;
  for (const std::size_t slot : sample) {
    Vector f{};
    double energy = 0;
    for_pairs(c, slot, [&](std::size_t, const Vector& d, double r2) {
      const double i6 = 1 / (r2 * r2 * r2);
      for (std::size_t k = 0; k < 3; ++k) f[k] += d[k] * 24 * i6 * (2 * i6 - 1) / r2;
      energy += 2 * i6 * (i6 - 1);
    });
    want.insert(want.end(), {f[0], f[1], f[2], energy});
  }
  s.build("comd.cl", defines(c, 1));
  const std::size_t slots = c.count.size() * kCapacity;
  const Buffer place = s.upload(c.place);
  const Buffer force = s.zeros<float>(slots * 4);
  s.launch("lennard_jones", {slots}, {64}, place, s.upload(c.count), force,
           static_cast<int>(c.cells), static_cast<float>(c.box));
  check_sample(s, c, s.download<float>(force), sample, want);
  const double atoms = 16.0 * static_cast<double>(c.atoms.size());
  s.reads(atoms, most_reads(c, 2));
  s.writes(atoms, 1.5 * static_cast<double>(force.bytes));
}

void run_comd(Session& s) {
  const Crystal c = make_crystal(s, 2.5);
  // Smooth at the cutoff; shapes of a metal's potential.
  std::vector<float> phi(kTableSize), rho(kTableSize), embed(kTableSize);
  const double per_r = (kTableSize - 1) / c.cutoff;
  const double most_density = 40;
  const double per_rho = (kTableSize - 1) / most_density;
  for (std::size_t i = 0; i < kTableSize; ++i) {
    const double r = std::max(static_cast<double>(i) / per_r, 0.3);
    const double fade = std::pow(1 - std::min(r / c.cutoff, 1.0), 2);
    phi[i] = static_cast<float>(4 * std::exp(-2 * (r - 1)) * fade);
    rho[i] = static_cast<float>(8 * std::exp(-1.5 * (r - 1)) * fade);
    embed[i] = static_cast<float>(-2 * std::sqrt(static_cast<double>(i) / per_rho));
  }
  struct Value {
    double value, slope;
  };
  const auto lookup = [](const std::vector<float>& t, double at, double per_unit) -> Value {
    const double u = at * per_unit;
    const auto i = static_cast<std::size_t>(std::clamp(std::floor(u), 1.0, kTableSize - 3.0));
    const double x = u - static_cast<double>(i);
    const double g1 = double{t[i + 1]} - t[i - 1];
    const double g2 = double{t[i + 2]} - t[i];
    return {t[i] + 0.5 * x * (g1 + x * (double{t[i + 1]} + t[i - 1] - 2 * t[i])),
            0.5 * (g1 + x * (g2 - g1)) * per_unit};
  };
  const auto density_of = [&](std::size_t slot) {
    double sum = 0;
    for_pairs(c, slot, [&](std::size_t, const Vector&, double r2) {
      sum += lookup(rho, std::sqrt(r2), per_r).value;
    });
    return sum;
  };
  std::vector<std::size_t> sample;
  for (std::size_t i = 0; i < c.atoms.size(); i += c.atoms.size() / 24)
    sample.push_back(c.atoms[i]);
  std::vector<double> want;
  for (const std::size_t slot : sample) {
    Vector f{};
    const Value own = lookup(embed, density_of(slot), per_rho);
    double energy = own.value;
    for_pairs(c, slot, [&](std::size_t other, const Vector& d, double r2) {
      const double r = std::sqrt(r2);
      const Value p = lookup(phi, r, per_r);
      const double slope = own.slope + lookup(embed, density_of(other), per_rho).slope;
      const double pull = (p.slope + slope * lookup(rho, r, per_r).slope) / r;
      for (std::size_t k = 0; k < 3; ++k) f[k] -= d[k] * pull;
      energy += 0.5 * p.value;
    });
    want.insert(want.end(), {f[0], f[1], f[2], energy});
  }
  s.build("comd.cl", defines(c, per_rho));
  const std::size_t slots = c.count.size() * kCapacity;
  const Buffer place = s.upload(c.place);
  const Buffer count = s.upload(c.count);
  const Buffer force = s.zeros<float>(slots * 4);
  const Buffer density = s.zeros<float>(slots);
  const Buffer slope = s.zeros<float>(slots);
  const Buffer rhos = s.upload(rho);
  const int cells = static_cast<int>(c.cells);
  const float box = static_cast<float>(c.box);
  s.launch("eam_pairs", {slots}, {64}, place, count, force, density, s.upload(phi), rhos, cells,
           box);
  s.launch("eam_embed", {slots}, {64}, count, density, s.upload(embed), slope, force);
  s.launch("eam_forces", {slots}, {64}, place, count, force, slope, rhos, cells, box);
  check_sample(s, c, s.download<float>(force), sample, want);
  const double atoms = 16.0 * static_cast<double>(c.atoms.size());
  // Two passes over pairs; each pair looks up up to eight table entries.
  s.reads(2 * atoms, most_reads(c, 2 * 10));
  s.writes(3 * atoms, 5.0 * static_cast<double>(force.bytes));
}

}  // namespace ww::workloads
