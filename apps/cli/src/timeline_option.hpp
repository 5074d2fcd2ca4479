// --timeline FILE and --rocpd FILE: what a command saw over time, for Perfetto's viewer and for the
// tools of ROCm's profiler.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "ww/core/result.hpp"
#include "ww/timeline/timeline.hpp"

namespace ww::cli {

// Names of the files; an empty one is not written.
struct TimelineFiles {
  std::string perfetto;
  std::string rocpd;

  [[nodiscard]] bool wanted() const { return !perfetto.empty() || !rocpd.empty(); }
};

// The options are the same in every command that writes a timeline.
void add_timeline_options(CLI::App& command, TimelineFiles& files);

// Whether the files can be made there: said before a program runs for an hour.
Status check_timeline_files(const TimelineFiles& files);

// Writes the files, and warns on stderr of what they lack. An empty timeline is a warning and no
// file.
Status save_timeline(const timeline::Timeline& timeline, const TimelineFiles& files);

// Adds the sensor's readings of each process of a program on the virtual GPU. Its launches must
// have been added.
Status add_sensor_files(timeline::Timeline& timeline, const std::vector<std::string>& files);

}  // namespace ww::cli
