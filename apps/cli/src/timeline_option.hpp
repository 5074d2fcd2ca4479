// --timeline FILE: a timeline of what a command saw, for Perfetto's viewer.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "ww/core/result.hpp"
#include "ww/timeline/timeline.hpp"

namespace ww::cli {

// The option is the same in every command that writes a timeline.
CLI::Option* add_timeline_option(CLI::App& command, std::string& file);

// Whether the file can be made there: said before a program runs for an hour. Nothing is asked of
// an empty name.
Status check_timeline_file(const std::string& file);

// Writes the trace, and warns on stderr of what it lacks. An empty timeline is a warning and no
// file.
Status save_timeline(const timeline::Timeline& timeline, const std::string& file);

// Adds the sensor's readings of each process of a program on the virtual GPU. Its launches must
// have been added.
Status add_sensor_files(timeline::Timeline& timeline, const std::vector<std::string>& files);

}  // namespace ww::cli
