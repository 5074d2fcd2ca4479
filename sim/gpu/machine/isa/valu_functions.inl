// Exponentials, logarithms, sines and cosines of one lane's value; part of valu.inl. Loops over
// lanes become vector code: there are no branches, and no function of the host's library, whose
// last bits depend on the host. Each is a power series in double precision with enough terms that
// the others are less than 2^-41 of the sum: the rounding to single precision at the end is the
// only one that shows.

// The coefficients of a power series, from that of the lowest power on.
template <std::size_t N>
struct Series {
  static constexpr std::size_t kTerms = N;
  double of[N]{};
};
template <const auto& S, std::size_t From = 0>
[[gnu::always_inline]] inline double sum(double x) {
  if constexpr (From + 1 == std::remove_cvref_t<decltype(S)>::kTerms) {
    return S.of[From];
  } else {
    return S.of[From] + x * sum<S, From + 1>(x);
  }
}
// Added and subtracted, it rounds a number of less than 2^51 to an integer, which is in the lowest
// bits of the sum.
constexpr double kRounder = 0x1.8p52;
constexpr double kLn2 = 0.693147180559945309417;
constexpr double kTurn = 6.28318530717958647693;

// Coefficients of 2^x: (ln 2)^k / k!.
constexpr auto exponential_series() {
  Series<11> s{{1}};
  for (std::size_t k = 1; k < s.kTerms; ++k) s.of[k] = s.of[k - 1] * kLn2 / static_cast<double>(k);
  return s;
}
// Coefficients of the sine of x turns, by x, in x^2.
constexpr auto sine_series() {
  Series<9> s{{kTurn}};
  for (std::size_t k = 1; k < s.kTerms; ++k) {
    s.of[k] = -s.of[k - 1] * kTurn * kTurn / static_cast<double>(2 * k * (2 * k + 1));
  }
  return s;
}
// Coefficients of log2((1 + x) / (1 - x)), by x, in x^2.
constexpr auto logarithm_series() {
  Series<8> s;
  for (std::size_t k = 0; k < s.kTerms; ++k) s.of[k] = 2 / kLn2 / static_cast<double>(2 * k + 1);
  return s;
}
constexpr auto kExponential = exponential_series();
constexpr auto kSine = sine_series();
constexpr auto kLogarithm = logarithm_series();

inline float exp2_f(float exponent) {
  constexpr double kMax = 300;  // beyond which every power is zero or infinite
  double x = double{exponent};
  x = x < -kMax ? -kMax : x;
  x = x > kMax ? kMax : x;
  const double rounded = x + kRounder;
  const double fraction = x - (rounded - kRounder);
  return static_cast<float>(sum<kExponential>(fraction) *
                            f64((bits(rounded) << 52) + bits(1.0)));
}
// x is a power of two times a number between the roots of 1/2 and 2.
inline float log2_f(float x) {
  constexpr U64 kRoot = 0x3FE6A09E667F3BCDU;  // of 1/2
  constexpr U64 kOne = 0x3FF0000000000000U;
  const U64 power = (bits(double{x}) - kRoot + kOne) >> 52;  // and 1023
  const double fraction = f64(bits(double{x}) - (power << 52) + kOne);
  const double exponent = f64(power | bits(0x1p52)) - (0x1p52 + 1023);
  const double ratio = (fraction - 1) / (fraction + 1);
  const float of_normal = static_cast<float>(exponent + ratio * sum<kLogarithm>(ratio * ratio));
  const float of_zero = x == 0 ? -__builtin_inff() : of_normal;
  const float of_infinity = x == __builtin_inff() ? x : of_zero;
  const float of_negative = x < 0 ? f32(0x7FC00000U) : of_infinity;
  return is_nan(x) ? x + x : of_negative;
}
// The angle less whole turns, from -1/2 to 1/2 [turns]. Floats of 2^24 or more are whole turns.
inline double within_turn(float turns) {
  const double x = __builtin_fabsf(turns) >= 0x1p24F ? 0.0 : double{turns};
  return x - ((x + kRounder) - kRounder);
}
// `angle`: from -1/4 to 1/4 [turns].
inline double sine(double angle) { return angle * sum<kSine>(angle * angle); }
// AMD's sines and cosines take turns.
inline float sin_turns(float turns) {
  const double x = within_turn(turns);
  const double mirrored = __builtin_copysign(0.5, x) - x;
  const float result = static_cast<float>(sine(__builtin_fabs(x) > 0.25 ? mirrored : x));
  const float signed_zero = turns == 0 ? turns : result;
  return __builtin_isinf(turns) ? f32(0x7FC00000U) : signed_zero;
}
inline float cos_turns(float turns) {
  const float result = static_cast<float>(sine(0.25 - __builtin_fabs(within_turn(turns))));
  return __builtin_isinf(turns) ? f32(0x7FC00000U) : result;
}
