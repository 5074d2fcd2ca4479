// Whether threads should share the next quantum of a launch.
//
// Shared data crosses from core to core, and how long that takes differs between hosts by a factor
// of ten: cores may have a cache in common, or lie on different dies. Results do not depend on the
// answer.
#pragma once

#include <algorithm>
#include <cstdint>

namespace ww::sim::gpu::exec {

class SharingRule {
 public:
  // A quantum took so long, whoever executed it.
  void took(std::int64_t ns) {
    // One that had to wait for the host says nothing of the next ones.
    if (average_ns_ != 0) ns = std::min(ns, kLargestStep * average_ns_);
    average_ns_ = average_ns_ == 0 ? ns : average_ns_ + (ns - average_ns_) / kQuantaOfAverage;
  }
  // Given how long a message takes to another core and back; 0: not known, so try.
  [[nodiscard]] bool worth_it(std::int64_t round_trip_ns) {
    if (round_trip_ns == 0) return true;
    const std::int64_t least = kRoundTrips * round_trip_ns;
    // Shared quanta are shorter: what was worth it stays so for a while.
    shared_ = average_ns_ > (shared_ ? least * 3 / 4 : least);
    return shared_;
  }

 private:
  static constexpr std::int64_t kQuantaOfAverage = 8;
  static constexpr std::int64_t kLargestStep = 4;
  // A quantum's three hand-overs, and the lines that change their core on the way. Two threads are
  // as fast as one where one takes about so long: `bench_vgpu`, the part on two threads.
  static constexpr std::int64_t kRoundTrips = 200;

  std::int64_t average_ns_{};
  bool shared_{};
};

}  // namespace ww::sim::gpu::exec
