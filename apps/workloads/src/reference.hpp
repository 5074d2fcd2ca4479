// Results on the host that more than one workload is checked against.
#pragma once

#include <cstddef>
#include <vector>

namespace ww::workloads {

// One stride of a Walsh-Hadamard transform, in place.
void butterfly(std::vector<float>& data, std::size_t stride);

// Eigenvalues in ascending order, by bisection in double between `low` and `high`; `squared` has
// the squares of the elements beside the diagonal, the first being 0.
[[nodiscard]] std::vector<float> tridiagonal_eigenvalues(const std::vector<float>& diagonal,
                                                         const std::vector<float>& squared,
                                                         double low, double high);

}  // namespace ww::workloads
