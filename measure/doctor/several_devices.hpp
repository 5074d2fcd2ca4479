// Polls of several devices in one file look like those of one whose power jumps.
#pragma once

#include <span>
#include <string>

#include "ww/core/result.hpp"
#include "ww/measure/csv.hpp"
#include "ww/measure/sensor_recording.hpp"

namespace ww::measure {

// How polls show that they are of several devices, taken in turn: many have the time of the poll
// before; they come in groups, in which one place always shows more than the next; or every other
// poll (every k-th) does. Empty where they do not. The oldest poll comes first.
[[nodiscard]] std::string several_devices(std::span<const PowerPoint> polls);

// Errors, both bad_data with the remedy: a line names another device than the first one does, by a
// column that identifies one ("index", "uuid", "name", "pci.bus_id", "device", ...); a column's
// polls are those of several devices.
[[nodiscard]] Status require_one_device(std::span<const CsvRow> rows, const std::string& source);
[[nodiscard]] Status require_one_device(std::span<const PollColumn> columns,
                                        const std::string& source);

}  // namespace ww::measure
