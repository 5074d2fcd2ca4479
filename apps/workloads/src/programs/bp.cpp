// Back propagation: forward and weight-adjustment passes of a perceptron with 16 hidden units.
#include "session.hpp"

namespace ww::workloads {

void run_bp(Session& s) {
  const auto n = s.pick<std::size_t>(1 << 14, 1 << 16, 1 << 18);
  std::vector<float> input(n), weights(n * 16), momentum(n * 16), delta(16);
  for (auto& v : input) v = s.random.uniform(0, 1);
  for (auto& v : weights) v = s.random.uniform(-1, 1);
  for (auto& v : momentum) v = s.random.uniform(-0.1F, 0.1F);
  for (auto& v : delta) v = s.random.uniform(-0.5F, 0.5F);
  std::vector<float> partial(n), adjusted(weights), changed(momentum);
  for (std::size_t group = 0; group < n / 16; ++group) {
    for (std::size_t j = 0; j < 16; ++j) {
      double sum = 0;
      for (std::size_t i = group * 16; i < group * 16 + 16; ++i)
        sum += weights[i * 16 + j] * input[i];
      partial[group * 16 + j] = static_cast<float>(sum);
    }
  }
  for (std::size_t at = 0; at < n * 16; ++at) {
    changed[at] = 0.3F * delta[at % 16] * input[at / 16] + 0.3F * momentum[at];
    adjusted[at] += changed[at];
  }
  s.build("bp.cl");
  const Buffer in = s.upload(input);
  const Buffer w = s.upload(weights);
  const Buffer m = s.upload(momentum);
  const Buffer sums = s.zeros<float>(n);
  s.launch("layer_forward", {16, n}, {16, 16}, in, w, sums);
  s.check("partial sum", s.download<float>(sums), partial, 1e-5, 1e-5);
  s.launch("adjust_weights", {16, n}, {16, 16}, in, s.upload(delta), w, m);
  s.check("weight", s.download<float>(w), adjusted, 1e-6, 1e-6);
  s.check("momentum", s.download<float>(m), changed, 1e-6, 1e-6);
  // Weights twice, momentum once; inputs twice (a line serves 16 rows) and delta once a group.
  const auto matrix = static_cast<double>(w.bytes);
  const auto vector = static_cast<double>(in.bytes);
  s.reads(3 * matrix, 3 * matrix + 2 * 4 * vector + vector * 4);
  s.writes(2 * matrix + vector, 2 * matrix + vector);
}

}  // namespace ww::workloads
