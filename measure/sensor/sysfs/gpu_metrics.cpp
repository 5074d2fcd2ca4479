#include "ww/measure/gpu_metrics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "sensor/sysfs/gpu_metrics_attributes.hpp"
#include "sensor/sysfs/gpu_metrics_layouts.hpp"

namespace ww::measure {
namespace {

// A table whose head and size have been checked.
struct CheckedTable {
  std::string_view layout;
  unsigned format{};
  std::span<const std::byte> data;  // as long as the head says
  std::span<const MetricField> fields;
};

// `attributes` is where the fields of a coded table are listed; it must outlive the answer.
Result<CheckedTable> check_table(std::span<const std::byte> data, const std::string& source,
                                 std::vector<MetricField>& attributes) {
  if (data.size() < gpu_tables::kHeadBytes) {
    return fail(
        ErrorCode::parse_error,
        fmt::format("{} bytes: too short for a head of {}", data.size(), gpu_tables::kHeadBytes),
        source);
  }
  const auto byte = [&data](std::size_t i) { return std::to_integer<unsigned>(data[i]); };
  const std::size_t size = byte(0) | byte(1) << 8;
  const unsigned format = byte(2), content = byte(3);
  if (size == 0) {
    // Some drivers answer with zeros when a file that is open is read again.
    return fail(ErrorCode::parse_error,
                "gpu_metrics says that it has no bytes: the driver did not fill it", source);
  }
  constexpr unsigned coded_content = 9;
  if (format == 1 && content == coded_content) {
    if (data.size() < size) {
      return fail(ErrorCode::parse_error,
                  fmt::format("gpu_metrics v1.9: its head says {} bytes, and {} are there", size,
                              data.size()),
                  source);
    }
    const auto table = data.first(size);
    WW_TRY(list_attributes(table, source, attributes));
    return CheckedTable{"v1.9", format, table, attributes};
  }
  const auto layout =
      std::ranges::find_if(gpu_tables::kFixedLayouts, [&](const gpu_tables::FixedLayout& known) {
        return known.format == format && known.content == content;
      });
  if (layout == gpu_tables::kFixedLayouts.end()) {
    return fail(ErrorCode::unsupported,
                fmt::format("gpu_metrics layout v{}.{} ({} bytes) is not known; known are v1.0 to "
                            "v1.9, v2.0 to v2.4 and v3.0",
                            format, content, size),
                source);
  }
  if (size != layout->bytes || data.size() < layout->bytes) {
    return fail(ErrorCode::parse_error,
                fmt::format("gpu_metrics v{}.{} has {} bytes, its head says {}, and {} are there",
                            format, content, layout->bytes, size, data.size()),
                source);
  }
  return CheckedTable{layout->name, format, data.first(layout->bytes), layout->fields};
}

// Fills one field of the summary at a time.
class Summary {
 public:
  explicit Summary(const CheckedTable& table)
      : data_(table.data), power_(table.format == 1 ? kMicrowattsPerWatt : 1000) {
    metrics_.layout = table.layout;  // no text is made here: this runs a thousand times a second
    metrics_.apu = table.format != 1;
  }

  void take(const MetricField& field) {
    if (field.count == 0) return;
    switch (field.metric) {
      case Metric::other:
      case Metric::samples: break;
      case Metric::edge: temperature(field, metrics_.edge_mc); break;
      case Metric::junction: temperature(field, metrics_.junction_mc); break;
      case Metric::memory: temperature(field, metrics_.memory_mc); break;
      case Metric::average_power: average_power(field); break;
      case Metric::current_power: scaled(field, power_, metrics_.current_power_uw); break;
      case Metric::energy: energy(field); break;
      case Metric::voltage:
        if (metric_value(data_, field, 0) != 0) scaled(field, 1000, metrics_.voltage_uv);
        break;
      case Metric::clock: highest(field, metrics_.clock_khz); break;
      case Metric::average_clock: highest(field, average_clock_khz_); break;
      case Metric::memory_clock: highest(field, metrics_.memory_clock_khz); break;
      case Metric::average_memory_clock: highest(field, average_memory_clock_khz_); break;
      case Metric::throttle: metrics_.throttle = metric_bits(data_, field, 0); break;
      case Metric::power_limit: added(field, metrics_.power_limited); break;
      case Metric::thermal_limit: added(field, metrics_.thermally_limited); break;
      case Metric::other_limit: added(field, metrics_.otherwise_limited); break;
      case Metric::driver_time: metrics_.driver_ns = metric_value(data_, field, 0); break;
      case Metric::firmware_time: scaled(field, 10, metrics_.firmware_ns); break;
      case Metric::xgmi_read: links(field, metrics_.xgmi_read_kb); break;
      case Metric::xgmi_write: links(field, metrics_.xgmi_write_kb); break;
    }
  }

