// Power of a program while it runs on the virtual GPU, from the feed that the driver appends
// (docs/files.md).
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "ww/core/result.hpp"
#include "ww/measure/counter_file.hpp"
#include "ww/model/estimate.hpp"

namespace ww::session {

struct LiveSample {
  std::string process;     // the number of the one whose chip it is
  std::int64_t time_ns{};  // the chip's clock
  double power_w{};
  std::optional<std::int64_t> energy_ticks;  // 2^-16 J; absent: the sensor does not count energy
  double temperature_c{};
  std::optional<double> clock_mhz;  // drivers of earlier versions do not write it
};

struct LiveNews {
  std::vector<measure::CounterDispatch> dispatches;
  std::vector<LiveSample> samples;
};

// Reads a feed while a program writes it.
class LiveFeed {
 public:
  explicit LiveFeed(std::filesystem::path file) : file_(std::move(file)) {}
  // Returns the complete lines since the last call; none while the file does not exist. Errors:
  // parse_error with the line, io_error.
  Result<LiveNews> poll();

 private:
  Status take(const std::string& line, LiveNews& news);

  std::filesystem::path file_;
  std::uint64_t offset_{};
  std::uint64_t line_{};
  std::string rest_;  // beginning of a line whose end has not come
  std::vector<std::string> counters_;
  std::string process_;  // that wrote the newest head; the file does not say more
};

// Power by segment of the launches in one refresh.
struct LivePower {
  model::Estimate estimate;
  std::uint64_t dispatches{};
  std::optional<double> device_w;  // the sensor's newest reading
  std::optional<double> temperature_c;
  std::int64_t chip_ns{};  // end of the last dispatch
};

// Estimates one refresh. Absent if nothing was launched. `architecture` says how to
// read the counters ("gfx701"). Errors: those of the estimate.
[[nodiscard]] Result<std::optional<LivePower>> live_power(const LiveNews& news,
                                                          const model::WireModel& model,
                                                          const std::string& architecture);

}  // namespace ww::session
