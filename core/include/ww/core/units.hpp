// Physical quantities and counts. The only file that includes the units library.
#pragma once

#define UNIT_LIB_DISABLE_IOSTREAM
#define DISABLE_PREDEFINED_UNITS
#define ENABLE_PREDEFINED_LENGTH_UNITS
#define ENABLE_PREDEFINED_TIME_UNITS
#define ENABLE_PREDEFINED_TEMPERATURE_UNITS
#define ENABLE_PREDEFINED_FREQUENCY_UNITS
#define ENABLE_PREDEFINED_ENERGY_UNITS
#define ENABLE_PREDEFINED_POWER_UNITS
#define ENABLE_PREDEFINED_VOLTAGE_UNITS
#include <units.h>

#include <compare>
#include <cstdint>

namespace ww {

using Watt = ::units::power::watt_t;
using Joule = ::units::energy::joule_t;
using Picojoule = ::units::energy::picojoule_t;
using Second = ::units::time::second_t;
using Nanosecond = ::units::time::nanosecond_t;
using Hertz = ::units::frequency::hertz_t;
using Volt = ::units::voltage::volt_t;
using Kelvin = ::units::temperature::kelvin_t;
using Celsius = ::units::temperature::celsius_t;
using Millimetre = ::units::length::millimeter_t;

// Energy per payload bit [pJ/bit]; a bit is a count, so the dimension is energy.
using PicojoulePerBit = ::units::energy::picojoule_t;

// Energy per payload bit and routed millimetre [fJ/bit/mm]. The value means nothing without its
// convention (per random bit, or per transition): see ww::model::Convention.
using FemtojoulePerBitMillimetre =
    ::units::unit_t<::units::compound_unit<::units::energy::femtojoules,
                                           ::units::inverse<::units::length::millimeters>>>;

// A count of one kind of thing. Adding cycles to bytes does not compile.
template <class Tag, class Rep = std::uint64_t>
class Count {
 public:
  using rep = Rep;
  constexpr Count() = default;
  constexpr explicit Count(Rep value) : value_(value) {}
  [[nodiscard]] constexpr Rep value() const { return value_; }
  constexpr auto operator<=>(const Count&) const =
      default;  // NOLINT(modernize-use-nullptr): its own 0
  constexpr Count& operator+=(Count other) {
    value_ += other.value_;
    return *this;
  }
  constexpr Count& operator-=(Count other) {
    value_ -= other.value_;
    return *this;
  }
  friend constexpr Count operator+(Count a, Count b) { return Count{a.value_ + b.value_}; }
  friend constexpr Count operator-(Count a, Count b) { return Count{a.value_ - b.value_}; }

 private:
  Rep value_{};
};

using Cycles = Count<struct CyclesTag>;
using Flits = Count<struct FlitsTag>;
using Toggles = Count<struct TogglesTag>;
using Bytes = Count<struct BytesTag>;

}  // namespace ww
