// Streamcluster: facility location by local search. Whether opening a centre pays is found on the
// GPU, point by point; the search itself is the host's, as in PARSEC and Rodinia.
#include "session.hpp"

namespace ww::workloads {
namespace {

struct Search {
  std::vector<float> cost;
  std::vector<std::uint32_t> centre;
  std::size_t opened{};
};

// Opens a centre at x when what the points would save exceeds its price.
void decide(Search& search, std::uint32_t x, const std::vector<float>& saving, float price) {
  double gain = -price;
  for (const float save : saving) gain += save > 0 ? save : 0;
  if (gain <= 0) return;
  ++search.opened;
  for (std::size_t i = 0; i < saving.size(); ++i) {
    if (saving[i] <= 0) continue;
    search.cost[i] -= saving[i];
    search.centre[i] = x;
  }
}

}  // namespace

void run_sc(Session& s) {
  const auto n = s.extent(256);
  const auto dims = s.pick<std::size_t>(16, 64, 256);
  const int candidates = s.pick(12, 12, 12, 100);
  const float price = static_cast<float>(n) * 0.1F;
  std::vector<float> points(n * dims);
  for (auto& v : points) v = s.random.uniform(0, 1);
  const auto distance = [&](std::size_t i, std::size_t x) {
    double sum = 0;
    for (std::size_t k = 0; k < dims; ++k) {
      const double d = double{points[k * n + i]} - points[k * n + x];
      sum += d * d;
    }
    return static_cast<float>(sum);
  };
  // All points begin at point 0.
  Search search;
  for (std::size_t i = 0; i < n; ++i) search.cost.push_back(distance(i, 0));
  search.centre.resize(n);

  s.build("sc.cl");
  const Buffer in = s.upload(points);
  const Buffer cost = s.upload(search.cost);
  const Buffer saving = s.zeros<float>(n);
  const Buffer moves = s.zeros<std::uint32_t>(n);
  for (int c = 0; c < candidates; ++c) {
    const std::uint32_t x = s.random.below(static_cast<std::uint32_t>(n));
    std::vector<float> want(n);
    std::vector<std::uint32_t> want_moves(n);
    s.update(cost, search.cost);
    s.launch("gain", {n}, {256}, in, cost, saving, moves, static_cast<std::uint32_t>(n),
             static_cast<std::uint32_t>(dims), x);
    const auto got = s.download<float>(saving);
    for (std::size_t i = 0; i < n; ++i) {
      want[i] = search.cost[i] - distance(i, x);
      want_moves[i] = got[i] > 0 ? 1 : 0;
    }
    s.check("saving", got, want, 1e-4, 1e-4);
    s.check("move", s.download<std::uint32_t>(moves), want_moves);
    decide(search, x, got, price);
  }
  s.require(search.opened > 0, "no centre was worth opening");
  // All coordinates and the cost for each candidate; the candidate's own come by scalar loads, or
  // once a wave and dimension at worst.
  const double each = static_cast<double>(in.bytes + cost.bytes);
  const double waves = static_cast<double>(n * dims) / 64 * 64;
  s.reads(candidates * each, candidates * (each + waves));
  s.writes(2.0 * candidates * static_cast<double>(cost.bytes),
           2.0 * candidates * static_cast<double>(cost.bytes));
}

}  // namespace ww::workloads
