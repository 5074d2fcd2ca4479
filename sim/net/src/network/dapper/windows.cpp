#include "network/dapper/windows.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace ww::sim::net {

std::vector<int> time_windows(std::span<const McStats> stats, double alpha, double gamma,
                              int period, int minimum) {
  const std::size_t count = stats.size();
  std::vector<double> weight(count);
  for (std::size_t i = 0; i < count; ++i) {
    weight[i] = alpha * stats[i].arrivals + gamma * stats[i].occupancy;
  }
  if (!(std::accumulate(weight.begin(), weight.end(), 0.0) > 0)) {
    std::fill(weight.begin(), weight.end(), 1.0);
  }
  // Who falls below the minimum gets it; the others share what is left, until nobody falls below.
  std::vector<char> raised(count);
  std::vector<double> share(count);
  for (bool again = true; again;) {
    again = false;
    double left = period;
    double sum = 0;
    for (std::size_t i = 0; i < count; ++i) {
      left -= raised[i] != 0 ? minimum : 0;
      sum += raised[i] != 0 ? 0 : weight[i];
    }
    for (std::size_t i = 0; i < count; ++i) {
      share[i] = raised[i] != 0 ? minimum : left * (weight[i] / sum);
      if (share[i] < minimum) {
        raised[i] = 1;
        again = true;
      }
    }
  }
  std::vector<int> windows(count);
  std::vector<std::size_t> order(count);
  std::iota(order.begin(), order.end(), std::size_t{0});
  int left = period;
  for (std::size_t i = 0; i < count; ++i) {
    windows[i] = static_cast<int>(std::floor(share[i]));
    left -= windows[i];
  }
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return share[a] - windows[a] > share[b] - windows[b];
  });
  for (std::size_t i = 0; left > 0; i = (i + 1) % count, --left) {
    ++windows[order[i]];
  }
  return windows;
}

namespace {

void lay_out_literally(std::span<const int> windows, int epoch, std::vector<Window>& out) {
  const auto count = static_cast<std::uint32_t>(windows.size());
  std::uint32_t mc = 1 % count;
  int counter = 0;
  std::int64_t begin = 0;
  for (std::int64_t cycle = 0; cycle < epoch; ++cycle) {
    if (counter == windows[mc]) {
      if (cycle > begin) {
        out.push_back({begin, cycle, mc, false});
      }
      mc = (mc + 1) % count;
      begin = cycle;
    } else {
      ++counter;
    }
  }
  out.push_back({begin, epoch, mc, false});
}

}  // namespace

void lay_out_epoch(std::span<const int> windows, int epoch, bool literal,
                   std::vector<Window>& out) {
  out.clear();
  if (literal) {
    lay_out_literally(windows, epoch, out);
  } else {
    for (std::int64_t begin = 0; begin < epoch;) {
      for (std::uint32_t mc = 0; mc < windows.size(); ++mc) {
        if (windows[mc] > 0) {
          out.push_back({begin, begin + windows[mc], mc, false});
          begin += windows[mc];
        }
      }
    }
  }
  std::vector<char> seen(windows.size());
  for (auto window = out.rbegin(); window != out.rend(); ++window) {
    window->last_of_epoch = seen[window->mc] == 0;
    seen[window->mc] = 1;
  }
}

}  // namespace ww::sim::net