  [[nodiscard]] GpuMetrics finished() {
    if (!metrics_.clock_khz) metrics_.clock_khz = average_clock_khz_;
    if (!metrics_.memory_clock_khz) metrics_.memory_clock_khz = average_memory_clock_khz_;
    return metrics_;
  }

 private:
  static constexpr std::int64_t kMicrowattsPerWatt = 1'000'000;

  // Takes an APU's temperature in hundredths of a degree. No chip is as cold as 1.3 C, and 130 C is
  // hotter than any may get: a number up to that is whole degrees.
  void temperature(const MetricField& field, std::optional<std::int32_t>& into) const {
    constexpr std::int64_t kMaxWholeDegrees = 130;
    const auto value = metric_value(data_, field, 0);
    if (!value || *value == 0) return;
    const bool whole = !metrics_.apu || *value <= kMaxWholeDegrees;
    scaled(field, whole ? 1000 : 10, into);
  }
  // Takes an APU's power in milliwatts. A processor that answers draws more than half a watt, and
  // none that has such a table as much as 500 W: a number below that is whole watts.
  void average_power(const MetricField& field) {
    constexpr std::int64_t kMaxWholeWatts = 500;
    const auto value = metric_value(data_, field, 0);
    metrics_.power_in_watts = metrics_.apu && value && *value > 0 && *value < kMaxWholeWatts;
    scaled(field, metrics_.power_in_watts ? kMicrowattsPerWatt : power_, metrics_.average_power_uw);
  }
  // The value times `factor`; absent where it does not fit.
  template <class T>
  void scaled(const MetricField& field, std::int64_t factor, std::optional<T>& into) const {
    const auto value = metric_value(data_, field, 0);
    if (!value || *value > std::numeric_limits<T>::max() / factor ||
        *value < std::numeric_limits<T>::min() / factor) {
      return;
    }
    into = static_cast<T>(*value * factor);
  }
  // MHz to kHz, the highest of the elements.
  void highest(const MetricField& field, std::optional<std::int32_t>& into) const {
    constexpr std::int64_t most_mhz = 1'000'000;
    for (std::size_t i = 0; i < field.count; ++i) {
      const auto mhz = metric_value(data_, field, i);
      if (!mhz || *mhz <= 0 || *mhz > most_mhz) continue;
      into = std::max(static_cast<std::int32_t>(*mhz * 1000), into.value_or(0));
    }
  }
  void added(const MetricField& field, std::optional<std::int64_t>& into) const {
    const auto value = metric_value(data_, field, 0);
    constexpr auto most = std::numeric_limits<std::int64_t>::max() / 8;
    if (value && *value >= 0 && *value < most) into = into.value_or(0) + *value;
  }
  void energy(const MetricField& field) {
    if (const auto counted = metric_bits(data_, field, 0)) {
      metrics_.energy_ticks = energy_ticks_of(*counted);
    }
  }
  void links(const MetricField& field,
             std::array<std::optional<std::int64_t>, GpuMetrics::most_links>& into) const {
    for (std::size_t i = 0; i < std::min(field.count, into.size()); ++i) {
      into[i] = metric_value(data_, field, i);
    }
  }

  std::span<const std::byte> data_;
  std::int64_t power_;
  GpuMetrics metrics_;
  std::optional<std::int32_t> average_clock_khz_, average_memory_clock_khz_;
};

}  // namespace

Result<GpuMetrics> parse_gpu_metrics(std::span<const std::byte> data, const std::string& source) {
  // Kept from call to call, so that a coded table costs no memory a thousand times a second.
  thread_local std::vector<MetricField> attributes;
  WW_ASSIGN(table, check_table(data, source, attributes));
  Summary summary(table);
  for (const MetricField& field : table.fields) summary.take(field);
  return summary.finished();
}

Result<std::vector<MetricValues>> gpu_metrics_fields(std::span<const std::byte> data,
                                                     const std::string& source) {
  std::vector<MetricField> attributes;
  WW_ASSIGN(table, check_table(data, source, attributes));
  std::vector<MetricValues> fields;
  for (const MetricField& field : table.fields) {
    const bool padding = field.name.empty() && table.fields.data() != attributes.data();
    if (field.count == 0 || padding) continue;
    MetricValues values{std::string(field.name), std::string(field.unit), {}};
    if (values.name.empty()) values.name = "unnamed";
    for (std::size_t i = 0; i < field.count; ++i) {
      values.values.push_back(metric_value(table.data, field, i));
    }
    fields.push_back(std::move(values));
  }
  return fields;
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
