// Writes traces with OTF2's own writer, as Score-P does: a metric of one member per location.
#pragma once

#include <otf2/otf2.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace ww::otf2::testing {

struct WrittenReading {
  std::uint64_t ticks{};
  double value{};
};

struct WrittenMetric {
  std::string name;
  std::string unit{"#"};
  std::vector<WrittenReading> readings{};
  OTF2_Type type{OTF2_TYPE_UINT64};
  OTF2_MetricMode mode{OTF2_METRIC_ACCUMULATED_START};
  OTF2_Base base{OTF2_BASE_DECIMAL};
  std::int64_t exponent{0};
  std::size_t process{0};
};

struct WrittenTrace {
  std::vector<WrittenMetric> metrics;
  std::uint64_t ticks_per_s{1'000'000'000};
  std::uint64_t start{5'000'000'000};
  bool has_clock{true};
  bool as_instances{true};  // as asynchronous plugins; else classes of the recording threads
};

// Writes FOLDER/traces.otf2 and its parts. False where the library refuses.
[[nodiscard]] bool write_trace(const std::filesystem::path& folder, const WrittenTrace& trace);

}  // namespace ww::otf2::testing
