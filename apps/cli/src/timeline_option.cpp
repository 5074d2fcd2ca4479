#include "timeline_option.hpp"

#include "option.hpp"

#include "ww/core/log.hpp"
#include "ww/core/streamed_file.hpp"

namespace ww::cli {

void add_timeline_options(CLI::App& command, TimelineFiles& files) {
  as_output_file(
      command.add_option("--timeline", files.perfetto,
                         "Trace for ui.perfetto.dev: kernels, power by segment, sensor"));
  as_output_file(command.add_option("--rocpd", files.rocpd,
                                    "The same as a rocpd database of ROCm's profiler"));
}

Status check_timeline_files(const TimelineFiles& files) {
  for (const std::string& file : {files.perfetto, files.rocpd}) {
    if (!file.empty()) WW_TRY(StreamedFile::create(file));
  }
  return {};
}

Status save_timeline(const timeline::Timeline& timeline, const TimelineFiles& files) {
  const std::string& named = files.perfetto.empty() ? files.rocpd : files.perfetto;
  for (const auto& gap : timeline.gaps()) log::warn("{}: {}", named, gap);
  if (timeline.empty()) {
    log::warn("no timeline: nothing was seen that has a place in time");
    return {};
  }
  if (!files.perfetto.empty()) WW_TRY(timeline.write(files.perfetto));
  if (!files.rocpd.empty()) WW_TRY(timeline.write_rocpd(files.rocpd));
  return {};
}

Status add_sensor_files(timeline::Timeline& timeline, const std::vector<std::string>& files) {
  for (const auto& file : files) WW_TRY(timeline.add_sensor_file(file));
  return {};
}

}  // namespace ww::cli
