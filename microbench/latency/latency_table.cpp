#include "latency/latency_table.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace ww::microbench {
namespace {

constexpr double kApart = 2.5;
constexpr int kPowerIterations = 200;

double norm_of(const std::vector<double>& figures) {
  return std::sqrt(std::inner_product(figures.begin(), figures.end(), figures.begin(), 0.0));
}

}  // namespace

AdditiveFit additive_fit(const LatencyTable& table) {
  const std::size_t rows = table.size();
  const std::size_t columns = table.front().size();
  AdditiveFit fit;
  fit.row.resize(rows);
  fit.column.resize(columns);
  for (std::size_t r = 0; r < rows; ++r) {
    for (std::size_t c = 0; c < columns; ++c) {
      fit.row[r] += table[r][c] / static_cast<double>(columns);
      fit.column[c] += table[r][c] / static_cast<double>(rows);
      fit.mean += table[r][c] / static_cast<double>(rows * columns);
    }
  }
  for (double& value : fit.row) value -= fit.mean;
  for (double& value : fit.column) value -= fit.mean;
  fit.left = table;
  for (std::size_t r = 0; r < rows; ++r) {
    for (std::size_t c = 0; c < columns; ++c) {
      fit.left[r][c] -= fit.mean + fit.row[r] + fit.column[c];
    }
  }
  return fit;
}

double sum_of_squares(const LatencyTable& table) {
  double sum = 0;
  for (const auto& row : table) {
    for (const double value : row) sum += value * value;
  }
  return sum;
}

// Power iteration, from the row of greatest contrast.
LatencyProduct greatest_product(const LatencyTable& table) {
  LatencyProduct product;
  product.column = *std::ranges::max_element(table, {}, norm_of);
  product.row.resize(table.size());
  for (int i = 0; i < kPowerIterations; ++i) {
    const double norm = norm_of(product.column);
    if (!(norm > 0)) return product;  // nothing is left
    for (double& value : product.column) value /= norm;
    for (std::size_t r = 0; r < table.size(); ++r) {
      product.row[r] =
          std::inner_product(table[r].begin(), table[r].end(), product.column.begin(), 0.0);
    }
    product.square =
        std::inner_product(product.row.begin(), product.row.end(), product.row.begin(), 0.0);
    if (i + 1 == kPowerIterations) break;
    std::ranges::fill(product.column, 0.0);
    for (std::size_t r = 0; r < table.size(); ++r) {
      for (std::size_t c = 0; c < product.column.size(); ++c) {
        product.column[c] += product.row[r] * table[r][c];
      }
    }
  }
  return product;
}

bool stand_apart(const std::vector<double>& figures) {
  const double count = static_cast<double>(figures.size());
  double mean = 0;
  for (const double value : figures) mean += std::abs(value) / count;
  double square = 0;
  for (const double value : figures) square += std::pow(std::abs(value) - mean, 2) / count;
  return mean > kApart * std::sqrt(square);
}

}  // namespace ww::microbench
