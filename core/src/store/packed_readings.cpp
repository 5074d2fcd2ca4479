#include "packed_readings.hpp"

#include <fmt/format.h>
#include <zstd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <functional>
#include <limits>
#include <numeric>

namespace ww {
namespace {

constexpr int kCompressionLevel = 3;
constexpr std::size_t kBytes = sizeof(std::uint64_t);
constexpr std::size_t kReadingColumns = 8;
// Presence, and the bytes of the value.
constexpr std::size_t kPackedBytes = 1 + kBytes;
// Readings of a run: a day at 1 kHz. A count beyond is damage, and no reason to ask for memory.
constexpr std::int64_t kMaxReadings = 86'400'000;

// Behind the planes, for each column: its least value and the step that divides all distances from
// it. Sensors step in units that are larger than those of the fields. Files of version 2 lack it.
constexpr std::size_t kStepBytes = 2 * kBytes;

using Value = std::optional<std::int64_t>;

struct Step {
  std::uint64_t least{};
  std::uint64_t divisor{1};
};

void put_number(std::uint64_t value, char* place) {
  for (std::size_t byte = 0; byte < kBytes; ++byte) {
    place[byte] = static_cast<char>(value >> (8 * byte) & 0xFF);
  }
}
std::uint64_t number_at(const char* place) {
  std::uint64_t value = 0;
  for (std::size_t byte = 0; byte < kBytes; ++byte) {
    value |= std::uint64_t{static_cast<unsigned char>(place[byte])} << (8 * byte);
  }
  return value;
}

// A field of a reading.
struct ReadingColumn {
  std::function<Value(const SensorReading&)> get;
  // False where the value does not fit.
  std::function<bool(SensorReading&, const Value&)> set;
};

template <class Member>
ReadingColumn column_of(Member SensorReading::*member) {
  using Held = Member;
  return {[member](const SensorReading& reading) -> Value { return reading.*member; },
          [member](SensorReading& reading, const Value& value) {
            if constexpr (requires { typename Held::value_type; }) {
              using Number = typename Held::value_type;
              if (value && (*value < std::numeric_limits<Number>::min() ||
                            *value > std::numeric_limits<Number>::max())) {
                return false;
              }
              reading.*member = value ? Held(static_cast<Number>(*value)) : std::nullopt;
            } else {
              if (!value) return false;
              reading.*member = static_cast<Held>(*value);
            }
            return true;
          }};
}

const std::array<ReadingColumn, kReadingColumns>& reading_columns() {
  static const std::array<ReadingColumn, kReadingColumns> columns{
      {column_of(&SensorReading::time_ns), column_of(&SensorReading::poll_ns),
       column_of(&SensorReading::power_uw), column_of(&SensorReading::energy_ticks),
       column_of(&SensorReading::temperature_mc), column_of(&SensorReading::voltage_uv),
       column_of(&SensorReading::clock_khz), column_of(&SensorReading::changed)}};
  return columns;
}

// Unsigned, because differences of any two numbers wrap around and back.
void subtract_neighbours(std::vector<std::uint64_t>& values) {
  for (std::size_t i = values.size(); i-- > 1;) values[i] -= values[i - 1];
}
void add_neighbours(std::vector<std::uint64_t>& values) {
  for (std::size_t i = 1; i < values.size(); ++i) values[i] += values[i - 1];
}

std::uint64_t zigzag(std::uint64_t value) {
  return (value << 1) ^ (0 - (value >> 63));
}
std::uint64_t unzigzag(std::uint64_t value) {
  return (value >> 1) ^ (0 - (value & 1));
}

std::size_t significant_bits(const std::vector<std::uint64_t>& values) {
  std::size_t bits = 0;
  for (const std::uint64_t value : values) {
    bits += static_cast<std::size_t>(std::bit_width(zigzag(value)));
  }
  return bits;
}

// Replaces each value by its number of steps above the least one.
Step count_steps(std::vector<std::uint64_t>& values) {
  if (values.empty()) return {};
  Step step;
  step.least = *std::ranges::min_element(
      values, {}, [](std::uint64_t value) { return static_cast<std::int64_t>(value); });
  std::uint64_t divisor = 0;
  for (std::uint64_t& value : values) {
    value -= step.least;
    divisor = std::gcd(divisor, value);
  }
  if (divisor == 0) return step;  // all are equal
  step.divisor = divisor;
  for (std::uint64_t& value : values) value /= divisor;
  return step;
}

// Puts a column's planes at `place` and its step at `step_place`; gives how often neighbours were
// subtracted.
int pack_column(const ReadingColumn& column, std::span<const SensorReading> readings, char* place,
                char* step_place) {
  const std::size_t count = readings.size();
  std::vector<std::uint64_t> values(count);
  std::uint64_t last = 0;  // in the place of a missing value: it compresses to nothing
  for (const SensorReading& reading : readings) {
    if (const Value value = column.get(reading)) {
      last = static_cast<std::uint64_t>(*value);
      break;
    }
  }
  for (std::size_t i = 0; i < count; ++i) {
    const Value value = column.get(readings[i]);
    if (value) last = static_cast<std::uint64_t>(*value);
    place[i] = value ? '\1' : '\0';
    values[i] = last;
  }
  const Step step = count_steps(values);
  put_number(step.least, step_place);
  put_number(step.divisor, step_place + kBytes);
  std::vector<std::uint64_t> differences = values;
  std::size_t least = significant_bits(values);
  int best = 0;
  for (int order = 1; order <= 2; ++order) {
    subtract_neighbours(differences);
    if (const std::size_t bits = significant_bits(differences); bits < least) {
      least = bits;
      values = differences;
      best = order;
    }
  }
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t value = zigzag(values[i]);
    for (std::size_t byte = 0; byte < kBytes; ++byte) {
      place[(1 + byte) * count + i] = static_cast<char>(value >> (8 * byte) & 0xFF);
    }
  }
  return best;
}

// False where a value does not fit its field.
bool unpack_column(const ReadingColumn& column, int differences, const Step& step,
                   const char* place, std::span<SensorReading> readings) {
  const std::size_t count = readings.size();
  std::vector<std::uint64_t> values(count);
  for (std::size_t i = 0; i < count; ++i) {
    std::uint64_t value = 0;
    for (std::size_t byte = 0; byte < kBytes; ++byte) {
      value |= std::uint64_t{static_cast<unsigned char>(place[(1 + byte) * count + i])}
               << (8 * byte);
    }
    values[i] = unzigzag(value);
  }
  for (int order = 0; order < differences; ++order) add_neighbours(values);
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t whole = step.least + step.divisor * values[i];
    const Value value = place[i] != 0 ? Value(static_cast<std::int64_t>(whole)) : Value();
    if (!column.set(readings[i], value)) return false;
  }
  return true;
}

}  // namespace

