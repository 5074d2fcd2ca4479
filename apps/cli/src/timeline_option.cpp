#include "timeline_option.hpp"

#include "ww/core/log.hpp"
#include "ww/core/streamed_file.hpp"

namespace ww::cli {

CLI::Option* add_timeline_option(CLI::App& command, std::string& file) {
  return command.add_option("--timeline", file,
                            "Trace for ui.perfetto.dev: kernels, power by segment, sensor");
}

Status check_timeline_file(const std::string& file) {
  if (!file.empty()) WW_TRY(StreamedFile::create(file));
  return {};
}

Status save_timeline(const timeline::Timeline& timeline, const std::string& file) {
  for (const auto& gap : timeline.gaps()) spdlog::warn("{}: {}", file, gap);
  if (timeline.empty()) {
    spdlog::warn("no timeline: nothing was seen that has a place in time");
    return {};
  }
  return timeline.write(file);
}

Status add_sensor_files(timeline::Timeline& timeline, const std::vector<std::string>& files) {
  for (const auto& file : files) WW_TRY(timeline.add_sensor_file(file));
  return {};
}

}  // namespace ww::cli
