#include "sensor/amd_smi/power_info.hpp"

#include <fmt/format.h>

#include <cstring>
#include <limits>

#include "ww/energy/energy.hpp"

namespace ww::measure {
namespace {

constexpr AmdSmiPowerLayout kPower57{"5.7", {}, {}, 0, 4, 4};
constexpr AmdSmiPowerLayout kPower60{"6.0 to 6.3", {}, 0, 4, 8, 4};
constexpr AmdSmiPowerLayout kPower64{"6.4", 0, 8, 12, 16, 4};
// 64-bit voltages are aligned to 8 bytes. Later releases use the gap behind the limit, which is not
// read here.
constexpr AmdSmiPowerLayout kPower70{"7.0 to 7.12", 0, 8, 12, 16, 8};
constexpr AmdSmiPowerLayout kPower713{"7.13 to 10", 0, 8, 12, 16, 8};

// Returns nothing where all bits are set, which is how the library says that it has no value.
// Fields of 64 bits may have the ones of 32.
std::optional<std::int64_t> smi_number(std::span<const std::byte> answer, std::size_t at,
                                       std::size_t bytes) {
  std::uint64_t value = 0;
  std::memcpy(&value, answer.data() + at, bytes);
  // A sum of a card's power that does not fit 32 bits is no power either.
  if (value >= std::numeric_limits<std::uint32_t>::max()) {
    return {};
  }
  return static_cast<std::int64_t>(value);
}

}  // namespace

Result<AmdSmiPowerLayout> amd_smi_power_layout(AmdSmiVersion version) {
  const auto [first, second] = version;
  if (first == 23) {
    return second < 4 ? kPower57 : kPower60;
  }
  if (first == 24) {
    return kPower60;
  }
  // Previews of ROCm 6.4 numbered 25.0 to 25.2 gave the function another parameter.
  if (first == 25 && second >= 3) {
    return kPower64;
  }
  if (first == 26) {
    return second < 5 ? kPower70 : kPower713;
  }
  if (first == 27) {
    return kPower713;
  }
  return fail(
      ErrorCode::unsupported,
      fmt::format("version {}.{} of AMD SMI has a structure of power that is not known here "
                  "(known: 23.x, 24.x, 25.3 and later, 26.x, 27.x)",
                  first, second));
}

AmdSmiPower read_amd_smi_power(const AmdSmiPowerLayout& layout, std::span<const std::byte> answer) {
  const auto watts = [&answer](std::optional<std::size_t> at,
                               std::size_t bytes) -> std::optional<std::int64_t> {
    const auto value = at ? smi_number(answer, *at, bytes) : std::nullopt;
    // Whole watts of one card; what is more is another unit or no number.
    if (!value || static_cast<double>(*value) > energy::kMaxDeviceWatts) {
      return {};
    }
    return *value * 1'000'000;
  };
  AmdSmiPower power;
  power.current_uw = watts(layout.current_at, 4);
  power.average_uw = watts(layout.average_at, 4);
  // Cards that fill neither have the whole package's alone.
  if (!power.current_uw && !power.average_uw) {
    power.current_uw = watts(layout.socket_at, 8);
  }
  const auto millivolts = smi_number(answer, layout.voltage_at, layout.voltage_bytes);
  constexpr std::int64_t kMaxMillivolts = 5'000;
  if (millivolts && *millivolts > 0 && *millivolts < kMaxMillivolts) {
    power.voltage_uv = static_cast<std::int32_t>(*millivolts * 1000);
  }
  return power;
}

}  // namespace ww::measure
