// NIST StRD, nonlinear regression: certified parameters and residual sums of squares
// (https://www.itl.nist.gov/div898/strd/nls/nls_main.shtml), from both of NIST's starting points.
#include <ceres/autodiff_cost_function.h>
#include <ceres/problem.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <numbers>
#include <optional>
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

struct Data {
  std::vector<double> x, y;
};

// Both of NIST's starting points must lead to the certified digits.
template <class Model, int N>
void check(const Data& data, const std::vector<std::array<double, N>>& starts,
           const std::array<double, N>& certified, double certified_squares, int digits,
           std::optional<int> not_negative = std::nullopt) {
  ASSERT_EQ(data.x.size(), data.y.size());
  for (std::size_t s = 0; s < starts.size(); ++s) {
    auto found = starts[s];
    ceres::Problem problem;
    for (std::size_t i = 0; i < data.x.size(); ++i) {
      problem.AddResidualBlock(new ceres::AutoDiffCostFunction<Residual<Model, N>, 1, N>(
                                   new Residual<Model, N>{data.x[i], data.y[i]}),
                               nullptr, found.data());
    }
    if (not_negative) problem.SetParameterLowerBound(found.data(), *not_negative, 0);
    auto options = solver_options();
    options.function_tolerance = 1e-16;
    options.parameter_tolerance = 1e-14;
    options.gradient_tolerance = 1e-18;
    ceres::Solver::Summary summary;
    ceres::Solve(options, &problem, &summary);
    EXPECT_NEAR(2 * summary.final_cost / certified_squares, 1, std::pow(10, -digits))
        << "start " << s + 1 << "\n"
        << summary.BriefReport();
    for (std::size_t i = 0; i < N; ++i) {
      EXPECT_NEAR(found[i] / certified[i], 1, std::pow(10, -digits))
          << "start " << s + 1 << ", b" << i + 1;
    }
  }
}

const Data misra{{77.6, 114.9, 141.1, 190.8, 239.9, 289.0, 332.8, 378.4, 434.8, 477.3, 536.8, 593.1,
                  689.1, 760.0},
                 {10.07, 14.73, 17.94, 23.93, 29.61, 35.18, 40.02, 44.82, 50.76, 55.05, 61.01,
                  66.40, 75.47, 81.78}};

