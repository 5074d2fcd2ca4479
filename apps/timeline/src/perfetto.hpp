// The bytes of a trace, by proto/perfetto_trace.proto.
#pragma once

#include <filesystem>
#include <vector>

#include "trace_content.hpp"

namespace ww::timeline {

// Errors: those of StreamedFile.
Status write_trace(const TraceContent& content, const std::filesystem::path& file);

// Power of a segment from `time_ns` on, until the next step.
struct PowerStep {
  std::int64_t time_ns{};
  model::Interval power_w;
};
// `by_start`: stretches in the order of their starts, each longer than nothing. The last step is 0.
[[nodiscard]] std::vector<PowerStep> power_steps(const std::vector<Stretch>& by_start,
                                                 std::size_t segment);

// The lane of each stretch: stretches of one lane do not overlap, and there are as few lanes as can
// be. `by_start` as above.
[[nodiscard]] std::vector<std::size_t> lanes_of(const std::vector<Stretch>& by_start);

}  // namespace ww::timeline
