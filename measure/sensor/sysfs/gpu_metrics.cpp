#include "ww/measure/gpu_metrics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>

namespace ww::measure {
namespace {

// Byte offsets; 0 (the head) stands for a field that the layout does not have.
struct Layout {
  const char* name;
  unsigned format, content, size;
  unsigned edge, junction, memory;
  unsigned average_power, current_power;
  unsigned energy, energy_bytes;
  unsigned voltage;
  unsigned clock, clocks;  // the first of so many
  unsigned memory_clock;
  unsigned throttle;  // 64 bits
  unsigned firmware_time;
};

constexpr std::array<Layout, 11> layouts{{
    // clang-format off
    //              size  edge junc mem  avgP curP energy    volt clock   mclk throt fwtime
    {"v1.0", 1, 0,   80,  16,  18,  20,  34,   0,  36, 4,     0,  54, 1,   58,   0,    0},
    {"v1.1", 1, 1,   96,   4,   6,   8,  22,   0,  24, 8,     0,  54, 1,   58,   0,    0},
    {"v1.2", 1, 2,  104,   4,   6,   8,  22,   0,  24, 8,     0,  54, 1,   58,   0,   96},
    {"v1.3", 1, 3,  120,   4,   6,   8,  22,   0,  24, 8,   106,  54, 1,   58, 112,   96},
    {"v1.4", 1, 4,  288,   0,   4,   6,   0,  10,  24, 8,     0, 240, 8,  280,   0,  232},
    {"v1.5", 1, 5,  360,   0,   4,   6,   0,  10,  88, 8,     0, 312, 8,  352,   0,  304},
    {"v2.0", 2, 0,  120,  16,   0,   0,  44,   0,   0, 0,     0,  80, 1,   84,   0,    0},
    {"v2.1", 2, 1,  120,   4,   0,   0,  40,   0,   0, 0,     0,  76, 1,   80,   0,    0},
    {"v2.2", 2, 2,  128,   4,   0,   0,  40,   0,   0, 0,     0,  76, 1,   80, 120,    0},
    {"v2.3", 2, 3,  152,   4,   0,   0,  40,   0,   0, 0,     0,  76, 1,   80, 120,    0},
    {"v2.4", 2, 4,  168,   4,   0,   0,  40,   0,   0, 0,   156,  76, 1,   80, 120,    0},
    // clang-format on
}};

class TableReader {
 public:
  explicit TableReader(std::span<const std::byte> data) : data_(data) {}
  // All ones: the firmware does not fill the field.
  [[nodiscard]] std::optional<std::uint64_t> value(unsigned offset, unsigned bytes) const {
    if (offset == 0) return {};
    std::uint64_t raw = 0;
    for (unsigned i = 0; i < bytes; ++i) {
      raw |= std::to_integer<std::uint64_t>(data_[offset + i]) << (8 * i);
    }
    const auto absent = bytes == 8 ? std::numeric_limits<std::uint64_t>::max()
                                   : (std::uint64_t{1} << (8 * bytes)) - 1;
    if (raw == absent) return {};
    return raw;
  }
  template <class T>
  [[nodiscard]] std::optional<T> scaled(unsigned offset, std::int64_t factor) const {
    const auto raw = value(offset, 2);
    if (!raw) return {};
    return static_cast<T>(static_cast<std::int64_t>(*raw) * factor);
  }

 private:
  std::span<const std::byte> data_;
};

}  // namespace

Result<GpuMetrics> parse_gpu_metrics(std::span<const std::byte> data, const std::string& source) {
  constexpr std::size_t head_bytes = 4;
  if (data.size() < head_bytes) {
    return fail(ErrorCode::parse_error,
                fmt::format("{} bytes: too short for a head of {}", data.size(), head_bytes),
                source);
  }
  const auto byte = [&data](std::size_t i) { return std::to_integer<unsigned>(data[i]); };
  const unsigned size = byte(0) | byte(1) << 8;
  const unsigned format = byte(2), content = byte(3);
  const auto layout = std::ranges::find_if(layouts, [&](const Layout& known) {
    return known.format == format && known.content == content;
  });
  if (layout == layouts.end()) {
    return fail(ErrorCode::unsupported,
                fmt::format("gpu_metrics layout v{}.{} ({} bytes) is not known; known are v1.0 to "
                            "v1.5 and v2.0 to v2.4",
                            format, content, size),
                source);
  }
  if (size != layout->size || data.size() < layout->size) {
    return fail(ErrorCode::parse_error,
                fmt::format("gpu_metrics v{}.{} has {} bytes, its head says {}, and {} are there",
                            format, content, layout->size, size, data.size()),
                source);
  }
  const TableReader read(data);
  const bool apu = format == 2;
  const std::int64_t temperature = apu ? 10 : 1000;
  const std::int64_t power = apu ? 1000 : 1'000'000;
  GpuMetrics metrics;
  metrics.layout = layout->name;  // no text is made here: this runs a thousand times a second
  metrics.edge_mc = read.scaled<std::int32_t>(layout->edge, temperature);
  metrics.junction_mc = read.scaled<std::int32_t>(layout->junction, temperature);
  metrics.memory_mc = read.scaled<std::int32_t>(layout->memory, temperature);
  metrics.average_power_uw = read.scaled<std::int64_t>(layout->average_power, power);
  metrics.current_power_uw = read.scaled<std::int64_t>(layout->current_power, power);
  if (const auto energy = read.value(layout->energy, layout->energy_bytes);
      energy && *energy <= std::numeric_limits<std::int64_t>::max()) {
    metrics.energy_ticks = static_cast<std::int64_t>(*energy);
  }
  metrics.voltage_uv = read.scaled<std::int32_t>(layout->voltage, 1000);
  for (unsigned i = 0; i < layout->clocks; ++i) {
    const auto clock = read.scaled<std::int32_t>(layout->clock + 2 * i, 1000);
    if (clock) metrics.clock_khz = std::max(*clock, metrics.clock_khz.value_or(0));
  }
  metrics.memory_clock_khz = read.scaled<std::int32_t>(layout->memory_clock, 1000);
  metrics.throttle = read.value(layout->throttle, 8);
  if (const auto ticks = read.value(layout->firmware_time, 8); ticks && *ticks < (1ULL << 59)) {
    metrics.firmware_ns = static_cast<std::int64_t>(*ticks) * 10;
  }
  return metrics;
}

std::string amd_throttle_text(std::uint64_t bits) {
  // SMU_THROTTLER_*_BIT in drivers/gpu/drm/amd/pm/swsmu/inc/amdgpu_smu.h.
  struct Group {
    const char* name;
    std::uint64_t mask;
  };
  constexpr std::array<Group, 4> groups{{{"power", 0xFFFF},
                                         {"current", 0xFFFF0000},
                                         {"temperature", 0x00FFFFFF00000000},
                                         {"other", 0xFF00000000000000}}};
  std::string text;
  for (const Group& group : groups) {
    if ((bits & group.mask) == 0) continue;
    if (!text.empty()) text += ", ";
    text += group.name;
  }
  return text;
}

}  // namespace ww::measure