struct Misra1a {
  template <class T>
  static T at(const T* b, const T& x) {
    using std::exp;
    return b[0] * (1.0 - exp(-b[1] * x));
  }
};
TEST(NistStrd, Misra1a) {
  check<Misra1a, 2>(misra, {{500, 0.0001}, {250, 0.0005}}, {2.3894212918E+02, 5.5015643181E-04},
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
  check<Misra1b, 2>(misra, {{500, 0.0001}, {300, 0.0002}}, {3.3799746163E+02, 3.9039091287E-04},
                    7.5464681533E-02, 7);
}

struct Misra1c {
  template <class T>
  static T at(const T* b, const T& x) {
    using std::sqrt;
    return b[0] * (1.0 - 1.0 / sqrt(1.0 + 2.0 * b[1] * x));
  }
};
TEST(NistStrd, Misra1c) {
  check<Misra1c, 2>(misra, {{500, 0.0001}, {600, 0.0002}}, {6.3642725809E+02, 2.0813627256E-04},
                    4.0966836971E-02, 7);
}

struct Misra1d {
  template <class T>
  static T at(const T* b, const T& x) {
    return b[0] * b[1] * x / (1.0 + b[1] * x);
  }
};
TEST(NistStrd, Misra1d) {
  check<Misra1d, 2>(misra, {{500, 0.0001}, {450, 0.0003}}, {4.3736970754E+02, 3.0227324449E-04},
                    5.6419295283E-02, 7);
}

struct DanWood {
  template <class T>
  static T at(const T* b, const T& x) {
    using std::pow;
    return b[0] * pow(x, b[1]);
  }
};
TEST(NistStrd, DanWood) {
  check<DanWood, 2>(
      {{1.309, 1.471, 1.490, 1.565, 1.611, 1.680}, {2.138, 3.421, 3.597, 4.340, 4.882, 5.660}},
      {{1, 5}, {0.7, 4}}, {7.6886226176E-01, 3.8604055871E+00}, 4.3173084083E-03, 7);
}

struct Rat43 {
  template <class T>
  static T at(const T* b, const T& x) {
    using std::exp;
    using std::pow;
    return b[0] / pow(1.0 + exp(b[1] - b[2] * x), 1.0 / b[3]);
  }
};
TEST(NistStrd, Rat43) {
  Data data{{},
            {16.08, 33.83, 65.80, 97.20, 191.55, 326.20, 386.87, 520.53, 590.03, 651.92, 724.93,
             699.56, 689.96, 637.56, 717.41}};
  for (int i = 1; i <= 15; ++i) data.x.push_back(i);
  check<Rat43, 4>(data, {{100, 10, 1, 1}, {700, 5, 0.75, 1.3}},
                  {6.9964151270E+02, 5.2771253025E+00, 7.5962938329E-01, 1.2792483859E+00},
                  8.7864049080E+03, 6);
}

struct Mgh09 {
  template <class T>
  static T at(const T* b, const T& x) {
    return b[0] * (x * x + x * b[1]) / (x * x + x * b[2] + b[3]);
  }
};
TEST(NistStrd, MGH09) {
  check<Mgh09, 4>(
      {{4, 2, 1, 0.5, 0.25, 0.167, 0.125, 0.1, 0.0833, 0.0714, 0.0625},
       {0.1957, 0.1947, 0.1735, 0.16, 0.0844, 0.0627, 0.0456, 0.0342, 0.0323, 0.0235, 0.0246}},
      {{25, 39, 41.5, 39}, {0.25, 0.39, 0.415, 0.39}},
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
  check<Rat42, 3>({{9, 14, 21, 28, 42, 57, 63, 70, 79},
                   {8.93, 10.80, 18.59, 22.33, 39.35, 56.11, 61.73, 64.62, 67.08}},
                  {{100, 1, 0.1}, {75, 2.5, 0.07}},
                  {7.2462237576E+01, 2.6180768402E+00, 6.7359200066E-02}, 8.0565229338E+00, 6);
}

struct BoxBod {
  template <class T>
  static T at(const T* b, const T& x) {
    using std::exp;
    return b[0] * (1.0 - exp(-b[1] * x));
  }
};
// From (1, 1) the first step makes the rate negative, where the sum of squares falls for ever; with
// the rate kept from it, as a rate is, both starts converge.
TEST(NistStrd, BoxBODWithItsRateNotNegative) {
  check<BoxBod, 2>({{1, 2, 3, 5, 7, 10}, {109, 149, 149, 191, 213, 224}}, {{1, 1}, {100, 0.75}},
                   {2.1380940889E+02, 5.4723748542E-01}, 1.1680088766E+03, 6, 1);
}

struct Roszman1 {
  template <class T>
  static T at(const T* b, const T& x) {
    using std::atan;
    return b[0] - b[1] * x - atan(b[2] / (x - b[3])) / std::numbers::pi;
  }
};
TEST(NistStrd, Roszman1) {
  check<Roszman1, 4>(
      {{-4868.68, -4868.09, -4867.41, -3375.19, -3373.14, -3372.03, -2473.74, -2472.35, -2469.45,
        -1894.65, -1893.40, -1497.24, -1495.85, -1493.41, -1208.68, -1206.18, -1206.04, -997.92,
        -996.61,  -996.31,  -834.94,  -834.66,  -710.03,  -530.16,  -464.17},
       {0.252429, 0.252141, 0.251809, 0.297989, 0.296257, 0.295319, 0.339603, 0.337731, 0.333820,
        0.389510, 0.386998, 0.438864, 0.434887, 0.427893, 0.471568, 0.461699, 0.461144, 0.513532,
        0.506641, 0.505062, 0.535648, 0.533726, 0.568064, 0.612886, 0.624169}},
      {{0.1, -0.00001, 1000, -100}, {0.2, -0.000005, 1200, -150}},
      {2.0196866396E-01, -6.1953516256E-06, 1.2044556708E+03, -1.8134269537E+02}, 4.9484847331E-04,
      5);
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
  check<Mgh10, 3>({x,
                   {34780, 28610, 23650, 19630, 16370, 13720, 11540, 9744, 8261, 7030, 6005, 5147,
                    4427, 3820, 3307, 2872}},
                  {{2, 400000, 25000}, {0.02, 4000, 250}},
                  {5.6096364710E-03, 6.1813463463E+03, 3.4522363462E+02}, 8.7945855171E+01, 5);
}

}  // namespace
}  // namespace ww::model
