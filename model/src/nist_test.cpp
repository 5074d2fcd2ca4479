// NIST StRD, nonlinear regression: certified parameters and residual sums of squares
// (https://www.itl.nist.gov/div898/strd/nls/nls_main.shtml). The hard starting point of each.
#include <ceres/autodiff_cost_function.h>
#include <ceres/problem.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <vector>

#include "solver_options.hpp"

namespace ww::model {
namespace {

template <class Model, int N>
struct Residual {
  double x, y;
  template <class T>
  bool operator()(const T* b, T* residual) const {
    residual[0] = Model::at(b, T(x)) - T(y);
    return true;
  }
};

template <class Model, int N>
void check(const std::vector<double>& x, const std::vector<double>& y, std::array<double, N> start,
           const std::array<double, N>& certified, double certified_squares, int digits) {
  ceres::Problem problem;
  for (std::size_t i = 0; i < x.size(); ++i) {
    problem.AddResidualBlock(new ceres::AutoDiffCostFunction<Residual<Model, N>, 1, N>(
                                 new Residual<Model, N>{x[i], y[i]}),
                             nullptr, start.data());
  }
  auto options = solver_options();
  options.function_tolerance = 1e-16;
  options.parameter_tolerance = 1e-14;
  options.gradient_tolerance = 1e-18;
  ceres::Solver::Summary summary;
  ceres::Solve(options, &problem, &summary);
  EXPECT_NEAR(2 * summary.final_cost / certified_squares, 1, std::pow(10, -digits));
  for (std::size_t i = 0; i < N; ++i) {
    EXPECT_NEAR(start[i] / certified[i], 1, std::pow(10, -digits)) << "b" << i + 1;
  }
}

const std::vector<double> misra_x{77.6,  114.9, 141.1, 190.8, 239.9, 289.0, 332.8,
                                  378.4, 434.8, 477.3, 536.8, 593.1, 689.1, 760.0};
const std::vector<double> misra_y{10.07, 14.73, 17.94, 23.93, 29.61, 35.18, 40.02,
                                  44.82, 50.76, 55.05, 61.01, 66.40, 75.47, 81.78};

struct Misra1a {
  template <class T>
  static T at(const T* b, const T& x) {
    using std::exp;
    return b[0] * (1.0 - exp(-b[1] * x));
  }
};
TEST(NistStrd, Misra1a) {
  check<Misra1a, 2>(misra_x, misra_y, {500, 0.0001}, {2.3894212918E+02, 5.5015643181E-04},
                    1.2455138894E-01, 7);
}

struct Misra1b {
  template <class T>
  static T at(const T* b, const T& x) {
    const T base = 1.0 + b[1] * x / 2.0;
    return b[0] * (1.0 - 1.0 / (base * base));
  }
};
TEST(NistStrd, Misra1b) {
  check<Misra1b, 2>(misra_x, misra_y, {500, 0.0001}, {3.3799746163E+02, 3.9039091287E-04},
                    7.5464681533E-02, 7);
}

struct Mgh09 {
  template <class T>
  static T at(const T* b, const T& x) {
    return b[0] * (x * x + x * b[1]) / (x * x + x * b[2] + b[3]);
  }
};
TEST(NistStrd, MGH09) {
  check<Mgh09, 4>(
      {4, 2, 1, 0.5, 0.25, 0.167, 0.125, 0.1, 0.0833, 0.0714, 0.0625},
      {0.1957, 0.1947, 0.1735, 0.16, 0.0844, 0.0627, 0.0456, 0.0342, 0.0323, 0.0235, 0.0246},
      {0.25, 0.39, 0.415, 0.39},
      {1.9280693458E-01, 1.9128232873E-01, 1.2305650693E-01, 1.3606233068E-01}, 3.0750560385E-04,
      5);
}

struct Rat42 {
  template <class T>
  static T at(const T* b, const T& x) {
    using std::exp;
    return b[0] / (1.0 + exp(b[1] - b[2] * x));
  }
};
TEST(NistStrd, Rat42) {
  check<Rat42, 3>({9, 14, 21, 28, 42, 57, 63, 70, 79},
                  {8.93, 10.80, 18.59, 22.33, 39.35, 56.11, 61.73, 64.62, 67.08}, {100, 1, 0.1},
                  {7.2462237576E+01, 2.6180768402E+00, 6.7359200066E-02}, 8.0565229338E+00, 6);
}

struct BoxBod {
  template <class T>
  static T at(const T* b, const T& x) {
    using std::exp;
    return b[0] * (1.0 - exp(-b[1] * x));
  }
};
TEST(NistStrd, BoxBOD) {
  check<BoxBod, 2>({1, 2, 3, 5, 7, 10}, {109, 149, 149, 191, 213, 224}, {100, 0.75},
                   {2.1380940889E+02, 5.4723748542E-01}, 1.1680088766E+03, 6);
}

struct Mgh10 {
  template <class T>
  static T at(const T* b, const T& x) {
    using std::exp;
    return b[0] * exp(b[1] / (x + b[2]));
  }
};
TEST(NistStrd, MGH10) {
  std::vector<double> x;
  for (int i = 0; i < 16; ++i) x.push_back(50 + 5 * i);
  check<Mgh10, 3>(x,
                  {34780, 28610, 23650, 19630, 16370, 13720, 11540, 9744, 8261, 7030, 6005, 5147,
                   4427, 3820, 3307, 2872},
                  {0.02, 4000, 250}, {5.6096364710E-03, 6.1813463463E+03, 3.4522363462E+02},
                  8.7945855171E+01, 5);
}

}  // namespace
}  // namespace ww::model
