// The coded form of gpu_metrics: v1.9 lists its fields as attributes, each with a code of 64 bits
// that gives unit, type, meaning and count, and its values directly behind it.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "sensor/sysfs/metric_table.hpp"
#include "ww/core/result.hpp"

namespace ww::measure {

// The attributes of a table whose size its head gives, with offsets from the table's beginning.
// `fields` is emptied first; its room is used again. Error parse_error: an unknown type, a value
// beyond the table, or bytes behind the last one.
[[nodiscard]] Status list_attributes(std::span<const std::byte> table, const std::string& source,
                                     std::vector<MetricField>& fields);

}  // namespace ww::measure
