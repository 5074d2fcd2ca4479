#include "thermal.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace ww::sim::gpu {
namespace {

using Matrix = std::vector<double>;  // square, row-major

Matrix multiply(const Matrix& a, const Matrix& b, std::size_t n) {
  Matrix result(n * n, 0.0);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t k = 0; k < n; ++k) {
      for (std::size_t j = 0; j < n; ++j) {
        result[i * n + j] += a[i * n + k] * b[k * n + j];
      }
    }
  }
  return result;
}

// Scaling and squaring with a Taylor series; the norm after scaling is below 1/4.
Matrix exponential(Matrix a, std::size_t n) {
  double norm = 0;
  for (const double value : a) {
    norm = std::max(norm, std::abs(value));
  }
  norm *= static_cast<double>(n);
  int squarings = 0;
  while (norm > 0.25) {
    norm /= 2;
    ++squarings;
  }
  for (double& value : a) {
    value = std::ldexp(value, -squarings);
  }
  Matrix result(n * n, 0.0);
  for (std::size_t i = 0; i < n; ++i) {
    result[i * n + i] = 1.0;
  }
  Matrix term = result;
  for (int order = 1; order <= 14; ++order) {
    term = multiply(term, a, n);
    for (double& value : term) {
      value /= order;
    }
    for (std::size_t i = 0; i < n * n; ++i) {
      result[i] += term[i];
    }
  }
  for (; squarings > 0; --squarings) {
    result = multiply(result, result, n);
  }
  return result;
}

template <std::size_t rows>
void apply(const double* matrix, const double* input, std::size_t columns, double* output) {
  double sum[rows] = {};
  for (std::size_t column = 0; column < columns; ++column) {
    for (std::size_t row = 0; row < rows; ++row) {
      sum[row] += matrix[column * rows + row] * input[column];
    }
  }
  std::copy(sum, sum + rows, output);
}

}  // namespace

ThermalNetwork::ThermalNetwork(const ThermalTruth& truth, int zones, double step_s)
    : truth_(truth), zones_(static_cast<std::size_t>(zones)), rows_((zones_ + 2 + 3) / 4 * 4) {
  const std::size_t nodes = zones_ + 2;
  const std::size_t inputs = zones_ + 1;
  const std::size_t n = nodes + inputs;
  const std::size_t spreader = zones_;
  const std::size_t sink = zones_ + 1;
  const double zone_c = truth.zone_tau_s / truth.zone_k_per_w;  // [J/K]
  const double spreader_c = truth.spreader_tau_s / truth.spreader_k_per_w;
  const double sink_c = truth.sink_tau_s / truth.sink_k_per_w;
  Matrix a(n * n, 0.0);
  const auto flow = [&](std::size_t from, std::size_t to, double k_per_w, double from_c,
                        double to_c) {
    a[from * n + from] -= 1.0 / (k_per_w * from_c);
    a[from * n + to] += 1.0 / (k_per_w * from_c);
    if (to_c > 0) {
      a[to * n + to] -= 1.0 / (k_per_w * to_c);
      a[to * n + from] += 1.0 / (k_per_w * to_c);
    }
  };
  for (std::size_t zone = 0; zone < zones_; ++zone) {
    flow(zone, spreader, truth.zone_k_per_w, zone_c, spreader_c);
    a[zone * n + nodes + zone] = 1.0 / zone_c;
  }
  flow(spreader, sink, truth.spreader_k_per_w, spreader_c, sink_c);
  flow(sink, n - 1, truth.sink_k_per_w, sink_c, 0.0);
  for (double& value : a) {
    value *= step_s;
  }
  const Matrix phi = exponential(std::move(a), n);
  matrix_.assign(rows_ * n, 0.0);
  for (std::size_t row = 0; row < nodes; ++row) {
    for (std::size_t column = 0; column < n; ++column) {
      matrix_[column * rows_ + row] = phi[row * n + column];
    }
  }
  temperature_c_.assign(rows_, truth.ambient_c);
  input_.assign(n, truth.ambient_c);
}

void ThermalNetwork::settle(std::span<const double> zone_power_w, double ambient_c) {
  const double total = std::accumulate(zone_power_w.begin(), zone_power_w.end(), 0.0);
  const double sink = ambient_c + total * truth_.sink_k_per_w;
  const double spreader = sink + total * truth_.spreader_k_per_w;
  for (std::size_t zone = 0; zone < zones_; ++zone) {
    temperature_c_[zone] = spreader + zone_power_w[zone] * truth_.zone_k_per_w;
  }
  temperature_c_[zones_] = spreader;
  temperature_c_[zones_ + 1] = sink;
}

void ThermalNetwork::step(std::span<const double> zone_power_w, double ambient_c) {
  const std::size_t nodes = zones_ + 2;
  std::copy_n(temperature_c_.begin(), nodes, input_.begin());
  std::copy_n(zone_power_w.begin(), zones_, input_.begin() + static_cast<std::ptrdiff_t>(nodes));
  input_.back() = ambient_c;
  switch (rows_) {
    case 8: return apply<8>(matrix_.data(), input_.data(), input_.size(), temperature_c_.data());
    case 12: return apply<12>(matrix_.data(), input_.data(), input_.size(), temperature_c_.data());
    case 16: return apply<16>(matrix_.data(), input_.data(), input_.size(), temperature_c_.data());
    default: break;
  }
  std::fill(temperature_c_.begin(), temperature_c_.end(), 0.0);
  for (std::size_t column = 0; column < input_.size(); ++column) {
    for (std::size_t row = 0; row < rows_; ++row) {
      temperature_c_[row] += matrix_[column * rows_ + row] * input_[column];
    }
  }
}

}  // namespace ww::sim::gpu
