// One set-up of Ceres for every fit here; checked on NIST's certified problems (nist_test.cpp).
#pragma once

#include <ceres/solver.h>

namespace ww::model {

inline ceres::Solver::Options solver_options() {
  ceres::Solver::Options options;
  options.minimizer_type = ceres::TRUST_REGION;
  options.trust_region_strategy_type = ceres::LEVENBERG_MARQUARDT;
  options.linear_solver_type = ceres::DENSE_NORMAL_CHOLESKY;
  // Readings far out, whose loss is linear, can make steps small: 618 were seen.
  options.max_num_iterations = 2000;
  options.function_tolerance = 1e-9;
  options.parameter_tolerance = 1e-10;
  options.logging_type = ceres::SILENT;
  options.num_threads = 1;  // the same result on every machine
  return options;
}

}  // namespace ww::model