PackedReadings pack_readings(std::span<const SensorReading> readings) {
  PackedReadings packed;
  packed.count = static_cast<std::int64_t>(readings.size());
  const std::size_t column_bytes = kPackedBytes * readings.size();
  const std::size_t steps = kReadingColumns * column_bytes;
  std::string planes(steps + kReadingColumns * kStepBytes, '\0');
  for (std::size_t column = 0; column < kReadingColumns; ++column) {
    packed.differences += static_cast<char>(
        '0' + pack_column(reading_columns()[column], readings, &planes[column * column_bytes],
                          &planes[steps + column * kStepBytes]));
  }
  packed.compressed.resize(ZSTD_compressBound(planes.size()));
  // It cannot fail where there is room for the bound.
  packed.compressed.resize(ZSTD_compress(packed.compressed.data(), packed.compressed.size(),
                                         planes.data(), planes.size(), kCompressionLevel));
  return packed;
}

Result<std::vector<SensorReading>> unpack_readings(const PackedReadings& packed) {
  const auto damaged = [](const char* how) {
    return fail(ErrorCode::parse_error, fmt::format("damaged campaign: readings {}", how));
  };
  if (packed.count < 0 || packed.count > kMaxReadings) return damaged("of an impossible number");
  if (packed.differences.size() != kReadingColumns ||
      packed.differences.find_first_not_of("012") != std::string::npos) {
    return damaged("without their columns");
  }
  const auto count = static_cast<std::size_t>(packed.count);
  const std::size_t column_bytes = kPackedBytes * count;
  const std::size_t steps = kReadingColumns * column_bytes;
  const std::size_t with_steps = steps + kReadingColumns * kStepBytes;
  // Asked before memory is: a damaged number may be large.
  const std::uint64_t size =
      ZSTD_getFrameContentSize(packed.compressed.data(), packed.compressed.size());
  if (size != steps && size != with_steps) return damaged("of another number");
  std::string planes(size, '\0');
  if (ZSTD_decompress(planes.data(), size, packed.compressed.data(), packed.compressed.size()) !=
      size) {
    return damaged("that do not decompress");
  }
  std::vector<SensorReading> readings(count);
  for (std::size_t column = 0; count > 0 && column < kReadingColumns; ++column) {
    Step step;
    if (size == with_steps) {
      const char* const place = &planes[steps + column * kStepBytes];
      step = {number_at(place), number_at(place + kBytes)};
    }
    if (!unpack_column(reading_columns()[column], packed.differences[column] - '0', step,
                       &planes[column * column_bytes], readings)) {
      return damaged("with an impossible value");
    }
  }
  return readings;
}

}  // namespace ww
