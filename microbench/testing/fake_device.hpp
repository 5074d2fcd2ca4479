// A device for tests: answers as hardware would, with faults to order. It interprets the arguments
// of the kernels rather than their code.
#pragma once

#include <cstddef>
#include <limits>
#include <memory>

#include "device/device.hpp"
#include "host/pinning.hpp"

namespace ww::microbench::testing {

enum class SensorFault {
  none,
  no_answer,
  gaps,  // three of ten ticks have no answer
  zeros,
  not_a_number,
  negative,
  frozen,
  time_backwards,
  energy_backwards,
  no_counter,  // power is shown, and no counter of energy
};

struct FakeOptions {
  SensorFault sensor{SensorFault::none};
  double healthy_s{0.0};         // the sensor's fault begins after so much device time
  bool unanswering_waves{};      // half of the wavefronts log nothing
  int idle_cus{0};               // CUs of each engine that get no work
  double bandwidth_share{0.97};  // of the peak, saturated
  double traffic_factor{1.0};    // counters against arithmetic
  double l2_hit_rate{0.9999};
  std::int64_t fail_at_launch{-1};  // the device is lost there
  double sensor_window_s{0.02};
  // The sensor says meanwhile that clocks are held down.
  double throttled_from_s{-1}, throttled_until_s{-1};
  // Readings that wait for somebody to take them, as in the queue of a polled sensor; those that
  // find no room are lost.
  std::size_t sensor_room{std::numeric_limits<std::size_t>::max()};
  bool two_sides{};  // a partitioned L2 and SMs, without a floorplan
  bool dies{};       // a package of eight compute dies on four I/O dies, with rails
  int parts{1};      // devices of one package; far reads take 1.6 pJ/bit more than near ones
};

// Launches are as many as the loop counts ask for. Bits 14:13 of a place are the engine, 11:8 the
// CU, as on GCN; with two sides the place is the SM.
[[nodiscard]] Device make_fake_device(const FakeOptions& options);
[[nodiscard]] std::unique_ptr<Pinning> make_fake_pinning(const Device& device);

}  // namespace ww::microbench::testing
