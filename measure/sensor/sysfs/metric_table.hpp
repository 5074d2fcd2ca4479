// Describes tables that AMD's firmware fills, field by field, as the driver's C structures lay them
// out: names, types and counts in order; offsets follow from natural alignment.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string_view>

namespace ww::measure {

// The order is that of the type codes in attribute-coded tables.
enum class MetricType : std::uint8_t { u8, s8, u16, s16, u32, s32, u64, s64 };

constexpr std::size_t size_of(MetricType type) {
  return std::size_t{1} << (static_cast<unsigned>(type) / 2);
}
constexpr bool is_signed(MetricType type) {
  return static_cast<unsigned>(type) % 2 == 1;
}

// Meaning of a field for this program; `other` is only listed.
enum class Metric : std::uint8_t {
  other,
  edge,
  junction,
  memory,
  average_power,
  current_power,
  energy,
  voltage,        // of the graphics core
  clock,          // current, of the graphics core
  average_clock,  // mean clock: taken where there is no current one
  memory_clock,
  average_memory_clock,
  throttle,     // bits common to all chips
  power_limit,  // counts of firmware samples in which this limit held the clocks down
  thermal_limit,
  other_limit,
  samples,  // count of firmware samples
  driver_time,
  firmware_time,
  xgmi_read,
  xgmi_write,
};

struct MetricField {
  std::string_view name;
  std::string_view unit;
  MetricType type{};
  std::size_t count{1};
  Metric metric{Metric::other};
  std::size_t offset{};
};

// Fills the offsets in, from the table's head on.
template <std::size_t N>
constexpr std::array<MetricField, N> laid_out(std::array<MetricField, N> fields, std::size_t head) {
  std::size_t at = head;
  for (MetricField& field : fields) {
    const std::size_t size = size_of(field.type);
    at = (at + size - 1) / size * size;
    field.offset = at;
    at += size * field.count;
  }
  return fields;
}

// The size of the structure, with the padding at its end that 8 bytes of alignment give it.
template <std::size_t N>
constexpr std::size_t structure_bytes(const std::array<MetricField, N>& fields) {
  const MetricField& last = fields[N - 1];
  const std::size_t end = last.offset + size_of(last.type) * last.count;
  return (end + 7) / 8 * 8;
}

// The bits of element `index`, zero-extended; absent where they are all ones, which is how the
// firmware marks what it does not fill. The element must lie within `data`.
inline std::optional<std::uint64_t> metric_bits(std::span<const std::byte> data,
                                                const MetricField& field, std::size_t index) {
  const std::size_t size = size_of(field.type);
  const std::size_t at = field.offset + index * size;
  std::uint64_t raw = 0;
  for (std::size_t i = 0; i < size; ++i) {
    raw |= std::to_integer<std::uint64_t>(data[at + i]) << (8 * i);
  }
  const auto absent =
      size == 8 ? std::numeric_limits<std::uint64_t>::max() : (std::uint64_t{1} << (8 * size)) - 1;
  if (raw == absent) return {};
  return raw;
}

// Counts of an energy accumulator. Absent at the values that mean none: 0, and the ones of 32 or of
// 64 bits; kernels of 2026 write the former into 64.
inline std::optional<std::int64_t> energy_ticks_of(std::uint64_t counted) {
  constexpr std::uint64_t no_counter = 0xFFFFFFFF;
  constexpr auto most = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  if (counted == 0 || counted == no_counter || counted > most) return {};
  return static_cast<std::int64_t>(counted);
}

// Returns the field as a number; absent also where an unsigned value does not fit.
inline std::optional<std::int64_t> metric_value(std::span<const std::byte> data,
                                                const MetricField& field, std::size_t index) {
  const auto raw = metric_bits(data, field, index);
  if (!raw) return {};
  if (!is_signed(field.type)) {
    if (*raw > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) return {};
    return static_cast<std::int64_t>(*raw);
  }
  const auto unused = 64 - 8 * static_cast<unsigned>(size_of(field.type));
  return static_cast<std::int64_t>(*raw << unused) >> unused;
}

}  // namespace ww::measure
