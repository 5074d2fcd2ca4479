// Option pricing (Black, Scholes, 1973).
#include "session.hpp"

namespace ww::workloads {

void run_blackscholes(Session& s) {
  const auto n = s.pick<std::size_t>(1 << 17, 1 << 20, 4 << 20);
  std::vector<float> price(n), strike(n), years(n);
  for (std::size_t i = 0; i < n; ++i) {
    price[i] = s.random.uniform(5, 30);
    strike[i] = s.random.uniform(1, 100);
    years[i] = s.random.uniform(0.25F, 10);
  }
  const float rate = 0.02F;
  const float volatility = 0.3F;
  std::vector<float> call(n), put(n);
  const auto normal = [](double d) { return 0.5 * std::erfc(-d / std::sqrt(2.0)); };
  for (std::size_t i = 0; i < n; ++i) {
    const double t = years[i];
    const double v = volatility;
    const double d1 =
        (std::log(double{price[i]} / strike[i]) + (rate + 0.5 * v * v) * t) / (v * std::sqrt(t));
    const double d2 = d1 - v * std::sqrt(t);
    const double discount = std::exp(-rate * t);
    call[i] = static_cast<float>(price[i] * normal(d1) - strike[i] * discount * normal(d2));
    put[i] = static_cast<float>(strike[i] * discount * normal(-d2) - price[i] * normal(-d1));
  }
  s.build("blackscholes.cl");
  const Buffer calls = s.zeros<float>(n);
  const Buffer puts = s.zeros<float>(n);
  const Buffer prices = s.upload(price);
  const Buffer strikes = s.upload(strike);
  const Buffer times = s.upload(years);
  for (const Buffer in : {prices, strikes, times}) {
    s.approximable(in, microbench::ApproximableType::float32);
  }
  s.launch("black_scholes", {n}, {256}, prices, strikes, times, calls, puts, rate, volatility);
  // The polynomial is good to 7.5e-8; times 100 for the strike.
  s.check("call", s.download<float>(calls), call, 1e-5, 5e-5);
  s.check("put", s.download<float>(puts), put, 1e-5, 5e-5);
  const auto bytes = static_cast<double>(calls.bytes);
  s.reads(3 * bytes, 3 * bytes);
  s.writes(2 * bytes, 2 * bytes);
}

}  // namespace ww::workloads
