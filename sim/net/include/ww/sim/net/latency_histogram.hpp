// Counts latencies exactly: short ones in bins, and the few long ones individually.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

namespace ww::sim::net {

class LatencyHistogram {
 public:
  void add(std::uint64_t latency) {
    ++count_;
    sum_ += latency;
    max_ = std::max(max_, latency);
    if (latency < bins_.size()) {
      ++bins_[latency];
    } else {
      long_.push_back(latency);
    }
  }
  LatencyHistogram& operator+=(const LatencyHistogram& other) {
    for (std::size_t latency = 0; latency < bins_.size(); ++latency) {
      bins_[latency] += other.bins_[latency];
    }
    long_.insert(long_.end(), other.long_.begin(), other.long_.end());
    count_ += other.count_;
    sum_ += other.sum_;
    max_ = std::max(max_, other.max_);
    return *this;
  }
  void clear() { *this = {}; }
  [[nodiscard]] double mean() const {
    return count_ == 0 ? 0 : static_cast<double>(sum_) / static_cast<double>(count_);
  }
  [[nodiscard]] double max() const { return static_cast<double>(max_); }
  [[nodiscard]] std::uint64_t count() const { return count_; }
  // The smallest latency that at least `share` of the packets do not exceed.
  [[nodiscard]] double quantile(double share) {
    if (count_ == 0) {
      return 0;
    }
    auto rank = static_cast<std::uint64_t>(std::ceil(share * static_cast<double>(count_)));
    for (std::size_t latency = 0; latency < bins_.size(); ++latency) {
      if (bins_[latency] >= rank) {
        return static_cast<double>(latency);
      }
      rank -= bins_[latency];
    }
    const auto nth = long_.begin() + static_cast<std::ptrdiff_t>(rank - 1);
    std::nth_element(long_.begin(), nth, long_.end());
    return static_cast<double>(*nth);
  }

 private:
  std::vector<std::uint64_t> bins_ = std::vector<std::uint64_t>(4096);
  std::vector<std::uint64_t> long_;
  std::uint64_t count_{};
  std::uint64_t sum_{};
  std::uint64_t max_{};
};

}  // namespace ww::sim::net
