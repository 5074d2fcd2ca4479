#include <chrono>
#include <cstdio>
#include <cstdlib>
#include "fit_runs.hpp"
#include "testing/synthetic_campaign.hpp"
using namespace ww::model;
int main(int argc, char** argv) {
  int n = argc > 1 ? atoi(argv[1]) : 3;
  testing::SyntheticSpec base;
  if (argc > 2) base.departure = static_cast<testing::Departure>(atoi(argv[2]));
  if (argc > 3) base.departure_size = atof(argv[3]);
  if (argc > 4) base.distance_error = atof(argv[4]);
  if (argc > 5) base.variants[0].blocks = atoi(argv[5]);
  int in = 0;
  for (int s = 1; s <= n; ++s) {
    auto spec = base; spec.seed = static_cast<std::uint64_t>(s);
    auto c = testing::make_campaign(spec);
    auto t0 = std::chrono::steady_clock::now();
    auto r = fit_runs(c.runs, c.facts, {});
    double dt = std::chrono::duration<double>(std::chrono::steady_clock::now() - t0).count();
    if (!r) { printf("seed %d: %s\n", s, r.error().text().c_str()); continue; }
    const auto& k = r->energy_per_bit_mm;
    double v = k.row.value.value_or(-1);
    bool cov = k.sensed_low <= c.energy_fj_per_bit_mm && c.energy_fj_per_bit_mm <= k.sensed_high;
    in += cov;
    printf("seed %d: %s k=%.2f true %.1f err %+.2f%% half %.2f%% abs %.2f%% %s cov_se %.2f boot_se %.2f unc %+.2f%% long %.2f%% bw %.3f rms %.3f runs %ld rej %ld misfit %d %.3f [%s] %.2fs\n", s,
      std::string(ww::to_string(k.row.status)).c_str(), v, c.energy_fj_per_bit_mm, 100*(v/c.energy_fj_per_bit_mm-1),
      100*(k.sensed_high-k.sensed_low)/2/v, 100*(k.row.high.value_or(0)-v)/v, cov?"in":"OUT", k.covariance_error, k.bootstrap_error,
      100*(r->uncorrected_fj_per_bit_mm/c.energy_fj_per_bit_mm-1), r->long_over_short_percent, r->l1_l2_bandwidth_fraction, r->residual_rms_w, (long)r->runs, (long)r->rejected, r->misfit.flagged, r->misfit.statistic, r->misfit.reason.c_str(), dt);
    if (s == 1) { for (auto& q : r->constants) printf("   %s %s %.2f [%.2f %.2f] %s\n", q.row.name.c_str(), std::string(ww::to_string(q.row.status)).c_str(), q.row.value.value_or(-1), q.sensed_low, q.sensed_high, q.row.reason.c_str());
      for (auto& i : r->idle) printf("   idle %g %g %g %g ref %g rms %g %g..%g\n", i.coefficients[0],i.coefficients[1],i.coefficients[2],i.coefficients[3],i.reference_c,i.rms_w,i.low_c,i.high_c); }
  }
  printf("covered %d of %d\n", in, n);
}
