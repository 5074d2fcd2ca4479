#include "ww/sim/power/photonic_events.hpp"

namespace ww::sim::power {
namespace {

constexpr std::uint64_t PhotonicEvents::*kPhotonicCounts[] = {
    &PhotonicEvents::core_cycles,
    &PhotonicEvents::lit_unit_cycles,
    &PhotonicEvents::held_unit_optical_cycles,
    &PhotonicEvents::busy_station_optical_cycles,
    &PhotonicEvents::modulated_bits,
    &PhotonicEvents::detected_bits,
    &PhotonicEvents::messages,
    &PhotonicEvents::c_messages,
    &PhotonicEvents::local_messages,
    &PhotonicEvents::wait_optical_cycles,
    &PhotonicEvents::data_grabs,
    &PhotonicEvents::power_grabs,
    &PhotonicEvents::failed_attempts,
    &PhotonicEvents::epochs,
    &PhotonicEvents::halted_cycles};

constexpr PhotonicEvents::EpochBins PhotonicEvents::*kBins[] = {&PhotonicEvents::epochs_by_lit,
                                                                &PhotonicEvents::epochs_by_held};

double over(double a, double b) {
  return b > 0 ? a / b : 0;
}

}  // namespace

double PhotonicEvents::wait_cycles_per_message() const {
  return over(
      static_cast<double>(wait_optical_cycles) * over(structure.core_hz, structure.optical_hz),
      static_cast<double>(messages));
}

double PhotonicEvents::mean_lit_units() const {
  return over(static_cast<double>(lit_unit_cycles), static_cast<double>(core_cycles));
}

double PhotonicEvents::mean_busy_stations() const {
  return over(static_cast<double>(busy_station_optical_cycles) *
                  over(structure.core_hz, structure.optical_hz),
              static_cast<double>(core_cycles));
}

double PhotonicEvents::use_of_light() const {
  return over(
      static_cast<double>(held_unit_optical_cycles) * over(structure.core_hz, structure.optical_hz),
      static_cast<double>(lit_unit_cycles));
}

double PhotonicEvents::messages_per_grab() const {
  return over(static_cast<double>(messages), static_cast<double>(data_grabs));
}

double PhotonicEvents::failed_attempts_per_message() const {
  return over(static_cast<double>(failed_attempts), static_cast<double>(messages));
}

PhotonicEvents& operator+=(PhotonicEvents& sum, const PhotonicEvents& other) {
  if (!sum.present) {
    sum.structure = other.structure;
  }
  sum.present = sum.present || other.present;
  for (const auto count : kPhotonicCounts) {
    sum.*count += other.*count;
  }
  for (const auto bins : kBins) {
    for (std::size_t units = 0; units < (sum.*bins).size(); ++units) {
      (sum.*bins)[units] += (other.*bins)[units];
    }
  }
  return sum;
}

PhotonicEvents operator-(const PhotonicEvents& later, const PhotonicEvents& earlier) {
  PhotonicEvents difference = later;
  for (const auto count : kPhotonicCounts) {
    difference.*count -= earlier.*count;
  }
  for (const auto bins : kBins) {
    for (std::size_t units = 0; units < (difference.*bins).size(); ++units) {
      (difference.*bins)[units] -= (earlier.*bins)[units];
    }
  }
  return difference;
}

}  // namespace ww::sim::power
